//! Paths from the current directory.

use std::path::{Component, Path};

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
        (Ok(here), Ok(path)) => relative(&here, &path),
        _ => path.display().to_string(),
    }
}

/// Returns the way from one absolute path to another.
fn relative(from: &Path, to: &Path) -> String {
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

    #[test]
    fn paths_lead_from_here() {
        let way = |from: &str, to: &str| relative(Path::new(from), Path::new(to));
        assert_eq!(way("/a/b", "/a/b/t/x.tera"), "t/x.tera");
        assert_eq!(way("/a/b", "/a/b"), ".");
        assert_eq!(way("/a/b", "/a/c/t"), "../c/t");
        assert_eq!(way("/", "/t"), "t");
    }
}
