//! The release that templates are rendered for.

use dropforge_base::diagnostics::{Code, Diagnostic, Result};

/// The release: `.Release`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Release {
    /// The name.
    pub name: String,
    /// The namespace.
    pub namespace: String,
    /// `true` for an upgrade, `false` for an installation.
    pub is_upgrade: bool,
    /// The number of the revision.
    pub revision: i64,
    /// The service that makes the release.
    pub service: String,
}

impl Default for Release {
    fn default() -> Self {
        Self {
            name: "release-name".to_owned(),
            namespace: "default".to_owned(),
            is_upgrade: false,
            revision: 1,
            service: "Helm".to_owned(),
        }
    }
}

impl Release {
    /// Checks the name: at most 53 characters of a DNS name.
    ///
    /// # Errors
    /// `input.type`.
    pub fn check_name(&self) -> Result<()> {
        let is_label = |label: &str| {
            let ends = |end: Option<char>| end.is_some_and(|end| end.is_ascii_lowercase() || end.is_ascii_digit());
            ends(label.chars().next())
                && ends(label.chars().last())
                && label.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
        };
        if self.name.len() <= 53 && self.name.split('.').all(is_label) {
            return Ok(());
        }
        Err(Diagnostic::new(Code::InputType, format!("`{}` cannot be the name of a release", self.name)).with_help(
            "use at most 53 lower-case letters, digits, `-` and `.`, and begin and end with a letter or digit",
        ))
    }
}
