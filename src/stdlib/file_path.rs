//! Relative file paths.

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
