//! Stamping a fleet: rendering the same templates for every cluster, to disk or into one stream.
//!
//! ```
//! # let temp = tempfile::tempdir()?;
//! # let (templates, out) = (temp.path().join("templates"), temp.path().join("out"));
//! # std::fs::create_dir(&templates)?;
//! # std::fs::write(templates.join("app.yaml.tera"), "name: {{ name }}\nimage: {{ image }}\n")?;
//! use dropforge::bulk::{self, *};
//! use dropforge::Engine;
//! use dropforge::text::Source;
//!
//! // Compile all templates of a directory.
//! let set = discover(&[templates], None, &|name| dialect_of(name).is_some())?;
//! let templates = Templates::compile(&set, None, Engine::builder())?;
//! let names = outputs(&set.files, &mut |name| templates.references(name))?;
//!
//! // Read the clusters. Here all inputs are their own.
//! let fleet = Source::new("fleet.csv", "name,image\neu-1,web:1\nus-1,web:2\n");
//! let fleet = Fleet::read(&fleet, Format::Csv, &FleetOptions::default())?;
//! let layers = Layers::default();
//!
//! // Check all names and paths before anything is written.
//! let outputs = names.into_iter().map(|name| Output::new(name, &language_extensions())).collect();
//! let plan = Plan::new(&fleet, &layers, &Selector::default(), outputs, Layout::parse(DEFAULT_LAYOUT)?)
//!     .map_err(Failure::diagnostics)?;
//!
//! let stamper = templates.stamper(plan.outputs().iter().map(|output| &*output.template), &layers)?;
//! let options = Options::default();
//! let job = Job { fleet: &fleet, layers: &layers, plan: &plan, options: &options, watch: Watch::none() };
//! let report = bulk::stamp(&stamper, &job, &out)?;
//! assert_eq!((report.created, report.failed), (2, 0));
//! assert_eq!(std::fs::read_to_string(out.join("us-1/app.yaml"))?, "name: us-1\nimage: web:2\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The data flow of a [`Run`], which has all of these parts and calls these functions:
//!
//! ```text
//! templates, chart ─▶ RunSet (compiled) ─┐
//! -f, --set        ─▶ Layers (shared)   ─┼─▶ Plan (paths, checked) ─▶ stamp | preview | stream ─▶ Report
//! fleet            ─▶ Fleet ─ Selector  ─┘
//! ```
//!
//! A file has its old or its new content, never a part of it. A cluster that fails leaves its files unchanged and does
//! not stop the others.

#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo, clippy::unimplemented)
)]

use std::sync::{Mutex, MutexGuard, PoisonError};

mod change_groups;
mod charts;
mod cluster;
mod cluster_keys;
mod deletions;
pub mod destination;
mod diff;
mod disk;
mod documents;
mod excerpts;
mod finish;
mod fleet;
pub mod foreign;
mod hidden_changes;
pub mod input;
mod job;
mod kept_warnings;
pub(crate) mod key_set;
mod kind_changes;
mod known_files;
mod kube;
mod last_run;
mod layer_files;
mod layers;
mod layout;
mod line_paths;
mod missing;
mod object_changes;
mod origins;
mod output_dir;
mod output_files;
mod output_names;
mod output_path;
mod patches;
mod pattern;
mod pieces;
mod plan;
mod plan_digest;
mod releases;
#[cfg(feature = "remote")]
mod remote;
mod report;
#[cfg(feature = "arrow-rows")]
mod row_names;
#[cfg(feature = "arrow-rows")]
mod rows;
mod run;
pub mod schema;
pub mod scratch;
mod secrets;
mod selector;
mod sets;
mod shards;
mod shared_values;
pub(crate) mod sinks;
mod specialised;
mod splitter;
mod stamp;
mod stamper;
pub mod state;
mod stream_file;
mod streamed;
mod templates;
mod unread;
pub mod values;
mod view;
mod volatile;
pub mod why;
pub mod workers;

pub use change_groups::{ChangeGroup, ChangeGroups, FoldedChange, ScalarChange};
pub use charts::{ChartSet, ChartStamper, DocumentCheck, missing_in_chart, show_chart_writers};
pub use cluster::Cluster;
#[doc(hidden)]
pub use diff::unified_diff;
pub use finish::finish_shards;
pub use fleet::{Fleet, FleetFile, FleetOptions, FleetReader, FleetStream, NameFrom};
pub use hidden_changes::hidden as without_secrets;
pub use input::{CsvTypes, Format};
pub use job::{Checked, FilePreview, Job, Options, Order, Renderer, RunMode, Stamp, Watch};
pub use kube::KubeSchemas;
pub use last_run::LastRun;
pub use layer_files::{FileUse, LayerGroups, LayerList, LayerPath, ValuesFile};
pub use layers::{Layers, Overlay};
pub use layout::{DEFAULT_LAYOUT, Layout, RELEASES_LAYOUT};
pub use missing::{MissingNames, read_elsewhere};
pub use object_changes::{ObjectName, Op, Operation};
pub use origins::{Origin, Origins, leaves};
pub use output_dir::OutputDir;
pub use output_files::{Change, OutputReader, OutputWriter};
pub use output_names::TemplatePaths;
#[doc(hidden)]
pub use output_names::{document_name, output_name, outputs};
#[doc(hidden)]
pub use output_path::check_path;
pub use patches::{
    ObjectPatch, Patch, PatchContent, PatchForm, PatchTarget, Patches, WrittenObject, patch_without_target,
};
pub use pattern::Pattern;
#[doc(hidden)]
pub use pieces::Piece;
pub use plan::{Output, Placed, Plan};
pub use plan_digest::PlanDigest;
pub use releases::{Condition, RELEASES, Release, ReleaseSet, ReleaseValues, ReleaseView};
#[cfg(feature = "remote")]
pub use remote::{
    Locking, PackFormat, PackOptions, PackTarget, PackedOutput, RemoteTarget, check_packs, find_in_packs, finish_packs,
    finish_shards_in_store, packs_above, preview_of_store, stamp_packs, stamp_stream_to_store, stamp_to_store,
    stream_to_store,
};
pub use report::{Failure, Report, join_places};
#[cfg(feature = "arrow-rows")]
pub use row_names::row_names;
#[cfg(feature = "arrow-rows")]
pub use rows::{RowOutput, RowStamper};
pub use run::{Run, RunTarget};
pub use selector::{Selection, Selector};
pub use sets::{RunOutputs, RunSet, unfit_format};
pub use shards::{PlanShard, Shard};
pub use specialised::{General, Size, Specialisation, Specialise, TemplatePlan, Variants};
pub use stamp::{preview, stamp, stream};
pub use stamper::Stamper;
pub use state::{Maker, Owner, PROJECT_FILE, ReadFiles, ReadLog, RunOptions, STATE, State, Withheld, short_digest};
pub use stream_file::{StreamFile, write_file};
pub use streamed::{stamp_batches, stream_batches};
pub use templates::{Templates, engine};
pub use unread::ReadValues;
pub use view::{Merge, View};
pub use volatile::Volatile;

pub use dropforge_engine::{
    Entry, Skipped, TemplateFile, TemplateSet, dialect_of, discover, discover_with, language_extensions,
    unknown_language,
};

/// Locks a mutex. Ignores poisoning, because the guarded values are valid after each statement.
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
