//! A file and everything it includes by a known name.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::build::{Built, Static, build};
use super::tree::{Candidate, File, FileId, MapId, NodeId, Target};
use crate::bytecode::Dialect;
use crate::compiler::Loader;
use crate::diagnostics::{Code, Diagnostic, Label, Severity, once_each};
use crate::limits::{Limit, Limits};
use crate::stdlib::relative::within;
use crate::text::{Source, Span};
use crate::value::yaml::{self, Tags};

/// How templates are read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Options {
    /// Whether a text of `$let` without `${ }` is always an expression.
    pub strict_let: bool,
}

/// A template with everything that it includes by a known name.
#[derive(Debug, Clone)]
pub struct Templates {
    files: Vec<File>,
    /// What may be meant otherwise, and includes that do not exist.
    pub lints: Vec<Box<Diagnostic>>,
}

impl Templates {
    /// The file that is rendered.
    #[allow(clippy::indexing_slicing)] // there is at least this one
    pub fn entry(&self) -> &File {
        &self.files[0]
    }

    /// A file.
    pub fn file(&self, id: FileId) -> Option<&File> {
        self.files.get(id.index())
    }

    /// Every file, the one that is rendered first.
    pub fn files(&self) -> &[File] {
        &self.files
    }
}

/// Reads `entry` and what it includes.
///
/// # Errors
/// Everything that is wrong: the YAML, expressions, directives, conflicts between keys, files that include themselves or
/// lead out of the root. A file that does not exist is a lint, because it may be in a branch that is never taken.
pub fn read(
    entry: &Arc<Source>,
    loader: &dyn Loader,
    limits: &Limits,
    options: &Options,
) -> Result<Templates, Vec<Box<Diagnostic>>> {
    let mut reading = Reading {
        loader,
        limits,
        options,
        loaded: HashMap::new(),
        files: Vec::new(),
        errors: Vec::new(),
        lints: Vec::new(),
    };
    let name = resolve("", entry.name()).unwrap_or_else(|| entry.name().to_owned());
    reading.add(entry.clone(), name, None);
    let mut at = 0;
    while at < reading.files.len() {
        reading.includes_of(FileId::of(at));
        reading.candidates_of(FileId::of(at));
        at += 1;
    }
    reading.cycles();
    let errors = once_each(reading.errors);
    if !errors.is_empty() {
        return Err(errors);
    }
    Ok(Templates {
        files: reading.files.into_iter().map(|loaded| loaded.file).collect(),
        lints: once_each(reading.lints),
    })
}

/// The name of what `path` means in the folder `folder` (empty, or with a final `/`): relative to the root, without `.`
/// and `..`; `None` where it leads out.
///
/// ```
/// use dropforge::dialect::cel::yaml::resolve;
/// assert_eq!(resolve("a/b/", "../c.yaml").as_deref(), Some("a/c.yaml"));
/// assert_eq!(resolve("a/", "../../c.yaml"), None);
/// assert_eq!(resolve("a/", "/c.yaml"), None);
/// ```
pub fn resolve(folder: &str, path: &str) -> Option<String> {
    within(folder, path)
}

/// What is no YAML where an expression stands in brackets or braces may need quotes.
fn quotes_help(mut error: Box<Diagnostic>) -> Box<Diagnostic> {
    let line = |label: &Label| label.source.line(label.position().line).contains("${");
    if error.help.is_none() && error.code == Code::InputSyntax && error.primary().is_some_and(line) {
        error.help = Some("between brackets or braces, `${ }` has to stand in quotes".to_owned());
    }
    error
}

/// What is known of a path that is made when a template is rendered.
struct Pattern {
    begins: String,
    ends: String,
}

impl Pattern {
    /// Of a path in `folder` that begins and ends so; none where it leads out of the root.
    fn new(folder: &str, before: &str, behind: &str) -> Option<Self> {
        let (above, within) = before.rsplit_once('/').map_or(("", before), |(above, within)| (above, within));
        let mut begins = resolve(folder, above)?;
        if !begins.is_empty() {
            begins.push('/');
        }
        // What is made may be empty, and then dots would be a step of their own.
        if !within.starts_with('.') {
            begins.push_str(within);
        }
        let ends = behind.rsplit('/').next().unwrap_or(behind).to_owned();
        Some(Self { begins, ends })
    }

    fn fits(&self, name: &str) -> bool {
        name.len() >= self.begins.len() + self.ends.len()
            && name.starts_with(&self.begins)
            && name.ends_with(&self.ends)
    }
}

/// Where a file was first included.
type From = (FileId, Span);

struct Loaded {
    file: File,
    from: Option<From>,
    includes: Vec<Static>,
    /// The files it includes, and where.
    reaches: Vec<(FileId, Span)>,
}

