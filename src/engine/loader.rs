//! Loaders: templates in memory, or in a directory that no name can leave.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use super::discover::{listing, matching};
use super::walk::path_from_here;
use dropforge_base::diagnostics::{Code, Diagnostic, Result, not_utf8};
use dropforge_base::files::{FileError, Files, unreadable};
use dropforge_base::limits::{Limit, Limits};
use dropforge_base::text::Source;
use dropforge_machine::compiler::{Loader, NoLoader};
use hashbrown::HashMap;

/// Templates in memory, in front of another loader.
pub struct MemoryLoader {
    sources: BTreeMap<String, Arc<Source>>,
    below: Arc<dyn Loader>,
}

impl MemoryLoader {
    /// No templates.
    pub fn new() -> Self {
        Self::over(Arc::new(NoLoader))
    }

    /// Returns an empty loader in front of `below`.
    pub fn over(below: Arc<dyn Loader>) -> Self {
        Self { sources: BTreeMap::new(), below }
    }

    /// Adds a template under the name of its source.
    pub fn with(mut self, source: Arc<Source>) -> Self {
        self.sources.insert(source.name().to_owned(), source);
        self
    }
}

impl Default for MemoryLoader {
    fn default() -> Self {
        Self::new()
    }
}

impl Loader for MemoryLoader {
    fn load(&self, name: &str) -> Result<Option<Arc<Source>>> {
        match self.sources.get(name) {
            Some(source) => Ok(Some(source.clone())),
            None => self.below.load(name),
        }
    }

    fn lists(&self) -> bool {
        self.below.lists()
    }

    fn names(&self) -> Vec<String> {
        self.sources.keys().cloned().chain(self.below.names()).collect()
    }

    fn files(&self, prefix: &str, suffix: &str) -> Vec<String> {
        let ends = |name: &&String| name.strip_prefix(prefix).is_some_and(|rest| rest.ends_with(suffix));
        self.sources.keys().filter(ends).cloned().chain(self.below.files(prefix, suffix)).collect()
    }
}

impl std::fmt::Debug for MemoryLoader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.sources.keys()).finish()
    }
}

/// Asks another loader for each name once and remembers the source.
pub(super) struct Once<'l> {
    below: &'l dyn Loader,
    known: Mutex<HashMap<String, Result<Option<Arc<Source>>>>>,
}

impl<'l> Once<'l> {
    /// Returns a loader in front of `below`.
    pub fn over(below: &'l dyn Loader) -> Self {
        Self { below, known: Mutex::default() }
    }
}

impl Loader for Once<'_> {
    fn load(&self, name: &str) -> Result<Option<Arc<Source>>> {
        let Ok(mut known) = self.known.lock() else { return self.below.load(name) };
        match known.get(name) {
            Some(answer) => answer.clone(),
            None => known.entry(name.to_owned()).or_insert_with(|| self.below.load(name)).clone(),
        }
    }

    fn below(&self) -> Option<&dyn Loader> {
        Some(self.below)
    }
}

/// Files below a directory, by relative path with `/` between components. Absolute names, names with `..` and links
/// that lead out are refused with the same error, whether or not the target exists.
#[derive(Debug, Clone)]
pub struct DirLoader {
    files: Files,
    folder: Option<Arc<str>>,
    /// The only files and folders that are read, below the root. `None` for all.
    only: Option<Arc<[PathBuf]>>,
    source_bytes: usize,
    /// Names to suggest, listed once because a file may name a thousand missing templates.
    listing: Arc<OnceLock<Vec<String>>>,
}

impl DirLoader {
    /// Returns a loader confined to `root`, which must exist.
    pub fn jailed(root: impl AsRef<Path>) -> Result<Self> {
        let root = root.as_ref();
        let files = Files::below(root).map_err(|error| error.with_note("it is the root of includes"))?;
        let source_bytes = Limits::default().source_bytes;
        Ok(Self { files, folder: None, only: None, source_bytes, listing: Arc::default() })
    }

    /// Diagnostics name the files by their path from the current directory.
    #[doc(hidden)]
    pub fn paths_from_here(mut self) -> Self {
        self.folder = Some(path_from_here(self.files.root()).into()).filter(|folder: &Arc<str>| &**folder != ".");
        self
    }

    /// Reads only these files, and those below these folders. Their paths are relative to the root.
    #[doc(hidden)]
    pub fn only(mut self, paths: impl IntoIterator<Item = PathBuf>) -> Self {
        self.only = Some(paths.into_iter().collect());
        self.listing = Arc::default();
        self
    }

    /// Returns `true` if a file may be read.
    fn reads(&self, name: &str) -> bool {
        self.only.as_ref().is_none_or(|only| only.iter().any(|path| Path::new(&plain(name)).starts_with(path)))
    }

    /// Rejects files of more than `bytes`.
    pub fn source_bytes(mut self, bytes: usize) -> Self {
        self.source_bytes = bytes;
        self
    }

