//! Finds template files and their languages.
//!
//! The include root is the given directory, or else the common parent of all paths. Template names are relative to it,
//! with `/`.

use std::collections::BTreeMap;
use std::fs::FileType;
use std::path::{Component, Path, PathBuf};

use super::walk::{LinkRule, walk};
use crate::dialect_of;
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_base::files::{is_file, unreadable};

/// Maximum number of directory entries to scan for a suggestion. The root may be a home directory.
const MAX_LISTED: usize = 1_000;
/// Maximum number of directory entries to scan for the files that a computed path may name.
const MAX_MATCHED: usize = 100_000;

/// One template file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateFile {
    /// The name relative to the root, with `/`.
    pub name: String,
    /// `true` if the user named this file rather than a directory above it.
    pub explicit: bool,
    /// `true` if the owner may execute it.
    pub executable: bool,
}

/// The template files of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateSet {
    /// The include root. Nothing outside it is read.
    pub root: PathBuf,
    /// The files, sorted by name.
    pub files: Vec<TemplateFile>,
    /// Warnings about files that were left out because their names are not UTF-8.
    pub skipped: Skipped,
}

/// Files and directories that were left out, with escapes for the bytes of their names that are not UTF-8.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Skipped(Vec<(String, Reason)>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reason {
    NotUtf8,
    OutsideRoot,
}

impl Skipped {
    pub(super) fn add(&mut self, path: &Path, root: &Path, reason: Reason) {
        self.0.push((escaped(path.strip_prefix(root).unwrap_or(path)), reason));
    }

    /// Returns a warning for each file or directory.
    pub fn warnings(&self) -> impl Iterator<Item = Box<Diagnostic>> {
        self.0.iter().map(|(name, reason)| {
            let (code, why, help) = match reason {
                Reason::NotUtf8 => (Code::ReadFailed, "its name is not UTF-8", "rename the file"),
                Reason::OutsideRoot => (
                    Code::OutsideRoot,
                    "it is a link to a directory out of the include root",
                    "give a root that holds both: `-I DIR`",
                ),
            };
            Diagnostic::warning(code, format!("`{name}` was left out because {why}")).with_help(help)
        })
    }
}

/// Finds the templates in `paths` (files and directories). In a directory, only files whose names satisfy `is_template`
/// count. A file that is named itself always counts.
///
/// # Errors
/// `file.read_failed` if something cannot be read or is a pipe, socket or device; `plan.no_templates` if there are no
/// templates; `template.outside_root` if a path or a link lies outside `root`; `usage` for a path that is not UTF-8.
pub fn discover(paths: &[PathBuf], root: Option<&Path>, is_template: &dyn Fn(&str) -> bool) -> Result<TemplateSet> {
    discover_with(paths, root, &|entry| entry.is_dir || is_template(entry.name))
}

/// A file or directory below a directory that [`discover_with`] walks.
#[derive(Debug, Clone, Copy)]
pub struct Entry<'e> {
    /// The absolute path.
    pub path: &'e Path,
    /// The last component of the path.
    pub name: &'e str,
    /// `true` for a directory.
    pub is_dir: bool,
}

