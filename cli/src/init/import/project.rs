//! The project that an import writes, notes about what is left out, and the errors of what it reads.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use dropforge::diagnostics::{Code, Diagnostic};
use dropforge::files;
use dropforge::text::{Source, Span};
use dropforge::value::{Data, DataMap, yaml};

use super::fold;
use super::sources::Sources;
use crate::project::FILE;

/// The file with the clusters.
const CLUSTERS: &str = "clusters.yaml";

/// A project in the making.
#[derive(Debug, Default)]
pub(super) struct Project {
    /// The clusters: their names and own values.
    pub(super) clusters: Vec<(String, DataMap)>,
    pub(super) layers: Vec<String>,
    pub(super) releases: Vec<Release>,
    files: BTreeMap<String, Content>,
    /// The folders that are copied, by their paths in the project.
    folders: BTreeMap<String, PathBuf>,
    /// The folder that the project is written to.
    dir: PathBuf,
    pub(super) notes: Notes,
}

/// The content of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Content {
    Text(String),
    /// A copy of another file.
    Copy(PathBuf),
}

/// A release of the project.
#[derive(Debug, Default)]
pub(super) struct Release {
    /// The name in the imported file, for comments.
    pub(super) subject: String,
    pub(super) name: String,
    pub(super) chart: Option<String>,
    pub(super) templates: Vec<String>,
    pub(super) namespace: Option<String>,
    pub(super) values: Vec<String>,
    pub(super) when: Option<String>,
    pub(super) labels: BTreeMap<String, String>,
    pub(super) options: BTreeMap<&'static str, Setting>,
    /// The patches, with the paths of their files.
    pub(super) patches: Vec<(PatchHead, String)>,
}

/// The objects that a patch is for, and its form.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct PatchHead {
    /// The keys of the target with their patterns. None for a merge that names its object.
    pub(super) target: Option<Vec<(&'static str, String)>>,
    /// It has operations.
    pub(super) is_json: bool,
}

/// The value of an option of a release.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Setting {
    Flag,
    Text(String),
    Texts(Vec<String>),
}

impl Project {
    /// Creates a project that is to be written to `dir`.
    pub(super) fn new(dir: &Path) -> Self {
        Self { dir: dir.to_owned(), ..Self::default() }
    }

    /// Returns the number of a cluster, which is added if it is new. Its values are added to those that it has.
    pub(super) fn cluster(&mut self, name: &str, own: DataMap) -> usize {
        let name = file_name(name);
        if let Some(at) = self.clusters.iter().position(|(known, _)| *known == name) {
            if let Some((_, known)) = self.clusters.get_mut(at) {
                for (key, value) in own {
                    known.entry(key).or_insert(value);
                }
            }
            return at;
        }
        let first = ("name".to_owned(), Data::Str(name.clone()));
        let own = std::iter::once(first).chain(own.into_iter().filter(|(key, _)| key != "name")).collect();
        self.clusters.push((name, own));
        self.clusters.len() - 1
    }

    /// Adds a file with a text at a path that has no other content, and returns the path.
    pub(super) fn add(&mut self, path: &str, text: String) -> String {
        self.put(path, Content::Text(text))
    }

    /// Adds a copy of a file, and returns its path. Files below the imported one keep their places.
    pub(super) fn copy(&mut self, sources: &Sources, path: &Path) -> String {
        let place = place(sources, path);
        self.put(&place, Content::Copy(path.to_owned()))
    }

    /// Adds a copy of a file at a path, and returns the path.
    pub(super) fn copy_as(&mut self, place: &str, path: &Path) -> String {
        self.put(place, Content::Copy(path.to_owned()))
    }

