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
mod capabilities;
mod coalesce;
mod content;
mod declared;
mod dependencies;
mod directory;
mod documents;
mod error;
mod explain;
mod files;
mod head;
mod ignore;
mod imports;
mod invalid;
mod known;
mod load;
mod manifests;
mod merged;
mod metadata;
mod open;
mod open_places;
mod options;
mod output;
mod packed;
mod places;
mod plan;
mod printed;
mod read;
mod release;
mod schema;
mod source;
mod top;
mod tree;
mod unpacked;
mod user_values;
mod validate;
mod warnings;

#[cfg(test)]
mod tests;

pub use capabilities::{Capabilities, HelmVersion, KubeVersion};
pub use files::{EmptyFile, FileSet};
pub use load::Chart;
pub use manifests::HookEvent;
pub use manifests::{Hook, Manifest};
pub use metadata::{Dependency, Maintainer};
pub use metadata::{Kind, Metadata};
pub use open::{OpenBase, OpenInputs, OpenPlan, floats, form};
pub use output::{Output, Selection};
pub use packed::{from_base64, to_base64};
pub use plan::Plan;
pub use plan::{PlannedChart, PlannedTemplate};
pub use printed::{Printed, Printer};
pub use release::Release;
pub use source::ChartFile;
pub use source::{Bounds, ChartSource};
pub use user_values::UserValues;
pub use warnings::DocumentLints;