/// Works like [`discover`], but asks `is_wanted` for each file by its path, and for each directory before entering it.
///
/// # Errors
/// Same as [`discover`].
pub fn discover_with(
    paths: &[PathBuf],
    root: Option<&Path>,
    is_wanted: &dyn Fn(Entry<'_>) -> bool,
) -> Result<TemplateSet> {
    let found = paths.iter().map(|path| resolve(path)).collect::<Result<Vec<_>>>()?;
    let root = match root {
        Some(root) => root.canonicalize().map_err(|error| unreadable(root, error))?,
        None => common_folder(found.iter().map(|(path, is_dir)| match path.parent() {
            Some(parent) if !is_dir => parent,
            _ => path,
        })),
    };
    let (mut files, mut skipped) = (BTreeMap::new(), Skipped::default());
    for (path, is_dir) in &found {
        if *is_dir {
            walk(path, &root, is_wanted, (usize::MAX, LinkRule::Followed), &mut files, &mut skipped)?;
        } else {
            let name = relative(path, &root)?.ok_or_else(|| not_utf8(path))?;
            files.insert(name, true);
        }
    }
    if files.is_empty() {
        let shown: Vec<String> = paths.iter().map(|path| format!("`{}`", path.display())).collect();
        let is_chart = paths.iter().any(|path| path.join("templates").is_dir());
        let help = match paths.iter().find_map(|path| misnamed_chart(path)) {
            Some(name) => format!("rename `{name}` to `Chart.yaml`"),
            None if is_chart => "a Helm chart has a `Chart.yaml` beside `templates`".to_owned(),
            None => "a template's name ends in its language (`app.yaml.tera`); otherwise use `--lang`".to_owned(),
        };
        return Err(
            Diagnostic::new(Code::NoTemplates, format!("there is no template in {}", shown.join(", "))).with_help(help)
        );
    }
    let file = |(name, explicit): (String, bool)| {
        let executable = is_executable(&root.join(&name));
        TemplateFile { name, explicit, executable }
    };
    let files = files.into_iter().map(file).collect();
    Ok(TemplateSet { root, files, skipped })
}

/// Returns the path of a file of a folder that is likely meant to be `Chart.yaml`.
fn misnamed_chart(folder: &Path) -> Option<String> {
    #[cfg(feature = "helm")]
    let is_meant = dropforge_helm::chart::is_like_chart_file;
    #[cfg(not(feature = "helm"))]
    let is_meant = |_: &str| false;
    let entries = std::fs::read_dir(folder).ok()?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let found = entries.into_iter().find(|name| is_meant(name))?;
    Some(folder.join(found).display().to_string())
}

/// Returns the absolute path with links resolved, except for the last component, and `true` if it is a directory.
fn resolve(path: &Path) -> Result<(PathBuf, bool)> {
    let meta = std::fs::metadata(path).map_err(|error| unreadable(path, error))?;
    if !meta.is_dir() {
        check_kind(path, meta.file_type())?;
    }
    let (parent, name) = match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) if !meta.is_dir() => (parent, Some(name)),
        _ => (path, None),
    };
    let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
    let parent = parent.canonicalize().map_err(|error| unreadable(path, error))?;
    Ok((name.map_or(parent.clone(), |name| parent.join(name)), meta.is_dir()))
}

/// Checks that `path` is a regular file, because reading a pipe or a device may never end.
pub(super) fn check_kind(path: &Path, kind: FileType) -> Result<()> {
    match is_file(kind) {
        Ok(()) => Ok(()),
        Err(other) => Err(Diagnostic::new(Code::ReadFailed, format!("`{}` {other}", path.display()))
            .with_help("name a regular file, or use `-` for standard input")),
    }
}

/// Returns `true` if the owner of the file may execute it.
fn is_executable(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::metadata(path).is_ok_and(|meta| meta.permissions().mode() & 0o100 != 0)
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        false
    }
}

fn not_utf8(path: &Path) -> Box<Diagnostic> {
    Diagnostic::new(Code::Usage, format!("the path `{}` is not UTF-8", escaped(path))).with_help("rename the file")
}

/// Formats a path with escapes for the bytes that are not UTF-8.
fn escaped(path: &Path) -> String {
    path.as_os_str().as_encoded_bytes().utf8_chunks().fold(String::new(), |mut text, chunk| {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
        text
    })
}

/// Returns the innermost folder that holds all these folders.
pub fn common_folder<'p>(paths: impl Iterator<Item = &'p Path>) -> PathBuf {
    let common = paths
        .map(|path| path.components().collect::<Vec<_>>())
        .reduce(|a, b| a.into_iter().zip(b).take_while(|(x, y)| x == y).map(|(x, _)| x).collect());
    common.unwrap_or_default().into_iter().collect()
}

/// Returns the name of a path relative to `root`, or `None` if it is not UTF-8.
pub(super) fn relative(path: &Path, root: &Path) -> Result<Option<String>> {
    let outside = || {
        Diagnostic::new(
            Code::OutsideRoot,
            format!("`{}` lies outside the include root `{}`", path.display(), root.display()),
        )
        .with_help("give a root that holds all templates: `-I DIR`")
    };
    let inside = path.strip_prefix(root).map_err(|_| outside())?;
    let mut name = String::new();
    for part in inside.components() {
        let Component::Normal(part) = part else { return Err(outside()) };
        let Some(part) = part.to_str() else { return Ok(None) };
        if !name.is_empty() {
            name.push('/');
        }
        name.push_str(part);
    }
    Ok(Some(name))
}

/// Returns the names of templates below `root`, sorted, for suggestions. A large tree is scanned only near the root,
/// and unreadable directories are skipped.
pub(super) fn listing(root: &Path) -> Vec<String> {
    let mut files = BTreeMap::new();
    let is_wanted = |entry: Entry<'_>| entry.is_dir || dialect_of(entry.name).is_some();
    let scanned = (MAX_LISTED, LinkRule::LeftOut);
    let _unreadable = walk(root, root, &is_wanted, scanned, &mut files, &mut Skipped::default());
    files.into_keys().collect()
}

