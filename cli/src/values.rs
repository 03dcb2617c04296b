//! `dropforge values`: the merged values of a cluster, the origin of each, and what differs between two clusters.

use std::collections::HashMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use clap::Args;

use dropforge::bulk::values::Step;
use dropforge::bulk::{Cluster, Fleet, Layers, leaves};
use dropforge::diagnostics::{Code, Diagnostic, Result, nearest};
use dropforge::value::{Data, DataMap, OutputFormat, yaml};

use crate::chart;
use crate::exit::{Exit, Failed};
use crate::fleet::{FleetArgs, ReadingArgs};
use crate::input::{InputFiles, is_dash};
use crate::layers;
use crate::options::{ValueArgs, named};
use crate::output::print;
use crate::project::key;
use crate::releases::{self, Definitions, ReleasesOption};
use crate::schema::SchemaArgs;
use crate::stderr::Stderr;
use dropforge::files::unreadable;

/// Print merged values and where they come from
///
///     dropforge values -f values.yaml --fleet clusters.csv --cluster eu-1 --origins
///     dropforge values templates/ -f values.yaml
///     dropforge values --fleet clusters.csv --cluster eu-1 --compare us-1
///
/// With templates, the values are those that the templates get: they are checked
/// against the schema beside the templates, after they are printed.
///
/// With --origins, each line has the path of a value, the value as JSON, the
/// place that gave it, and the places it overrides.
///
/// With -r, the values are those that a release of the project gets: of a chart
/// with its defaults. With --compare, each value that differs between two clusters is
/// printed with its origins.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ValuesArgs {
    /// Template files, directories or artifacts
    #[arg(value_name = "TEMPLATES")]
    pub(crate) templates: Vec<PathBuf>,
    /// Read clusters from a file, a directory, a glob, or `-`
    #[arg(long, requires = "cluster", value_name = "FLEET", add = key("").path())]
    fleet: Vec<String>,
    /// Print the values of this cluster of the fleet
    #[arg(long, requires = "fleet", value_name = "NAME")]
    cluster: Option<String>,
    #[command(flatten)]
    reading: ReadingArgs,
    /// Print what differs from the values of this cluster, with the origins of both
    #[arg(long, requires = "cluster", conflicts_with_all = ["origins", "output_format"], value_name = "NAME")]
    compare: Option<String>,
    #[command(flatten)]
    releases: ReleasesOption,
    /// Print the origin of each value: file and line, option or cluster
    #[arg(long, conflicts_with = "output_format")]
    origins: bool,
    /// Print the values as yaml or json
    #[arg(long, value_name = "FORMAT", default_value = "yaml", value_parser = named(&[
        ("yaml", "", OutputFormat::Yaml),
        ("json", "", OutputFormat::Json),
    ]))]
    output_format: OutputFormat,
    #[command(flatten)]
    values: ValueArgs,
    #[command(flatten)]
    schema: SchemaArgs,
}

/// Runs the command.
pub(crate) fn run(args: &ValuesArgs, files: &mut InputFiles, stderr: &Stderr) -> std::result::Result<Exit, Failed> {
    args.templates.iter().try_for_each(|path| check_exists(path))?;
    chart::refuse(&args.templates)?;
    if args.cluster.is_none() && !args.releases.only.is_empty() {
        let error = Diagnostic::new(Code::Usage, "`-r` needs a cluster");
        return Err(error.with_help("name it: `--cluster NAME`").into());
    }
    let found = args.found(args.cluster.as_deref(), files, stderr)?;
    let text = match (&args.compare, args.output_format) {
        (Some(other), _) => {
            let other = args.found(Some(other), files, stderr)?;
            text((&found.name, &found.rows), (&other.name, &other.rows))
        }
        _ if args.origins => listing(&found.rows),
        (_, OutputFormat::Json) => json(&Data::Map(found.merged), true) + "\n",
        _ => yaml::to_string(&Data::Map(found.merged)),
    };
    print(text)?;
    if found.unfit.is_empty() { Ok(Exit::Ok) } else { Err(found.unfit.into()) }
}

