//! The open documents, the files beside them, and the names in all of them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::SystemTime;

use dropforge::compiler::Mark;
use dropforge::diagnostics::{listed, nearest};
use dropforge::dialect::hcl;
use dropforge::engine::Engine;
use dropforge::files;
use dropforge::limits::Deadline;
use dropforge::text::{Source, Span};
use lsp_types::{Position, Uri};

use super::STACK;
use super::content::{DocumentText, Shift, canonical, path_of, uri_of};
use super::guarded;
use super::home::Settings;
use super::home::{Home, Homes, Language};
use super::values::{CLUSTERS, ProjectValues};
use crate::input::OpenFiles;
use crate::options::limits;

/// Maximum number of files of a project that are searched for names, and of folders in it.
const FILES: usize = 4_000;
const FOLDERS: usize = 4_000;
/// Maximum number of clusters in a message.
const LISTED: usize = 20;

/// A document that is open in the client.
#[derive(Debug)]
pub(super) struct Document {
    /// The URI that the client has for it.
    pub(super) uri: Uri,
    pub(super) version: i32,
    pub(super) content: Arc<DocumentText>,
    /// The latest form without syntax errors.
    last: Option<Arc<Analysis>>,
    /// The version that was looked at last.
    seen: Option<i32>,
}

/// The names in a text.
#[derive(Debug)]
pub(super) struct Analysis {
    pub(super) path: PathBuf,
    pub(super) content: Arc<DocumentText>,
    pub(super) marks: Vec<Mark>,
}

/// The results of checks that answers are made from.
#[derive(Debug, Default)]
pub(super) struct Shared {
    values: Mutex<HashMap<Home, Arc<ProjectValues>>>,
    shown: Mutex<HashMap<PathBuf, Arc<ShownValues>>>,
    /// Names that were found beside the main thread.
    names: Mutex<HashMap<PathBuf, Names>>,
    /// The end of the render that finds values for hints.
    rendering: Mutex<Option<Arc<Deadline>>>,
}

/// A text with the names in it, `None` after a syntax error.
type Names = (Arc<DocumentText>, Option<Arc<Analysis>>);

/// The text of a file, and the distinct values in the chosen cluster of each expression that is written or that a variable is
/// set to, without secrets.
pub(super) type ShownValues = (Arc<DocumentText>, BTreeMap<Span, Vec<String>>);

impl Shared {
    /// Takes note of a render, which the next change ends.
    pub(super) fn begin(&self, render: Arc<Deadline>) {
        *lock(&self.rendering) = Some(render);
    }

    /// Ends a render, as there is something that comes first.
    pub(super) fn interrupt(&self) {
        lock(&self.rendering).take().iter().for_each(|render| render.cancel());
    }

    /// Keeps the values of a home.
    pub(super) fn keep_values(&self, home: &Home, values: Arc<ProjectValues>) {
        lock(&self.values).insert(home.clone(), values);
    }

    /// Keeps the values of the expressions of a file.
    pub(super) fn keep_shown(&self, path: PathBuf, shown: ShownValues) {
        lock(&self.shown).insert(path, Arc::new(shown));
    }

    /// Returns the values of the expressions of a file.
    pub(super) fn shown(&self, path: &Path) -> Option<Arc<ShownValues>> {
        lock(&self.shown).get(path).cloned()
    }

    /// Forgets the values of the expressions of a file.
    pub(super) fn forget(&self, path: &Path) {
        lock(&self.shown).remove(path);
    }
}

/// Takes a lock. A thread that panicked has left whole values.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A form of the open documents and settings.
#[derive(Debug, Clone)]
pub(super) struct Snapshot {
    pub(super) root: PathBuf,
    pub(super) settings: Settings,
    pub(super) documents: Arc<BTreeMap<PathBuf, OpenText>>,
}

/// The URI, the version and the text of a document.
pub(super) type OpenText = (Uri, i32, Arc<DocumentText>);

impl Snapshot {
    /// Returns the texts in place of those on disk.
    pub(super) fn open_files(&self) -> OpenFiles {
        let texts = self.documents.iter().map(|(path, (_, _, content))| (path.clone(), content.shared()));
        OpenFiles(Arc::new(texts.collect()))
    }
}

/// All that requests are answered from.
#[derive(Debug)]
pub(super) struct World {
    pub(super) root: PathBuf,
    pub(super) settings: Settings,
    pub(super) documents: BTreeMap<PathBuf, Document>,
    pub(super) engine: Engine,
    pub(super) shared: Arc<Shared>,
    homes: Homes,
    /// The names in files that are not open, with the time and the length of each.
    files: HashMap<PathBuf, (Option<SystemTime>, u64, Arc<Analysis>)>,
}

/// A place in a document.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) path: PathBuf,
    pub(super) home: Home,
    pub(super) language: Language,
    pub(super) content: Arc<DocumentText>,
    /// The byte in the text.
    pub(super) offset: usize,
    pub(super) analysis: Arc<Analysis>,
    /// From the text of the analysis to the current one.
    pub(super) shift: Shift,
    /// The byte in the text of the analysis, if it has one.
    pub(super) known: Option<usize>,
}

