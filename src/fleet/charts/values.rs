//! Likely mistakes in the files and values of a chart that Helm accepts: keys that a file gives twice, keys of a fleet that
//! replace the chart's own, and files with the names of other tools.

use std::sync::Arc;

use super::ChartSet;
use crate::cluster::Cluster;
use crate::selector::Selection;
use dropforge_base::diagnostics::{Code, Diagnostic, Result, Severity};
use dropforge_base::limits::Limits;
use dropforge_base::text::Source;
use dropforge_helm::chart::{Plan, PlannedChart};
use dropforge_value::{Scanner, Step, yaml};

/// The keys with which the clusters of a fleet name themselves.
const OF_FLEET: [&str; 2] = ["name", "cluster"];

impl ChartSet {
    /// Returns a warning for each key that a file of values has twice, for each value of the chart that the first of the
    /// clusters replaces by its name, and for files that Helm would read under another name.
    ///
    /// # Errors
    /// Errors of reading the cluster.
    pub fn mistaken_values(&self, clusters: &Selection<'_>) -> Result<Vec<Box<Diagnostic>>> {
        let whole = self.template.chart().whole();
        let (given, defaults) = (self.values.sources(), whole.charts().iter().filter_map(|chart| chart.values_file()));
        let files = given.iter().cloned().chain(defaults);
        let mut scanner = Scanner::new();
        let mut found: Vec<_> = files.flat_map(|file| given_twice(&mut scanner, &file)).collect();
        found.extend(whole.charts().iter().flat_map(unread_files));
        clusters.first().each(&mut |_, cluster| {
            found.extend(OF_FLEET.iter().filter_map(|key| self.replaced(&whole, key, cluster)));
            Ok(())
        })?;
        Ok(found)
    }

    /// Returns the warning about a value of the chart that a cluster replaces by a key that is there for its name.
    fn replaced(&self, whole: &Plan, key: &str, cluster: &Cluster) -> Option<Box<Diagnostic>> {
        let path = [Step::Key(key.to_owned())];
        let own = cluster.inputs().ok()?;
        let is_name = match own.get(key)? {
            dropforge_value::Data::Map(map) => map.contains_key("name"),
            _ => true,
        };
        let file = whole.charts().first()?.values_file()?;
        let place = yaml::read(&file, &Limits { source_bytes: usize::MAX, ..Limits::default() }).ok()?;
        let span = place.iter().rev().find_map(|document| document.entry(key))?.key.span;
        if !is_name || cluster.name().is_empty() {
            return None;
        }
        let message = format!("`{key}` of the fleet replaces the chart's own value of that name");
        let mut warning = Diagnostic::warning(Code::UnreadValue, message);
        if let Some(place) = cluster.place()
            && let Some(span) = place.find(&path)
        {
            warning = warning.at(place.source(), span, "");
        }
        let warning = warning.at(&file, span, format!("`.Values.{key}` is given here"));
        Some(warning.for_cluster(cluster.name()).with_help("name the clusters by another key, with `--name-key`"))
    }
}

/// Returns the warnings about files of a chart that Helm does not read, as they have other names than it wants.
fn unread_files(chart: &PlannedChart) -> Vec<Box<Diagnostic>> {
    let names: Vec<&str> = chart.files().iter().map(|(name, _)| name).collect();
    let has = |test: &dyn Fn(&str) -> bool| names.iter().any(|name| test(name));
    let mut found = Vec::new();
    if has(&|name| name == "values.yml") && chart.values_file().is_none() {
        let message = format!("the chart `{}` has `values.yml`, which Helm does not read", chart.path());
        found.push(Diagnostic::warning(Code::UnreadValue, message).with_help("rename it to `values.yaml`"));
    }
    if has(&|name| name.starts_with("template/")) {
        let message = format!("the chart `{}` has a folder `template`, which Helm does not render", chart.path());
        found.push(Diagnostic::warning(Code::UnreadValue, message).with_help("rename it to `templates`"));
    }
    found
}

/// Returns a warning for each key that a file has twice.
fn given_twice(scanner: &mut Scanner, file: &Arc<Source>) -> Vec<Box<Diagnostic>> {
    if scanner.is_yaml(file.text()) {
        return Vec::new();
    }
    let read = yaml::read(file, &Limits { source_bytes: usize::MAX, ..Limits::default() });
    let twice = read.err().unwrap_or_default().into_iter().filter(|error| error.code == Code::DuplicateKey);
    twice.map(|error| Diagnostic { severity: Severity::Warning, ..*error }.into()).collect()
}
