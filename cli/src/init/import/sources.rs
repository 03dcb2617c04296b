//! The files that an import reads, all below one folder, and charts of repositories, which have to be fetched.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use dropforge::bulk::values::{Gaps, SetKind, parse_set};
use dropforge::diagnostics::{Code, Diagnostic, Result, thousands};
use dropforge::engine::path_from_here;
use dropforge::files::{self, FileError, Files, unreadable};
use dropforge::text::Source;
use dropforge::value::{DataMap, Step};

use super::gotmpl::Reach;
use super::project::{Place, Project, file_name};
use super::yaml::Yaml;
use crate::glob;
use crate::input;

/// The maximum size of a file.
const MAX_BYTES: u64 = 16 << 20;
/// The maximum number of files that one import reads.
const MAX_FILES: usize = 20_000;
/// The maximum number of files and folders that are listed.
const MAX_LISTED: usize = 200_000;
/// The maximum number of folders below one another in a folder that is copied.
const MAX_DEPTH: usize = 32;

/// The files of an import.
#[derive(Debug)]
pub(super) struct Sources {
    root: Files,
    /// The folder of the imported file.
    base: PathBuf,
    read: usize,
}

/// The reason why a path is not read.
#[derive(Debug)]
pub(super) enum Refusal {
    Outside,
    Missing,
    Unreadable(Box<Diagnostic>),
}

impl Sources {
    /// Opens the files around `path`: those of its repository, or else of the current directory, or else of its folder.
    ///
    /// # Errors
    /// `file.read_failed`.
    pub(super) fn around(path: &Path) -> Result<Self> {
        let found = path.canonicalize().map_err(|error| unreadable(path, error))?;
        let base = if found.is_dir() { found } else { found.parent().unwrap_or(&found).to_owned() };
        let here = std::env::current_dir().and_then(|here| here.canonicalize()).ok();
        let here = here.filter(|here| base.starts_with(here));
        let root = input::repository(&base).or(here).unwrap_or_else(|| base.clone());
        Ok(Self { root: Files::below(root)?, base, read: 0 })
    }

    /// Returns the folder of the imported file.
    pub(super) fn base(&self) -> &Path {
        &self.base
    }

    /// Returns the folder that all files are below.
    pub(super) fn root(&self) -> &Path {
        self.root.root()
    }

    /// Returns what templates in a folder may read.
    pub(super) fn reach(&self, folder: &Path) -> Reach {
        Reach { root: self.root.clone(), folder: folder.to_owned() }
    }

    /// Returns the file or folder that `path` names in a folder, without links.
    pub(super) fn find(&self, folder: &Path, path: &str) -> std::result::Result<PathBuf, Refusal> {
        let joined = folder.join(path);
        let Some(text) = joined.to_str().filter(|text| !text.contains('\0')) else { return Err(Refusal::Missing) };
        self.root.find(text).map_err(|error| match error {
            FileError::Outside => Refusal::Outside,
            FileError::Missing => Refusal::Missing,
            FileError::Unreadable(error) => Refusal::Unreadable(unreadable(&joined, error)),
            FileError::NoFile(what) => Refusal::Unreadable(Diagnostic::new(
                Code::ReadFailed,
                format!("cannot read `{}`: it is {what}", joined.display()),
            )),
        })
    }

    /// Returns the files that a path or a glob names in a folder, sorted.
    pub(super) fn find_all(&self, folder: &Path, pattern: &str) -> std::result::Result<Vec<PathBuf>, Refusal> {
        if !pattern.contains(['*', '?']) {
            return self.find(folder, pattern).map(|path| vec![path]);
        }
        // A folder before the wildcards that leads out is refused before it is listed.
        let literal: PathBuf =
            Path::new(pattern).components().take_while(|part| !is_wild(part)).map(|part| part.as_os_str()).collect();
        let literal = literal.to_string_lossy();
        self.find(folder, if literal.is_empty() { "." } else { &literal })?;
        let found = glob::expand(&folder.join(pattern).to_string_lossy()).unwrap_or_default();
        Ok(found.iter().filter_map(|path| self.find(folder, path.to_str()?).ok()).collect())
    }

    /// Reads a text file.
    ///
    /// # Errors
    /// `file.read_failed`; `syntax.not_utf8`; `usage` for too many files.
    pub(super) fn text(&mut self, path: &Path) -> Result<Arc<Source>> {
        self.count(path)?;
        let bytes = files::read(path, MAX_BYTES).map_err(|error| unreadable(path, error))?;
        input::source(Path::new(&path_from_here(path)), bytes)
    }

    fn count(&mut self, path: &Path) -> Result<()> {
        self.read += 1;
        if self.read <= MAX_FILES { Ok(()) } else { Err(too_many(path, MAX_FILES)) }
    }

    fn check_listed(path: &Path, count: usize) -> Result<()> {
        if count < MAX_LISTED { Ok(()) } else { Err(too_many(path, MAX_LISTED)) }
    }

    /// Returns the regular files below a folder, sorted, by their paths from there. Folders that links lead to are left
    /// out, and so is `.git`.
    ///
    /// # Errors
    /// `file.read_failed`; `usage` for too many files.
    pub(super) fn below(&self, folder: &Path) -> Result<Vec<PathBuf>> {
        let (mut found, mut left) = (Vec::new(), vec![(folder.to_owned(), 0)]);
        while let Some((here, depth)) = left.pop() {
            let entries = fs::read_dir(&here).map_err(|error| unreadable(&here, error))?;
            for entry in entries {
                let entry = entry.map_err(|error| unreadable(&here, error))?;
                let kind = entry.file_type().map_err(|error| unreadable(&here, error))?;
                let path = entry.path();
                if kind.is_dir() && depth < MAX_DEPTH && entry.file_name() != ".git" {
                    left.push((path, depth + 1));
                } else if kind.is_file() {
                    Self::check_listed(&path, found.len())?;
                    found.extend(path.strip_prefix(folder).ok().map(Path::to_owned));
                }
            }
        }
        found.sort();
        Ok(found)
    }