/// Returns the names of all files below `root` that start and end like this, sorted. Unreadable directories are skipped.
pub(super) fn matching(root: &Path, prefix: &str, suffix: &str) -> Vec<String> {
    let top = prefix.rsplit_once('/').map_or_else(|| root.to_owned(), |(folder, _)| root.join(folder));
    let end = suffix.rsplit('/').next().unwrap_or(suffix);
    let is_wanted = |entry: Entry<'_>| entry.is_dir || entry.name.ends_with(end);
    let mut files = BTreeMap::new();
    let scanned = (MAX_MATCHED, LinkRule::ToFiles);
    let _unreadable = walk(&top, root, &is_wanted, scanned, &mut files, &mut Skipped::default());
    let ends = |name: &String| name.strip_prefix(prefix).is_some_and(|rest| rest.ends_with(suffix));
    files.into_keys().filter(ends).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[&str]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for file in files {
            let path = dir.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "x").unwrap();
        }
        dir
    }

    fn names(set: &TemplateSet) -> Vec<&str> {
        set.files.iter().map(|file| file.name.as_str()).collect()
    }

    #[test]
    fn a_directory_is_walked_without_hidden_files() {
        let dir = tree(&["t/a.tera", "t/sub/b.tera", "t/readme.md", "t/.git/c.tera", "t/.d.tera", "other/e.tera"]);
        let is_template = |name: &str| name.ends_with(".tera");
        let set = discover(&[dir.path().join("t/")], None, &is_template).unwrap();
        assert_eq!(names(&set), ["a.tera", "sub/b.tera"]);
        let none = discover(&[dir.path().join("t")], None, &|_| false).unwrap_err();
        assert_eq!(none.code, Code::NoTemplates);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn names_that_are_not_utf8_are_left_out_or_refused() {
        use std::os::unix::ffi::OsStrExt;
        let dir = tree(&["t/a.tera"]);
        let odd = dir.path().join("t").join(std::ffi::OsStr::from_bytes(b"b\xff.tera"));
        std::fs::write(&odd, "x").unwrap();
        let is_template = |name: &str| name.ends_with(".tera");
        let set = discover(&[dir.path().join("t")], None, &is_template).unwrap();
        assert_eq!(names(&set), ["a.tera"]);
        let warnings: Vec<String> = set.skipped.warnings().map(|warning| warning.message).collect();
        assert_eq!(warnings, [r"`b\xff.tera` was left out because its name is not UTF-8"]);
        assert_eq!(discover(&[odd], None, &is_template).unwrap_err().code, Code::Usage);
    }

    #[test]
    fn sockets_are_refused_by_name() {
        let dir = tree(&["t/a.tera"]);
        let socket = dir.path().join("t/s.tera");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        for path in [dir.path().join("t"), socket] {
            let error = discover(&[path], None, &|name| name.ends_with(".tera")).unwrap_err();
            assert!(error.message.ends_with("s.tera` is a socket, not a file"), "{error}");
        }
    }

    #[test]
    fn a_listing_is_bounded_and_begins_at_the_root() {
        let dir = tree(&["a.tera", "sub/b.tower", "sub/readme.md"]);
        assert_eq!(listing(dir.path()), ["a.tera", "sub/b.tower"]);
        for n in 0..=MAX_LISTED {
            std::fs::write(dir.path().join(format!("sub/n{n}.tera")), "x").unwrap();
        }
        let many = listing(dir.path());
        assert!(many.len() < MAX_LISTED && many.contains(&"a.tera".to_owned()), "{}", many.len());
        assert!(listing(&dir.path().join("none")).is_empty());
    }

    #[test]
    fn the_root_is_the_common_parent_or_the_given_directory() {
        let dir = tree(&["t/x/a.tera", "t/y/b.md", "t/y/c.tera"]);
        let path = |name: &str| dir.path().join(name);
        let is_template = |name: &str| name.ends_with(".tera");
        let set = discover(&[path("t/x/a.tera"), path("t/y/b.md")], None, &is_template).unwrap();
        assert_eq!(names(&set), ["x/a.tera", "y/b.md"]);
        assert!(set.files.iter().all(|file| file.explicit));
        let set = discover(&[path("t/y"), path("t/y/c.tera")], Some(&path("t")), &is_template).unwrap();
        assert_eq!(set.files, [TemplateFile { name: "y/c.tera".into(), explicit: true, executable: false }]);
        assert_eq!(discover(&[path("t/x")], Some(&path("t/y")), &is_template).unwrap_err().code, Code::OutsideRoot);
        assert_eq!(discover(&[path("none")], None, &is_template).unwrap_err().code, Code::ReadFailed);
    }
}
