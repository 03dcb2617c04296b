//! The files below a directory that are as a pattern says.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::arguments::answer;
use super::files::{Named, files};
use super::strings::cleaned;
use crate::dialect::hcl::values::Outcome;
use crate::dialect::hcl::values::marks::marked_by;
use crate::dialect::hcl::values::sets::set_of;
use crate::function::{Cx, FileFault, Files};
use crate::stdlib::globs::{Part, Token, alternatives, is_like, part};
use crate::value::{Type, Value};

/// Links to directories that one path may go through, as systems have it.
const LINKS: u8 = 40;

/// Steps that an entry of a directory costs: the system is asked for it.
const ENTRY: u64 = 64;

pub(super) fn file_set<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let (base, pattern) = (Named::argument(cx, args, 0)?, Named::argument(cx, args, 1)?);
    let files = files(cx)?;
    cx.charge((base.path.len() + pattern.path.len()) * 16)?;
    let base_path = files.relative(base.path).to_str().unwrap_or("");
    let whole = cleaned(&format!("{}/{}", if base_path.is_empty() { "." } else { base_path }, pattern.path));
    let wrong = || pattern.wrong("is no pattern of file names");
    let mut walk = Walk { cx, files, found: BTreeSet::new() };
    for one in alternatives(&whole).ok_or_else(wrong)? {
        let one = cleaned(&one);
        if one.starts_with('/') || one == ".." || one.starts_with("../") {
            return Err(base.wrong(FileFault::Outside));
        }
        let parts: Option<Vec<Part>> = one.split('/').map(part).collect();
        walk.find(&parts.ok_or_else(wrong)?)?;
    }
    let from = cleaned(base_path);
    let paths: Vec<_> = walk.found.iter().map(|path| answer(cx, &relative(path, &from))).collect::<Outcome<_>>()?;
    marked_by(cx, set_of(cx, Type::String, &paths)?, base.marks, pattern.marks)
}

/// `path` as seen from the directory `from`; both are cleaned.
fn relative(path: &str, from: &str) -> String {
    let (mut path, mut from) = (path, if from == "." { "" } else { from });
    loop {
        let (first, behind) = path.split_once('/').unwrap_or((path, ""));
        let (own, own_behind) = from.split_once('/').unwrap_or((from, ""));
        if first != own || behind.is_empty() || own.is_empty() {
            break;
        }
        (path, from) = (behind, own_behind);
    }
    let up = if from.is_empty() { 0 } else { from.matches('/').count() + 1 };
    "../".repeat(up) + path
}

/// A walk through the directories.
struct Walk<'c, 'v> {
    cx: &'c Cx<'v>,
    files: &'v Files,
    /// Paths relative to the directory whose files may be read.
    found: BTreeSet<String>,
}

/// Where a walk is.
struct Place {
    /// The path, as the pattern leads to it.
    path: String,
    /// Where that is.
    real: PathBuf,
    /// The part of the pattern that is next.
    at: usize,
    /// The links to directories on the way.
    links: u8,
}

impl Walk<'_, '_> {
    /// Adds the files that are as `parts` say.
    fn find(&mut self, parts: &[Part]) -> Outcome<()> {
        let real = self.files.root().to_owned();
        let mut left = vec![Place { path: String::new(), real, at: 0, links: 0 }];
        while let Some(place) = left.pop() {
            self.cx.charge(size_of::<Place>() + place.path.len() + place.real.as_os_str().len())?;
            match parts.get(place.at) {
                None if place.real.is_file() => {
                    self.found.insert(place.path);
                }
                None => {}
                Some(Part::Name(name)) => left.extend(self.child(&place, name, place.at + 1, true)?),
                Some(Part::Like(tokens)) => {
                    for name in self.names(&place.real)? {
                        if self.is_like(tokens, &name)? {
                            left.extend(self.child(&place, &name, place.at + 1, true)?);
                        }
                    }
                }
                Some(Part::Directories) => self.below(place, parts.len(), &mut left)?,
            }
        }
        Ok(())
    }

    /// The places that any number of directories lead to: here, and below each directory here; and where nothing is
    /// said of what is in them, each file here.
    fn below(&mut self, place: Place, end: usize, left: &mut Vec<Place>) -> Outcome<()> {
        let last = place.at + 1 == end;
        for name in self.names(&place.real)? {
            let Some(child) = self.child(&place, &name, place.at, false)? else { continue };
            if child.real.is_dir() {
                left.push(child);
            } else if last {
                left.push(Place { at: end, ..child });
            }
        }
        if !last {
            left.push(Place { at: place.at + 1, ..place });
        }
        Ok(())
    }

    fn is_like(&self, tokens: &[Token], name: &str) -> Outcome<bool> {
        self.cx.spend((tokens.len() * name.len() / 8) as u64)?;
        Ok(is_like(tokens, name))
    }

    /// The names of what is in a directory; those that are no text cannot be said in the language.
    fn names(&self, dir: &Path) -> Outcome<Vec<String>> {
        let mut names = Vec::new();
        let Ok(entries) = fs::read_dir(dir) else { return Ok(names) };
        for entry in entries.flatten() {
            self.cx.spend(ENTRY)?;
            self.cx.charge(entry.file_name().len() + size_of::<String>())?;
            names.extend(entry.file_name().into_string());
        }
        Ok(names)
    }

    /// What `name` in a place is; none where it leads nowhere, out of what may be read, or in a circle: unless `named`,
    /// a link to a directory that one is in already is not followed.
    fn child(&self, place: &Place, name: &str, at: usize, named: bool) -> Outcome<Option<Place>> {
        self.cx.spend(ENTRY)?;
        let slash = if place.path.is_empty() { "" } else { "/" };
        let path = format!("{}{slash}{name}", place.path);
        let inner = place.real.join(name);
        let Ok(metadata) = fs::symlink_metadata(&inner) else { return Ok(None) };
        if !metadata.is_symlink() {
            return Ok(Some(Place { path, real: inner, at, links: place.links }));
        }
        self.cx.spend(path.len() as u64 * 4)?;
        let Ok(real) = self.files.find(&path) else { return Ok(None) };
        let circle = !named && place.real.starts_with(&real);
        Ok((!circle && place.links < LINKS).then_some(Place { path, real, at, links: place.links + 1 }))
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
