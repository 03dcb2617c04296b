//! `dropforge values`: the merged values of a cluster, and the origin of each.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use clap::Args;

use dropforge::bulk::values::Step;
use dropforge::bulk::{Cluster, Fleet, Layers, Origins, leaves};
use dropforge::diagnostics::{Code, Diagnostic, Result, nearest};
use dropforge::value::{Data, DataMap, OutputFormat, yaml};

use crate::chart;
use crate::exit::{Exit, Failed};
use crate::fleet::ReadingArgs;
use crate::input::{InputFiles, is_dash};
use crate::layers;
use crate::options::{ValueArgs, named};
use crate::output::print;
use crate::project::key;
use crate::schema::SchemaArgs;
use crate::stderr::Stderr;
use dropforge::files::unreadable;

/// Print merged values and where they come from
///
///     dropforge values -f values.yaml --fleet clusters.csv --cluster eu-1 --origins
///     dropforge values templates/ -f values.yaml
///
/// With templates, the values are those that the templates get: they are checked
/// against the schema beside the templates, after they are printed.
///
/// With --origins, each line has the path of a value, the value as JSON, the
/// place that gave it, and the places it overrides.
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
    let given = layers::read(&args.values, files, stderr)?;
    let fleet = args.reading.read(&args.fleet, files)?;
    let cluster = args.cluster.as_deref().map(|name| find(&fleet, name)).transpose()?;
    let (groups, cluster) = args.reading.groups_of(cluster, files)?;
    let cluster = cluster.as_ref();
    let layers = args.schema.add_to(given.layers(&groups, args.reading.merge()), &args.templates, files)?;
    let merged = merged(&layers, cluster)?;
    let text = match args.output_format {
        _ if args.origins => with_origins(&merged, cluster, &layers),
        OutputFormat::Json => json(&Data::Map(merged), true) + "\n",
        _ => yaml::to_string(&Data::Map(merged)),
    };
    print(text)?;
    match layers.violations(cluster) {
        unfit if unfit.is_empty() => Ok(Exit::Ok),
        unfit => Err(unfit.into()),
    }
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
pub(crate) fn with_origins(merged: &DataMap, cluster: Option<&Cluster>, layers: &Layers) -> String {
    let mut text = String::new();
    layers.origins(cluster, &mut |origins| text = listing(merged, origins, layers));
    text
}

fn listing(merged: &DataMap, origins: &Origins<'_>, layers: &Layers) -> String {
    let mut text = String::new();
    leaves(merged, &mut |path, value| {
        let mut from = origins.of(path);
        let _ = write!(text, "{}: {}", dotted(path), json(value, false));
        if let Some(origin) = from.next().map(|origin| origin.to_string()).or_else(|| layers.default_place(path)) {
            let _ = write!(text, "  # {origin}");
        }
        for (at, overridden) in from.enumerate() {
            let _ = write!(text, "{}{overridden}", if at == 0 { "; overrides " } else { ", " });
        }
        text.push('\n');
    });
    text
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
