//! The files that inputs may be, and the checks of paths.

use std::path::{Path, PathBuf};

use dropforge::diagnostics::{Code, Diagnostic, Result};
use dropforge::files::{self, FileError, Files};

use super::{InputFiles, is_dash, is_url};
use crate::remote;
use dropforge::files::unreadable;

/// The inputs that may be read.
#[derive(Debug, Clone, Default)]
pub(super) enum Reach {
    /// Files, pipes and standard input.
    #[default]
    All,
    /// Regular files below a directory, and standard input.
    Below(Files),
    /// Regular files. An editor writes to standard input, and does not wait.
    #[cfg(feature = "lsp")]
    RegularFiles,
}

impl InputFiles {
    /// Checks that an input may be read.
    ///
    /// # Errors
    /// `file.read_failed`, `template.outside_root`.
    pub(super) fn admit(&self, path: &Path) -> Result<()> {
        let file = local(path);
        match &self.reach {
            Reach::All => Ok(()),
            #[cfg(feature = "lsp")]
            Reach::RegularFiles if is_dash(path) => {
                Err(Diagnostic::new(Code::ReadFailed, "cannot read standard input: the editor uses it")
                    .with_help("name a file"))
            }
            Reach::Below(_) if is_dash(path) => Ok(()),
            _ if is_url(&file) => Ok(()),
            // A copy of an object that a URL names is one of ours.
            Reach::Below(root) if !is_below(root, &file) && self.fetched.url_of(path).is_none() => {
                Err(outside(path, root))
            }
            _ => files::open(&file).map(drop).map_err(|error| unreadable(path, error)),
        }
    }
}

/// Returns the path of a file. The URL of a file is one.
pub(super) fn local(path: &Path) -> PathBuf {
    path.to_str().and_then(|text| remote::output(text).ok()).unwrap_or_else(|| path.to_owned())
}

/// Returns a path that does not stand for standard input.
pub(super) fn beyond_dash(path: &Path) -> PathBuf {
    if is_dash(path) { Path::new(".").join(path) } else { path.to_owned() }
}

/// Returns `true` if a path leads to a place below `root`, whether or not there is a file.
pub(crate) fn is_below(root: &Files, path: &Path) -> bool {
    let local = local(path);
    if let Ok(real) = local.canonicalize() {
        return real.starts_with(root.root());
    }
    let path = std::path::absolute(&local).unwrap_or(local);
    !matches!(path.to_str().map(|path| root.find(path)), None | Some(Err(FileError::Outside)))
}

/// Returns the folder of the Git repository that a file or folder is in.
pub(crate) fn repository(place: &Path) -> Option<PathBuf> {
    let place = place.canonicalize().ok()?;
    place.ancestors().find(|folder| folder.join(".git").exists()).map(Path::to_owned)
}

/// Returns the error of a path that leads out of the files that may be read.
pub(crate) fn outside(path: &Path, root: &Files) -> Box<Diagnostic> {
    let message = format!("`{}` leads out of `{}`, whose files may be read", path.display(), root.root().display());
    Diagnostic::new(Code::OutsideRoot, message)
}
