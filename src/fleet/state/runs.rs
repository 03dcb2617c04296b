//! The runs that made the files of a state: their options and what they read, to render a file again.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::read_log::ReadFiles;

/// The version of the format. Versions 1 and 2 were one file of JSON.
const VERSION: u32 = 3;

/// The options of a run, without the values that it was given on the command line, and the files that it read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub struct RunOptions {
    /// The name of the command and its arguments, without the output directory. With [`RunOptions::read`] also those of
    /// the project file.
    pub arguments: Vec<String>,
    /// The project that owns the files. `None` in a state of a version that did not keep it, and for a library's runs.
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
    /// The digests of the files that the run read. `None` in a state of a version that did not keep them.
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

/// A value on the command line, of which the state keeps no more than its name.
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
        self.arguments.iter().filter_map(|argument| argument.strip_prefix(FLEET)).collect()
    }

    /// Returns what this run is to the files of another run.
    pub(crate) fn owns(&self, other: &Self) -> Ownership {
        match (&self.project, &other.project) {
            (Some(own), Some(project)) if !own.is(project) => Ownership::Other,
            (Some(_), Some(_)) if self.has_project_templates && other.has_project_templates => Ownership::Whole,
            _ => Ownership::Templates,
        }
    }

    /// Returns what tells runs apart: a digest of their options, whatever they read and whichever values they were given. A
    /// run with the options of a former one takes its place. A list of fleets is known by their folders, because it grows with
    /// the clusters, and a branch that adds one to it may not change the lines of the others.
    fn id(&self) -> String {
        let withheld: Vec<_> = self.withheld.iter().map(|one| (&one.option, &one.key)).collect();
        let folder = |fleet: &str| fleet.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
        let has_list = self.fleets().len() > 1;
        let others = self.arguments.iter().filter(|argument| !has_list || !argument.starts_with(FLEET));
        let folders: BTreeSet<_> = self.fleets().into_iter().filter(|_| has_list).map(folder).collect();
        let key = (&self.project, others.collect::<Vec<_>>(), folders, &self.folder, withheld);
        let key = serde_json::to_vec(&key).unwrap_or_default();
        blake3::hash(&key).to_hex().chars().take(ID).collect()
    }
}

/// The start of an option that names a fleet.
const FLEET: &str = "--fleet=";

/// The number of hexadecimal digits of the id of a run.
const ID: usize = 8;

/// The files of a former run that a run may replace and prune.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ownership {
    /// None: they are another project's.
    Other,
    /// None: the state does not have the run.
    Unknown,
    /// Those of the templates that it was given.
    Templates,
    /// All: both have the templates of one project, however these were named then.
    Whole,
}

/// A run as a state keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct StoredRun {
    #[serde(flatten)]
    pub(super) options: RunOptions,
    /// The digests of the templates of outputs. Those of other files are in the options.
    #[serde(default, skip_serializing_if = "ReadFiles::is_empty")]
    pub(super) templates: ReadFiles,
}

impl StoredRun {
    /// Takes the digests of these templates out of the options.
    pub(crate) fn of<'t>(mut options: RunOptions, templates: impl IntoIterator<Item = &'t str>) -> Self {
        let read = &mut options.read;
        let mut digest = |template| read.as_mut().and_then(|read| read.remove_entry(template));
        let templates = templates.into_iter().filter_map(&mut digest).collect();
        Self { options, templates }
    }

    /// Returns the options for a template. Of all templates they have only the digest of this one.
    pub(crate) fn of_template(&self, template: &str) -> RunOptions {
        let mut options = self.options.clone();
        if let Some(read) = &mut options.read {
            read.extend(self.templates.get_key_value(template).map(|(name, digest)| (name.clone(), digest.clone())));
        }
        options
    }
}

/// The runs that made the files of a state.
#[derive(Debug, Clone, Default)]
pub(super) struct Runs {
    /// The runs with their ids. Of some only the id is known.
    all: Vec<(String, Option<StoredRun>)>,
    numbers: HashMap<String, usize>,
}

/// The file of runs.
#[derive(Debug, Serialize, Deserialize)]
struct RunsFile {
    version: u32,
    /// The last run ended early.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    incomplete: bool,
    runs: BTreeMap<String, StoredRun>,
}

impl Runs {
    /// Adds the runs of a file. Returns whether the last run ended early, or `None` for another text.
    pub fn parse(&mut self, text: &str) -> Option<bool> {
        let file: RunsFile = serde_json::from_str(text).ok().filter(|file: &RunsFile| file.version == VERSION)?;
        file.runs.into_iter().for_each(|(id, run)| _ = self.add(id, run));
        Some(file.incomplete)
    }

    /// Returns the file of these runs. `has_files` tells the templates that still have files.
    pub fn text(&self, of: &BTreeSet<usize>, has_files: impl Fn(usize, &str) -> bool, incomplete: bool) -> String {
        let known = of.iter().filter_map(|run| Some((run, self.all.get(*run)?)));
        let runs = known.filter_map(|(number, (id, run))| {
            let mut run = run.clone()?;
            run.templates.retain(|template, _| has_files(*number, template));
            Some((id.clone(), run))
        });
        let file = RunsFile { version: VERSION, incomplete, runs: runs.collect() };
        serde_json::to_string_pretty(&file).unwrap_or_default() + "\n"
    }

    /// Returns what `run` is to the files of each run.
    pub fn ownership(&self, run: Option<&RunOptions>) -> Vec<Ownership> {
        let of = |other: &StoredRun| run.map_or(Ownership::Templates, |run| run.owns(&other.options));
        self.all.iter().map(|(_, other)| other.as_ref().map_or(Ownership::Unknown, of)).collect()
    }

