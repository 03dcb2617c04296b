//! Lines that only follow from others, such as checksums of configurations. They tell a reviewer nothing.

use dropforge_base::stdlib::globs::PathGlob;

/// Annotations and labels that follow from others, whatever their values.
const KEYS: [&str; 2] = ["checksum/*", "rollme"];
/// The labels of a chart's version and of its application.
const CHART: &str = "helm.sh/chart";
const VERSION: &str = "app.kubernetes.io/version";

/// Patterns of volatile lines. `*` and `?` stop at slashes, `**` does not.
///
/// ```
/// use dropforge::bulk::Volatile;
/// let volatile = Volatile::new(&["build-id".to_owned(), "# generated **".to_owned()])?;
/// assert!(volatile.is_key(&["metadata".into(), "annotations".into(), "checksum/config".into()]));
/// assert!(volatile.is_key(&["spec".into(), "build-id".into()]));
/// assert!(volatile.is_line("# generated 2031-01-02 by x/y"));
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone)]
pub struct Volatile {
    own: Vec<PathGlob>,
    known: Vec<PathGlob>,
}

impl Default for Volatile {
    fn default() -> Self {
        Self { own: Vec::new(), known: KEYS.iter().filter_map(|key| PathGlob::parse(key)).collect() }
    }
}

impl Volatile {
    /// Adds patterns of keys, of dotted paths in an object, and of whole lines.
    ///
    /// # Errors
    /// The pattern that cannot be parsed.
    pub fn new(patterns: &[String]) -> Result<Self, String> {
        let parse = |pattern: &String| PathGlob::parse(pattern).ok_or_else(|| pattern.clone());
        Ok(Self { own: patterns.iter().map(parse).collect::<Result<_, _>>()?, ..Self::default() })
    }

    /// Returns `true` if the value at these keys is volatile.
    pub fn is_key(&self, path: &[String]) -> bool {
        let Some(key) = path.last() else { return false };
        let is_own = || {
            let dotted = path.join(".");
            self.own.iter().any(|glob| glob.matches(key) || glob.matches(&dotted))
        };
        is_of_metadata(path) && self.known.iter().any(|glob| glob.matches(key)) || !self.own.is_empty() && is_own()
    }

    /// Returns `true` if a line is volatile as a whole.
    pub fn is_line(&self, line: &str) -> bool {
        self.own.iter().any(|glob| glob.matches(line.trim()))
    }
}

/// Returns `true` for the path of an annotation or label.
fn is_of_metadata(path: &[String]) -> bool {
    matches!(path, [.., metadata, kind, _] if metadata == "metadata" && (kind == "annotations" || kind == "labels"))
}

/// Returns `true` for the label of a chart, if only its version changes.
pub(super) fn is_chart_version(path: &[String], old: &str, new: &str) -> bool {
    let chart = |label: &str| {
        let (at, _) =
            label.match_indices('-').find(|(at, _)| label[at + 1..].starts_with(|c: char| c.is_ascii_digit()))?;
        label.get(..at).map(str::to_owned)
    };
    is_label(path, CHART) && chart(old).is_some_and(|old| Some(old) == chart(new))
}

/// Returns `true` for the label of an application's version.
pub(super) fn is_version_label(path: &[String]) -> bool {
    is_label(path, VERSION)
}

fn is_label(path: &[String], label: &str) -> bool {
    is_of_metadata(path) && path.last().is_some_and(|key| key == label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_metadata_has_known_volatile_keys() {
        let volatile = Volatile::new(&["spec.*.stamp".to_owned()]).unwrap();
        let is = |path: &str| volatile.is_key(&path.split('|').map(str::to_owned).collect::<Vec<_>>());
        assert!(is("spec|template|metadata|annotations|checksum/config") && is("metadata|annotations|rollme"));
        assert!(!is("data|checksum/config") && !is("rollme") && !is("metadata|annotations|checksum"));
        assert!(is("spec|x|stamp") && !is("stamp"));
        let chart = |old: &str, new: &str| {
            is_chart_version(&["metadata", "labels", "helm.sh/chart"].map(str::to_owned), old, new)
        };
        assert!(chart("web-app-1.4.0", "web-app-1.5.0-rc.1") && chart("web-1.0.0_x", "web-2.0.0"));
        assert!(!chart("web-1.4.0", "api-1.4.0") && !chart("web", "web-1.0.0"));
        assert!(Volatile::new(&["[".to_owned()]).is_err());
    }
}
