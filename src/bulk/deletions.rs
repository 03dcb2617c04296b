//! The files of a manifest that nothing makes any more.
//!
//! A run only judges the files of its own templates: those that it was given, and those that it would have been given
//! by the same directory. Two runs with different templates can therefore share an output directory.

use std::collections::HashMap;

use super::job::Job;
use super::key_set::SortedKeys;
use super::manifest::{Entry, Manifest};
use crate::diagnostics::{Result, counted};

/// The paths of the templates of a run. A manifest names templates by them.
///
/// ```
/// use dropforge::bulk::TemplatePaths;
/// let mut paths = TemplatePaths::default();
/// paths.give("deploy/app");
/// paths.add("svc.tera", "deploy/app/svc.tera");
/// assert_eq!(paths.path("svc.tera"), "deploy/app/svc.tera");
/// assert!(paths.covers("deploy/app/deleted.tera") && !paths.covers("deploy/other.tera"));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TemplatePaths {
    /// The path of each template, by name.
    paths: HashMap<String, String>,
    given: Vec<String>,
}

impl TemplatePaths {
    /// Sets the path of a template. A template without one has its name as path.
    pub fn add(&mut self, template: impl Into<String>, path: impl Into<String>) {
        self.paths.insert(template.into(), path.into());
    }

    /// Adds a file or a directory that the run was given, with `/` and without a `/` at its end. `.` stands for all
    /// relative paths that do not begin with `..`.
    pub fn give(&mut self, path: impl Into<String>) {
        self.given.push(path.into());
    }

    /// Returns the path of a template.
    pub fn path<'p>(&'p self, template: &'p str) -> &'p str {
        self.paths.get(template).map_or(template, String::as_str)
    }

    /// Returns `true` if the run was given the template at `path`, or would be if it existed. A run that was given
    /// nothing covers all templates.
    pub fn covers(&self, path: &str) -> bool {
        let is_below = |given: &String| match path.strip_prefix(given.as_str()) {
            Some(rest) => rest.is_empty() || rest.starts_with('/'),
            None => given == "." && !path.starts_with("../") && !path.starts_with('/'),
        };
        self.given.is_empty() || self.given.iter().any(is_below)
    }
}

/// Files of a manifest that nothing makes any more.
#[derive(Debug, Default)]
pub(super) struct Deletions {
    /// The paths, sorted.
    pub(super) paths: Vec<String>,
    /// The number of files that may be among them, but whose clusters were not selected.
    pub(super) unknown: usize,
    /// The number of files of the run's templates.
    pub(super) of_run: usize,
}

impl Deletions {
    /// Finds the files that are not in `made`, the paths that clusters of the whole fleet make.
    ///
    /// # Errors
    /// Errors of reading clusters.
    pub(super) fn find(job: &Job<'_>, manifest: &Manifest, made: &SortedKeys) -> Result<Self> {
        let unknown = job.plan.unknown_clusters(job.fleet)?;
        let mut found = Self::default();
        for (path, entry) in manifest.entries().filter(|(_, entry)| is_of_run(job, entry)) {
            found.of_run += 1;
            let is_unknown = match (&unknown, &entry.maker) {
                (None, _) => false,
                (Some(unknown), Some(maker)) => unknown.contains(&maker.cluster)?,
                (Some(_), None) => true,
            };
            match made.contains(path)? {
                true => {}
                false if is_unknown => found.unknown += 1,
                false => found.paths.push(path.to_owned()),
            }
        }
        Ok(found)
    }

    /// Returns a note about the files that the run cannot judge.
    pub(super) fn note(&self) -> Option<String> {
        let files = counted(self.unknown, "file");
        (self.unknown > 0).then(|| {
            format!(
                "{files} of clusters that are not selected may be out of date: only a run without `--selector` knows"
            )
        })
    }
}

/// Returns `true` if a template of the run made the file. Files of unknown makers are only pruned.
fn is_of_run(job: &Job<'_>, entry: &Entry) -> bool {
    match &entry.maker {
        Some(maker) => job.options.templates.covers(&maker.template),
        None => job.options.prune,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_cover_what_is_below_them() {
        let paths = |given: &[&str]| {
            let mut paths = TemplatePaths::default();
            given.iter().for_each(|path| paths.give(*path));
            paths
        };
        assert!(paths(&[]).covers("a") && paths(&["t"]).covers("t") && paths(&["t/a.tera"]).covers("t/a.tera"));
        assert!(!paths(&["t"]).covers("t2/a") && !paths(&["t/a"]).covers("t") && !paths(&["t"]).covers("../t/a"));
        assert!(paths(&["."]).covers("a/b") && !paths(&["."]).covers("../a") && !paths(&["."]).covers("/a"));
        assert!(paths(&["a", "../b"]).covers("../b/c"));
    }
}
