//! Walking a directory of templates: symbolic links, and paths from the current directory.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Component, Path};

use super::discover::{Entry, Reason, Skipped, check_kind, relative};
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_base::files::unreadable;

/// Limits on the files in a directory and on the depth of directories.
const MAX_FILES: usize = 10_000;
const MAX_DEPTH: usize = 64;

/// The links and hidden files of a walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LinkRule {
    /// Neither hidden files nor links.
    LeftOut,
    /// Hidden files and links to files, wherever they lead.
    ToFiles,
    /// No hidden files, and links that stay within the root.
    Followed,
}

/// Adds the templates below `top`: the files that `is_wanted` selects, in the directories that it selects. Scans at most
/// `most` entries.
pub(super) fn walk(
    top: &Path,
    root: &Path,
    is_wanted: &dyn Fn(Entry<'_>) -> bool,
    (mut most, links): (usize, LinkRule),
    to: &mut BTreeMap<String, bool>,
    skipped: &mut Skipped,
) -> Result<()> {
    let all = links == LinkRule::ToFiles;
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
            if is_hidden || (is_link && (links == LinkRule::LeftOut || (all && kind.is_dir()))) {
                continue;
            }
            if !is_wanted(Entry { path: &path, name: &name, is_dir: kind.is_dir() }) {
                continue;
            }
            let mut is_entered = kind.is_dir();
            if is_link && links == LinkRule::Followed {
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

// Symbolic links below a directory of templates.
//
// A link to a file within the include root is a template under its own name. So is each file below a link to a directory
// in it: Kubernetes mounts a config map as links through the hidden directory `..data`. Links below a linked directory
// are followed only to files, so no link leads on and on.

/// The end of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Linked {
    File,
    /// A directory to walk.
    Directory,
    /// A directory out of the root.
    Outside,
    /// A directory that holds the link, or that another link led to.
    Loop,
}

/// Follows the link `path` in the directory `dir`, which `is_linked` if a link led to it.
///
/// # Errors
/// `file.read_failed` for a link to nothing; `template.outside_root` for a link to a file out of `root`.
pub(super) fn follow(path: &Path, (dir, is_linked): (&Path, bool), root: &Path) -> Result<Linked> {
    let target = path.canonicalize().map_err(|error| unreadable(path, error))?;
    let is_inside = target.starts_with(root);
    if !target.is_dir() {
        return if is_inside { Ok(Linked::File) } else { Err(outside(path, root)) };
    }
    let here = dir.canonicalize().map_err(|error| unreadable(path, error))?;
    Ok(match is_inside {
        false => Linked::Outside,
        true if is_linked || here.starts_with(&target) => Linked::Loop,
        true => Linked::Directory,
    })
}

fn outside(path: &Path, root: &Path) -> Box<Diagnostic> {
    let message = format!("the link `{}` leads out of the include root `{}`", path.display(), root.display());
    Diagnostic::new(Code::OutsideRoot, message).with_help("give a root that holds both: `-I DIR`")
}

/// Returns a path relative to the current directory, with `/`. Links are resolved, except for one that is a file.
pub fn path_from_here(path: &Path) -> String {
    let resolved = match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) if !path.is_dir() => {
            let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
            parent.canonicalize().map(|parent| parent.join(name))
        }
        _ => path.canonicalize(),
    };
    let here = std::env::current_dir().and_then(|here| here.canonicalize());
    match (here, resolved) {
        (Ok(here), Ok(path)) => way(&here, &path),
        _ => path.display().to_string(),
    }
}

/// Returns the way from one absolute path to another.
fn way(from: &Path, to: &Path) -> String {
    let (from, to): (Vec<Component<'_>>, Vec<Component<'_>>) = (from.components().collect(), to.components().collect());
    let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let up = from.iter().skip(common).map(|_| "..".into());
    let down = to.iter().skip(common).map(|part| part.as_os_str().to_string_lossy());
    let parts: Vec<_> = up.chain(down).collect();
    if parts.is_empty() { ".".to_owned() } else { parts.join("/") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discover::{TemplateSet, discover};
    use std::os::unix::fs::symlink;

    /// Makes files and links, and finds the templates below `t`.
    fn found(files: &[&str], links: &[(&str, &str)]) -> Result<TemplateSet> {
        let dir = tempfile::tempdir().unwrap();
        for file in files {
            let path = dir.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "x").unwrap();
        }
        links.iter().for_each(|(from, to)| symlink(to, dir.path().join(from)).unwrap());
        discover(&[dir.path().join("t")], None, &|name| name.ends_with(".tera"))
    }

    fn names(files: &[&str], links: &[(&str, &str)]) -> Vec<String> {
        found(files, links).unwrap().files.into_iter().map(|file| file.name).collect()
    }

    #[test]
    fn a_mounted_config_map_has_its_files_once() {
        let links = [("t/..data", "..2024_01"), ("t/a.tera", "..data/a.tera"), ("t/sub", "..data/sub")];
        assert_eq!(names(&["t/..2024_01/a.tera", "t/..2024_01/sub/b.tera"], &links), ["a.tera", "sub/b.tera"]);
    }

    #[test]
    fn links_to_nothing_and_out_of_the_root_are_errors() {
        let error = |links: &[(&str, &str)]| found(&["t/a.tera", "o/b.tera"], links).unwrap_err();
        let outside = error(&[("t/b.tera", "../o/b.tera")]);
        assert_eq!(outside.code, Code::OutsideRoot);
        assert!(outside.message.contains("t/b.tera` leads out of the include root"), "{outside}");
        assert_eq!(error(&[("t/b.tera", "none")]).code, Code::ReadFailed);
        let set = found(&["t/a.tera", "o/b.tera"], &[("t/b.md", "../o/b.tera"), ("t/c.md", "none")]).unwrap();
        assert_eq!(set.files.len(), 1);
        let set = found(&["t/a.tera", "o/b.tera"], &[("t/o", "../o")]).unwrap();
        let warnings: Vec<String> = set.skipped.warnings().map(|warning| warning.message).collect();
        assert_eq!(warnings, ["`o` was left out because it is a link to a directory out of the include root"]);
    }

    #[test]
    fn loops_end() {
        let links = [("t/a/up", ".."), ("t/a/b", "../b"), ("t/b/a", "../a"), ("t/self", ".")];
        assert_eq!(names(&["t/a/x.tera", "t/b/y.tera"], &links), ["a/b/y.tera", "a/x.tera", "b/a/x.tera", "b/y.tera"]);
        assert_eq!(found(&["t/x.tera"], &[("t/y.tera", "y.tera")]).unwrap_err().code, Code::ReadFailed);
    }

    #[test]
    fn paths_lead_from_here() {
        let way = |from: &str, to: &str| super::way(Path::new(from), Path::new(to));
        assert_eq!(way("/a/b", "/a/b/t/x.tera"), "t/x.tera");
        assert_eq!(way("/a/b", "/a/b"), ".");
        assert_eq!(way("/a/b", "/a/c/t"), "../c/t");
        assert_eq!(way("/", "/t"), "t");
    }
}