impl World {
    /// Creates a world without documents.
    pub(super) fn new(root: PathBuf, settings: Settings) -> Self {
        Self {
            root,
            settings,
            documents: BTreeMap::new(),
            engine: Engine::builder().limits(limits()).build(),
            shared: Arc::default(),
            homes: Homes::default(),
            files: HashMap::new(),
        }
    }

    /// Opens a document, or replaces it.
    pub(super) fn open(&mut self, path: PathBuf, uri: Uri, version: i32, text: String) {
        let content = Arc::new(DocumentText::new(text));
        self.documents.insert(path, Document { uri, version, content, last: None, seen: None });
    }

    /// Forgets which file belongs to which project.
    pub(super) fn forget_homes(&mut self) {
        self.homes.clear();
    }

    /// Returns the current form of the documents.
    pub(super) fn snapshot(&self) -> Snapshot {
        let of = |(path, document): (&PathBuf, &Document)| {
            (path.clone(), (document.uri.clone(), document.version, document.content.clone()))
        };
        Snapshot {
            root: self.root.clone(),
            settings: self.settings.clone(),
            documents: Arc::new(self.documents.iter().map(of).collect()),
        }
    }

    /// Returns the home of a file.
    pub(super) fn home(&mut self, path: &Path) -> Home {
        self.homes.of(path, &self.root, &self.settings)
    }

    /// Returns the values of a home. The first time they are read, later the check replaces them.
    pub(super) fn values(&mut self, home: &Home) -> Arc<ProjectValues> {
        if let Some(values) = lock(&self.shared.values).get(home) {
            return values.clone();
        }
        let open = self.snapshot().open_files();
        let read = home
            .arguments(&self.settings)
            .map(|(args, stderr)| Arc::new(ProjectValues::read(home, &args, &self.settings, &open, &stderr)));
        let values = read.unwrap_or_default();
        self.shared.keep_values(home, values.clone());
        values
    }

    /// Returns the names of the clusters of the projects of open documents and of the workspace, or `None` if there are too
    /// many to name.
    pub(super) fn clusters(&mut self) -> Option<BTreeSet<String>> {
        let mut paths: Vec<PathBuf> = self.documents.keys().cloned().collect();
        paths.push(self.root.join(crate::project::FILE));
        let homes: BTreeSet<Home> = paths.iter().map(|path| self.home(path)).collect();
        let mut names = BTreeSet::new();
        for home in homes {
            names.extend(self.values(&home).clusters.iter().cloned());
        }
        (names.len() < CLUSTERS).then_some(names)
    }

    /// Checks that a project of an open document, or of the workspace, has a cluster.
    ///
    /// # Errors
    /// The names that there are.
    pub(super) fn check_cluster(&mut self, name: &str) -> Result<(), String> {
        // A larger fleet may have the name.
        let Some(names) = self.clusters().filter(|names| !names.contains(name)) else { return Ok(()) };
        let near = nearest(name, names.iter().map(String::as_str));
        let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        let names: Vec<String> = names.into_iter().collect();
        Err(format!("no cluster is named `{name}`; available: {}{near}", listed(&names, LISTED)))
    }

    /// Begins to find the names in a changed document, beside the main thread.
    pub(super) fn analyse_beside(&mut self, path: PathBuf) {
        let language = self.home(&path).language(&path);
        let Some(document) = self.documents.get(&path).filter(|one| one.seen != Some(one.version)) else { return };
        let (engine, shared, content) = (self.engine.clone(), self.shared.clone(), document.content.clone());
        let find = move || {
            let found = guarded(|| analyse(&engine, &path, language, &content)).ok().flatten();
            lock(&shared.names).insert(path, (content, found.map(Arc::new)));
        };
        // Without a thread, they are found when they are asked for.
        drop(thread::Builder::new().stack_size(STACK).spawn(find));
    }

    /// Takes the names in the current text of a document that were found beside the main thread.
    fn take_names(&mut self, path: &Path) {
        let Some((content, found)) = lock(&self.shared.names).remove(path) else { return };
        if let Some(document) = self.documents.get_mut(path)
            && Arc::ptr_eq(&document.content, &content)
        {
            document.seen = Some(document.version);
            document.last = found.or(document.last.take());
        }
    }

    /// Returns the names in a file: those of its latest form without syntax errors.
    pub(super) fn analysis(&mut self, path: &Path) -> Option<Arc<Analysis>> {
        self.take_names(path);
        let language = self.home(path).language(path);
        let engine = &self.engine;
        if let Some(document) = self.documents.get_mut(path) {
            if document.seen != Some(document.version) {
                document.seen = Some(document.version);
                let found = analyse(engine, path, language, &document.content);
                document.last = found.map(Arc::new).or(document.last.take());
            }
            return document.last.clone();
        }
        let meta = path.metadata().ok()?;
        let (time, length) = (meta.modified().ok(), meta.len());
        if let Some((known, size, analysis)) = self.files.get(path)
            && (known, size) == (&time, &length)
        {
            return Some(analysis.clone());
        }
        let text = files::read_text(path, limits().source_bytes as u64).ok()?;
        let content = Arc::new(DocumentText::new(text));
        let empty =
            |content: &Arc<DocumentText>| Analysis { path: path.to_owned(), content: content.clone(), marks: vec![] };
        let found = analyse(engine, path, language, &content).unwrap_or_else(|| empty(&content));
        let analysis = Arc::new(found);
        self.files.insert(path.to_owned(), (time, length, analysis.clone()));
        Some(analysis)
    }

