//! Globs: `clusters/*.yaml` as one file each, sorted.

use std::path::{Path, PathBuf};

use crate::diagnostics::{Code, Diagnostic, Result};

/// The files that `pattern` names: itself where it has no `*` or `?` (or is a file of that name), else all that
/// match, sorted. `*` and `?` stand for parts of one name, `**` for any directories.
///
/// # Errors
/// `file.read_failed` where nothing matches.
pub(super) fn expand(pattern: &str) -> Result<Vec<PathBuf>> {
    let path = Path::new(pattern);
    if !is_pattern(pattern) || path.exists() {
        return Ok(vec![path.to_owned()]);
    }
    let mut found = vec![PathBuf::from(if pattern.starts_with('/') { "/" } else { "" })];
    for part in pattern.split('/').filter(|part| !part.is_empty()) {
        found = found.iter().flat_map(|dir| step(dir, part)).collect();
    }
    found.retain(|path| path.is_file());
    found.sort();
    found.dedup();
    match found.is_empty() {
        false => Ok(found),
        true => Err(Diagnostic::new(Code::ReadFailed, format!("no file matches `{pattern}`"))),
    }
}

fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?'])
}

fn step(dir: &Path, part: &str) -> Vec<PathBuf> {
    match part {
        "**" => below(dir),
        _ if is_pattern(part) => {
            entries(dir).into_iter().filter(|(name, _)| matches(part, name)).map(|(_, path)| path).collect()
        }
        _ => vec![dir.join(part)],
    }
}

/// Names and paths in a directory; hidden ones are left out.
fn entries(dir: &Path) -> Vec<(String, PathBuf)> {
    let shown = if dir.as_os_str().is_empty() { Path::new(".") } else { dir };
    let entries = std::fs::read_dir(shown).into_iter().flatten().flatten();
    let named = entries.filter_map(|entry| entry.file_name().into_string().ok());
    named.filter(|name| !name.starts_with('.')).map(|name| (name.clone(), dir.join(name))).collect()
}

/// The directory and all directories below it, links not followed.
fn below(dir: &Path) -> Vec<PathBuf> {
    let mut all = vec![dir.to_owned()];
    let mut at = 0;
    while let Some(dir) = all.get(at).cloned() {
        all.extend(entries(&dir).into_iter().map(|(_, path)| path).filter(|path| path.is_dir() && !path.is_symlink()));
        at += 1;
    }
    all
}

/// Whether `name` matches `pattern`, in steps that grow with the product of their lengths at most.
fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut p, mut n, mut star) = (0, 0, None);
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(c) if *c == '?' || name.get(n) == Some(c) => (p, n) = (p + 1, n + 1),
            _ => match star {
                Some((at, from)) => {
                    star = Some((at, from + 1));
                    (p, n) = (at + 1, from + 1);
                }
                None => return false,
            },
        }
    }
    pattern.iter().skip(p).all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match() {
        let yes = [
            ("*", "a"),
            ("*", ""),
            ("a*c", "abbc"),
            ("a?c", "abc"),
            ("*.yaml", "x.y.yaml"),
            ("**a", "ba"),
            ("a*b*c", "aXbXbc"),
        ];
        let no = [("a", "b"), ("a?", "a"), ("*.yaml", "x.yml"), ("a*c", "abcd"), ("", "a")];
        assert!(yes.iter().all(|(pattern, name)| matches(pattern, name)));
        assert!(!no.iter().any(|(pattern, name)| matches(pattern, name)));
        assert!(!matches(&"*a".repeat(200), &"b".repeat(5_000)));
    }

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
    }
}
