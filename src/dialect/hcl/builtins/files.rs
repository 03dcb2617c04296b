//! Functions of files: those below the directory that the engine allows, and of paths that depend on where it is.

use std::fmt;
use std::io::Read;

use super::arguments::answer;
use super::encodings::base64_of;
use super::filesets::file_set;
use super::secrets::SENSITIVE;
use super::strings::cleaned;
use crate::dialect::hcl::values::marks::marked_by;
use crate::dialect::hcl::values::{Fault, Outcome};
use crate::function::{Cx, Files};
use crate::positional;
use crate::stdlib::hashes::{hex, md5, sha1, sha256, sha512};
use crate::value::Value;

positional! {
    /// Functions of files, all of them OpenTofu's.
    pub(super) static FILES:
    "file" (path: String [marked]) -> String = file, needs FILES,
        "The text of a file, which is UTF-8." ["file(\"docs/hello.txt\")" => "\"hello\\n\""];
    "fileexists" (path: String [marked]) -> Bool = file_exists, needs FILES,
        "Whether there is a file." ["fileexists(\"docs/hello.txt\")" => "true"];
    "fileset" (path: String [marked], pattern: String [marked]) -> (set String) = file_set, needs FILES,
        "The paths of the files below a directory that are as a pattern says: `*`, `?`, `[a-z]`, `{a,b}`, `**` for any directories."
        ["fileset(\"docs\", \"*.txt\")" => "toset([\"hello.txt\"])"];
    "filebase64" (path: String [marked]) -> String = file_base64, needs FILES,
        "A file's bytes in base64." ["filebase64(\"docs/hello.txt\")" => "\"aGVsbG8K\""];
    "filemd5" (path: String [marked]) -> String = file_md5, needs FILES,
        "The MD5 hash of a file's bytes, in hexadecimal digits."
        ["filemd5(\"docs/hello.txt\") == md5(file(\"docs/hello.txt\"))" => "true"];
    "filesha1" (path: String [marked]) -> String = file_sha1, needs FILES,
        "The SHA-1 hash of a file's bytes, in hexadecimal digits."
        ["filesha1(\"docs/hello.txt\") == sha1(file(\"docs/hello.txt\"))" => "true"];
    "filesha256" (path: String [marked]) -> String = file_sha256, needs FILES,
        "The SHA-256 hash of a file's bytes, in hexadecimal digits."
        ["filesha256(\"docs/hello.txt\") == sha256(file(\"docs/hello.txt\"))" => "true"];
    "filesha512" (path: String [marked]) -> String = file_sha512, needs FILES,
        "The SHA-512 hash of a file's bytes, in hexadecimal digits."
        ["filesha512(\"docs/hello.txt\") == sha512(file(\"docs/hello.txt\"))" => "true"];
    "filebase64sha256" (path: String [marked]) -> String = file_base64_sha256, needs FILES,
        "The SHA-256 hash of a file's bytes, in base64."
        ["filebase64sha256(\"docs/hello.txt\") == base64sha256(file(\"docs/hello.txt\"))" => "true"];
    "filebase64sha512" (path: String [marked]) -> String = file_base64_sha512, needs FILES,
        "The SHA-512 hash of a file's bytes, in base64."
        ["filebase64sha512(\"docs/hello.txt\") == base64sha512(file(\"docs/hello.txt\"))" => "true"];
    "abspath" (path: String [marked]) -> String = absolute_path, needs FILES,
        "A path from the root of the file system, where it is relative to the directory whose files may be read."
        ["abspath(\"a/../b\") == abspath(\"./b\")" => "true", "abspath(\"/a/../b\")" => "\"/b\""];
    "pathexpand" (path: String) -> String = path_expand, needs ENVIRONMENT,
        "A path with the user's home directory for the `~` that it begins with." ["pathexpand(\"a/~\")" => "\"a/~\""];
}

/// An argument that names files.
pub(super) struct Named<'v> {
    /// The path.
    pub path: &'v str,
    /// The marks on it, which are on what is read as well.
    pub marks: &'v [&'v str],
    at: usize,
}