    /// Returns a place in an open document, with the names in its current text.
    pub(super) fn place(&mut self, uri: &Uri, at: Position) -> Option<Place> {
        let path = path_of(uri)?;
        let analysis = self.analysis(&path);
        self.place_in(path, analysis, at)
    }

    /// Returns a place in an open document, with the names that are known of an earlier text. With `unchanged`, that text has
    /// to have the place.
    pub(super) fn known_place(&mut self, uri: &Uri, at: Position, unchanged: bool) -> Option<Place> {
        let path = path_of(uri)?;
        self.take_names(&path);
        let known = self.documents.get(&path)?.last.clone();
        let place = known.and_then(|known| self.place_in(path, Some(known), at));
        match place.filter(|place| !unchanged || place.known.is_some()) {
            Some(place) => Some(place),
            None => self.place(uri, at),
        }
    }

    fn place_in(&mut self, path: PathBuf, analysis: Option<Arc<Analysis>>, at: Position) -> Option<Place> {
        let content = self.documents.get(&path)?.content.clone();
        let home = self.home(&path);
        let nothing = || Arc::new(Analysis { path: path.clone(), content: content.clone(), marks: Vec::new() });
        let analysis = analysis.unwrap_or_else(nothing);
        let shift = Shift::between(analysis.content.text(), content.text());
        let offset = content.offset(at);
        let language = home.language(&path);
        Some(Place { path, home, language, content, offset, analysis, shift, known: shift.back(offset) })
    }

    /// Returns the names in all files that share names with `path`, itself included: its own are those known of an earlier
    /// text, unless [`World::analysis`] has found them in the current one.
    pub(super) fn analyses(&mut self, path: &Path) -> Vec<Arc<Analysis>> {
        self.take_names(path);
        let home = self.home(path);
        let mut paths = files_of(&home, path);
        paths.extend(self.documents.keys().cloned());
        paths.sort();
        paths.dedup();
        let own = home.language(path);
        paths.retain(|other| home.language(other) == own);
        paths.retain(|other| self.home(other) == home || is_beside(&home, path, other));
        let known = self.documents.get(path).and_then(|document| document.last.clone());
        let of = |other: &PathBuf| known.clone().filter(|_| other == path).or_else(|| self.analysis(other));
        paths.iter().filter_map(of).collect()
    }

    /// Returns the folder that names of files lead from in a project.
    pub(super) fn templates_root(&self, place: &Place) -> Option<PathBuf> {
        let (args, _) = place.home.arguments(&self.settings).ok()?;
        let root = args.language.include_root.or_else(|| args.templates.into_iter().find(|path| path.is_dir()));
        root.map(|root| canonical(&root))
    }

    /// Returns the URI of a file, as the client has it.
    pub(super) fn uri(&self, path: &Path) -> Option<Uri> {
        self.documents.get(path).map_or_else(|| uri_of(path), |document| Some(document.uri.clone()))
    }
}

/// Returns `true` for a file in the folder of a file that is checked alone, or below it.
fn is_beside(home: &Home, path: &Path, other: &Path) -> bool {
    matches!(home, Home::Alone(..)) && path.parent().is_some_and(|folder| other.starts_with(folder))
}

/// Returns the names in a text. `None` after a syntax error.
fn analyse(engine: &Engine, path: &Path, language: Language, content: &Arc<DocumentText>) -> Option<Analysis> {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("").to_owned();
    let source = Source::new(name, content.text());
    let marks = match language {
        Language::Template(dialect) => engine.marks(dialect, &source).ok()?,
        Language::Configuration if !path.to_string_lossy().ends_with(".json") => {
            hcl::config_marks(&source, engine.limits())
        }
        Language::Configuration | Language::Other => Vec::new(),
    };
    Some(Analysis { path: path.to_owned(), content: content.clone(), marks })
}

/// Returns the files of a home.
fn files_of(home: &Home, path: &Path) -> Vec<PathBuf> {
    let root = match home {
        Home::Project(file) => file.parent(),
        Home::Chart(chart) => Some(chart.as_path()),
        Home::Alone(..) => path.parent(),
    };
    let (mut folders, mut files, mut at) = (root.map(Path::to_owned).into_iter().collect::<Vec<_>>(), Vec::new(), 0);
    while let Some(folder) = folders.get(at).cloned() {
        at += 1;
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && !hidden && folders.len() < FOLDERS => folders.push(entry.path()),
                Ok(kind) if kind.is_file() && files.len() < FILES => files.push(entry.path()),
                _ => {}
            }
        }
    }
    files
}