    /// Adds copies of the files of a folder, and returns its path.
    ///
    /// # Errors
    /// Errors of listing the files.
    pub(super) fn copy_folder(
        &mut self,
        sources: &mut Sources,
        folder: &Path,
    ) -> dropforge::diagnostics::Result<String> {
        let place = place(sources, folder);
        let is_free = |into: &String| {
            let is_own = self.folders.get(into).is_none_or(|known| known == folder);
            let there = self.dir.join(into);
            is_own && (!there.exists() || files::is_same(&there, folder))
        };
        let numbered = (2..).map(|number| format!("{place}-{number}"));
        let into = std::iter::once(place.clone()).chain(numbered).find(is_free).unwrap_or(place);
        self.folders.insert(into.clone(), folder.to_owned());
        for file in sources.below(folder)? {
            let Some(name) = file.to_str() else { continue };
            self.files.insert(format!("{into}/{name}"), Content::Copy(folder.join(&file)));
        }
        Ok(into)
    }

    fn put(&mut self, path: &str, content: Content) -> String {
        let (folder, name) = path.rsplit_once('/').map_or(("", path), |(folder, name)| (folder, name));
        let (stem, ending) = name.split_once('.').map_or((name, ""), |(stem, ending)| (stem, ending));
        let numbered = |number: usize| match (folder, ending) {
            ("", "") => format!("{stem}-{number}"),
            ("", ending) => format!("{stem}-{number}.{ending}"),
            (folder, "") => format!("{folder}/{stem}-{number}"),
            (folder, ending) => format!("{folder}/{stem}-{number}.{ending}"),
        };
        let names = std::iter::once(path.to_owned()).chain((2..).map(numbered));
        for name in names {
            match self.files.get(&name) {
                Some(known) if *known != content => {}
                Some(_) => return name,
                // A file that is there already keeps its name.
                None if self.is_taken(&name, &content) => {}
                None => {
                    self.files.insert(name.clone(), content);
                    return name;
                }
            }
        }
        path.to_owned()
    }

    /// Returns an ending for files of these names in a folder, with the first number at which none of them is there.
    pub(super) fn free_ending(&self, folder: &str, first: usize, names: &[String]) -> String {
        let ending = |number: usize| if number == 1 { ".yaml".to_owned() } else { format!("-{number}.yaml") };
        let is_free = |ending: &String| {
            names
                .iter()
                .map(|name| format!("{folder}/{name}{ending}"))
                .all(|path| !self.files.contains_key(&path) && self.dir.join(path).symlink_metadata().is_err())
        };
        (first..).map(ending).find(is_free).unwrap_or_default()
    }

    /// Returns `true` if there is another file at a path.
    fn is_taken(&self, name: &str, content: &Content) -> bool {
        let there = self.dir.join(name);
        let is_itself = match content {
            Content::Copy(from) => files::is_same(&there, from),
            Content::Text(_) => false,
        };
        !is_itself && there.symlink_metadata().is_ok()
    }

    /// Gives a release a name that no other has.
    pub(super) fn add_release(&mut self, mut release: Release, clusters: &[usize]) {
        let is_taken = |name: &str, all: &[Release]| all.iter().any(|other| other.name == name);
        if is_taken(&release.name, &self.releases) {
            let texts: Vec<_> = clusters.iter().map(|at| (*at, fold::filled(&release.name, *at, self))).collect();
            let mut key = fold::key_of(&release.subject);
            while is_taken(&format!("{{names.{key}}}"), &self.releases) {
                key.push_str("-2");
            }
            release.name = fold::with_key(&format!("names.{key}"), &texts, self);
        }
        self.releases.push(release);
    }

    /// Returns all files of the project.
    pub(super) fn finish(mut self, id: &str) -> (BTreeMap<String, Content>, Notes) {
        let clusters = self.clusters.iter().map(|(_, own)| Data::Map(own.clone())).collect();
        let clusters = yaml::to_string(&Data::List(clusters));
        let text = self.toml(id);
        self.files.insert(CLUSTERS.to_owned(), Content::Text(clusters));
        self.files.insert(FILE.to_owned(), Content::Text(text));
        (self.files, self.notes)
    }