    /// Returns a run.
    pub fn get(&self, run: usize) -> Option<&StoredRun> {
        self.all.get(run)?.1.as_ref()
    }

    /// Returns the id of a run.
    pub fn id(&self, run: usize) -> &str {
        self.all.get(run).map_or("", |(id, _)| id)
    }

    /// Returns the numbers of all runs.
    pub fn numbers(&self) -> impl Iterator<Item = usize> {
        0..self.all.len()
    }

    /// Returns the number of the run with these options.
    pub fn find(&self, options: &RunOptions) -> Option<usize> {
        self.number(&options.id())
    }

    /// Returns the number of the run with this id.
    pub fn number(&self, id: &str) -> Option<usize> {
        self.numbers.get(id).copied()
    }

    /// Takes note of a run of which only the id is known.
    pub fn note(&mut self, id: &str) -> usize {
        *self.numbers.entry(id.to_owned()).or_insert_with(|| {
            self.all.push((id.to_owned(), None));
            self.all.len() - 1
        })
    }

    /// Adds a run, in the place of a former one with this id. Returns its number.
    pub fn add(&mut self, id: String, run: StoredRun) -> usize {
        let number = self.note(&id);
        self.all.get_mut(number).into_iter().for_each(|(_, former)| *former = Some(run.clone()));
        number
    }

    /// Adds a run with its digests. Returns its number.
    pub fn add_stored(&mut self, run: StoredRun) -> usize {
        self.add(run.options.id(), run)
    }

    /// Adds a run of these templates. It keeps the digests of others that a former one with its options had. Returns its
    /// number.
    pub fn add_run<'t>(&mut self, options: RunOptions, templates: impl IntoIterator<Item = &'t str>) -> usize {
        let id = options.id();
        let mut run = StoredRun::of(options, templates);
        if let Some(former) = self.number(&id).and_then(|number| self.get(number)) {
            let others = former.templates.iter().filter(|(template, _)| !run.templates.contains_key(*template));
            let others: Vec<_> = others.map(|(template, digest)| (template.clone(), digest.clone())).collect();
            run.templates.extend(others);
        }
        self.add(id, run)
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

    #[test]
    fn templates_have_digests_of_their_own() {
        let mut runs = Runs::default();
        let one = runs.add_run(run(&["stamp"], &[("t/a", "1111"), ("t/b", "2222"), ("v", "3333")]), ["t/a", "t/b"]);
        let two = runs.add_run(run(&["render"], &[("u/a", "4444"), ("v", "5555")]), ["u/a"]);
        let lost = runs.note("0f");
        let text = runs.text(&runs.numbers().collect(), |_, template| template != "t/b", true);
        let mut again = Runs::default();
        assert_eq!(again.parse(&text), Some(true));
        let of = |number, template| again.get(again.number(runs.id(number))?).map(|run| run.of_template(template));
        assert_eq!(of(one, "t/a"), Some(run(&["stamp"], &[("t/a", "1111"), ("v", "3333")])));
        assert_eq!(of(one, "t/b"), Some(run(&["stamp"], &[("v", "3333")])));
        assert_eq!(of(two, "u/a"), Some(run(&["render"], &[("u/a", "4444"), ("v", "5555")])));
        assert_eq!((of(lost, "x"), runs.ownership(None)[lost]), (None, Ownership::Unknown));
        assert_eq!(runs.text(&[one].into(), |_, _| true, false).matches("\"arguments\"").count(), 1);
        for bad in [
            "",
            "{}",
            "[]",
            "{\"version\":4,\"runs\":{}}",
            "{\"version\":3,\"runs\":[]}",
            "{\"version\":3,\"runs\":{\"x\":1}}",
        ] {
            assert_eq!(Runs::default().parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_run_takes_the_place_of_one_with_its_options() {
        let mut runs = Runs::default();
        let one = runs.add_run(run(&["stamp"], &[("t/a", "1111"), ("v", "3333")]), ["t/a", "t/b"]);
        let two = runs.add_run(run(&["stamp", "-l"], &[("t/a", "2222"), ("v", "3333")]), ["t/a"]);
        assert_eq!(runs.add_run(run(&["stamp"], &[("t/b", "6666"), ("v", "4444")]), ["t/b"]), one);
        let read = |number: usize, template| runs.get(number).and_then(|run| run.of_template(template).read);
        assert_eq!(read(one, "t/a"), run(&[], &[("t/a", "1111"), ("v", "4444")]).read);
        assert_eq!(read(one, "t/b"), run(&[], &[("t/b", "6666"), ("v", "4444")]).read);
        assert_eq!(read(two, "t/a"), run(&[], &[("t/a", "2222"), ("v", "3333")]).read);
        // Another value of an option is the same run, and another option is another one.
        let set = |key: &str, digest: &str| {
            let withheld = Withheld { option: "set".to_owned(), key: key.to_owned(), digest: digest.to_owned() };
            RunOptions { withheld: vec![withheld], ..run(&["stamp"], &[]) }.id()
        };
        assert!(set("a", "1") == set("a", "2") && set("a", "1") != set("b", "1"));
        // A list of files of clusters grows, and one file is the whole fleet.
        let of = |fleets: &[&str]| run(fleets, &[]).id();
        assert_eq!(
            of(&["--fleet=c/1.yaml", "--fleet=c/2.yaml"]),
            of(&["--fleet=c/1.yaml", "--fleet=c/2.yaml", "--fleet=c/3.yaml"])
        );
        assert!(of(&["--fleet=c/1.yaml", "--fleet=c/2.yaml"]) != of(&["--fleet=c/1.yaml", "--fleet=d/2.yaml"]));
        assert!(of(&["--fleet=p.csv"]) != of(&["--fleet=d.csv"]));
    }
}
