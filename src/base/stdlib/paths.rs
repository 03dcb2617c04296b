//! Paths into values, as dotted paths and JSON pointers, and file paths with slashes.

use std::borrow::Cow;

/// A path that cannot be split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BadPath;

/// Returns the steps of `path`: map keys and list indexes. `~1` is a slash and `~0` a tilde. An error ends the
/// iteration.
///
/// `steps("a.b[\"c\"]")` yields `a`, `b`, `c`.
pub fn steps(path: &str) -> impl Iterator<Item = Result<Cow<'_, str>, BadPath>> {
    let mut scan = Scan { path, at: 0, single: false, double: false, escaped: false };
    std::iter::from_fn(move || match scan.step() {
        Ok(step) => step.map(|step| Ok(unescaped(step))),
        Err(error) => {
            scan.at = path.len();
            Some(Err(error))
        }
    })
}

/// Returns the list index of a step: decimal digits without a sign or leading zeros.
pub fn step_index(step: &str) -> Option<usize> {
    let unusual = step.starts_with('+') || (step.starts_with('0') && step.len() != 1);
    if unusual { None } else { step.parse().ok() }
}

struct Scan<'p> {
    path: &'p str,
    /// The start of the next step.
    at: usize,
    single: bool,
    double: bool,
    escaped: bool,
}

impl<'p> Scan<'p> {
    /// Returns the next step.
    fn step(&mut self) -> Result<Option<&'p str>, BadPath> {
        let rest = self.path.get(self.at..).ok_or(BadPath)?;
        let mut skip = 0;
        for (at, letter) in rest.chars().enumerate() {
            let escaped = std::mem::replace(&mut self.escaped, letter == '\\');
            let ends = match letter {
                '"' | '\'' if !escaped => {
                    let quoted = if letter == '"' { &mut self.double } else { &mut self.single };
                    *quoted = !*quoted;
                    true
                }
                '.' | '[' | ']' => !escaped && !self.single && !self.double,
                _ => false,
            };
            match letter {
                _ if !ends => {}
                ']' => skip += 1,
                '"' | '\'' | '.' if at == skip => skip += 1,
                _ => {
                    if let Some(step) = self.cut(skip, at)? {
                        return Ok(Some(step));
                    }
                }
            }
        }
        self.last(skip)
    }

    /// Returns the step from `skip` to `end`; the next one starts after it.
    fn cut(&mut self, skip: usize, end: usize) -> Result<Option<&'p str>, BadPath> {
        let step = self.path.get(self.at + skip..self.at + end).ok_or(BadPath)?;
        self.at += end + 1;
        Ok(Some(step).filter(|step| !step.is_empty()))
    }

    /// Returns the rest of the path after `skip`.
    fn last(&mut self, skip: usize) -> Result<Option<&'p str>, BadPath> {
        let start = self.at + skip;
        if start >= self.path.len() {
            return Ok(None);
        }
        self.at = self.path.len();
        self.path.get(start..).map(Some).ok_or(BadPath)
    }
}

// JSON pointers (RFC 6901).

/// Returns the names in a JSON pointer.
pub fn names(pointer: &str) -> impl Iterator<Item = Cow<'_, str>> {
    pointer.split('/').skip(1).map(unescaped)
}

/// Returns the name that a step of a pointer means.
pub fn unescaped(step: &str) -> Cow<'_, str> {
    if step.contains('~') { step.replace("~1", "/").replace("~0", "~").into() } else { step.into() }
}

/// Appends the step to the member `name` to a pointer.
pub fn push(pointer: &mut String, name: &str) {
    pointer.reserve(1 + name.len());
    pointer.push('/');
    push_escaped(pointer, name);
}

/// Returns `name` as a step of a pointer.
pub fn escaped(name: &str) -> String {
    let mut step = String::with_capacity(name.len());
    push_escaped(&mut step, name);
    step
}

fn push_escaped(pointer: &mut String, name: &str) {
    let mut rest = name;
    while let Some(at) = memchr::memchr2(b'~', b'/', rest.as_bytes()) {
        pointer.push_str(&rest[..at]);
        pointer.push_str(if rest.as_bytes()[at] == b'~' { "~0" } else { "~1" });
        rest = &rest[at + 1..];
    }
    pointer.push_str(rest);
}

