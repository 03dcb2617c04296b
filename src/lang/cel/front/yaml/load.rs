//! Loading: a file, and everything that it includes.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::syntax::{
    BuildOptions, Built, Candidate, File, FileId, IncludePath, MapId, NodeId, ParsedExpressions, Target, build,
    syntax_help,
};
use dropforge_base::diagnostics::{Code, Diagnostic, LOOKED_UP, Severity, at_most, without_duplicates};
use dropforge_base::limits::{Limit, Limits};
use dropforge_base::stdlib::paths::within;
use dropforge_base::stdlib::small_sort::SmallSort as _;
use dropforge_base::text::{Source, Span};
use dropforge_machine::bytecode::Dialect;
use dropforge_machine::compiler::{Loader, with_names};
use dropforge_value::yaml::{self, Tags};

/// A template with everything that it includes by a constant name.
#[derive(Debug, Clone)]
pub struct Templates {
    files: Vec<File>,
    /// Warnings: ambiguous strings, and includes of missing files.
    pub lints: Vec<Box<Diagnostic>>,
}

impl Templates {
    /// Returns the file to render.
    #[allow(clippy::indexing_slicing)] // there is always one
    pub fn entry(&self) -> &File {
        &self.files[0]
    }

    /// Returns a file.
    pub fn file(&self, id: FileId) -> Option<&File> {
        self.files.get(id.index())
    }

    /// Returns all files, starting with the one to render.
    pub fn files(&self) -> &[File] {
        &self.files
    }
}

/// Parses `entry` and everything that it includes.
///
/// # Errors
/// All errors: of the YAML, expressions, directives, conflicts between keys, include cycles, and paths outside the root. A
/// missing file is a warning, because its branch may never run.
pub fn read(
    entry: &Arc<Source>,
    loader: &dyn Loader,
    limits: &Limits,
    options: &BuildOptions,
) -> Result<Templates, Vec<Box<Diagnostic>>> {
    read_again(entry, loader, limits, options, &mut ParsedExpressions::default())
}

/// Parses `entry` and everything that it includes, except for parts that were parsed before.
///
/// # Errors
/// The errors of [`read`].
pub(super) fn read_again(
    entry: &Arc<Source>,
    loader: &dyn Loader,
    limits: &Limits,
    options: &BuildOptions,
    parsed: &mut ParsedExpressions,
) -> Result<Templates, Vec<Box<Diagnostic>>> {
    let mut loading = Loading {
        loader,
        limits,
        options,
        parsed,
        loaded: HashMap::new(),
        files: Vec::new(),
        broken: HashMap::new(),
        errors: Vec::new(),
        lints: Vec::new(),
    };
    let name = resolve("", entry.name()).unwrap_or_else(|| entry.name().to_owned());
    loading.add(entry.clone(), name, None, false);
    let mut at = 0;
    while at < loading.files.len() {
        loading.includes_of(FileId::of(at));
        loading.candidates_of(FileId::of(at));
        at += 1;
    }
    loading.cycles();
    let errors = without_duplicates(loading.settled());
    if !errors.is_empty() {
        return Err(errors);
    }
    Ok(Templates {
        files: loading.files.into_iter().map(|loaded| loaded.file).collect(),
        lints: at_most(without_duplicates(loading.lints), limits.diagnostics, 0),
    })
}

/// Resolves `path` in the directory `folder` (empty, or ending with `/`) to a name relative to the root, without `.` and
/// `..`. Returns `None` for a path outside the root.
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

/// Facts about a path computed at render time.
struct PathPattern {
    prefix: String,
    suffix: String,
}

impl PathPattern {
    /// Makes the pattern of a path in `folder` with a literal start and end; `None` outside the root.
    fn new(folder: &str, before: &str, after: &str) -> Option<Self> {
        let (above, within) = before.rsplit_once('/').map_or(("", before), |(above, within)| (above, within));
        let mut prefix = resolve(folder, above)?;
        if !prefix.is_empty() {
            prefix.push('/');
        }
        // If the computed part is empty, leading dots are a step of the path.
        if !within.starts_with('.') {
            prefix.push_str(within);
        }
        let suffix = after.rsplit('/').next().unwrap_or(after).to_owned();
        Some(Self { prefix, suffix })
    }

