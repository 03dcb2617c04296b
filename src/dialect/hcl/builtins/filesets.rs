//! `fileset`: the files below a directory that match a pattern.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use super::arguments::string;
use super::files::{FilePath, files};
use super::strings::cleaned;
use crate::dialect::hcl::values::Outcome;
use crate::dialect::hcl::values::marks::marked_by;
use crate::dialect::hcl::values::sets::set_of;
use crate::function::{Cx, FileError, Files};
use crate::stdlib::globs::{Glob, States, Step, Syntax, alternatives};
use crate::value::{Type, Value};

/// Maximum number of links to directories in one path, as in operating systems.
const LINKS: u8 = 40;

/// Steps spent on a directory entry, which costs a system call.
const ENTRY: u64 = 64;

pub(super) fn file_set<'v>(cx: &Cx<'v>, base: FilePath<'v>, pattern: FilePath<'v>) -> Outcome<Value<'v>> {
    let files = files(cx)?;
    cx.charge((base.path.len() + pattern.path.len()) * 16)?;
    let base_path = files.relative(base.path).to_str().unwrap_or("");
    let whole = cleaned(&format!("{}/{}", if base_path.is_empty() { "." } else { base_path }, pattern.path));
    let invalid = || pattern.fault("is not a valid file name pattern");
    let mut walk = Walk { cx, files, found: BTreeSet::new() };
    for one in alternatives(&whole).ok_or_else(invalid)? {
        let one = cleaned(&one);
        if one.starts_with('/') || one == ".." || one.starts_with("../") {
            return Err(base.fault(FileError::Outside));
        }
        walk.find(&Glob::parse(&one, Syntax::Full).ok_or_else(invalid)?)?;
    }
    let from = cleaned(base_path);
    let paths: Vec<_> = walk.found.iter().map(|path| string(cx, &relative(path, &from))).collect::<Outcome<_>>()?;
    marked_by(cx, marked_by(cx, set_of(cx, Type::String, &paths)?, base.marks)?, pattern.marks)
}

/// Returns `path` relative to the directory `from`. Both are cleaned.
fn relative(path: &str, from: &str) -> String {
    let (mut path, mut from) = (path, if from == "." { "" } else { from });
    while let Some((first, rest)) = path.split_once('/')
        && let (own, own_rest) = from.split_once('/').unwrap_or((from, ""))
        && first == own
    {
        (path, from) = (rest, own_rest);
    }
    let up = if from.is_empty() { 0 } else { from.matches('/').count() + 1 };
    "../".repeat(up) + path
}

/// A walk through the directories.
struct Walk<'c, 'v> {
    cx: &'c Cx<'v>,
    files: &'v Files,
    /// Paths relative to the allowed directory.
    found: BTreeSet<String>,
}

/// A directory that a walk visits.
struct Visit {
    /// The path as the pattern leads to it.
    path: String,
    /// The real directory.
    real: PathBuf,
    /// The positions in the pattern.
    states: States,
    /// The number of links to directories on the way.
    links: u8,
}

impl Walk<'_, '_> {
    /// Adds the files that match.
    fn find(&mut self, glob: &Glob) -> Outcome<()> {
        let real = self.files.root().to_owned();
        let mut left = vec![Visit { path: String::new(), real, states: glob.start(), links: 0 }];
        while let Some(visit) = left.pop() {
            self.cx.charge(size_of::<Visit>() + visit.path.len() + visit.real.as_os_str().len())?;
            for name in self.names(glob, &visit)? {
                self.cx.spend((glob.len() * name.len() / 8) as u64)?;
                let step = glob.step(&visit.states, &name);
                match if step.is_empty() { None } else { self.child(&visit, &name, step)? } {
                    Some(child) if child.real.is_dir() => left.push(child),
                    Some(child) if glob.is_match(&child.states) && child.real.is_file() => {
                        self.found.insert(child.path);
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// The names in a directory that can match next. Names that are not text cannot be expressed in the language.
    fn names(&self, glob: &Glob, visit: &Visit) -> Outcome<BTreeSet<String>> {
        let mut names: BTreeSet<String> = glob.names(&visit.states).map(str::to_owned).collect();
        if !glob.has_wildcards(&visit.states) {
            return Ok(names);
        }
        let Ok(entries) = fs::read_dir(&visit.real) else { return Ok(names) };
        for entry in entries.flatten() {
            self.cx.spend(ENTRY)?;
            self.cx.charge(entry.file_name().len() + size_of::<String>())?;
            names.extend(entry.file_name().into_string());
        }
        Ok(names)
    }

    /// The file or directory `name`. `None` if it does not exist or leads out of the root. `**` does not follow a link
    /// to a directory that contains the link.
    fn child(&self, visit: &Visit, name: &str, step: Step) -> Outcome<Option<Visit>> {
        self.cx.spend(ENTRY)?;
        let slash = if visit.path.is_empty() { "" } else { "/" };
        let path = format!("{}{slash}{name}", visit.path);
        let inner = visit.real.join(name);
        let Ok(metadata) = fs::symlink_metadata(&inner) else { return Ok(None) };
        if !metadata.is_symlink() {
            return Ok(Some(Visit { path, real: inner, states: step.all(), links: visit.links }));
        }
        self.cx.spend(path.len() as u64 * 4)?;
        let Ok(real) = self.files.find(&path) else { return Ok(None) };
        let states = if visit.real.starts_with(&real) { step.named } else { step.all() };
        Ok((visit.links < LINKS).then_some(Visit { path, real, states, links: visit.links + 1 }))
    }
}

#[cfg(test)]
mod tests {
    use super::relative;

    #[test]
    fn paths_are_seen_from_a_directory() {
        for (path, from, seen) in [
            ("a/b.txt", ".", "a/b.txt"),
            ("a/b.txt", "a", "b.txt"),
            ("b.txt", "a/c", "../../b.txt"),
            ("a/b.txt", "a/c", "../b.txt"),
            ("ab/c", "a", "../ab/c"),
            ("a", "a", "../a"),
        ] {
            assert_eq!(relative(path, from), seen, "{path} {from}");
        }
    }
}