/// The values of a cluster, of a release for it, or those that all clusters share.
struct Found {
    /// The name of the cluster.
    name: String,
    merged: DataMap,
    /// The values with their origins, if they are wanted.
    rows: Vec<Row>,
    /// The violations of schemas.
    unfit: Vec<Box<Diagnostic>>,
}

impl ValuesArgs {
    /// Reads the values of a cluster, or those that all clusters share.
    fn found(&self, name: Option<&str>, files: &mut InputFiles, stderr: &Stderr) -> std::result::Result<Found, Failed> {
        if let Some(name) = name.filter(|_| !self.releases.only.is_empty()) {
            return self.of_release(name, files, stderr);
        }
        let sets = Definitions::read_all(&self.releases, files)?.sets_of(&self.values.sets, None);
        let given = layers::read_with(&self.values, &sets, files, stderr)?;
        let fleet = self.reading.read(&self.fleet, files)?;
        let cluster = name.map(|name| find(&fleet, name)).transpose()?;
        let (groups, cluster) = self.reading.groups_of(cluster, files)?;
        let layers = self.schema.add_to(given.layers(&groups, self.reading.merge()), &self.templates, files)?;
        let merged = merged(&layers, cluster.as_ref())?;
        let rows = if self.wants_rows() { rows_of(&merged, cluster.as_ref(), &layers) } else { Vec::new() };
        let unfit = layers.violations(cluster.as_ref());
        Ok(Found { name: name.unwrap_or_default().to_owned(), merged, rows, unfit })
    }

    /// Reads the values that a release gets for a cluster.
    fn of_release(&self, name: &str, files: &mut InputFiles, stderr: &Stderr) -> std::result::Result<Found, Failed> {
        let fleet = FleetArgs::of_cluster(self.fleet.clone(), self.reading.clone(), name);
        let (view, layers, cluster) =
            releases::view((&self.releases, &fleet), (&self.values, &self.schema), files, stderr)?;
        let origins = |path: &[Step]| {
            let (origins, default) = view.origins(&layers, &cluster, path);
            origins.iter().map(ToString::to_string).chain(default).collect()
        };
        let rows = if self.wants_rows() { rows(&view.values, &origins) } else { Vec::new() };
        Ok(Found { name: name.to_owned(), merged: view.values, rows, unfit: Vec::new() })
    }

    fn wants_rows(&self) -> bool {
        self.origins || self.compare.is_some()
    }
}

/// A value with its path and its origins, the highest first.
#[derive(Debug, PartialEq)]
struct Row {
    path: String,
    value: String,
    origins: Vec<String>,
}

/// Returns a row for each value.
fn rows(merged: &DataMap, origins: &dyn Fn(&[Step]) -> Vec<String>) -> Vec<Row> {
    let mut rows = Vec::new();
    leaves(merged, &mut |path, value| {
        rows.push(Row { path: dotted(path), value: json(value, false), origins: origins(path) });
    });
    rows
}

/// Returns a row for each value of a cluster. Values without an origin are defaults of a schema or a variable.
fn rows_of(merged: &DataMap, cluster: Option<&Cluster>, layers: &Layers) -> Vec<Row> {
    let mut found = Vec::new();
    layers.origins(cluster, &mut |origins| {
        found = rows(merged, &|path| {
            let all: Vec<String> = origins.of(path).map(|origin| origin.to_string()).collect();
            if all.is_empty() { layers.default_place(path).into_iter().collect() } else { all }
        });
    });
    found
}

impl Row {
    /// Returns the value and its origins.
    fn text(&self) -> String {
        let mut text = self.value.clone();
        let mut from = self.origins.iter();
        if let Some(origin) = from.next() {
            let _ = write!(text, "  # {origin}");
        }
        for (at, overridden) in from.enumerate() {
            let _ = write!(text, "{}{overridden}", if at == 0 { "; overrides " } else { ", " });
        }
        text
    }
}

fn listing(rows: &[Row]) -> String {
    rows.iter().map(|row| format!("{}: {}\n", row.path, row.text())).collect()
}

/// Returns the merged values of a cluster, or the shared ones.
///
/// # Errors
/// Values that cannot be merged.
pub(crate) fn merged(layers: &Layers, cluster: Option<&Cluster>) -> Result<DataMap> {
    match cluster {
        Some(cluster) => layers.merged(cluster).map_err(|error| error.for_cluster(cluster.name())),
        None => layers.alone().cloned(),
    }
}