    /// Returns `true` for a file that is read if only a part of its name is known: with an extension that the path names, or
    /// one that implies YAML or a language.
    fn may_be(&self, name: &str) -> bool {
        self.suffix.contains('.')
            || name.ends_with(".yaml")
            || name.ends_with(".yml")
            || name.ends_with(".json")
            || Dialect::of_name(name).is_some()
    }
}

/// The position of the first include of a file.
type IncludedFrom = (FileId, Span);

struct Loaded {
    file: File,
    from: Option<IncludedFrom>,
    includes: Vec<IncludePath>,
    /// The files that it includes, and the spans.
    reaches: Vec<(FileId, Span)>,
}

struct Loading<'r> {
    loader: &'r dyn Loader,
    limits: &'r Limits,
    options: &'r BuildOptions,
    parsed: &'r mut ParsedExpressions,
    /// Loaded and missing files, by name.
    loaded: HashMap<String, Option<FileId>>,
    files: Vec<Loaded>,
    /// Files that a computed path may name and that have errors. Such an error is raised where the path names the file.
    broken: HashMap<FileId, Box<Diagnostic>>,
    /// Errors, each with its file.
    errors: Vec<(FileId, Box<Diagnostic>)>,
    lints: Vec<Box<Diagnostic>>,
}

impl Loading<'_> {
    /// Adds a file. If it is only a `candidate` of a computed path, its errors are warnings.
    fn add(&mut self, source: Arc<Source>, name: String, from: Option<IncludedFrom>, candidate: bool) -> FileId {
        let id = FileId::of(self.files.len());
        self.loaded.insert(name, Some(id));
        let (mut built, mut errors) = match yaml::read_with(&source, self.limits, Tags::Kept) {
            Ok(documents) => (build(&source, &documents, self.options, self.limits, self.parsed), Vec::new()),
            Err(errors) => (
                build(&source, &[], self.options, self.limits, self.parsed),
                errors.into_iter().map(syntax_help).collect(),
            ),
        };
        errors.append(&mut built.errors);
        errors.small_sort_by_key(|error| error.primary().map(|label| label.span));
        let mut errors = at_most(errors, self.limits.diagnostics, 0);
        if let Some(error) = errors.first().filter(|_| candidate) {
            let at = error.position().map_or(String::new(), |at| format!(":{at}"));
            let message = format!("`{}{at}` cannot be included: {}", source.name(), error.message);
            self.broken.insert(id, Diagnostic::new(error.code, message));
            built = build(&source, &[], self.options, self.limits, self.parsed);
            built.lints = std::mem::take(&mut errors);
            built.lints.iter_mut().for_each(|lint| lint.severity = Severity::Warning);
        }
        let Built { file, includes, lints, .. } = built;
        self.files.push(Loaded { file, from, includes, reaches: Vec::new() });
        self.errors.extend(errors.into_iter().map(|error| (id, self.included(id, error))).collect::<Vec<_>>());
        self.lints.extend(lints.into_iter().map(|lint| self.included(id, lint)).collect::<Vec<_>>());
        id
    }

    /// Adds the includes that lead to the file of an error.
    fn included(&self, id: FileId, mut error: Box<Diagnostic>) -> Box<Diagnostic> {
        let mut next = self.files.get(id.index()).and_then(|loaded| loaded.from);
        while let Some((by, span)) = next {
            let Some(loaded) = self.files.get(by.index()) else { break };
            error = error.at(&loaded.file.source, span, "included here");
            next = loaded.from;
        }
        error
    }

    /// Loads the files that a file includes by a constant path.
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
            let map = loaded.file.map_mut(include.map).and_then(|map| map.directives_mut().include.as_mut());
            if let Some((map, target)) = map.zip(target) {
                map.target = target;
            }
        }
    }

    /// Loads the files that computed paths of a file may name.
    fn candidates_of(&mut self, id: FileId) {
        let Some(loaded) = self.files.get(id.index()) else { return };
        let dynamic = (0..loaded.file.maps.len()).map(MapId::of).filter_map(|map| {
            let include = loaded.file.map(map)?.directives().include.as_ref()?;
            let Target::Dynamic(folder, _) = &include.target else { return None };
            let (before, after) = loaded.file.constant_ends(include.path)?;
            let (owner, span, path) = (include.path, include.span, folder.clone());
            let path = IncludePath { map, owner, span, path, constant: false };
            Some((path, PathPattern::new(folder, before, after)))
        });
        for (include, pattern) in dynamic.collect::<Vec<_>>() {
            let candidates = self.candidates(id, &include, pattern.as_ref());
            let map = self.files.get_mut(id.index()).and_then(|loaded| loaded.file.map_mut(include.map));
            if let Some(of) = map.and_then(|map| map.directives_mut().include.as_mut()) {
                of.target = Target::Dynamic(include.path, candidates);
            }
        }
    }

    fn candidates(&mut self, id: FileId, include: &IncludePath, pattern: Option<&PathPattern>) -> Vec<Candidate> {
        let Some(pattern) = pattern else { return Vec::new() };
        let mut names = self.loader.files(&pattern.prefix, &pattern.suffix);
        names.sort_unstable();
        names.dedup();
        names.retain(|name| pattern.may_be(name));
        let candidate = |name: String| {
            let target = self.target(id, include, name.clone())?;
            Some(Candidate { name: name.into(), target })
        };
        names.into_iter().map_while(candidate).collect()
    }

    fn located(&self, id: FileId, owner: NodeId, span: Span, error: Box<Diagnostic>) -> Box<Diagnostic> {
        let Some(loaded) = self.files.get(id.index()) else { return error };
        let path = loaded.file.path(owner);
        let located = error.at(&loaded.file.source, span, format!("in `{path}`")).with_field("path", path);
        self.included(id, located)
    }

    fn include_error(&mut self, id: FileId, include: &IncludePath, error: Box<Diagnostic>) {
        let error = self.located(id, include.owner, include.span, error);
        self.errors.push((id, error));
    }

    /// Returns the target of an include, loading the file `name` once.
    fn target(&mut self, id: FileId, include: &IncludePath, name: String) -> Option<Target> {
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
        let loaded = match self.loaded.get(&name) {
            Some(loaded) => *loaded,
            None => self.load(id, include, &name)?,
        };
        let Some(to) = loaded else { return Some(self.missing(id, include, &name)) };
        match self.broken.get(&to).cloned() {
            Some(error) if include.constant => self.include_error(id, include, error),
            Some(error) => return Some(Target::Missing(self.located(id, include.owner, include.span, error))),
            None => {}
        }
        match self.second_document(id, include, to) {
            Some(error) if include.constant => {
                self.errors.push((id, error));
                Some(Target::File(to))
            }
            Some(error) => Some(Target::Missing(error)),
            None => Some(Target::File(to)),
        }
    }

    fn load(&mut self, id: FileId, include: &IncludePath, name: &str) -> Option<Option<FileId>> {
        if self.files.len() >= self.limits.templates {
            self.include_error(id, include, Limit::Templates.error(self.limits.templates as u64));
            return None;
        }
        match self.loader.load(name) {
            Ok(Some(source)) => {
                Some(Some(self.add(source, name.to_owned(), Some((id, include.span)), !include.constant)))
            }
            // A link that leads out, or a file that is no text.
            Err(_) if !include.constant => {
                self.loaded.insert(name.to_owned(), None);
                Some(None)
            }
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

    fn missing(&mut self, id: FileId, include: &IncludePath, name: &str) -> Target {
        let names = self.loader.names();
        let error = Diagnostic::new(Code::UnknownTemplate, format!("template `{name}` not found"))
            .with_field(LOOKED_UP, name)
            .with_suggestion(name, names.iter().map(String::as_str));
        let error = with_names(error, self.loader, &names);
        let error = self.located(id, include.owner, include.span, error);
        let mut lint = error.clone();
        lint.severity = Severity::Warning;
        self.lints.push(lint);
        Target::Missing(error)
    }

    /// Returns the error of an included file with a second document.
    fn second_document(&self, id: FileId, include: &IncludePath, to: FileId) -> Option<Box<Diagnostic>> {
        let file = self.files.get(to.index()).map(|loaded| &loaded.file)?;
        let second = file.documents.get(1).and_then(|second| file.node(*second))?;
        let (source, span) = (file.source.clone(), second.span);
        let message =
            format!("an included file has one document, and `{}` has {}", source.name(), file.documents.len());
        let error = self.located(id, include.owner, include.span, Diagnostic::new(Code::BadDirective, message));
        Some(error.at(&source, span, "the second begins here"))
    }

    /// Reports include cycles.
    fn cycles(&mut self) {
        let mut done = HashSet::new();
        for start in 0..self.files.len() {
            // The files on the path, each with the number of its includes that were followed.
            let mut path: Vec<(FileId, usize)> = vec![(FileId::of(start), 0)];
            while let Some((at, next)) = path.last_mut() {
                let (at, turn) = (*at, *next);
                *next += 1;
                let edge = self.files.get(at.index()).and_then(|loaded| loaded.reaches.get(turn)).copied();
                let Some((to, span)) = edge.filter(|_| !done.contains(&at)) else {
                    done.insert(at);
                    path.pop();
                    continue;
                };
                match path.iter().position(|(file, _)| *file == to) {
                    Some(first) => self.cycle(path.get(first..).unwrap_or(&[]), at, to, span),
                    None => path.push((to, 0)),
                }
            }
        }
    }

    fn cycle(&mut self, path: &[(FileId, usize)], at: FileId, to: FileId, span: Span) {
        let name = |id: FileId| self.files.get(id.index()).map_or("", |loaded| loaded.file.source.name());
        let chain: Vec<_> = path.iter().map(|(id, _)| *id).chain([to]).map(|id| format!("`{}`", name(id))).collect();
        let message = format!("include cycle: {}", chain.join(" includes "));
        let Some(loaded) = self.files.get(at.index()) else { return };
        let error = Diagnostic::new(Code::IncludeCycle, message)
            .at(&loaded.file.source, span, "")
            .with_help("a file cannot include itself; repeat with `$for`");
        self.errors.push((at, error));
    }

    /// Returns the errors of files that are included for certain. Those of others, which only a computed path may name, become
    /// warnings, and are raised where the path names such a file.
    fn settled(&mut self) -> Vec<Box<Diagnostic>> {
        let certain = self.certain();
        let (errors, others): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.errors).into_iter().partition(|(id, _)| certain.contains(id));
        let mut failing = HashMap::new();
        for (id, mut error) in others {
            failing.entry(id).or_insert_with(|| error.clone());
            error.severity = Severity::Warning;
            self.lints.push(error);
        }
        if !failing.is_empty() {
            self.fail(failing);
        }
        errors.into_iter().map(|(_, error)| error).collect()
    }

    /// Returns the files that constant paths lead to.
    fn certain(&self) -> HashSet<FileId> {
        let (mut found, mut next) = (HashSet::from([FileId::of(0)]), vec![FileId::of(0)]);
        while let Some(loaded) = next.pop().and_then(|at| self.files.get(at.index())) {
            next.extend(loaded.reaches.iter().map(|(to, _)| *to).filter(|to| found.insert(*to)));
        }
        found
    }

    /// Replaces the files that have errors, or include one for certain, in the candidates of computed paths.
    fn fail(&mut self, mut failing: HashMap<FileId, Box<Diagnostic>>) {
        let mut next: Vec<_> = failing.keys().copied().collect();
        next.sort_unstable();
        while let Some(at) = next.pop() {
            let Some(error) = failing.get(&at).cloned() else { continue };
            for (by, loaded) in self.files.iter().enumerate().map(|(by, loaded)| (FileId::of(by), loaded)) {
                if loaded.reaches.iter().any(|(to, _)| *to == at) && !failing.contains_key(&by) {
                    failing.insert(by, error.clone());
                    next.push(by);
                }
            }
        }
        let maps = self.files.iter_mut().flat_map(|loaded| &mut loaded.file.maps);
        for include in maps.filter_map(|map| map.include_mut()) {
            let Target::Dynamic(_, candidates) = &mut include.target else { continue };
            for candidate in candidates {
                if let Target::File(to) = candidate.target
                    && let Some(error) = failing.get(&to)
                {
                    candidate.target = Target::Missing(error.clone());
                }
            }
        }
    }
}
