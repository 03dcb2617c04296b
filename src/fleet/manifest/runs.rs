//! The runs that made the files of a manifest: their options and what they read, to render a file again.

use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::read_log::ReadFiles;

/// The options of a run, without the values that it was given on the command line, and the files that it read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub struct RunOptions {
    /// The name of the command and its arguments, without the output directory. With [`RunOptions::read`] also those of
    /// the project file.
    pub arguments: Vec<String>,
    /// The project that owns the files. `None` in a manifest of a version that did not keep it, and for a library's runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<Owner>,
    /// The templates are those of the project file, not of the command line.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_project_templates: bool,
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

/// The name of a project file, unless a command names another.
pub const PROJECT_FILE: &str = "dropforge.toml";

/// A project that owns files.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Owner {
    /// The id that its project file gives it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The path of its folder, or of its project file if that has another name than [`PROJECT_FILE`], from `root`.
    pub place: String,
    /// The root of the repository, or the output directory.
    #[serde(skip)]
    pub root: PathBuf,
}

impl Owner {
    /// Returns `true` if both are one project. A project with an id may have moved, but one that is still in the other place
    /// has been copied with its id.
    fn is(&self, other: &Self) -> bool {
        if self.place == other.place {
            return self.id == other.id || self.id.is_none() || other.id.is_none();
        }
        let place = self.root.join(&other.place);
        self.id.is_some() && self.id == other.id && !place.is_file() && !place.join(PROJECT_FILE).is_file()
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.id {
            Some(id) => write!(f, "`{id}` in `{}`", self.place),
            None => write!(f, "in `{}`", self.place),
        }
    }
}

/// A value on the command line, of which the manifest keeps no more than its name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Withheld {
    /// The option, such as `set`.
    pub option: String,
    /// The path of the value.
    pub key: String,
    /// A short digest that tells another value from it, and too short to tell what it is.
    pub digest: String,
}

impl RunOptions {
    /// Returns the options `--fleet`.
    pub fn fleets(&self) -> Vec<&str> {
        self.arguments.iter().filter_map(|argument| argument.strip_prefix("--fleet=")).collect()
    }

    /// Returns what this run is to the files of another run.
    pub(crate) fn owns(&self, other: &Self) -> Ownership {
        match (&self.project, &other.project) {
            (Some(own), Some(project)) if !own.is(project) => Ownership::Other,
            (Some(_), Some(_)) if self.has_project_templates && other.has_project_templates => Ownership::Whole,
            _ => Ownership::Templates,
        }
    }

    /// Returns what tells runs apart: their options, whatever they read.
    fn key(&self) -> Key {
        let project = self.project.clone().map(|project| Owner { root: PathBuf::new(), ..project });
        (project, self.arguments.clone(), self.folder.clone(), self.withheld.clone())
    }
}

/// The options that tell runs apart.
type Key = (Option<Owner>, Vec<String>, Option<String>, Vec<Withheld>);

/// The files of a former run that a run may replace and prune.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ownership {
    /// None: they are another project's.
    Other,
    /// Those of the templates that it was given.
    Templates,
    /// All: both have the templates of one project, however these were named then.
    Whole,
}

/// A run and the templates whose files it made, as indexes of those of the manifest.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Stored {
    pub templates: Vec<usize>,
    #[serde(flatten)]
    pub options: RunOptions,
}

