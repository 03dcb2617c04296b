//! The runs that made the files of a manifest: their options and what they read, to render a file again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::read_log::ReadFiles;

/// The options of a run, without the values that it was given on the command line, and the files that it read.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RunOptions {
    /// The name of the command and its arguments, without the output directory. With [`RunOptions::read`] also those of
    /// the project file.
    pub arguments: Vec<String>,
    /// The path from the output directory to that where the command ran, if that is above it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// The values that were given on the command line, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub withheld: Vec<Withheld>,
    /// The digests of the files that the run read. `None` in a manifest of a version that did not keep them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<ReadFiles>,
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

impl RunOptions {
    /// Returns `true` if the other run had the same options, whatever it read.
    fn has_options_of(&self, other: &Self) -> bool {
        (&self.arguments, &self.folder, &self.withheld) == (&other.arguments, &other.folder, &other.withheld)
    }
}

/// A run and the templates whose files it made last, as indexes of those of the manifest.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Stored {
    pub templates: Vec<usize>,
    #[serde(flatten)]
    pub options: RunOptions,
}

/// The last run of each template, by its path.
#[derive(Debug, Clone, Default)]
pub(super) struct Runs {
    of: BTreeMap<String, Arc<RunOptions>>,
    /// The digests of templates. Those of other files are in the runs.
    digests: ReadFiles,
}

impl Runs {
    /// Returns the last run of a template. Of all templates it has only the digest of this one.
    pub fn of(&self, template: &str) -> Option<RunOptions> {
        let mut run = RunOptions::clone(self.of.get(template)?);
        if let (Some(read), Some((name, digest))) = (&mut run.read, self.digests.get_key_value(template)) {
            read.insert(name.clone(), digest.clone());
        }
        Some(run)
    }

    /// Adds other runs over these.
    pub fn extend(&mut self, others: Self) {
        self.of.extend(others.of);
        self.digests.extend(others.digests);
    }

    /// Adds what a manifest with these templates has stored. A digest may be empty.
    pub fn add(&mut self, stored: Vec<Stored>, templates: &[String], digests: Vec<String>) {
        let known = templates.iter().cloned().zip(digests).filter(|(_, digest)| !digest.is_empty());
        self.digests.extend(known);
        for Stored { templates: indexes, options } in stored {
            let options = Arc::new(options);
            let names = indexes.into_iter().filter_map(|at| templates.get(at));
            self.of.extend(names.map(|name| (name.clone(), options.clone())));
        }
    }

    /// Takes note of a run of these templates. A run of some templates with the options of a former one leaves the others
    /// as they would be now.
    pub fn add_run(&mut self, options: &RunOptions, templates: &[String]) {
        let mut options = options.clone();
        let mut own = ReadFiles::default();
        if let Some(read) = &mut options.read {
            own.extend(templates.iter().filter_map(|name| read.remove_entry(name)));
        }
        self.add_options(Arc::new(options), templates);
        self.digests.extend(own);
    }

    fn add_options(&mut self, run: Arc<RunOptions>, templates: &[String]) {
        let former = self.of.values_mut().filter(|former| former.has_options_of(&run));
        former.for_each(|former| former.clone_from(&run));
        self.of.extend(templates.iter().map(|name| (name.clone(), run.clone())));
        // A run of some templates has read the others, too.
        let read = run.read.iter().flatten().filter(|(name, _)| self.of.contains_key(*name));
        self.digests.extend(read.map(|(name, digest)| (name.clone(), digest.clone())));
    }

    /// Returns the runs of a manifest with these templates, in the order of their first templates.
    pub fn stored(&self, templates: &BTreeSet<&str>) -> Vec<Stored> {
        let mut runs: Vec<(&Arc<RunOptions>, Vec<usize>)> = Vec::new();
        for (at, template) in templates.iter().enumerate() {
            let Some(run) = self.of.get(*template) else { continue };
            match runs.iter_mut().find(|(one, _)| Arc::ptr_eq(one, run) || *one == run) {
                Some((_, indexes)) => indexes.push(at),
                None => runs.push((run, vec![at])),
            }
        }
        let stored = runs.into_iter().map(|(run, indexes)| {
            let mut options = RunOptions::clone(run);
            // Templates have their digests in a list of their own.
            options.read.iter_mut().for_each(|read| read.retain(|name, _| !templates.contains(name.as_str())));
            Stored { templates: indexes, options }
        });
        stored.collect()
    }

    /// Returns the digests of these templates, empty ones where there are none. Returns nothing if there are no others.
    pub fn digests(&self, templates: &BTreeSet<&str>) -> Vec<&str> {
        let of = |template: &&str| self.digests.get(*template).map_or("", String::as_str);
        let all: Vec<&str> = templates.iter().map(of).collect();
        if all.iter().all(|digest| digest.is_empty()) { Vec::new() } else { all }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(arguments: &[&str], read: &[(&str, &str)]) -> RunOptions {
        let read = read.iter().map(|(name, digest)| ((*name).to_owned(), (*digest).to_owned())).collect();
        let arguments = arguments.iter().map(|one| (*one).to_owned()).collect();
        RunOptions { arguments, read: Some(read), ..RunOptions::default() }
    }

    fn names(all: &[&str]) -> Vec<String> {
        all.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn templates_have_their_digests_in_a_list_of_their_own() {
        let mut runs = Runs::default();
        runs.add_run(&run(&["stamp"], &[("t/a", "1111"), ("t/b", "2222"), ("v", "3333")]), &names(&["t/a", "t/b"]));
        runs.add_run(&run(&["render"], &[("u/a", "4444"), ("v", "5555")]), &names(&["u/a"]));
        let all = BTreeSet::from(["t/a", "t/b", "u/a", "x"]);
        let (stored, digests) = (runs.stored(&all), runs.digests(&all));
        assert_eq!(digests, ["1111", "2222", "4444", ""]);
        let shown: Vec<_> = stored.iter().map(|one| (one.templates.clone(), one.options.clone())).collect();
        assert_eq!(
            shown,
            [(vec![0, 1], run(&["stamp"], &[("v", "3333")])), (vec![2], run(&["render"], &[("v", "5555")]))]
        );
        let mut again = Runs::default();
        again.add(stored, &names(&["t/a", "t/b", "u/a", "x"]), names(&["1111", "2222", "4444", ""]));
        assert_eq!(again.of("t/a"), Some(run(&["stamp"], &[("t/a", "1111"), ("v", "3333")])));
        assert_eq!(again.of("x"), None);
        assert!(Runs::default().digests(&all).is_empty());
    }

    #[test]
    fn a_run_of_some_templates_is_the_last_one_of_all_with_its_options() {
        let mut runs = Runs::default();
        runs.add_run(&run(&["stamp"], &[("t/a", "1111"), ("v", "3333")]), &names(&["t/a", "t/b"]));
        runs.add_run(&run(&["stamp", "-l"], &[("v", "3333")]), &names(&["t/c"]));
        runs.add_run(&run(&["stamp"], &[("t/a", "1111"), ("t/b", "6666"), ("v", "4444")]), &names(&["t/b"]));
        let all = BTreeSet::from(["t/a", "t/b", "t/c"]);
        assert_eq!(runs.digests(&all), ["1111", "6666", ""]);
        let read: Vec<_> = runs.stored(&all).into_iter().map(|one| (one.templates, one.options.read)).collect();
        let of = |digest| run(&[], &[("v", digest)]).read;
        assert_eq!(read, [(vec![0, 1], of("4444")), (vec![2], of("3333"))]);
    }
}
