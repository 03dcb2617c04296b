//! Stamping a fleet: the same templates for every cluster, onto disk or into one stream.
//!
//! ```text
//! templates ─▶ Forge (compiled)  ─┐
//! -f, --set ─▶ Layers (shared)   ─┼─▶ Plan (paths, checked) ─▶ stamp | look | stream ─▶ Report
//! fleet     ─▶ Fleet ─ Selector  ─┘
//! ```
//!
//! Everything that can be wrong with names and paths is found before a byte is written. A file holds its old or
//! its new content in full whatever happens; a cluster that fails leaves its own files as they were.
//!
//! ```
//! # let temp = tempfile::tempdir()?;
//! # let (root, out) = (temp.path().join("templates"), temp.path().join("out"));
//! # std::fs::create_dir(&root)?;
//! # std::fs::write(root.join("app.tera"), "name: {{ name }}\nimage: {{ image }}\n")?;
//! use dropforge::bulk::{self, *};
//! use dropforge::engine::Engine;
//! use dropforge::text::Source;
//!
//! let set = discover(&[root], None, &|name| dialect_of(name).is_some())?;
//! let forge = Forge::compile(&set, None, Engine::builder())?;
//! let outputs = outputs(&set.files, &mut |name| forge.references(name))?;
//! let outputs = outputs.into_iter().map(|name| Output::new(name, &language_extensions())).collect();
//!
//! let fleet = Source::new("fleet.csv", "name,image\neu-1,web:1\nus-1,web:2\n");
//! let fleet = Fleet::read(&fleet, Format::Csv, None)?;
//! let layers = Layers::default();
//! let plan = Plan::new(&fleet, &layers, &Selector::default(), outputs, Layout::parse(DEFAULT_LAYOUT)?)
//!     .map_err(dropforge::diagnostics::Diagnostics::from)?;
//!
//! let stamper = forge.stamper(plan.outputs().iter().map(|output| &*output.template), layers.shared())?;
//! let options = Options::default();
//! let job = Job { fleet: &fleet, layers: &layers, plan: &plan, options: &options, watch: Watch::none() };
//! let report = bulk::stamp(&stamper, &job, &out)?;
//! assert_eq!((report.created, report.failed), (2, 0));
//! assert_eq!(std::fs::read_to_string(out.join("us-1/app.yaml"))?, "name: us-1\nimage: web:2\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod diff;
mod documents;
mod fleet;
mod forge;
pub mod input;
mod job;
mod layers;
mod layout;
mod manifest;
mod plan;
mod report;
mod run;
mod select;
mod sink;
mod stream;
mod templates;
mod tree;
mod unique;
pub mod values;
mod workers;
mod write;

pub use diff::unified_diff;
pub use documents::Piece;
pub use fleet::{Cluster, Fleet};
pub use forge::{Forge, Stamper, engine};
pub use input::Format;
pub use job::{Job, Looked, Options, Renderer, Stamp, Watch};
pub use layers::{Layers, Overlay};
pub use layout::{DEFAULT_LAYOUT, Layout, check_path};
pub use manifest::{MANIFEST, Manifest};
pub use plan::{Output, Plan};
pub use report::{Failure, Report};
pub use run::{look, stamp, stream};
pub use select::{Selector, lookup};
pub use stream::StreamFile;
pub use templates::{document_name, output_name, outputs};

pub use crate::engine::{TemplateFile, TemplateSet, dialect_of, discover, language_extensions, unknown_language};
pub use tree::OutputDir;
pub use write::{Change, Reader, Writer, write_file};
