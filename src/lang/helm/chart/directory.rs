//! Charts in directories.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::error::Stage;
use super::ignore::Ignored;
use super::source::{Budget, ChartFile, file, outside};
use dropforge_base::diagnostics::{Code, Diagnostic, Result};

/// Maximum nesting of directories. Links may lead in circles.
const DEPTH: usize = 64;

/// A directory that is not read yet.
struct Open {
    /// The directory itself, without links.
    at: PathBuf,
    /// The path from the root, with a slash at its end unless empty.
    path: String,
    depth: usize,
}

/// Returns the files below `root` that `.helmignore` does not exclude.
pub(super) fn files(root: &Path, budget: &mut Budget) -> Result<Vec<ChartFile>> {
    let root = fs::canonicalize(root).map_err(|error| unreadable(root, error))?;
    let ignored = ignored(&root, budget.bounds.file_bytes)?;
    let (mut files, mut open) = (Vec::new(), vec![Open { at: root.clone(), path: String::new(), depth: 0 }]);
    while let Some(directory) = open.pop() {
        let at = directory.at;
        if directory.depth > DEPTH {
            let message = format!("the directories of the chart nest deeper than {DEPTH} levels");
            return Err(Stage::Load.error(Code::LimitDepth, message).with_help("links may lead in a circle"));
        }
        for entry in fs::read_dir(&at).map_err(|error| unreadable(&at, error))? {
            let entry = entry.map_err(|error| unreadable(&at, error))?;
            let Ok(name) = entry.file_name().into_string() else { return Err(outside(&at.to_string_lossy())) };
            let path = format!("{}{name}", directory.path);
            let target = within(&root, &entry.path(), &path)?;
            if ignored.excludes(&path, target.is_dir()) {
                continue;
            }
            if target.is_dir() {
                open.push(Open { at: target, path: path + "/", depth: directory.depth + 1 });
            } else {
                let bytes = read_file(&target, budget.next_file().saturating_add(1))
                    .map_err(|error| unreadable(&target, error))?;
                budget.take(&path, bytes.len() as u64)?;
                files.push(file(path, &bytes)?);
            }
        }
    }
    Ok(files)
}

/// Returns a path without links. A link that leads out of the chart is an error.
fn within(root: &Path, at: &Path, path: &str) -> Result<PathBuf> {
    let target = fs::canonicalize(at).map_err(|error| unreadable(at, error))?;
    if target.starts_with(root) { Ok(target) } else { Err(outside(path)) }
}

fn ignored(root: &Path, most: u64) -> Result<Ignored> {
    let path = root.join(".helmignore");
    if !path.exists() {
        return Ignored::parse("");
    }
    let target = within(root, &path, ".helmignore")?;
    let bytes = read_file(&target, most).map_err(|error| unreadable(&path, error))?;
    Ignored::parse(&String::from_utf8_lossy(&bytes))
}

/// Reads at most `most` bytes of a regular file.
pub(super) fn read_file(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn unreadable(path: &Path, error: io::Error) -> Box<Diagnostic> {
    let message = format!("cannot read `{}`: {error}", path.display());
    Stage::Load.of(Diagnostic::new(Code::ReadFailed, message).caused_by(error))
}
