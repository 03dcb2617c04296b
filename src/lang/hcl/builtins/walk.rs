//! Searches directories for the files that match a pattern.
//!
//! Links to directories can lead to one directory along many paths. Each directory is read once for each set of
//! positions in the pattern that paths to it have reached. The paths are put together afterwards, through the
//! directories that lead to a file only.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use dropforge_base::stdlib::globs::{Glob, States};
use dropforge_machine::function::{Cx, Files, Outcome};

/// Steps spent on a directory entry, which costs a system call.
const ENTRY: u64 = 64;

/// Maximum number of bytes of a path, as in operating systems.
const LONGEST: usize = 4096;

/// A directory and the positions in the pattern. It does not matter which path leads to it.
struct Directory {
    real: PathBuf,
    states: States,
    /// The names of files that match.
    files: Vec<String>,
    /// The directories inside, by their indexes. There are none twice.
    inside: Vec<(String, usize)>,
}

/// The entry of a directory.
enum Found {
    File,
    Directory(PathBuf, States),
}

pub(super) struct Walk<'c, 'v> {
    pub cx: &'c Cx<'v>,
    pub files: &'v Files,
}

impl Walk<'_, '_> {
    /// Adds the paths of the files that match, relative to the allowed directory.
    pub fn find(&self, glob: &Glob, paths: &mut BTreeSet<String>) -> Outcome<()> {
        let all = self.read(glob)?;
        let leads = leading(&all);
        let (mut path, mut open, mut left) = (String::new(), vec![false; all.len()], vec![(0, 0, 0)]);
        // Each directory on the stack: its index, the next directory inside it, the length of the path before it.
        while let Some((at, next, before)) = left.pop() {
            self.cx.spend(1)?;
            let Some(here) = all.get(at) else { continue };
            if next == 0 {
                set(&mut open, at, true);
                for name in &here.files {
                    self.cx.charge(path.len() + name.len() + size_of::<String>())?;
                    paths.insert(format!("{path}{name}"));
                }
            }
            let Some((name, inner)) = here.inside.get(next) else {
                set(&mut open, at, false);
                path.truncate(before);
                continue;
            };
            left.push((at, next + 1, before));
            // A path leads through no directory twice.
            let is = |list: &[bool]| list.get(*inner) == Some(&true);
            if is(&leads) && !is(&open) && path.len() + name.len() < LONGEST {
                left.push((*inner, 0, path.len()));
                path.push_str(name);
                path.push('/');
            }
        }
        Ok(())
    }

    /// Reads the directories that paths can lead through, from the root on.
    fn read(&self, glob: &Glob) -> Outcome<Vec<Directory>> {
        let root = (self.files.root().to_owned(), glob.start());
        let mut known = HashMap::from([(root.clone(), 0)]);
        let mut all = vec![Directory { real: root.0, states: root.1, files: Vec::new(), inside: Vec::new() }];
        let mut at = 0;
        while let Some(here) = all.get(at) {
            let (mut files, mut inside, mut new) = (Vec::new(), Vec::new(), Vec::new());
            for name in self.names(glob, here)? {
                match self.entry(glob, here, &name)? {
                    None => {}
                    Some(Found::File) => files.push(name),
                    Some(Found::Directory(real, states)) => {
                        let count = all.len() + new.len();
                        let index = *known.entry((real.clone(), states.clone())).or_insert(count);
                        if index == count {
                            self.cx.charge(2 * (size_of::<Directory>() + real.as_os_str().len()))?;
                            new.push(Directory { real, states, files: Vec::new(), inside: Vec::new() });
                        }
                        self.cx.charge(name.len() + size_of::<(String, usize)>())?;
                        inside.push((name, index));
                    }
                }
            }
            all.extend(new);
            if let Some(here) = all.get_mut(at) {
                (here.files, here.inside) = (files, inside);
            }
            at += 1;
        }
        Ok(all)
    }

    /// The names in a directory that can match next. Names that are not text cannot be expressed in the language.
    fn names(&self, glob: &Glob, here: &Directory) -> Outcome<BTreeSet<String>> {
        let mut names = BTreeSet::new();
        names.extend(glob.names(&here.states).map(str::to_owned));
        if !glob.has_wildcards(&here.states) {
            return Ok(names);
        }
        let Ok(entries) = fs::read_dir(&here.real) else { return Ok(names) };
        for entry in entries.flatten() {
            self.cx.spend(ENTRY)?;
            self.cx.charge(entry.file_name().len() + size_of::<String>())?;
            names.extend(entry.file_name().into_string());
        }
        Ok(names)
    }

