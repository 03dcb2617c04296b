//! Charts in directories, and the files that `.helmignore` excludes.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::Stage;
use super::source::{Budget, ChartFile, file, outside};
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_base::files;
use dropforge_base::stdlib::go_match::matches;

/// Maximum nesting of directories. Links may lead in circles.
const DEPTH: usize = 64;

/// A directory that is not read yet.
struct OpenDirectory {
    /// The directory itself, without links.
    at: PathBuf,
    /// The path from the root, with a slash at its end unless empty.
    path: String,
    depth: usize,
}

/// Returns the files below `root` that `.helmignore` does not exclude.
/// Links may lead to the folders `follow`, too.
pub(super) fn files(root: &Path, follow: &[PathBuf], budget: &mut Budget) -> Result<Vec<ChartFile>> {
    let real = |path: &Path| fs::canonicalize(path).map_err(|error| unreadable(path, error));
    let root = real(root)?;
    let allowed = follow.iter().map(|path| real(path)).collect::<Result<Vec<_>>>()?;
    let allowed = [std::slice::from_ref(&root), &allowed].concat();
    let ignored = ignored(&root, &allowed, budget.bounds.file_bytes)?;
    let (mut files, mut open) = (Vec::new(), vec![OpenDirectory { at: root.clone(), path: String::new(), depth: 0 }]);
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
            let target = within(&allowed, &entry.path(), &path)?;
            if excludes(&ignored, &path, target.is_dir()) {
                continue;
            }
            if target.is_dir() {
                open.push(OpenDirectory { at: target, path: path + "/", depth: directory.depth + 1 });
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

/// Returns a path without links. A link that leads to none of the folders `allowed` is an error.
fn within(allowed: &[PathBuf], at: &Path, path: &str) -> Result<PathBuf> {
    let target = fs::canonicalize(at).map_err(|error| unreadable(at, error))?;
    if allowed.iter().any(|folder| target.starts_with(folder)) {
        return Ok(target);
    }
    let folder = if target.is_dir() { target.as_path() } else { target.parent().unwrap_or(&target) };
    let error = outside(path).with_note(format!("the link leads to `{}`", target.display()));
    Err(error.with_help(format!("allow the folder that it leads to: `--follow-links {}`", folder.display())))
}

fn ignored(root: &Path, allowed: &[PathBuf], most: u64) -> Result<Vec<Rule>> {
    let path = root.join(".helmignore");
    if !path.exists() {
        return rules("");
    }
    let target = within(allowed, &path, ".helmignore")?;
    let bytes = read_file(&target, most).map_err(|error| unreadable(&path, error))?;
    rules(&String::from_utf8_lossy(&bytes))
}

/// Reads at most `most` bytes of a regular file.
pub(super) fn read_file(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    files::open(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn unreadable(path: &Path, error: io::Error) -> Box<Diagnostic> {
    Stage::Load.of(files::unreadable(path, error))
}

/// The rule that every chart has: hidden files among templates.
const DEFAULT: &str = "templates/.?*";

/// A pattern of a `.helmignore` file.
#[derive(Debug)]
struct Rule {
    pattern: String,
    /// The rule begins with `!`: what does not match is excluded.
    is_negated: bool,
    /// The rule ends with `/`: only directories match.
    only_directories: bool,
    /// The pattern has a slash and is compared with the whole path, not only with the last component.
    whole_path: bool,
}

/// Parses the lines of a `.helmignore` file.
///
/// # Errors
/// `input.syntax` for `**` and malformed patterns.
fn rules(text: &str) -> Result<Vec<Rule>> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.chain([DEFAULT]).map(rule).collect()
}

/// Returns `true` if the file or directory at `path` does not belong to the chart.
fn excludes(rules: &[Rule], path: &str, is_dir: bool) -> bool {
    rules.iter().any(|rule| rule.excludes(path, is_dir))
}

impl Rule {
    fn excludes(&self, path: &str, is_dir: bool) -> bool {
        match self.only_directories && !is_dir {
            true => self.is_negated,
            false => self.matches(path) != self.is_negated,
        }
    }

    fn matches(&self, path: &str) -> bool {
        let last = path.rsplit('/').next().unwrap_or(path);
        matches(&self.pattern, if self.whole_path { path } else { last }).unwrap_or(false)
    }
}

fn rule(line: &str) -> Result<Rule> {
    let malformed = |why: &str| Stage::Load.error(Code::InputSyntax, format!(".helmignore: `{line}`: {why}"));
    if line.contains("**") {
        return Err(malformed("double-star (**) syntax is not supported"));
    }
    // Helm tries each pattern once, with this name.
    matches(line, "abc").map_err(|_| malformed("syntax error in pattern"))?;
    let (is_negated, pattern) = line.strip_prefix('!').map_or((false, line), |rest| (true, rest));
    let (only_directories, pattern) = pattern.strip_suffix('/').map_or((false, pattern), |rest| (true, rest));
    let whole_path = pattern.contains('/');
    let pattern = pattern.strip_prefix('/').unwrap_or(pattern).to_owned();
    Ok(Rule { pattern, is_negated, only_directories, whole_path })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_of_a_file() {
        let ignored = rules("# comment\n\n*.txt\n/top.yaml\ndir/\na/*.md\nx[ab]\n").unwrap();
        for (path, is_dir, excluded) in [
            ("a.txt", false, true),
            ("deep/a.txt", false, true),
            ("top.yaml", false, true),
            ("deep/top.yaml", false, false),
            ("dir", true, true),
            ("dir", false, false),
            ("deep/dir", true, true),
            ("a/b.md", false, true),
            ("a/b/c.md", false, false),
            ("xa", false, true),
            ("templates/.hidden", false, true),
            ("templates/.h", true, true),
            ("templates/a.yaml", false, false),
            (".hidden", false, false),
        ] {
            assert_eq!(excludes(&ignored, path, is_dir), excluded, "{path}");
        }
        assert!(excludes(&rules("!a.txt\n").unwrap(), "b.txt", false));
        assert!(!excludes(&rules("!a.txt\n").unwrap(), "a.txt", false));
        assert!(rules("a/**\n").is_err() && rules("[").is_err() && rules("[a-]").is_err() && rules("b*[").is_ok());
        // `!` is no negation in a class, and empty parts of a path are parts.
        for (rule, path, excluded) in [
            ("[!a]", "a", true),
            ("[!a]", "b", false),
            ("dir//a", "dir/a", false),
            ("//a", "a", false),
            ("dir//", "dir", false),
        ] {
            assert_eq!(excludes(&rules(rule).unwrap(), path, true), excluded, "{rule}");
        }
    }
}
