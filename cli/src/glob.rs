//! Glob and directory arguments: `clusters/*.yaml` and `clusters/` as sorted lists of files.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use dropforge::bulk::Format;
use dropforge::diagnostics::{Code, Diagnostic, LOOKED_UP, Result};
use dropforge::files;
use dropforge::stdlib::globs::{Glob, States, Syntax};

/// Returns the files that `pattern` names: the path itself if it has no `*` or `?` or exists under that name, otherwise
/// all matches, sorted. `*` and `?` match parts of one name, `**` any number of directories. A directory stands for all
/// data files below it.
///
/// # Errors
/// `file.read_failed` if nothing matches; `usage` for a directory without data files.
pub(super) fn expand(pattern: &str) -> Result<Vec<PathBuf>> {
    let path = Path::new(pattern);
    if path.is_dir() {
        return data_files(path);
    }
    let glob = match Glob::parse(pattern, Syntax::Simple) {
        Some(glob) if pattern.contains(['*', '?']) && !path.exists() => glob,
        _ => return Ok(vec![path.to_owned()]),
    };
    let found = walk(Path::new(if pattern.starts_with('/') { "/" } else { "" }), &glob);
    match found.is_empty() {
        false => Ok(found),
        true => Err(unmatched(pattern)),
    }
}

/// Returns the error of a pattern that matches nothing, with the names of the folder that it looks into.
fn unmatched(pattern: &str) -> Box<Diagnostic> {
    let folder = literal_part(pattern);
    match std::fs::metadata(&folder) {
        Err(error) => files::unreadable(&folder, error).with_field(LOOKED_UP, pattern),
        Ok(_) => Diagnostic::new(Code::ReadFailed, format!("no file matches `{pattern}`"))
            .with_field(LOOKED_UP, pattern)
            .with_available(files::names(&folder)),
    }
}

/// Returns the part of a pattern before its first wildcard: all that it can match lies there or below.
pub(super) fn literal_part(pattern: &str) -> PathBuf {
    let path = Path::new(pattern);
    if path.exists() {
        return path.to_owned();
    }
    let is_literal =
        |part: &Component<'_>| !part.as_os_str().as_encoded_bytes().iter().any(|byte| b"*?".contains(byte));
    let literal: PathBuf = path.components().take_while(is_literal).collect();
    if literal.as_os_str().is_empty() { PathBuf::from(".") } else { literal }
}

/// Parses a pattern of paths.
pub(super) fn parse(pattern: &str) -> std::result::Result<Glob, String> {
    Glob::parse(pattern, Syntax::Full).ok_or_else(|| "expected a pattern such as `**/*.yaml`".to_owned())
}

/// Returns the files below `dir` whose extensions name a format, sorted. Hidden files are left out.
pub(super) fn data_files(dir: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Glob::parse("**/*", Syntax::Simple).map(|all| walk(dir, &all)).unwrap_or_default();
    found.retain(|path| Format::of_name(&path.to_string_lossy()).is_some());
    if found.is_empty() {
        let extensions = Format::ALL.map(|format| format!("`.{}`", format.name())).join(", ");
        let message = format!("no data file below `{}`", dir.display());
        return Err(Diagnostic::new(Code::Usage, message).with_help(format!("data files end with {extensions}")));
    }
    Ok(found)
}

/// Returns the files below `root` that match `glob`, sorted.
fn walk(root: &Path, glob: &Glob) -> Vec<PathBuf> {
    let (mut found, mut left) = (Vec::new(), vec![(root.to_owned(), glob.start())]);
    while let Some((dir, states)) = left.pop() {
        for name in names(glob, &states, &dir) {
            let (step, path) = (glob.step(&states, &name), dir.join(&name));
            if step.is_empty() {
                continue;
            }
            if !path.is_dir() {
                found.extend(Some(path).filter(|path| glob.is_match(&step.all()) && path.is_file()));
            } else if path.is_symlink() {
                // `**` does not follow links to directories.
                left.push((path, step.named));
            } else {
                left.push((path, step.all()));
            }
        }
    }
    found.sort_unstable();
    found
}

/// Returns the names in `dir` that can match next.
fn names(glob: &Glob, states: &States, dir: &Path) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    names.extend(glob.names(states).map(str::to_owned));
    if glob.has_wildcards(states) {
        let dir = if dir.as_os_str().is_empty() { Path::new(".") } else { dir };
        let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
        names.extend(entries.filter_map(|entry| entry.file_name().into_string().ok()));
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_expanded_and_sorted() {
        let temp = tempfile::tempdir().unwrap();
        for name in ["b.yaml", "a.yaml", "c.json", ".hidden.yaml", "d/e/f.yaml", "we*ird.yaml"] {
            let path = temp.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let expand = |pattern: &str| {
            let found = expand(&format!("{}/{pattern}", temp.path().display())).map_err(|error| error.code)?;
            Ok::<_, Code>(
                found
                    .iter()
                    .map(|path| path.strip_prefix(temp.path()).unwrap().display().to_string())
                    .collect::<Vec<_>>(),
            )
        };
        assert_eq!(expand("*.yaml").unwrap(), ["a.yaml", "b.yaml", "we*ird.yaml"]);
        assert_eq!(expand("**/*.yaml").unwrap(), ["a.yaml", "b.yaml", "d/e/f.yaml", "we*ird.yaml"]);
        assert_eq!(expand("we*ird.yaml").unwrap(), ["we*ird.yaml"]);
        assert_eq!(expand("*/e/?.yaml").unwrap(), ["d/e/f.yaml"]);
        assert_eq!(expand("*.toml"), Err(Code::ReadFailed));
        assert_eq!(expand("none.yaml").unwrap(), ["none.yaml"]);
        std::fs::write(temp.path().join("d/readme.md"), "").unwrap();
        std::os::unix::fs::symlink(".", temp.path().join("d/e/loop")).unwrap();
        assert_eq!(expand("").unwrap(), ["a.yaml", "b.yaml", "c.json", "d/e/f.yaml", "we*ird.yaml"]);
        assert_eq!(expand("d/").unwrap(), ["d/e/f.yaml"]);
        std::fs::create_dir(temp.path().join("empty")).unwrap();
        assert_eq!(expand("empty"), Err(Code::Usage));
    }
}