struct Reading<'r> {
    loader: &'r dyn Loader,
    limits: &'r Limits,
    options: &'r Options,
    /// What was loaded, by name.
    loaded: HashMap<String, Option<FileId>>,
    files: Vec<Loaded>,
    errors: Vec<Box<Diagnostic>>,
    lints: Vec<Box<Diagnostic>>,
}

impl Reading<'_> {
    fn add(&mut self, source: Arc<Source>, name: String, from: Option<From>) -> FileId {
        let id = FileId::of(self.files.len());
        self.loaded.insert(name, Some(id));
        let (mut built, mut wrong) = match yaml::read_with(&source, self.limits, Tags::Kept) {
            Ok(documents) => (build(&source, &documents, self.options), Vec::new()),
            Err(errors) => (build(&source, &[], self.options), errors.into_iter().map(quotes_help).collect()),
        };
        wrong.append(&mut built.errors);
        wrong.sort_by_key(|error| error.primary().map(|label| label.span));
        wrong.truncate(self.limits.diagnostics);
        let Built { file, includes, lints, .. } = built;
        self.files.push(Loaded { file, from, includes, reaches: Vec::new() });
        self.errors.extend(wrong.into_iter().map(|error| self.included(id, error)).collect::<Vec<_>>());
        self.lints.extend(lints.into_iter().map(|lint| self.included(id, lint)).collect::<Vec<_>>());
        id
    }

    /// Says how one comes to the file that an error is in.
    fn included(&self, id: FileId, mut error: Box<Diagnostic>) -> Box<Diagnostic> {
        let mut next = self.files.get(id.index()).and_then(|loaded| loaded.from);
        while let Some((by, span)) = next {
            let Some(loaded) = self.files.get(by.index()) else { break };
            error = error.at(&loaded.file.source, span, "included here");
            next = loaded.from;
        }
        error
    }

    /// Loads what a file includes.
    fn includes_of(&mut self, id: FileId) {
        let Some(loaded) = self.files.get_mut(id.index()) else { return };
        let includes = std::mem::take(&mut loaded.includes);
        let name = loaded.file.source.name().to_owned();
        let folder = name.rfind('/').and_then(|at| name.get(..=at)).unwrap_or("");
        for include in includes {
            let target = match resolve(folder, &include.path) {
                Some(name) => self.target(id, &include, name),
                None => {
                    let message = format!("`{}` leads out of the include root", include.path);
                    let error = Diagnostic::new(Code::OutsideRoot, message);
                    self.include_error(id, &include, error.with_help("paths are relative to the file they stand in"));
                    None
                }
            };
            let Some(loaded) = self.files.get_mut(id.index()) else { return };
            if let Some(Target::File(to)) = target {
                loaded.reaches.push((to, include.span));
            }
            let map = loaded.file.map_mut(include.map).and_then(|map| map.include.as_mut());
            if let Some((map, target)) = map.zip(target) {
                map.target = target;
            }
        }
    }

    /// Loads what the paths of a file may name that are made only when it is rendered.
    fn candidates_of(&mut self, id: FileId) {
        let Some(loaded) = self.files.get(id.index()) else { return };
        let dynamic = (0..loaded.file.maps().len()).map(MapId::of).filter_map(|map| {
            let include = loaded.file.map(map)?.include.as_ref()?;
            let Target::Dynamic(folder, _) = &include.target else { return None };
            let (before, behind) = loaded.file.constant_ends(include.path)?;
            let path = Static { map, owner: include.path, span: include.span, path: folder.clone(), known: false };
            Some((path, Pattern::new(folder, before, behind)))
        });
        for (include, pattern) in dynamic.collect::<Vec<_>>() {
            let candidates = self.candidates(id, &include, pattern.as_ref());
            let map = self.files.get_mut(id.index()).and_then(|loaded| loaded.file.map_mut(include.map));
            if let Some(of) = map.and_then(|map| map.include.as_mut()) {
                of.target = Target::Dynamic(include.path, candidates);
            }
        }
    }

    fn candidates(&mut self, id: FileId, include: &Static, pattern: Option<&Pattern>) -> Vec<Candidate> {
        let mut names = self.loader.names();
        names.sort_unstable();
        names.dedup();
        let is_yaml = |name: &str| name.ends_with(".yaml") || name.ends_with(".yml");
        names.retain(|name| {
            (is_yaml(name) || Dialect::of_name(name).is_some()) && pattern.is_some_and(|of| of.fits(name))
        });
        let candidate = |name: String| {
            let target = self.target(id, include, name.clone())?;
            Some(Candidate { name: name.into(), target })
        };
        names.into_iter().map_while(candidate).collect()
    }

    fn place(&self, id: FileId, owner: NodeId, span: Span, error: Box<Diagnostic>) -> Box<Diagnostic> {
        let Some(loaded) = self.files.get(id.index()) else { return error };
        let path = loaded.file.path(owner);
        let placed = error.at(&loaded.file.source, span, format!("in `{path}`")).with_field("path", path);
        self.included(id, placed)
    }

    fn include_error(&mut self, id: FileId, include: &Static, error: Box<Diagnostic>) {
        let error = self.place(id, include.owner, include.span, error);
        self.errors.push(error);
    }

    /// The file `name`, which is loaded once.
    fn target(&mut self, id: FileId, include: &Static, name: String) -> Option<Target> {
        if Dialect::of_name(&name).is_some_and(|dialect| dialect != Dialect::CelYaml) {
            return match self.loader.load(&name) {
                Ok(Some(_)) => Some(Target::Template(name.into())),
                Ok(None) => Some(self.missing(id, include, &name)),
                Err(error) => {
                    self.include_error(id, include, error);
                    None
                }
            };
        }
        let known = match self.loaded.get(&name) {
            Some(known) => *known,
            None => self.load(id, include, &name)?,
        };
        let Some(to) = known else { return Some(self.missing(id, include, &name)) };
        match self.second_document(id, include, to) {
            Some(error) if include.known => {
                self.errors.push(error);
                Some(Target::File(to))
            }
            Some(error) => Some(Target::Missing(error)),
            None => Some(Target::File(to)),
        }
    }

    fn load(&mut self, id: FileId, include: &Static, name: &str) -> Option<Option<FileId>> {
        if self.files.len() >= self.limits.templates {
            self.include_error(id, include, Limit::Templates.error(self.limits.templates as u64));
            return None;
        }
        match self.loader.load(name) {
            Ok(Some(source)) => Some(Some(self.add(source, name.to_owned(), Some((id, include.span))))),
            Ok(None) => {
                self.loaded.insert(name.to_owned(), None);
                Some(None)
            }
            Err(error) => {
                self.include_error(id, include, error);
                None
            }
        }
    }

    fn missing(&mut self, id: FileId, include: &Static, name: &str) -> Target {
        let names = self.loader.names();
        let error = Diagnostic::new(Code::UnknownTemplate, format!("template `{name}` not found"))
            .with_suggestion(name, names.iter().map(String::as_str))
            .with_available(names.iter().cloned());
        let error = self.place(id, include.owner, include.span, error);
        let mut lint = error.clone();
        lint.severity = Severity::Warning;
        self.lints.push(lint);
        Target::Missing(error)
    }

    /// An included file is one document: what is wrong where there is a second.
    fn second_document(&self, id: FileId, include: &Static, to: FileId) -> Option<Box<Diagnostic>> {
        let file = self.files.get(to.index()).map(|loaded| &loaded.file)?;
        let second = file.documents.get(1).and_then(|second| file.node(*second))?;
        let (source, span) = (file.source.clone(), second.span);
        let message =
            format!("an included file has one document, and `{}` has {}", source.name(), file.documents.len());
        let error = self.place(id, include.owner, include.span, Diagnostic::new(Code::BadDirective, message));
        Some(error.at(&source, span, "the second begins here"))
    }

    /// Reports files that include themselves, also through others.
    fn cycles(&mut self) {
        let mut done = HashSet::new();
        for start in 0..self.files.len() {
            // The files on the way, each with how many of its includes have been followed.
            let mut way: Vec<(FileId, usize)> = vec![(FileId::of(start), 0)];
            while let Some((at, next)) = way.last_mut() {
                let (at, turn) = (*at, *next);
                *next += 1;
                let edge = self.files.get(at.index()).and_then(|loaded| loaded.reaches.get(turn)).copied();
                let Some((to, span)) = edge.filter(|_| !done.contains(&at)) else {
                    done.insert(at);
                    way.pop();
                    continue;
                };
                match way.iter().position(|(file, _)| *file == to) {
                    Some(first) => self.cycle(way.get(first..).unwrap_or(&[]), at, to, span),
                    None => way.push((to, 0)),
                }
            }
        }
    }

    fn cycle(&mut self, way: &[(FileId, usize)], at: FileId, to: FileId, span: Span) {
        let name = |id: FileId| self.files.get(id.index()).map_or("", |loaded| loaded.file.source.name());
        let chain: Vec<_> = way.iter().map(|(id, _)| *id).chain([to]).map(|id| format!("`{}`", name(id))).collect();
        let message = format!("include cycle: {}", chain.join(" includes "));
        let Some(loaded) = self.files.get(at.index()) else { return };
        let error = Diagnostic::new(Code::IncludeCycle, message)
            .at(&loaded.file.source, span, "")
            .with_help("a file cannot include itself; repeat with `$for`");
        self.errors.push(error);
    }
}