/// A template and the run that made its files, with the number of the run. A manifest names a template once for each of
/// its runs, so that a file has both.
pub(super) type Of<'r> = (&'r str, Option<(&'r RunOptions, usize)>);

/// The runs that made the files of a manifest. A run with the options of a former one takes its place, as its files are as
/// they would be now.
#[derive(Debug, Clone, Default)]
pub(super) struct Runs {
    all: Vec<RunOptions>,
    /// The numbers of the runs by their options.
    numbers: HashMap<Key, usize>,
    /// The digests of the templates of each run. Those of other files are in the runs.
    digests: Vec<ReadFiles>,
}

impl Runs {
    /// Returns what `run` is to the files of each run.
    pub fn ownership(&self, run: Option<&RunOptions>) -> Vec<Ownership> {
        self.all.iter().map(|other| run.map_or(Ownership::Templates, |run| run.owns(other))).collect()
    }

    /// Returns a run with its number.
    pub fn get(&self, run: usize) -> Option<(&RunOptions, usize)> {
        Some((self.all.get(run)?, run))
    }

    /// Returns the number of the run with these options.
    pub(super) fn find(&self, options: &RunOptions) -> Option<usize> {
        self.numbers.get(&options.key()).copied()
    }

    /// Returns a run that made a file of a template. Of all templates it has only the digest of this one.
    pub fn of(&self, run: usize, template: &str) -> Option<RunOptions> {
        let mut options = self.all.get(run)?.clone();
        if let (Some(read), Some(digest)) = (&mut options.read, self.digest(run, template)) {
            read.insert(template.to_owned(), digest.to_owned());
        }
        Some(options)
    }

    /// Returns the digest of a template.
    fn digest(&self, run: usize, template: &str) -> Option<&str> {
        let read = self.all.get(run)?.read.as_ref()?.get(template);
        read.or_else(|| self.digests.get(run)?.get(template)).map(String::as_str)
    }

    /// Adds what a manifest with these templates has stored. A digest may be empty. Returns the run of each template.
    pub fn add(&mut self, stored: Vec<Stored>, templates: &[String], digests: &[String]) -> Vec<Option<usize>> {
        let mut runs = vec![None; templates.len()];
        for Stored { templates: indexes, options } in stored {
            let run = self.add_run(options, &[]);
            for at in indexes {
                if let (Some(of), Some(template)) = (runs.get_mut(at), templates.get(at)) {
                    *of = Some(run);
                    let digest = digests.get(at).filter(|digest| !digest.is_empty());
                    if let (Some(digests), Some(digest)) = (self.digests.get_mut(run), digest) {
                        digests.insert(template.clone(), digest.clone());
                    }
                }
            }
        }
        runs
    }

    /// Takes note of a run of these templates. Returns its number.
    pub fn add_run(&mut self, mut options: RunOptions, templates: &[String]) -> usize {
        let run = *self.numbers.entry(options.key()).or_insert(self.all.len());
        self.digests.resize_with(self.digests.len().max(run + 1), ReadFiles::new);
        if let (Some(read), Some(digests)) = (&mut options.read, self.digests.get_mut(run)) {
            digests.extend(templates.iter().filter_map(|template| read.remove_entry(template)));
        }
        match self.all.get_mut(run) {
            Some(former) => *former = options,
            None => self.all.push(options),
        }
        run
    }

    /// Returns the runs of a manifest with these templates, in the order of their first templates.
    pub fn stored(&self, templates: &[Of<'_>]) -> Vec<Stored> {
        let (mut stored, mut places) = (Vec::<Stored>::new(), vec![None; self.all.len()]);
        for (at, (_, run)) in templates.iter().enumerate() {
            let Some((options, run)) = run else { continue };
            let Some(place) = places.get_mut(*run) else { continue };
            let place = *place.get_or_insert_with(|| {
                let mut options = RunOptions::clone(options);
                // Templates have their digests in a list of their own.
                let is_template = |name: &str| templates.binary_search_by(|(one, _)| (*one).cmp(name)).is_ok();
                options.read.iter_mut().for_each(|read| read.retain(|name, _| !is_template(name)));
                stored.push(Stored { templates: Vec::new(), options });
                stored.len() - 1
            });
            stored.get_mut(place).into_iter().for_each(|run| run.templates.push(at));
        }
        stored
    }

    /// Returns the digests of these templates, empty ones where there are none. Returns nothing if there are no others.
    pub fn digests(&self, templates: &[Of<'_>]) -> Vec<&str> {
        let of = |(template, run): &Of<'_>| run.and_then(|(_, run)| self.digest(run, template)).unwrap_or("");
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
        let one =
            runs.add_run(run(&["stamp"], &[("t/a", "1111"), ("t/b", "2222"), ("v", "3333")]), &names(&["t/a", "t/b"]));
        let two = runs.add_run(run(&["render"], &[("u/a", "4444"), ("v", "5555")]), &names(&["u/a"]));
        let all = [("t/a", runs.get(one)), ("t/b", runs.get(one)), ("u/a", runs.get(two)), ("x", None)];
        let (stored, digests) = (runs.stored(&all), runs.digests(&all));
        assert_eq!(digests, ["1111", "2222", "4444", ""]);
        let shown: Vec<_> = stored.iter().map(|one| (one.templates.clone(), one.options.clone())).collect();
        assert_eq!(
            shown,
            [(vec![0, 1], run(&["stamp"], &[("v", "3333")])), (vec![2], run(&["render"], &[("v", "5555")]))]
        );
        let mut again = Runs::default();
        let found = again.add(stored, &names(&["t/a", "t/b", "u/a", "x"]), &names(&["1111", "2222", "4444", ""]));
        assert_eq!(found, [Some(0), Some(0), Some(1), None]);
        assert_eq!(again.of(0, "t/a"), Some(run(&["stamp"], &[("t/a", "1111"), ("v", "3333")])));
        assert_eq!(again.of(2, "x"), None);
        assert!(runs.digests(&[("x", None)]).is_empty());
    }

    #[test]
    fn a_run_takes_the_place_of_one_with_its_options() {
        let mut runs = Runs::default();
        let all = names(&["t/a", "t/b"]);
        let one = runs.add_run(run(&["stamp"], &[("t/a", "1111"), ("v", "3333")]), &all);
        let two = runs.add_run(run(&["stamp", "-l"], &[("t/a", "2222"), ("v", "3333")]), &all);
        assert_eq!(runs.add_run(run(&["stamp"], &[("t/a", "1111"), ("t/b", "6666"), ("v", "4444")]), &all[1..]), one);
        // The template `t/a` has files of both runs.
        let all = [("t/a", runs.get(one)), ("t/a", runs.get(two)), ("t/b", runs.get(one))];
        assert_eq!(runs.digests(&all), ["1111", "2222", "6666"]);
        let read: Vec<_> = runs.stored(&all).into_iter().map(|one| (one.templates, one.options.read)).collect();
        let of = |digest| run(&[], &[("v", digest)]).read;
        assert_eq!(read, [(vec![0, 2], of("4444")), (vec![1], of("3333"))]);
    }
}
