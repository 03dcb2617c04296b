//! Symbolic links below a directory of templates.
//!
//! A link to a file within the include root is a template under its own name. So is each file below a link to a directory
//! in it: Kubernetes mounts a config map as links through the hidden directory `..data`. Links below a linked directory
//! are followed only to files, so no link leads on and on.

use std::path::Path;

use dropforge_base::diagnostics::{Code, Diagnostic, Result};

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
    let unreadable = |error| super::discover::unreadable(path, error);
    let target = path.canonicalize().map_err(unreadable)?;
    let is_inside = target.starts_with(root);
    if !target.is_dir() {
        return if is_inside { Ok(Linked::File) } else { Err(outside(path, root)) };
    }
    let here = dir.canonicalize().map_err(unreadable)?;
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

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::super::discover::{TemplateSet, discover};
    use super::*;

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
}
