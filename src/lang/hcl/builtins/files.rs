//! Functions of files below the directory that the engine allows, and of paths that depend on the machine.

use std::collections::BTreeSet;
use std::fmt;
use std::io::Read;

use super::encodings::{Hash, base64_hash, base64_of, hex_hash};
use super::secrets::SENSITIVE;
use super::strings::cleaned;
use super::walk::Walk;
use super::{Arguments, FromArguments, functions, string};
use crate::values::{marked_by, set_of};
use dropforge_base::stdlib::globs::{Glob, Syntax, alternatives};
use dropforge_base::stdlib::hashes::{md5, sha1, sha256, sha512};
use dropforge_machine::function::{Cx, Fault, FileError, Files, Outcome};
use dropforge_value::{Type, Value};

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
    "filebase64" (path: String [marked]) -> String = of_file [base64_of], needs FILES,
        "Returns the contents of a file in base64." ["filebase64(\"docs/hello.txt\")" => "\"aGVsbG8K\""];
    "filemd5" (path: String [marked]) -> String = hash_of_file [hex_hash, md5], needs FILES,
        "Returns the MD5 hash of a file in hexadecimal."
        ["filemd5(\"docs/hello.txt\") == md5(file(\"docs/hello.txt\"))" => "true"];
    "filesha1" (path: String [marked]) -> String = hash_of_file [hex_hash, sha1], needs FILES,
        "Returns the SHA-1 hash of a file in hexadecimal."
        ["filesha1(\"docs/hello.txt\") == sha1(file(\"docs/hello.txt\"))" => "true"];
    "filesha256" (path: String [marked]) -> String = hash_of_file [hex_hash, sha256], needs FILES,
        "Returns the SHA-256 hash of a file in hexadecimal."
        ["filesha256(\"docs/hello.txt\") == sha256(file(\"docs/hello.txt\"))" => "true"];
    "filesha512" (path: String [marked]) -> String = hash_of_file [hex_hash, sha512], needs FILES,
        "Returns the SHA-512 hash of a file in hexadecimal."
        ["filesha512(\"docs/hello.txt\") == sha512(file(\"docs/hello.txt\"))" => "true"];
    "filebase64sha256" (path: String [marked]) -> String = hash_of_file [base64_hash, sha256], needs FILES,
        "Returns the SHA-256 hash of a file in base64."
        ["filebase64sha256(\"docs/hello.txt\") == base64sha256(file(\"docs/hello.txt\"))" => "true"];
    "filebase64sha512" (path: String [marked]) -> String = hash_of_file [base64_hash, sha512], needs FILES,
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

impl<'v> FromArguments<'v> for FilePath<'v> {
    fn take(arguments: &Arguments<'_, 'v>) -> Outcome<Self> {
        let (at, value) = arguments.next()?;
        let (path, marks) = value.unmarked();
        let path = path.as_str().ok_or_else(|| Fault::argument(at, "a string is required"))?;
        arguments.cx.spend(path.len() as u64)?;
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
        let (file, length) = files(cx)?.open(self.path).map_err(|why| self.fault(why))?;
        cx.charge(usize::try_from(length).unwrap_or(usize::MAX))?;
        let mut bytes = Vec::new();
        let read = file.take(length.saturating_add(1)).read_to_end(&mut bytes);
        read.map_err(|error| self.fault(format!("cannot be read: {error}")))?;
        if bytes.len() as u64 > length {
            return Err(self.fault("grew while it was read"));
        }
        Ok(bytes)
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
fn of_file<'v>(
    cx: &Cx<'v>,
    path: FilePath<'v>,
    make: impl FnOnce(&Cx<'v>, &[u8]) -> Outcome<Value<'v>>,
) -> Outcome<Value<'v>> {
    marked_by(cx, make(cx, &path.bytes(cx)?)?, path.marks)
}

fn hash_of_file<'v, const N: usize>(
    cx: &Cx<'v>,
    path: FilePath<'v>,
    encode: fn(&Cx<'v>, &[u8], Hash<N>) -> Outcome<Value<'v>>,
    hash: Hash<N>,
) -> Outcome<Value<'v>> {
    of_file(cx, path, |cx, bytes| encode(cx, bytes, hash))
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

pub(super) fn file_set<'v>(cx: &Cx<'v>, base: FilePath<'v>, pattern: FilePath<'v>) -> Outcome<Value<'v>> {
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
