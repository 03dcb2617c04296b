//! The error of a file or directory that cannot be read, in plain words and with the near name of its folder.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::diagnostics::{Code, Diagnostic, LOOKED_UP, nearest_path};

/// Maximum number of names of a folder that are looked at.
const NAMES: usize = 2_000;
/// Maximum number of names that an error lists.
const LISTED: usize = 20;

/// Returns the error of a file or directory that cannot be read.
///
/// A missing one is reported with the name that is near it in its folder, or else with the names of that folder.
pub fn unreadable(path: &Path, error: io::Error) -> Box<Diagnostic> {
    unusable("read", path, error)
}

/// Works like [`unreadable`], for something else that cannot be done with a file: `change to directory`.
pub fn unusable(what: &str, path: &Path, error: io::Error) -> Box<Diagnostic> {
    let is_missing = matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory);
    let missing = is_missing.then(|| Missing::of(path));
    let why = missing.as_ref().map_or_else(|| error.to_string(), |missing| missing.why(path));
    let failed = Diagnostic::new(Code::ReadFailed, format!("cannot {what} `{}`: {why}", path.display()))
        .with_field(LOOKED_UP, path.display().to_string())
        .caused_by(error);
    match missing {
        Some(missing) => missing.explain(path, failed),
        None => failed,
    }
}

/// The first part of a path that does not exist.
struct Missing<'p> {
    part: &'p Path,
    folder: PathBuf,
}

impl<'p> Missing<'p> {
    fn of(path: &'p Path) -> Self {
        let ancestors = path.ancestors().filter(|part| !part.as_os_str().is_empty());
        let part = ancestors.take_while(|part| fs::symlink_metadata(part).is_err()).last();
        let part = part.unwrap_or(path);
        let folder = part.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Self { part, folder: folder.to_owned() }
    }

    fn why(&self, path: &Path) -> String {
        let here = fs::symlink_metadata(self.part);
        match self.folder.is_dir() {
            _ if here.as_ref().is_ok_and(fs::Metadata::is_symlink) => {
                "it is a link to a file that does not exist".to_owned()
            }
            true if here.is_ok() => "it is a file, not a directory".to_owned(),
            false => format!("`{}` is a file, not a directory", self.folder.display()),
            true if self.part == path => "it does not exist".to_owned(),
            true => format!("there is no directory `{}`", self.part.display()),
        }
    }

    fn explain(&self, path: &Path, error: Box<Diagnostic>) -> Box<Diagnostic> {
        let wanted = self.part.file_name().and_then(OsStr::to_str).filter(|_| fs::symlink_metadata(self.part).is_err());
        let mut names = names(&self.folder);
        let (Some(wanted), false) = (wanted, names.is_empty()) else { return error };
        let Some(near) = nearest_path(wanted, names.iter().map(String::as_str)) else {
            names.truncate(LISTED);
            return error.with_available(names);
        };
        let rest = path.strip_prefix(self.part).unwrap_or(Path::new(""));
        let found = self.part.with_file_name(near);
        let whole = if rest.as_os_str().is_empty() { found.clone() } else { found.join(rest) };
        let meant = if whole.exists() { whole } else { found };
        error.with_help(format!("did you mean `{}`?", meant.display()))
    }
}

/// Returns the names in a folder without hidden ones, sorted.
pub fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().take(NAMES).flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| !name.starts_with('.')).collect();
    names.sort_unstable();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_file_is_named_with_the_near_one() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("fleet")).unwrap();
        for name in ["values.yaml", "fleet/clusters.yaml", ".hidden"] {
            fs::write(dir.path().join(name), "").unwrap();
        }
        #[cfg(unix)]
        std::os::unix::fs::symlink("nowhere", dir.path().join("link")).unwrap();
        let root = format!("{}/", dir.path().display());
        let of = |name: &str| {
            let path = dir.path().join(name);
            let error = unreadable(&path, fs::metadata(&path).unwrap_err());
            let help = error
                .help
                .clone()
                .unwrap_or_else(|| error.available.iter().flatten().cloned().collect::<Vec<_>>().join(" "));
            [error.message.clone(), help].map(|text| text.replace(&root, ""))
        };
        let missing = |name: &str| format!("cannot read `{name}`: it does not exist");
        assert_eq!(of("vales.yaml"), [missing("vales.yaml"), "did you mean `values.yaml`?".to_owned()]);
        assert_eq!(of("values.yml"), [missing("values.yml"), "did you mean `values.yaml`?".to_owned()]);
        assert_eq!(of("flet"), [missing("flet"), "did you mean `fleet`?".to_owned()]);
        let why = "cannot read `flet/clusters.yaml`: there is no directory `flet`".to_owned();
        assert_eq!(of("flet/clusters.yaml"), [why, "did you mean `fleet/clusters.yaml`?".to_owned()]);
        let why = "cannot read `values.yaml/x`: `values.yaml` is a file, not a directory".to_owned();
        assert_eq!(of("values.yaml/x"), [why, String::new()]);
        let listed = if cfg!(unix) { "fleet link values.yaml" } else { "fleet values.yaml" };
        assert_eq!(of("other"), [missing("other"), listed.to_owned()]);
        if cfg!(unix) {
            assert!(of("link")[0].ends_with("it is a link to a file that does not exist"));
        }
        let file = dir.path().join("values.yaml");
        let error = unusable("change to directory", &file, fs::read_dir(&file).unwrap_err());
        assert!(error.message.starts_with("cannot change to directory `"), "{error}");
        assert!(error.message.ends_with("`: it is a file, not a directory") && error.help.is_none(), "{error}");
    }
}