    /// Returns the path of a file in diagnostics.
    fn path(&self, name: &str) -> String {
        let folder = self.folder.as_deref().map(|folder| format!("{folder}/"));
        folder.unwrap_or_default() + &plain(name)
    }

    fn open(&self, name: &str) -> Result<Option<(fs::File, u64)>> {
        let plain = Path::new(name).components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        if !plain || name.contains(['\0', '\\']) {
            return Err(outside(name));
        }
        if !self.reads(name) {
            return Ok(None);
        }
        match self.files.open(name) {
            Ok(opened) => Ok(Some(opened)),
            Err(FileError::Missing | FileError::NoFile(_)) => Ok(None),
            Err(FileError::Outside) => Err(outside(name)),
            Err(FileError::Unreadable(error)) => Err(unreadable(Path::new(&self.path(name)), error)),
        }
    }
}

impl Loader for DirLoader {
    fn load(&self, name: &str) -> Result<Option<Arc<Source>>> {
        let Some((mut file, length)) = self.open(name)? else { return Ok(None) };
        if length > self.source_bytes as u64 {
            let error = Limit::SourceBytes.error(self.source_bytes as u64);
            return Err(error.with_note(format!("the file is `{}`", self.path(name))));
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(|error| unreadable(Path::new(&self.path(name)), error))?;
        let text = String::from_utf8(bytes).map_err(|error| not_utf8(&self.path(name), error.as_bytes(), (0, 0)))?;
        Ok(Some(Source::below(self.folder.clone(), plain(name), text)))
    }

    fn lists(&self) -> bool {
        true
    }

    fn names(&self) -> Vec<String> {
        let names = || listing(self.files.root()).into_iter().filter(|name| self.reads(name)).collect();
        self.listing.get_or_init(names).clone()
    }

    fn files(&self, prefix: &str, suffix: &str) -> Vec<String> {
        let names = matching(self.files.root(), prefix, suffix).into_iter();
        names.filter(|name| self.reads(name)).collect()
    }

    fn folder(&self) -> Option<Arc<str>> {
        self.folder.clone()
    }
}

/// Returns the canonical name (`a/b` for `./a//b`), so that a file has one name, even in artifacts.
fn plain(name: &str) -> String {
    let parts = Path::new(name).components().filter(|part| *part != Component::CurDir);
    parts.filter_map(|part| part.as_os_str().to_str()).collect::<Vec<_>>().join("/")
}

fn outside(name: &str) -> Box<Diagnostic> {
    Diagnostic::new(Code::OutsideRoot, format!("`{name}` leads out of the include root"))
        .with_help("name templates relative to the root, without `..`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_jailed_loader_refuses_every_way_out() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("root");
        fs::create_dir(&root).unwrap();
        fs::write(root.join("in.tera"), "in").unwrap();
        fs::write(dir.path().join("secret"), "secret").unwrap();
        std::os::unix::fs::symlink(dir.path().join("secret"), root.join("link")).unwrap();
        let loader = DirLoader::jailed(&root).unwrap();
        assert_eq!(loader.load("in.tera").unwrap().unwrap().text(), "in");
        assert_eq!(loader.load("././/in.tera").unwrap().unwrap().name(), "in.tera");
        assert!(loader.load("absent").unwrap().is_none());
        assert_eq!(loader.names(), ["in.tera"]);
        for name in ["../secret", "../absent", "/etc/passwd", "a/../../secret", "link", "in.tera\0", "..\\secret"] {
            assert_eq!(loader.load(name).unwrap_err().code, Code::OutsideRoot, "{name}");
        }
        fs::create_dir_all(root.join("a/.b")).unwrap();
        for name in ["a/x.yaml", "a/.x.yaml", "a/.b/x.yaml", "a/x.json", "y.yaml"] {
            fs::write(root.join(name), "").unwrap();
        }
        std::os::unix::fs::symlink("x.yaml", root.join("a/link.yaml")).unwrap();
        assert_eq!(loader.files("a/", ".yaml"), ["a/.x.yaml", "a/link.yaml", "a/x.yaml"]);
        assert_eq!(loader.files("a/x", ""), ["a/x.json", "a/x.yaml"]);
        assert_eq!(loader.files("", "x.yaml"), ["a/.x.yaml", "a/x.yaml"]);
        assert!(loader.files("absent/", "").is_empty());
        let some = loader.clone().only(["a/.b".into(), "y.yaml".into()]);
        assert!(some.load("a/.b/x.yaml").unwrap().is_some() && some.load("./y.yaml").unwrap().is_some());
        assert!(some.load("a/x.yaml").unwrap().is_none() && some.load("in.tera").unwrap().is_none());
        assert_eq!(some.load("../secret").unwrap_err().code, Code::OutsideRoot);
        assert_eq!((some.names(), some.files("", ".yaml")), (Vec::new(), vec!["y.yaml".to_owned()]));
        let message = |name| loader.load(name).unwrap_err().message.replace(name, "");
        assert_eq!(message("../secret"), message("../absent"));
    }
}