impl<'v> Named<'v> {
    /// Argument `at`, paid for as what is looked at.
    pub fn argument(cx: &Cx<'v>, args: &[Value<'v>], at: usize) -> Outcome<Self> {
        let (path, marks) = args.get(at).map_or((Value::Null, &[][..]), Value::unmarked);
        let path = path.as_str().ok_or_else(|| Fault::argument(at, "a string is required"))?;
        cx.spend(path.len() as u64)?;
        Ok(Self { path, marks, at })
    }

    /// What is wrong with what it names.
    pub fn wrong(&self, why: impl fmt::Display) -> Fault {
        Fault::argument(self.at, format!("{self} {why}"))
    }

    /// What the file holds, paid for before it is read.
    pub fn bytes(&self, cx: &Cx<'v>) -> Outcome<Vec<u8>> {
        let (file, length) = files(cx)?.open(self.path).map_err(|why| self.wrong(why))?;
        cx.charge(usize::try_from(length).unwrap_or(usize::MAX))?;
        let mut bytes = Vec::new();
        let read = file.take(length.saturating_add(1)).read_to_end(&mut bytes);
        read.map_err(|error| self.wrong(format!("cannot be read: {error}")))?;
        if bytes.len() as u64 > length {
            return Err(self.wrong("has become longer while it was read"));
        }
        Ok(bytes)
    }

    /// The same, which is text.
    pub fn text(&self, cx: &Cx<'v>) -> Outcome<String> {
        String::from_utf8(self.bytes(cx)?).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            self.wrong(format!("is not UTF-8 from byte {at} on; `filebase64` and the hashes take any file"))
        })
    }
}

/// The path as messages have it.
impl fmt::Display for Named<'_> {
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

/// The files that may be read.
pub(super) fn files<'v>(cx: &Cx<'v>) -> Outcome<&'v Files> {
    let files = cx.capabilities().files();
    files.ok_or_else(|| Fault::wrong("the engine has no directory whose files may be read"))
}

/// What is made of the bytes of the file that the first argument names.
fn of_bytes<'v>(cx: &Cx<'v>, args: &[Value<'v>], make: impl FnOnce(&[u8]) -> Outcome<Value<'v>>) -> Outcome<Value<'v>> {
    let named = Named::argument(cx, args, 0)?;
    marked_by(cx, make(&named.bytes(cx)?)?, named.marks, &[])
}

fn file<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let named = Named::argument(cx, args, 0)?;
    marked_by(cx, answer(cx, &named.text(cx)?)?, named.marks, &[])
}

fn file_exists<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let named = Named::argument(cx, args, 0)?;
    let exists = files(cx)?.exists(named.path).map_err(|why| named.wrong(why))?;
    marked_by(cx, Value::Bool(exists), named.marks, &[])
}

fn file_base64<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    of_bytes(cx, args, |bytes| base64_of(cx, bytes))
}

/// The hash of a file's bytes, paid for by their number.
fn hashed<'v, const N: usize>(
    cx: &Cx<'v>,
    args: &[Value<'v>],
    hash: fn(&[u8]) -> [u8; N],
    write: impl FnOnce(&[u8]) -> Outcome<Value<'v>>,
) -> Outcome<Value<'v>> {
    of_bytes(cx, args, |bytes| {
        cx.spend(bytes.len() as u64 / 8)?;
        write(&hash(bytes))
    })
}

fn file_md5<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    hashed(cx, args, md5, |hash| answer(cx, &hex(hash)))
}

fn file_sha1<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    hashed(cx, args, sha1, |hash| answer(cx, &hex(hash)))
}

fn file_sha256<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    hashed(cx, args, sha256, |hash| answer(cx, &hex(hash)))
}

fn file_sha512<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    hashed(cx, args, sha512, |hash| answer(cx, &hex(hash)))
}

fn file_base64_sha256<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    hashed(cx, args, sha256, |hash| base64_of(cx, hash))
}

fn file_base64_sha512<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    hashed(cx, args, sha512, |hash| base64_of(cx, hash))
}

fn absolute_path<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let named = Named::argument(cx, args, 0)?;
    cx.charge(named.path.len() * 8)?;
    let root = files(cx)?.root().display();
    let path = match named.path.starts_with('/') {
        true => cleaned(named.path),
        false => cleaned(&format!("{root}/{}", named.path)),
    };
    marked_by(cx, answer(cx, &path)?, named.marks, &[])
}

fn path_expand<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let named = Named::argument(cx, args, 0)?;
    let Some(behind) = named.path.strip_prefix('~') else { return answer(cx, named.path) };
    if !behind.is_empty() && !behind.starts_with('/') {
        return Err(named.wrong("begins with another user's home directory, which is not known"));
    }
    let home = std::env::var("HOME").map_err(|_| Fault::wrong("the environment has no home directory in `HOME`"))?;
    cx.charge((home.len() + behind.len()) * 8)?;
    answer(cx, &cleaned(&format!("{home}{behind}")))
}
