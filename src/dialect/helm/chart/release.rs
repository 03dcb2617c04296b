//! The release that templates are rendered for.

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