/// Checks that a template exists.
fn check_exists(path: &Path) -> Result<()> {
    match std::fs::metadata(path) {
        Err(error) if !is_dash(path) => Err(unreadable(path, error)),
        _ => Ok(()),
    }
}

/// Maximum number of names that a wrong one is compared with.
const COMPARED: usize = 100_000;

/// Finds the cluster called `name`.
pub(crate) fn find(fleet: &Fleet, name: &str) -> Result<Cluster> {
    let (mut found, mut names) = (None, Vec::new());
    fleet.each(&mut |at, cluster| {
        if cluster.name() == name {
            found = Some(cluster.clone());
        }
        names.extend((at < COMPARED).then(|| cluster.name().to_owned()));
        Ok(())
    })?;
    found.ok_or_else(|| {
        let error = Diagnostic::new(Code::Usage, format!("no cluster is named `{name}`"));
        match nearest(name, names.iter().map(String::as_str)) {
            Some(near) => error.with_help(format!("did you mean `{near}`?")),
            None => error,
        }
    })
}

/// Returns a line for each value with its origins. Values without one are defaults of a schema or a variable.
#[cfg(feature = "console")]
pub(crate) fn with_origins(merged: &DataMap, cluster: Option<&Cluster>, layers: &Layers) -> String {
    listing(&rows_of(merged, cluster, layers))
}

/// Formats a path as `--set` takes it: `a.b[0]`, with a backslash before dots and commas of keys.
pub(crate) fn dotted(path: &[Step]) -> String {
    let mut text = String::new();
    for step in path {
        match step {
            Step::Key(key) => {
                let separator = if text.is_empty() { "" } else { "." };
                let _ = write!(text, "{separator}{}", key.replace('.', "\\.").replace(',', "\\,"));
            }
            Step::Index(at) => {
                let _ = write!(text, "[{at}]");
            }
        }
    }
    text
}

/// Formats a value as JSON.
pub(crate) fn json(value: &Data, pretty: bool) -> String {
    let text = if pretty { serde_json::to_string_pretty(value) } else { serde_json::to_string(value) };
    text.unwrap_or_default()
}

/// Stands for a value that a cluster does not have.
const NONE: &str = "-";

/// Returns each value that differs, with its origins for both clusters. `one` and `other` are their names and values.
fn text((one, rows): (&str, &[Row]), (other, others): (&str, &[Row])) -> String {
    let by_path = |rows: &'_ [Row]| rows.iter().map(|row| row.path.clone()).zip(0..).collect::<HashMap<_, usize>>();
    let (own, theirs) = (by_path(rows), by_path(others));
    let paths = rows.iter().chain(others.iter().filter(|row| !own.contains_key(&row.path))).map(|row| &row.path);
    let width = one.chars().count().max(other.chars().count());
    let line = |name: &str, row: Option<&Row>| {
        let text = row.map_or_else(|| NONE.to_owned(), Row::text);
        format!("  {name}: {:pad$}{text}\n", "", pad = width - name.chars().count())
    };
    let mut text = String::new();
    for path in paths {
        let mine = own.get(path).and_then(|at| rows.get(*at));
        let their = theirs.get(path).and_then(|at| others.get(*at));
        if mine.map(|row| &row.value) != their.map(|row| &row.value) {
            text.extend([path.clone() + "\n", line(one, mine), line(other, their)]);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_differ_are_shown_with_both_origins() {
        let row = |path: &str, value: &str, origin: &str| Row {
            path: path.to_owned(),
            value: value.to_owned(),
            origins: vec![origin.to_owned()],
        };
        let one = vec![row("a", "1", "x:1"), row("b", "2", "x:2"), row("c", "3", "x:3")];
        let other = vec![row("a", "1", "y:1"), row("b", "5", "y:2"), row("d", "4", "y:4")];
        let expected =
            "b\n  eu:   2  # x:2\n  asia: 5  # y:2\nc\n  eu:   3  # x:3\n  asia: -\nd\n  eu:   -\n  asia: 4  # y:4\n";
        assert_eq!(text(("eu", &one), ("asia", &other)), expected);
    }
}
