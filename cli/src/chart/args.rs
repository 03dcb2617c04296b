//! Options of charts.

use std::path::Path;

use clap::Args;

use dropforge::diagnostics::{Code, Diagnostic, Result};
use dropforge::dialect::helm::chart::{Capabilities, Release, Selection};

/// Options of charts.
#[derive(Debug, Args)]
#[command(next_help_heading = "Helm charts")]
pub(crate) struct ChartArgs {
    /// Set the name of the release [default: release-name]
    #[arg(long, value_name = "NAME", value_parser = release_name)]
    name: Option<String>,
    /// Set the namespace of the release [default: default]
    #[arg(short = 'n', long, value_name = "NAMESPACE")]
    namespace: Option<String>,
    /// Set the version of Kubernetes [default: v1.36.0]
    #[arg(long, value_name = "VERSION")]
    kube_version: Option<String>,
    /// Add APIs to those of Kubernetes: `monitoring.coreos.com/v1`
    #[arg(short = 'a', long, value_name = "APIS", value_delimiter = ',')]
    api_versions: Vec<String>,
    /// Also print custom resource definitions
    #[arg(long)]
    include_crds: bool,
    /// Leave out hooks
    #[arg(long)]
    no_hooks: bool,
    /// Print only the documents of these templates: `templates/app.yaml`
    #[arg(short = 's', long, value_name = "PATTERN")]
    pub(super) show_only: Vec<String>,
    /// Render for an upgrade instead of an installation
    #[arg(long)]
    is_upgrade: bool,
}

impl ChartArgs {
    /// Checks that no option of charts is used with other templates.
    ///
    /// # Errors
    /// `usage` with the first such option.
    pub(crate) fn check_unused(&self, path: &Path) -> Result<()> {
        let given = [
            ("--name", self.name.is_some()),
            ("--namespace", self.namespace.is_some()),
            ("--kube-version", self.kube_version.is_some()),
            ("--api-versions", !self.api_versions.is_empty()),
            ("--include-crds", self.include_crds),
            ("--no-hooks", self.no_hooks),
            ("--show-only", !self.show_only.is_empty()),
            ("--is-upgrade", self.is_upgrade),
        ];
        let Some((option, _)) = given.iter().find(|(_, given)| *given) else { return Ok(()) };
        let message = format!("`{option}` does not apply to `{}`: it is not a Helm chart", path.display());
        Err(Diagnostic::new(Code::Usage, message).with_help("name a directory with a `Chart.yaml`, or a `.tgz`"))
    }

    /// Returns the release.
    pub(super) fn release(&self) -> Release {
        let usual = Release::default();
        Release {
            name: self.name.clone().unwrap_or(usual.name),
            namespace: self.namespace.clone().unwrap_or(usual.namespace),
            is_upgrade: self.is_upgrade,
            ..usual
        }
    }

    /// Returns the cluster.
    ///
    /// # Errors
    /// `usage` for a text that is not a version.
    pub(super) fn capabilities(&self) -> Result<Capabilities> {
        let capabilities = Capabilities::default().with_apis(self.api_versions.iter().cloned());
        match &self.kube_version {
            Some(version) => capabilities.with_kube_version(version),
            None => Ok(capabilities),
        }
    }

    /// Returns the parts to print.
    pub(super) fn selection(&self) -> Selection {
        Selection { hooks: !self.no_hooks, crds: self.include_crds }
    }
}

/// Parses the name of a release: at most 53 characters of a DNS name.
fn release_name(text: &str) -> std::result::Result<String, String> {
    let is_label = |label: &str| {
        let ends = |end: Option<char>| end.is_some_and(|end| end.is_ascii_lowercase() || end.is_ascii_digit());
        ends(label.chars().next())
            && ends(label.chars().last())
            && label.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
    };
    match text.len() <= 53 && text.split('.').all(is_label) {
        true => Ok(text.to_owned()),
        false => Err("expected at most 53 lower-case letters, digits, `-` and `.`".to_owned()),
    }
}
