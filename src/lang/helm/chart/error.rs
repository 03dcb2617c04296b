//! Errors of charts.

use dropforge_base::diagnostics::{Code, Diagnostic, Diagnostics};

/// The step of work that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// Reading and parsing the files.
    Load,
    /// Checking that the chart can be installed at all.
    Installable,
    /// Reading the user's values.
    Values,
    /// Matching, enabling and importing from dependencies.
    Dependencies,
    /// Merging values and checking them against schemas.
    Schema,
    /// Checking the version of Kubernetes.
    KubeVersion,
    /// Splitting and sorting the output.
    Sort,
}

impl Stage {
    pub(super) fn name(self) -> &'static str {
        match self {
            Stage::Load => "load",
            Stage::Installable => "installable",
            Stage::Values => "values",
            Stage::Dependencies => "dependencies",
            Stage::Schema => "schema",
            Stage::KubeVersion => "kubeversion",
            Stage::Sort => "sort",
        }
    }

    /// Returns an error whose message is also Helm's.
    pub(super) fn error(self, code: Code, message: impl Into<String>) -> Box<Diagnostic> {
        let message = message.into();
        self.of(Diagnostic::new(code, message.clone()).with_field(GO_MESSAGE, message))
    }

    /// Marks an error as one of this stage.
    pub(super) fn of(self, error: Box<Diagnostic>) -> Box<Diagnostic> {
        error.with_field("stage", self.name())
    }

    /// Marks errors as ones of this stage.
    pub(super) fn all(self, errors: Vec<Box<Diagnostic>>) -> Diagnostics {
        errors.into_iter().map(|error| self.of(error)).collect::<Vec<_>>().into()
    }
}

/// The field of Helm's own message.
pub(super) const GO_MESSAGE: &str = "go_message";
