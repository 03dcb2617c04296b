//! Stamping a fleet: the same templates for every cluster, onto disk or into one stream.

mod diff;
mod fleet;
pub mod input;
mod layers;
mod layout;
mod manifest;
mod plan;
mod report;
mod run;
mod select;
mod sink;
mod templates;
mod tree;
pub mod values;
mod write;

pub use diff::unified_diff;
pub use fleet::{Cluster, Fleet};
pub use input::Format;
pub use layers::{Layers, Overlay};
pub use layout::{DEFAULT_LAYOUT, Layout, check_path};
pub use manifest::{MANIFEST, Manifest};
pub use plan::{Output, Plan};
pub use report::{Failure, Report};
pub use run::{Job, Looked, Options, Renderer, Stamp, Watch, look, stamp, stream};
pub use select::{Selector, lookup};
pub use templates::{TemplateFile, TemplateSet, discover, output_name, outputs};
pub use tree::OutputDir;
pub use write::{Change, Reader, Writer, write_file};
