//! File paths with slashes.

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
