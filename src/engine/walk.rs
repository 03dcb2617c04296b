//! A walk through a directory of templates.

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;

use super::discover::{Entry, Reason, Skipped, check_kind, relative, unreadable};
use super::symbolic_links::{Linked, follow};
use dropforge_base::diagnostics::Result;

/// Limits on the files in a directory and on the depth of directories.
const MAX_FILES: usize = 10_000;
const MAX_DEPTH: usize = 64;

/// The directory entries of a walk.
pub(super) struct Entries<'e> {
    /// Selects files, and directories to enter.
    pub(super) is_wanted: &'e dyn Fn(Entry<'_>) -> bool,
    /// The maximum number of entries to scan.
    pub(super) most: usize,
    pub(super) links: Links,
}

/// The links and hidden files of a walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Links {
    /// Neither hidden files nor links.
    LeftOut,
    /// Hidden files and links to files, wherever they lead.
    ToFiles,
    /// No hidden files, and links that stay within the root.
    Followed,
}

/// Adds the templates below `top`.
pub(super) fn walk(
    top: &Path,
    root: &Path,
    entries: Entries<'_>,
    to: &mut BTreeMap<String, bool>,
    skipped: &mut Skipped,
) -> Result<()> {
    let Entries { is_wanted, mut most, links } = entries;
    let all = links == Links::ToFiles;
    let mut left = VecDeque::from([(top.to_owned(), 0, false)]);
    while let Some((dir, depth, is_linked)) = left.pop_front() {
        for entry in std::fs::read_dir(&dir).map_err(|error| unreadable(&dir, error))? {
            if most == 0 {
                return Ok(());
            }
            most -= 1;
            let entry = entry.map_err(|error| unreadable(&dir, error))?;
            let kind = entry.file_type().map_err(|error| unreadable(&entry.path(), error))?;
            let (path, name) = (entry.path(), entry.file_name());
            let (name, is_link) = (name.to_string_lossy(), kind.is_symlink());
            let kind = if is_link { std::fs::metadata(&path).map_or(kind, |of| of.file_type()) } else { kind };
            let is_hidden = name.starts_with('.') && (kind.is_dir() || !all);
            if is_hidden || (is_link && (links == Links::LeftOut || (all && kind.is_dir()))) {
                continue;
            }
            if !is_wanted(Entry { path: &path, name: &name, is_dir: kind.is_dir() }) {
                continue;
            }
            let mut is_entered = kind.is_dir();
            if is_link && links == Links::Followed {
                let linked = follow(&path, (&dir, is_linked), root)?;
                is_entered = linked == Linked::Directory;
                if linked == Linked::Outside {
                    skipped.add(&path, root, Reason::OutsideRoot);
                }
            }
            if is_entered && depth < MAX_DEPTH {
                left.push_back((path, depth + 1, is_linked || is_link));
            } else if !kind.is_dir() {
                if !all {
                    check_kind(&path, kind)?;
                }
                match relative(&path, root)? {
                    Some(name) if kind.is_file() => drop(to.entry(name).or_insert(false)),
                    Some(_) => {}
                    None => skipped.add(&path, root, Reason::NotUtf8),
                }
            }
        }
        if to.len() > MAX_FILES {
            return Err(dropforge_base::limits::Limit::Templates.error(MAX_FILES as u64));
        }
    }
    Ok(())
}