    fn toml(&self, id: &str) -> String {
        let known: Vec<&str> = self.releases.iter().map(|release| release.subject.as_str()).collect();
        let is_general = |release: Option<&str>| release.is_none_or(|release| !known.contains(&release));
        let mut text = self.notes.comments(&is_general);
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&format!("id = {id}\nfleet = [{}]\n", quoted(CLUSTERS)));
        if !self.layers.is_empty() {
            text.push_str(&format!("layers = {}\n", quoted_list(&self.layers)));
        }
        text.push_str("\n[output]\ndir = \"out\"\n");
        let mut told: Vec<&str> = Vec::new();
        for release in &self.releases {
            let subject = release.subject.as_str();
            text.push('\n');
            if !told.contains(&subject) {
                text.push_str(&self.notes.comments(&|of| of == Some(subject)));
                told.push(subject);
            }
            release.write(&mut text);
        }
        text
    }
}

impl Release {
    fn write(&self, text: &mut String) {
        let mut line = |key: &str, value: String| text.push_str(&format!("{key} = {value}\n"));
        line("[[release]]\nname", quoted(&self.name));
        if let Some(chart) = &self.chart {
            line("chart", quoted(chart));
        }
        if !self.templates.is_empty() {
            line("templates", quoted_list(&self.templates));
        }
        if let Some(namespace) = &self.namespace {
            line("namespace", quoted(namespace));
        }
        if !self.values.is_empty() {
            line("values", quoted_list(&self.values));
        }
        if let Some(when) = &self.when {
            line("when", quoted(when));
        }
        if !self.labels.is_empty() {
            let labels: Vec<_> =
                self.labels.iter().map(|(key, value)| format!("{} = {}", quoted(key), quoted(value))).collect();
            line("labels", format!("{{ {} }}", labels.join(", ")));
        }
        for (key, setting) in &self.options {
            let value = match setting {
                Setting::Flag => "true".to_owned(),
                Setting::Text(text) => quoted(text),
                Setting::Texts(texts) => quoted_list(texts),
            };
            line(key, value);
        }
        if !self.patches.is_empty() {
            let patches: Vec<_> =
                self.patches.iter().map(|(head, path)| format!("    {},\n", head.with(path))).collect();
            line("patches", format!("[\n{}]", patches.concat()));
        }
    }
}

impl PatchHead {
    /// Returns the table of the patch with this content.
    fn with(&self, path: &str) -> String {
        let keys = |keys: &Vec<(&str, String)>| {
            let keys: Vec<_> = keys.iter().map(|(key, pattern)| format!("{key} = {}", quoted(pattern))).collect();
            format!("target = {{ {} }}, ", keys.join(", "))
        };
        let form = if self.is_json { "json" } else { "merge" };
        format!("{{ {}{form} = {} }}", self.target.as_ref().map(keys).unwrap_or_default(), quoted(path))
    }
}

/// Returns a text as a string of TOML.
fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default().replace('\u{7f}', "\\u007F")
}

fn quoted_list(texts: &[String]) -> String {
    let texts: Vec<_> = texts.iter().map(|text| quoted(text)).collect();
    format!("[{}]", texts.join(", "))
}

/// Returns the path in the project of a file that is copied: the path from the folder of the imported file, or else that
/// from the folder that all files are below.
pub(super) fn place(sources: &Sources, path: &Path) -> String {
    let within = path.strip_prefix(sources.base()).or_else(|_| path.strip_prefix(sources.root())).unwrap_or(path);
    let names = within.components().filter_map(|part| match part {
        Component::Normal(name) => name.to_str(),
        _ => None,
    });
    let path = names.collect::<Vec<_>>().join("/").replace(['{', '}'], "_");
    // What the project itself writes has other contents.
    match path.as_str() {
        "" => "imported".to_owned(),
        FILE | CLUSTERS => format!("imported/{path}"),
        _ => path,
    }
}

/// Returns a text as the name of a file or a cluster.
pub(super) fn file_name(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_.".contains(c);
    let name: String = text.trim().chars().map(|c| if is_plain(c) { c } else { '-' }).collect();
    let name = name.trim_matches(['-', '.']);
    let name: String = name.chars().take(200).collect();
    if name.is_empty() { "unnamed".to_owned() } else { name }
}

/// The end of the note about keys that act when releases are installed.
const NOT_RENDERED: &str = ": no rendered output depends on this";

