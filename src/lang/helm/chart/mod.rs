//! Charts: everything that is decided before and after templates run.
//!
//! [`ChartSource`] reads the files of a chart from a directory, an archive or memory. [`Chart::load`] parses them,
//! together with the charts it depends on. [`Chart::plan`] merges values, decides which dependencies are enabled and
//! returns a [`Plan`]: the templates in order and the data of each chart. [`Plan::assemble`] turns the rendered texts
//! into an [`Output`]: documents in install order, hooks and notes.
//!
//! ```
//! use dropforge::dialect::helm::chart::{Capabilities, Chart, ChartSource, Release, UserValues};
//! let source = ChartSource::from_files([
//!     ("Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n"),
//!     ("values.yaml", "port: 80\n"),
//!     ("templates/service.yaml", "kind: Service\n"),
//! ])?;
//! let chart = Chart::load(&source).map_err(|errors| errors.to_string())?;
//! let mut values = UserValues::default();
//! values.set("port=8080").map_err(|error| error.to_string())?;
//! let plan = chart.plan(&values, &Release::default(), &Capabilities::default()).map_err(|errors| errors.to_string())?;
//! assert_eq!(plan.templates()[0].name(), "web/templates/service.yaml");
//! let output = plan.assemble([("web/templates/service.yaml".to_owned(), "kind: Service\n".to_owned())])?;
//! assert_eq!(output.text(), "---\n# Source: web/templates/service.yaml\nkind: Service\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Every error has a field `stage` that names the step: `load`, `installable`, `values`, `dependencies`, `schema`,
//! `kubeversion` or `sort`.

mod archive;
mod builtin_objects;
mod dependencies;
mod documents;
mod explain;
mod imports;
mod known;
mod load;
mod manifests;
mod merging;
mod metadata;
mod open;
mod plan;
mod printed;
mod read;
pub mod repository;
mod schema;
mod schema_read;
mod source;
mod top;
mod user_values;

pub use builtin_objects::{Capabilities, EmptyFile, FileSet, HelmLine, HelmVersion, KubeVersion, Release};
pub use documents::DocumentLints;
pub use load::{Chart, is_like_chart_file};
#[doc(hidden)]
pub use manifests::install_rank;
pub use manifests::{Hook, HookEvent, Manifest, Output, Selection};
pub use metadata::{Dependency, Kind, Maintainer, Metadata};
pub use open::{OpenBase, OpenInputs, OpenPlan, floats, form};
pub use plan::{Plan, PlannedChart, PlannedTemplate};
pub use printed::{Printed, Printer};
pub use read::overlay;
pub use source::{Bounds, ChartFile, ChartSource, from_base64, to_base64};
pub use user_values::UserValues;

use crate::error::error;
use dropforge_base::diagnostics::{Code, Diagnostic, Diagnostics};

/// The step of work that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
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
    fn name(self) -> &'static str {
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
    fn error(self, code: Code, message: impl Into<String>) -> Box<Diagnostic> {
        self.of(error(code, message))
    }

    /// Marks an error as one of this stage.
    fn of(self, error: Box<Diagnostic>) -> Box<Diagnostic> {
        error.with_field("stage", self.name())
    }

    /// Marks errors as ones of this stage.
    fn all(self, errors: Vec<Box<Diagnostic>>) -> Diagnostics {
        errors.into_iter().map(|error| self.of(error)).collect::<Vec<_>>().into()
    }
}

#[cfg(test)]
mod tests;
