//! Functions of files below the directory that the engine allows, and of paths that depend on the machine. A search of
//! directories for the files that match a pattern.

use std::collections::{BTreeSet, HashMap};
use std::io::Read;
use std::path::{Component, Path, PathBuf};
use std::{fmt, fs};

use super::assumptions::SENSITIVE;
use super::encodings::{base64_hash, base64_of, hex_hash};
use super::string;
use super::strings::cleaned;
use crate::values::{marked_by, set_of};
use dropforge_base::diagnostics::nearest;
use dropforge_base::files::{FileError, Files};
use dropforge_base::stdlib::globs::{Glob, States, Syntax, alternatives};
use dropforge_base::stdlib::hashes::{md5, sha1, sha256, sha512};
use dropforge_machine::function::{Arguments, Cx, Fault, FromArgument, Outcome};
use dropforge_machine::functions;
use dropforge_value::{Type, Value};

/// Maximum number of names that the name of a missing file is compared with.
const COMPARED: usize = 1000;

functions! {
    /// File functions of OpenTofu.
    pub(super) static FILES:
    "file" (path: String [marked]) -> String = file, needs FILES,
        "Returns the contents of a UTF-8 file." ["file(\"docs/hello.txt\")" => "\"hello\\n\""];
    "fileexists" (path: String [marked]) -> Bool = file_exists, needs FILES,
        "Returns `true` if the file exists." ["fileexists(\"docs/hello.txt\")" => "true"];
    "fileset" (path: String [marked], pattern: String [marked]) -> (set String) = file_set, needs FILES,
        "Returns the paths of the files below a directory that match a pattern of `*`, `?`, `[a-z]`, `{a,b}` and `**` for any directories."
        ["fileset(\"docs\", \"*.txt\")" => "toset([\"hello.txt\"])"];
    "filebase64" (path: String [marked]) -> String = of_file(base64_of), needs FILES,
        "Returns the contents of a file in base64." ["filebase64(\"docs/hello.txt\")" => "\"aGVsbG8K\""];
    "filemd5" (path: String [marked]) -> String = of_file(hex_hash(md5)), needs FILES,
        "Returns the MD5 hash of a file in hexadecimal."
        ["filemd5(\"docs/hello.txt\") == md5(file(\"docs/hello.txt\"))" => "true"];
    "filesha1" (path: String [marked]) -> String = of_file(hex_hash(sha1)), needs FILES,
        "Returns the SHA-1 hash of a file in hexadecimal."
        ["filesha1(\"docs/hello.txt\") == sha1(file(\"docs/hello.txt\"))" => "true"];
    "filesha256" (path: String [marked]) -> String = of_file(hex_hash(sha256)), needs FILES,
        "Returns the SHA-256 hash of a file in hexadecimal."
        ["filesha256(\"docs/hello.txt\") == sha256(file(\"docs/hello.txt\"))" => "true"];
    "filesha512" (path: String [marked]) -> String = of_file(hex_hash(sha512)), needs FILES,
        "Returns the SHA-512 hash of a file in hexadecimal."
        ["filesha512(\"docs/hello.txt\") == sha512(file(\"docs/hello.txt\"))" => "true"];
    "filebase64sha256" (path: String [marked]) -> String = of_file(base64_hash(sha256)), needs FILES,
        "Returns the SHA-256 hash of a file in base64."
        ["filebase64sha256(\"docs/hello.txt\") == base64sha256(file(\"docs/hello.txt\"))" => "true"];
    "filebase64sha512" (path: String [marked]) -> String = of_file(base64_hash(sha512)), needs FILES,
        "Returns the SHA-512 hash of a file in base64."
        ["filebase64sha512(\"docs/hello.txt\") == base64sha512(file(\"docs/hello.txt\"))" => "true"];
    "abspath" (path: String [marked]) -> String = absolute_path, needs FILES,
        "Returns the absolute path of a path that is relative to the allowed directory."
        ["abspath(\"a/../b\") == abspath(\"./b\")" => "true", "abspath(\"/a/../b\")" => "\"/b\""];
    "pathexpand" (path: String) -> String = path_expand, needs ENVIRONMENT,
        "Replaces a leading `~` with the user's home directory." ["pathexpand(\"a/~\")" => "\"a/~\""];
}