/// A place in a file.
pub(super) type Place = (Arc<Source>, Span);

/// A part of the imported files that is not translated.
#[derive(Debug)]
pub(super) struct Note {
    message: String,
    help: String,
    place: Option<Place>,
    /// The number of other places with the same message.
    more: usize,
    /// The release that it is about.
    release: Option<String>,
}

/// Notes and errors of an import.
#[derive(Debug, Default)]
pub(super) struct Notes {
    found: Vec<Note>,
    pub(super) errors: Vec<Box<Diagnostic>>,
}

impl Notes {
    /// Notes that something is left out. A message that is known already counts as one more place.
    pub(super) fn left_out(&mut self, place: Option<Place>, message: impl Into<String>, help: impl Into<String>) {
        self.left_out_of(None, place, message, help);
    }

    /// Works like [`Notes::left_out`], for a part of a release.
    pub(super) fn left_out_of(
        &mut self,
        release: Option<&str>,
        place: Option<Place>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        let message = message.into();
        let is_at = |note: &Note| match (&note.place, &place) {
            (Some((source, span)), Some((other, at))) => source.name() == other.name() && span == at,
            (None, None) => true,
            _ => false,
        };
        if let Some(known) = self.found.iter_mut().find(|note| note.message == message) {
            known.more += usize::from(!is_at(known));
            return;
        }
        let release = release.map(str::to_owned);
        self.found.push(Note { message, help: help.into(), place, more: 0, release });
    }

    /// Notes a key that acts when releases are installed, with all others of that kind in one note.
    pub(super) fn at_installation(&mut self, place: Place, key: &str) {
        let key = format!("`{key}`");
        let help = "set what you need of it where the files are applied";
        let Some(note) = self.found.iter_mut().find(|note| note.help == help) else {
            return self.left_out(Some(place), format!("{key}{NOT_RENDERED}"), help);
        };
        let known = note.message.trim_end_matches(NOT_RENDERED).to_owned();
        if !known.split(", ").any(|other| other == key) {
            note.message = format!("{known}, {key}{NOT_RENDERED}");
        }
    }

    /// Adds an error about the structure of the imported files.
    pub(super) fn wrong(&mut self, place: Place, message: impl Into<String>) {
        self.error(Diagnostic::new(Code::InputStructure, message).at(&place.0, place.1, ""));
    }

    /// Adds an error, unless it is known: files are read once for each environment.
    pub(super) fn error(&mut self, error: Box<Diagnostic>) {
        let is_same = |known: &Diagnostic| known.message == error.message && known.position() == error.position();
        if !self.errors.iter().any(|known| is_same(known)) {
            self.errors.push(error);
        }
    }

    /// Returns the number of parts that are left out.
    pub(super) fn len(&self) -> usize {
        self.found.len()
    }

    /// Returns the notes as warnings.
    pub(super) fn warnings(&self) -> impl Iterator<Item = Box<Diagnostic>> {
        self.found.iter().map(|note| {
            let found = Diagnostic::warning(Code::NotTranslated, &*note.message).with_help(&*note.help);
            let found = match &note.place {
                Some((source, span)) => found.at(source, *span, ""),
                None => found,
            };
            match note.more {
                0 => found,
                1 => found.with_note("the same in another place"),
                more => found.with_note(format!("the same in {more} other places")),
            }
        })
    }

    /// Returns comments about a release, or about no release that the project has.
    pub(super) fn comments(&self, is_meant: &dyn Fn(Option<&str>) -> bool) -> String {
        let meant = self.found.iter().filter(|note| is_meant(note.release.as_deref()));
        meant.map(Note::comment).collect()
    }
}

impl Note {
    fn comment(&self) -> String {
        let at = self.place.as_ref().map(|(source, span)| {
            let position = source.position(span.start);
            format!("{}:{}: ", source.path(), position.line)
        });
        let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let (message, help) = (one_line(&self.message), one_line(&self.help));
        format!("# TODO {}{message}\n#   {help}\n", at.unwrap_or_default())
    }
}
