//! The runs that made the files of a manifest: their options, to render a file again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The options of a run, without the values that it was given on the command line.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RunOptions {
    /// The name of the command and its arguments, without the output directory.
    pub arguments: Vec<String>,
    /// The path from the output directory to that where the command ran, if that is above it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// The values that were given on the command line, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub withheld: Vec<Withheld>,
}

/// A value on the command line, of which the manifest keeps no more than its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Withheld {
    /// The option, such as `set`.
    pub option: String,
    /// The path of the value.
    pub key: String,
    /// A short digest that tells another value from it, and too short to tell what it is.
    pub digest: String,
}

/// A run and the templates whose files it made last, as indexes of those of the manifest.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Stored<'m> {
    pub templates: Vec<usize>,
    #[serde(flatten)]
    pub options: std::borrow::Cow<'m, RunOptions>,
}

/// The last run of each template, by its path.
#[derive(Debug, Clone, Default)]
pub(super) struct Runs(BTreeMap<String, Arc<RunOptions>>);

impl Runs {
    /// Returns the last run of a template.
    pub fn of(&self, template: &str) -> Option<&RunOptions> {
        self.0.get(template).map(Arc::as_ref)
    }

    /// Adds other runs over these.
    pub fn extend(&mut self, others: Self) {
        self.0.extend(others.0);
    }

    /// Adds what a manifest with these templates has stored.
    pub fn add(&mut self, stored: Vec<Stored<'_>>, templates: &[String]) {
        for Stored { templates: indexes, options } in stored {
            let options = Arc::new(options.into_owned());
            let names = indexes.into_iter().filter_map(|at| templates.get(at));
            self.0.extend(names.map(|name| (name.clone(), options.clone())));
        }
    }

    /// Takes note of a run of these templates.
    pub fn add_run(&mut self, options: &RunOptions, templates: &[String]) {
        let options = Arc::new(options.clone());
        self.0.extend(templates.iter().map(|name| (name.clone(), options.clone())));
    }

    /// Returns the runs of a manifest with these templates, in the order of their first templates.
    pub fn stored<'m>(&'m self, templates: &BTreeSet<&str>) -> Vec<Stored<'m>> {
        let mut stored: Vec<Stored<'m>> = Vec::new();
        for (at, template) in templates.iter().enumerate() {
            let Some(options) = self.of(template) else { continue };
            match stored.iter_mut().find(|run| run.options.as_ref() == options) {
                Some(run) => run.templates.push(at),
                None => stored.push(Stored { templates: vec![at], options: std::borrow::Cow::Borrowed(options) }),
            }
        }
        stored
    }
}