/// A path argument.
pub(super) struct FilePath<'v> {
    pub path: &'v str,
    /// Marks of the argument. What is read from the file gets them as well.
    pub marks: &'v [&'v str],
    at: usize,
}

impl<'v> FromArgument<'_, 'v> for FilePath<'v> {
    fn take(arguments: &mut Arguments<'_, 'v>) -> Outcome<Self> {
        let (value, at) = (arguments.value()?, arguments.at());
        let (path, marks) = value.unmarked();
        let path = path.as_str().ok_or_else(|| Fault::argument(at, "a string is required"))?;
        arguments.cx().spend(path.len() as u64)?;
        Ok(Self { path, marks, at })
    }
}

impl<'v> FilePath<'v> {
    /// Makes the fault of this argument: the path, followed by `why`.
    pub fn fault(&self, why: impl fmt::Display) -> Fault {
        Fault::argument(self.at, format!("{self} {why}"))
    }

    /// Reads the file, after charging its length.
    fn bytes(&self, cx: &Cx<'v>) -> Outcome<Vec<u8>> {
        let files = files(cx)?;
        let (file, length) = files.open(self.path).map_err(|why| match why {
            FileError::Missing => self.missing(files.root()),
            why => self.fault(why),
        })?;
        cx.charge(usize::try_from(length).unwrap_or(usize::MAX))?;
        let mut bytes = Vec::new();
        let read = file.take(length.saturating_add(1)).read_to_end(&mut bytes);
        read.map_err(|error| self.fault(format!("cannot be read: {error}")))?;
        if bytes.len() as u64 > length {
            return Err(self.fault("grew while it was read"));
        }
        Ok(bytes)
    }

    /// Makes the fault of a file that does not exist, with the name in its directory that it resembles.
    fn missing(&self, root: &Path) -> Fault {
        let path = Path::new(self.path);
        let is_inside = path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        let is_shown = is_inside && self.marks.is_empty();
        let directory = path.parent().map_or_else(|| root.to_owned(), |parent| root.join(parent));
        let entries =
            is_shown.then(|| fs::read_dir(directory).ok()).flatten().into_iter().flatten().take(COMPARED).flatten();
        let names: Vec<_> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        let wanted = path.file_name().and_then(|name| name.to_str()).filter(|_| is_shown);
        match wanted.and_then(|name| nearest(name, names.iter().map(String::as_str))) {
            Some(near) => self.fault(format!("does not exist: did you mean `{near}`?")),
            None => self.fault(FileError::Missing),
        }
    }

    /// Reads the file as UTF-8.
    pub fn text(&self, cx: &Cx<'v>) -> Outcome<String> {
        String::from_utf8(self.bytes(cx)?).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            self.fault(format!("is not valid UTF-8 at byte {at}; `filebase64` and the hashes accept any file"))
        })
    }
}

/// The path for a message: shortened, and hidden where it is sensitive.
impl fmt::Display for FilePath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.marks.contains(&SENSITIVE) {
            return f.write_str("the file");
        }
        match self.path.char_indices().nth(200) {
            Some((end, _)) => write!(f, "`{}…`", self.path.get(..end).unwrap_or("").escape_debug()),
            None => write!(f, "`{}`", self.path.escape_debug()),
        }
    }
}

/// Returns the files that the engine allows to read.
pub(super) fn files<'v>(cx: &Cx<'v>) -> Outcome<&'v Files> {
    let files = cx.capabilities().files();
    files.ok_or_else(|| Fault::wrong("the engine does not allow reading files from any directory"))
}

