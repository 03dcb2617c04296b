//! Names of files that are relative to a folder.

/// The name of what `path` means in the folder `folder` (empty, or with a final `/`): relative to the root, without `.`
/// and `..`; `None` where it leads out.
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