    /// The file or directory `name`. `None` if it does not match, does not exist or leads out of the root. `**` does not
    /// follow a link to a directory that contains the link.
    fn entry(&self, glob: &Glob, here: &Directory, name: &str) -> Outcome<Option<Found>> {
        self.cx.spend(ENTRY + (glob.tokens() * name.len() / 8) as u64)?;
        let step = glob.step(&here.states, name);
        if step.is_empty() {
            return Ok(None);
        }
        let inner = here.real.join(name);
        let Ok(metadata) = fs::symlink_metadata(&inner) else { return Ok(None) };
        let (real, states) = if metadata.is_symlink() {
            let Some(real) = self.target(&inner)? else { return Ok(None) };
            let contains = here.real.starts_with(&real);
            (real, if contains { step.named } else { step.all() })
        } else {
            (inner, step.all())
        };
        Ok(match real.is_dir() {
            true => Some(Found::Directory(real, states)),
            false => (glob.is_match(&states) && real.is_file()).then_some(Found::File),
        })
    }

    /// Resolves a link.
    fn target(&self, link: &Path) -> Outcome<Option<PathBuf>> {
        let Some(path) = link.strip_prefix(self.files.root()).ok().and_then(Path::to_str) else { return Ok(None) };
        self.cx.spend(path.len() as u64 * 4)?;
        Ok(self.files.find(path).ok())
    }
}

fn set(list: &mut [bool], at: usize, truth: bool) {
    if let Some(flag) = list.get_mut(at) {
        *flag = truth;
    }
}

/// Tells for each directory if a path from it leads to a file.
fn leading(all: &[Directory]) -> Vec<bool> {
    let mut outside = vec![Vec::new(); all.len()];
    for (at, directory) in all.iter().enumerate() {
        for (_, inner) in &directory.inside {
            if let Some(outside) = outside.get_mut(*inner) {
                outside.push(at);
            }
        }
    }
    let mut leads = vec![false; all.len()];
    let mut left: Vec<usize> =
        (0..all.len()).filter(|at| all.get(*at).is_some_and(|one| !one.files.is_empty())).collect();
    while let Some(at) = left.pop() {
        if leads.get(at) == Some(&false) {
            set(&mut leads, at, true);
            left.extend(outside.get(at).into_iter().flatten());
        }
    }
    leads
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::test_support::with_cx;
    use dropforge_base::stdlib::globs::Syntax;

    /// Makes a tree of directories with a file in each, of which some have links to others.
    fn tree() -> tempfile::TempDir {
        let temp = tempfile::tempdir().unwrap();
        for a in ["a", "b", "c"] {
            for b in ["d", "e"] {
                let dir = temp.path().join(a).join(b);
                fs::create_dir_all(&dir).unwrap();
                fs::write(dir.join("f.txt"), "").unwrap();
            }
        }
        for (link, target) in [("a/to_b", "../b"), ("b/to_a", "../a"), ("b/d/to_c", "../../c"), ("c/up", "..")] {
            symlink(target, temp.path().join(link)).unwrap();
        }
        temp
    }

    /// Returns the paths that match a pattern, and the steps that it takes to find them.
    fn found(pattern: &str) -> (BTreeSet<String>, u64) {
        let temp = tree();
        let files = Box::leak(Box::new(Files::below(temp.path()).unwrap()));
        with_cx(|cx| {
            let (mut paths, before) = (BTreeSet::new(), cx.fuel());
            let glob = Glob::parse(pattern, Syntax::Full).unwrap();
            Walk { cx, files }.find(&glob, &mut paths).unwrap();
            (paths, before - cx.fuel())
        })
    }

    #[test]
    fn files_are_found_along_all_paths() {
        let paths = |pattern| found(pattern).0.into_iter().collect::<Vec<_>>();
        assert_eq!(paths("a/*/f.txt"), ["a/d/f.txt", "a/e/f.txt"]);
        assert_eq!(paths("*/to_b/d/f.txt"), ["a/to_b/d/f.txt"]);
        assert_eq!(paths("*/up/c/d/f.txt"), ["c/up/c/d/f.txt"]);
        let all = paths("**/f.txt");
        for path in ["a/to_b/d/to_c/e/f.txt", "b/to_a/d/f.txt", "c/d/f.txt"] {
            assert!(all.contains(&path.to_owned()), "{path}: {all:?}");
        }
        assert!(!all.iter().any(|path| path.contains("up") || path.contains("to_a/to_b")), "{all:?}");
    }

    #[test]
    fn further_stars_and_links_take_steps_in_proportion() {
        let steps = |stars: usize| found(&("**/*/".repeat(stars) + "**/none")).1;
        let (few, many) = (steps(2), steps(12));
        assert!(many < few * 40, "{few} {many}");
    }
}