fn file<'v>(cx: &Cx<'v>, path: FilePath<'v>) -> Outcome<Value<'v>> {
    marked_by(cx, string(cx, &path.text(cx)?)?, path.marks)
}

fn file_exists<'v>(cx: &Cx<'v>, path: FilePath<'v>) -> Outcome<Value<'v>> {
    let exists = files(cx)?.exists(path.path).map_err(|why| path.fault(why))?;
    marked_by(cx, Value::Bool(exists), path.marks)
}

/// Returns the value that `make` makes of the contents of a file.
/// Returns a body that makes a value of the content of a file.
fn of_file<'v>(
    make: impl Fn(&Cx<'v>, &[u8]) -> Outcome<Value<'v>>,
) -> impl Fn(&Cx<'v>, FilePath<'v>) -> Outcome<Value<'v>> {
    move |cx, path| marked_by(cx, make(cx, &path.bytes(cx)?)?, path.marks)
}

fn absolute_path<'v>(cx: &Cx<'v>, path: FilePath<'v>) -> Outcome<Value<'v>> {
    cx.charge(path.path.len() * 8)?;
    let root = files(cx)?.root().display();
    let absolute = match path.path.starts_with('/') {
        true => cleaned(path.path),
        false => cleaned(&format!("{root}/{}", path.path)),
    };
    marked_by(cx, string(cx, &absolute)?, path.marks)
}

fn path_expand<'v>(cx: &Cx<'v>, path: FilePath<'v>) -> Outcome<Value<'v>> {
    let Some(rest) = path.path.strip_prefix('~') else { return string(cx, path.path) };
    if !rest.is_empty() && !rest.starts_with('/') {
        return Err(path.fault("starts with the home directory of another user, which is unknown"));
    }
    let home = std::env::var("HOME").map_err(|_| Fault::wrong("the environment variable `HOME` is not set"))?;
    cx.charge((home.len() + rest.len()) * 8)?;
    string(cx, &cleaned(&format!("{home}{rest}")))
}

fn file_set<'v>(cx: &Cx<'v>, base: FilePath<'v>, pattern: FilePath<'v>) -> Outcome<Value<'v>> {
    let files = files(cx)?;
    cx.charge((base.path.len() + pattern.path.len()) * 16)?;
    let base_path = files.relative(base.path).to_str().unwrap_or("");
    let whole = cleaned(&format!("{}/{}", if base_path.is_empty() { "." } else { base_path }, pattern.path));
    let invalid = || pattern.fault("is not a valid file name pattern");
    let (walk, mut found) = (Walk { cx, files }, BTreeSet::new());
    for one in alternatives(&whole).ok_or_else(invalid)? {
        let one = cleaned(&one);
        if one.starts_with('/') || one == ".." || one.starts_with("../") {
            return Err(base.fault(FileError::Outside));
        }
        walk.find(&Glob::parse(&one, Syntax::Full).ok_or_else(invalid)?, &mut found)?;
    }
    let from = cleaned(base_path);
    let paths: Vec<_> = found.iter().map(|path| string(cx, &relative(path, &from))).collect::<Outcome<_>>()?;
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

// Links to directories can lead to one directory along many paths. Each directory is read once for each set of
// positions in the pattern that paths to it have reached. The paths are put together afterwards, through the
// directories that lead to a file only.

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
enum DirectoryEntry {
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
                    Some(DirectoryEntry::File) => files.push(name),
                    Some(DirectoryEntry::Directory(real, states)) => {
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
    fn entry(&self, glob: &Glob, here: &Directory, name: &str) -> Outcome<Option<DirectoryEntry>> {
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
            true => Some(DirectoryEntry::Directory(real, states)),
            false => (glob.is_match(&states) && real.is_file()).then_some(DirectoryEntry::File),
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
mod search_tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::builtins::tests::with_cx;
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
