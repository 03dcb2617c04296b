//! The templates of a directory, compiled again when a file changes.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant, SystemTime};

use super::builder::{Engine, EngineBuilder};
use super::bundle::bundle_dir;
use super::discover::matching;
use super::template::Template;
use dropforge_base::diagnostics::{Code, Diagnostic, Diagnostics, Result};

/// Shortest time between two looks at the files.
const PAUSE: Duration = Duration::from_millis(20);
/// Time for a program that writes a file to finish.
const SETTLE: Duration = Duration::from_millis(50);

/// The templates of a directory, compiled again when a file changes.
///
/// A request looks for changes, some milliseconds after the last look at the earliest. If the changed templates do not
/// compile, the last good ones stay, and [`TemplateDir::error`] says why. Templates that were requested before are
/// unaffected. Shared between threads.
///
/// A file counts once it has not been written for 50 ms. Replace files by renaming new ones, so that none is read half.
///
/// ```
/// use dropforge::{Engine, context};
/// # let temp = tempfile::tempdir()?;
/// # let dir = temp.path();
/// # std::fs::write(dir.join("hi.tera"), "hi {{ who }}")?;
/// let templates = Engine::from_dir(dir)?;
/// assert_eq!(templates.template("hi.tera")?.render(&context! { who => "you" })?, "hi you");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct TemplateDir {
    root: PathBuf,
    engine: Box<dyn Fn() -> EngineBuilder + Send + Sync>,
    seen: Mutex<Seen>,
    compiled: RwLock<Compiled>,
}

/// The templates in use.
struct Compiled {
    templates: BTreeMap<String, Template>,
    /// The errors of the files, if they do not compile.
    error: Option<Diagnostics>,
}

/// The time and the length of each file.
type FileStates = BTreeMap<String, Option<(SystemTime, u64)>>;

/// The files at the last look.
struct Seen {
    at: Instant,
    files: FileStates,
}

impl Engine {
    /// Opens the templates of a directory, which are compiled again when a file changes. [`TemplateDir::open`] has
    /// options.
    ///
    /// # Errors
    /// All errors of all templates; `file.read_failed`; `plan.no_templates`.
    pub fn from_dir(dir: impl AsRef<Path>) -> std::result::Result<TemplateDir, Diagnostics> {
        TemplateDir::open(dir, Self::builder)
    }
}

impl TemplateDir {
    /// Opens a directory with the limits and functions of the engines that `engine` makes: one now, and one for each
    /// change. Includes come from the directory.
    ///
    /// # Errors
    /// See [`Engine::from_dir`].
    pub fn open(
        dir: impl AsRef<Path>,
        engine: impl Fn() -> EngineBuilder + Send + Sync + 'static,
    ) -> std::result::Result<Self, Diagnostics> {
        let root = dir.as_ref().to_owned();
        let seen = Mutex::new(Seen { at: Instant::now(), files: states(&root) });
        let templates = compile(engine(), &root)?;
        let compiled = RwLock::new(Compiled { templates, error: None });
        Ok(Self { root, engine: Box::new(engine), seen, compiled })
    }

    /// Returns the template `name`, a path below the directory.
    ///
    /// # Errors
    /// `template.unknown`, with the nearest name.
    pub fn template(&self, name: &str) -> Result<Template> {
        self.look();
        let compiled = self.compiled.read().unwrap_or_else(PoisonError::into_inner);
        let unknown = || {
            let message = format!("`{}` has no template `{name}`", self.root.display());
            let names = || compiled.templates.keys().map(String::as_str);
            Diagnostic::new(Code::UnknownTemplate, message).with_suggestion(name, names()).with_available(names())
        };
        compiled.templates.get(name).cloned().ok_or_else(unknown)
    }

    /// Returns the names of the templates, sorted.
    pub fn names(&self) -> Vec<String> {
        self.look();
        self.compiled.read().unwrap_or_else(PoisonError::into_inner).templates.keys().cloned().collect()
    }

    /// Returns the errors of the changed files that keep the last good templates in use.
    pub fn error(&self) -> Option<Diagnostics> {
        self.look();
        self.compiled.read().unwrap_or_else(PoisonError::into_inner).error.clone()
    }

    /// Compiles the templates if a file has changed. One thread looks at a time; others go on with what is in use.
    fn look(&self) {
        let Ok(mut seen) = self.seen.try_lock() else { return };
        if seen.at.elapsed() < PAUSE {
            return;
        }
        let files = states(&self.root);
        seen.at = Instant::now();
        if files == seen.files || is_being_written(&files) {
            return;
        }
        let result = compile((self.engine)(), &self.root);
        // A file that was written meanwhile may have been read half.
        if states(&self.root) != files {
            return;
        }
        seen.files = files;
        let mut compiled = self.compiled.write().unwrap_or_else(PoisonError::into_inner);
        match result {
            Ok(templates) => *compiled = Compiled { templates, error: None },
            Err(error) => compiled.error = Some(error),
        }
    }
}

/// Compiles all templates of a directory.
fn compile(engine: EngineBuilder, root: &Path) -> std::result::Result<BTreeMap<String, Template>, Diagnostics> {
    let (bundle, _) = bundle_dir(engine, root)?;
    Ok(bundle.templates().iter().map(|template| (template.name().to_owned(), template.clone())).collect())
}

/// Returns the states of all files below `root`.
fn states(root: &Path) -> FileStates {
    let state = |file: Metadata| Some((file.modified().ok()?, file.len()));
    let of = |name: String| {
        let file = std::fs::metadata(root.join(&name)).ok();
        (name, file.and_then(state))
    };
    matching(root, "", "").into_iter().map(of).collect()
}

/// Returns `true` if a file was written so recently that its writer may not have finished.
fn is_being_written(files: &FileStates) -> bool {
    let now = SystemTime::now();
    let is_new = |(at, _): &(SystemTime, u64)| now.duration_since(*at).is_ok_and(|age| age < SETTLE);
    files.values().flatten().any(is_new)
}

impl fmt::Debug for TemplateDir {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TemplateDir").field("root", &self.root).finish_non_exhaustive()
    }
}
