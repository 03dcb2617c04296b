//! Runs that write to the prefix of a store.

use std::io;

use super::locking::Locking;
use super::prefix::Prefix;
use crate::finish::finish_shards_of;
use crate::fleet::FleetStream;
use crate::job::{FilePreview, Job, Stamp};
use crate::report::Report;
use crate::selector::Selector;
use crate::stamp::{preview_of, stamp_to};
use crate::streamed::stamp_batches_to;
use dropforge_base::diagnostics::Result;
use dropforge_remote::Store;

/// Stamps the fleet into the prefix of a store: an object for each output. Works like [`stamp`](crate::stamp()), with
/// concurrent puts. An object with the ETag and the hash of the manifest is not put again.
///
/// A run that loses its lock stops putting. If a put fails in all attempts, its cluster fails.
///
/// ```
/// # let temp = tempfile::tempdir()?;
/// # let templates = temp.path().join("templates");
/// # std::fs::create_dir(&templates)?;
/// # std::fs::write(templates.join("app.yaml.tera"), "name: {{ name }}\n")?;
/// # use dropforge::bulk::{self, *};
/// # use dropforge::engine::Engine;
/// # use dropforge::text::Source;
/// use dropforge::remote::Store;
/// # let set = discover(&[templates], None, &|name| dialect_of(name).is_some())?;
/// # let templates = Templates::compile(&set, None, Engine::builder())?;
/// # let names = outputs(&set.files, &mut |name| templates.references(name))?;
/// # let fleet = Source::new("fleet.csv", "name\neu-1\nus-1\n");
/// # let fleet = Fleet::read(&fleet, Format::Csv, &FleetOptions::default())?;
/// # let layers = Layers::default();
/// # let outputs = names.into_iter().map(|name| Output::new(name, &language_extensions())).collect();
/// # let plan = Plan::new(&fleet, &layers, &Selector::default(), outputs, Layout::parse(DEFAULT_LAYOUT)?)
/// #     .map_err(Failure::diagnostics)?;
/// # let stamper = templates.stamper(plan.outputs().iter().map(|output| &*output.template), &layers)?;
/// # let options = Options::default();
/// # let job = Job { fleet: &fleet, layers: &layers, plan: &plan, options: &options, watch: Watch::none() };
/// // A stamper and a job, as in the example of the module.
/// let store = Store::in_memory();
/// let report = bulk::stamp_to_store(&stamper, &job, &store, Locking::Take)?;
/// assert_eq!((report.created, report.failed), (2, 0));
/// assert_eq!(store.get("us-1/app.yaml", 100)?.expect("an object").bytes, "name: us-1\n");
/// let report = bulk::stamp_to_store(&stamper, &job, &store, Locking::Take)?;
/// assert_eq!(report.unchanged, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// `store.locked`, `store.lock_lost`, `store.no_conditions`, `plan.mass_delete`, `plan.foreign_file`,
/// `file.bad_manifest`; errors of the store that all puts have. Failures of single clusters are in the report.
pub fn stamp_to_store(stamp: &dyn Stamp, job: &Job<'_>, store: &Store, locking: Locking) -> Result<Report> {
    let prefix = match &job.options.shard {
        None => Prefix::lock(store, locking)?,
        Some(shard) => Prefix::lock_shard(store, locking, shard, job.watch.stop)?,
    };
    stamp_to(stamp, job, &prefix)
}

/// Ends a run of `count` shards below the prefix of a store: works like [`finish_shards`](crate::finish_shards).
///
/// # Errors
/// Same as [`finish_shards`](crate::finish_shards); `store.locked`, also if a shard still runs; errors of the store.
pub fn finish_shards_in_store(
    job: &Job<'_>,
    plan: &str,
    count: u32,
    store: &Store,
    locking: Locking,
) -> Result<Report> {
    finish_shards_of(job, plan, count, &Prefix::lock(store, locking)?)
}

/// Stamps the clusters of `fleet` into the prefix of a store: works like [`stamp_batches`](crate::stamp_batches).
///
/// # Errors
/// Same as [`stamp_batches`](crate::stamp_batches) and [`stamp_to_store`].
pub fn stamp_stream_to_store(
    stamp: &dyn Stamp,
    (job, selector): (&Job<'_>, &Selector),
    fleet: &mut FleetStream<'_>,
    store: &Store,
    locking: Locking,
) -> Result<Report> {
    stamp_batches_to(stamp, job, selector, fleet, &Prefix::lock(store, locking)?)
}

/// Renders everything and calls `on_preview`, in fleet order, with each change that a run would make below the prefix of
/// a store. Takes no lock, and reads only objects that would change.
///
/// # Errors
/// Same as [`preview`](crate::preview); errors of the store.
pub fn preview_of_store(
    stamp: &dyn Stamp,
    job: &Job<'_>,
    store: &Store,
    on_preview: &mut (dyn FnMut(&FilePreview<'_>) -> io::Result<()> + Send),
) -> Result<Report> {
    preview_of(stamp, job, Some(&Prefix::unlocked(store)?), on_preview)
}