    /// Returns the folders below a folder, with their paths from there, sorted.
    ///
    /// # Errors
    /// `file.read_failed`; `usage` for too many folders.
    pub(super) fn folders(&self, folder: &Path) -> Result<Vec<String>> {
        let (mut found, mut left) = (Vec::new(), vec![(folder.to_owned(), 0)]);
        while let Some((here, depth)) = left.pop() {
            for entry in fs::read_dir(&here).map_err(|error| unreadable(&here, error))?.flatten() {
                let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
                let name = entry.file_name();
                if !is_dir || depth >= MAX_DEPTH || name.to_string_lossy().starts_with('.') {
                    continue;
                }
                let path = entry.path();
                Self::check_listed(&path, found.len())?;
                found.extend(path.strip_prefix(folder).ok().and_then(Path::to_str).map(str::to_owned));
                left.push((path, depth + 1));
            }
        }
        found.sort();
        Ok(found)
    }
}

fn too_many(path: &Path, most: usize) -> Box<Diagnostic> {
    let message = format!("cannot read `{}`: an import reads at most {} files", path.display(), thousands(most));
    Diagnostic::new(Code::Usage, message).with_help("import a part of it: a file or folder at a time")
}

fn is_wild(part: &Component<'_>) -> bool {
    part.as_os_str().to_string_lossy().contains(['*', '?'])
}

impl Refusal {
    /// Returns the reason and the advice for a path that is not read.
    pub(super) fn told(&self, root: &Path) -> (String, String) {
        match self {
            Self::Outside => (
                format!("lies outside of `{}`", path_from_here(root)),
                "copy it into the repository, or run the import in a folder above both".to_owned(),
            ),
            Self::Missing => ("does not exist".to_owned(), "write the file, or remove it from the project".to_owned()),
            Self::Unreadable(error) => ("cannot be read".to_owned(), error.message.clone()),
        }
    }
}

/// The places of charts that have to be fetched, by their names and versions.
pub(super) type Vendored = BTreeMap<(String, String), String>;

/// A chart of a repository.
#[derive(Debug)]
pub(super) struct Remote<'r> {
    /// The chart as the imported file names it.
    pub(super) shown: &'r str,
    pub(super) version: &'r str,
    /// The chart as `helm pull` names it.
    pub(super) source: &'r str,
    /// What else is needed, after the command.
    pub(super) needs: &'r str,
}

impl Remote<'_> {
    /// Returns the path where the project expects the chart, and notes the command that fetches it. A folder of the same
    /// version that is there already is taken.
    pub(super) fn path(
        &self,
        (release, place): (&str, Place),
        vendored: &mut Vendored,
        sources: &mut Sources,
        project: &mut Project,
    ) -> String {
        let name = file_name(self.shown.trim_end_matches('/').rsplit('/').next().unwrap_or(self.shown));
        let version = self.version.trim();
        let key = (self.shown.to_owned(), version.to_owned());
        if let Some(known) = vendored.get(&key) {
            return known.clone();
        }
        let plain = format!("charts/{name}");
        let existing = sources.base().join(&plain);
        if is_version(&existing, version)
            && let Ok(path) = project.copy_folder(sources, &existing)
        {
            vendored.insert(key, path.clone());
            return path;
        }
        let is_free = !vendored.values().any(|path| *path == plain) && !existing.exists();
        let into = if is_free { "charts".to_owned() } else { format!("charts/{name}-{}", file_name(version)) };
        let path = format!("{into}/{name}");
        let (space, option) = match version {
            "" => ("", String::new()),
            version => (" ", format!(" --version '{version}'")),
        };
        let command = format!("helm pull {}{option} --untar --untardir {into}", self.source);
        let message = format!("the chart `{}`{space}{version} is not in the repository", self.shown);
        let help = format!("fetch it to `{path}`: `{command}`{}", self.needs);
        project.notes.left_out_of(Some(release), Some(place), message, help);
        vendored.insert(key, path.clone());
        path
    }
}

/// Returns `true` for the folder of a chart of this version, or of any if none is wanted.
fn is_version(folder: &Path, version: &str) -> bool {
    let Ok(text) = dropforge::files::read_text(&folder.join("Chart.yaml"), 1 << 20) else { return false };
    let Ok(documents) = Yaml::documents(&Source::new("Chart.yaml", text), None) else { return false };
    let own = documents.first().and_then(|chart| chart.get("version"));
    version.is_empty() || own.is_some_and(|own| *own.node.text == *version)
}

/// Sets a value as `--set name=text` does. Returns `false` for a path into a list, which depends on the values below.
pub(super) fn assign(map: &mut DataMap, kind: SetKind, name: &str, text: &str) -> bool {
    let is_index = |step: &Step| matches!(step, Step::Index(_));
    match parse_set(kind, &format!("{name}={text}"), &mut |_| Ok(String::new())) {
        Ok(all) if all.iter().all(|one| !one.path.iter().any(is_index)) => {
            all.iter().all(|one| one.apply(map, &mut Gaps::default()).is_ok())
        }
        _ => false,
    }
}

/// Escapes a text for [`assign`].
pub(super) fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace(',', "\\,")
}