/// Resolves `path` in `folder` (empty, or with a final `/`) to a path relative to the root, without `.` and `..`. `None` if
/// it leads outside the root.
pub fn within(folder: &str, path: &str) -> Option<String> {
    if path.starts_with('/') {
        return None;
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Returns the shortest path with the same meaning, by the text alone: no double slashes, no `.`, no `..` except at the
/// start. An empty path is `.`.
pub fn cleaned(path: &[u8]) -> Vec<u8> {
    let rooted = is_absolute(path);
    let mut parts: Vec<&[u8]> = Vec::new();
    for part in path.split(|byte| *byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." if parts.last().is_some_and(|last| *last != b"..") => drop(parts.pop()),
            b".." if rooted => {}
            part => parts.push(part),
        }
    }
    let joined = parts.join(&b'/');
    match (rooted, joined.is_empty()) {
        (true, _) => [b"/", joined.as_slice()].concat(),
        (false, true) => b".".to_vec(),
        (false, false) => joined,
    }
}

/// Returns the last part of a path, `.` for an empty path and `/` for one of slashes.
pub fn base(path: &[u8]) -> &[u8] {
    if path.is_empty() {
        return b".";
    }
    path.split(|byte| *byte == b'/').rfind(|part| !part.is_empty()).unwrap_or(b"/")
}

/// Returns the folder of a path, cleaned.
pub fn folder(path: &[u8]) -> Vec<u8> {
    let end = path.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
    cleaned(path.get(..end).unwrap_or_default())
}

/// Returns the extension of the last part of a path with its point; empty if there is none.
pub fn extension(path: &[u8]) -> &[u8] {
    let start = path.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
    let name = path.get(start..).unwrap_or_default();
    name.iter().rposition(|byte| *byte == b'.').and_then(|at| name.get(at..)).unwrap_or_default()
}

/// Returns `true` if a path starts at the root.
pub fn is_absolute(path: &[u8]) -> bool {
    path.starts_with(b"/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(path: &str) -> Result<Vec<String>, BadPath> {
        steps(path).map(|step| step.map(Cow::into_owned)).collect()
    }

    #[test]
    fn dots_brackets_and_quotes() {
        assert_eq!(cut("a").unwrap(), ["a"]);
        assert_eq!(cut("a.b.c").unwrap(), ["a", "b", "c"]);
        assert_eq!(cut("a[\"0\"].b").unwrap(), ["a", "0", "b"]);
        assert_eq!(cut("a[0].b").unwrap(), ["a", "]", "b"]);
        assert_eq!(cut("a[\"b.c\"].d").unwrap(), ["a", "b.c", "d"]);
        assert_eq!(cut("a['x/y']").unwrap(), ["a", "x/y"]);
        assert_eq!(cut("a~1b.c~0d").unwrap(), ["a/b", "c~d"]);
        assert!(cut("").unwrap().is_empty());
        assert_eq!(cut("..a..").unwrap(), ["a"]);
    }

    #[test]
    fn letters_beyond_ascii_before_a_separator() {
        assert_eq!(cut("ключ").unwrap(), ["ключ"]);
        assert_eq!(cut("é.b"), Err(BadPath));
        assert_eq!(cut("éa.b").unwrap(), ["é", "b"]);
    }

    #[test]
    fn indices_are_plain_digits() {
        assert_eq!(step_index("0"), Some(0));
        assert_eq!(step_index("12"), Some(12));
        for step in ["00", "+1", "-1", "1.0", "", "99999999999999999999"] {
            assert_eq!(step_index(step), None, "{step}");
        }
    }

    #[test]
    fn no_path_hangs_or_panics() {
        let alphabet = ['a', '.', '[', ']', '"', '\'', '\\', 'é'];
        for number in 0..8_usize.pow(6) {
            let path: String = (0..6).map(|place| alphabet[number / 8_usize.pow(place) % 8]).collect();
            assert!(steps(&path).count() <= 7, "{path}");
        }
    }

    #[test]
    fn names_are_escaped_and_found_again() {
        let all = ["a", "", "a/b", "m~n", "~1", "é/"];
        let mut pointer = String::new();
        all.iter().for_each(|name| push(&mut pointer, name));
        assert_eq!(pointer, "/a//a~1b/m~0n/~01/é~1");
        assert!(names(&pointer).eq(all));
        assert_eq!(escaped("a/b~"), "a~1b~0");
    }

    #[test]
    fn parts_of_paths() {
        for (path, clean, folder_of, last, end) in [
            ("", ".", ".", ".", ""),
            ("/", "/", "/", "/", ""),
            ("//", "/", "/", "/", ""),
            ("a", "a", ".", "a", ""),
            ("a/", "a", "a", "a", ""),
            ("a//b/../c/./", "a/c", "a/c", ".", ""),
            ("/..", "/", "/", "..", "."),
            ("../../a.tar.gz", "../../a.tar.gz", "../..", "a.tar.gz", ".gz"),
            ("/a.b/c", "/a.b/c", "/a.b", "c", ""),
            ("a/..", ".", "a", "..", "."),
            (".x", ".x", ".", ".x", ".x"),
        ] {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let bytes = path.as_bytes();
            let parts = [text(&cleaned(bytes)), text(&folder(bytes)), text(base(bytes)), text(extension(bytes))];
            assert_eq!(parts, [clean, folder_of, last, end], "{path}");
        }
    }
}
