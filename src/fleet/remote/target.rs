//! Places in object stores, and packs, as targets of a run.

use std::io::{self, BufWriter, Seek, Write};
use std::path::Path;

use super::own::failed;
use super::packs::{PackOptions, PackTarget, check_packs, finish_packs, stamp_packs};
use super::prefix::{Locking, Prefix};
use crate::finish::finish_shards_of;
use crate::fleet::FleetStream;
use crate::job::{FilePreview, Job, RunMode, Stamp, unfit};
use crate::output_files::Change;
use crate::report::Report;
use crate::selector::Selector;
use crate::stamp::{preview_of, stamp_to, stream};
use crate::stream_file::{compare, kept_old, of_one_file};
use crate::streamed::stamp_batches_to;
use dropforge_base::diagnostics::Result;
use dropforge_remote::{Condition, Store, UploadOptions, fetch_file, upload_file};

/// Maximum length of an object that is compared with a stream.
const MAX: u64 = 1 << 30;

/// A place in an object store, or packs of many outputs in any place.
#[derive(Debug)]
pub enum RemoteTarget<'t> {
    /// A prefix with an object for each output.
    Objects(Store, Locking),
    /// One object for the whole fleet: its store, key and URL.
    Object(Store, String, String),
    /// A directory with packs.
    Packs(&'t Path, PackOptions),
    /// A prefix with packs.
    StorePacks(Store, PackOptions),
}

impl RemoteTarget<'_> {
    /// Stamps, previews or finishes a run.
    pub(crate) fn run(
        self,
        renderer: &dyn Stamp,
        job: &Job<'_>,
        selector: &Selector,
        mode: RunMode<'_>,
    ) -> Result<Report> {
        match (self, mode) {
            (Self::Objects(store, locking), RunMode::Write) => stamp_to_store(renderer, job, &store, locking),
            (Self::Objects(store, _), RunMode::Preview(each)) => preview_of_store(renderer, job, &store, each),
            (Self::Objects(store, locking), RunMode::Batches(mut fleet)) => {
                stamp_stream_to_store(renderer, (job, selector), &mut fleet, &store, locking)
            }
            (Self::Objects(store, locking), RunMode::Finish { plan, count }) => {
                finish_shards_in_store(job, plan, count, &store, locking)
            }
            (Self::Object(store, key, url), RunMode::Write) => match stream_to_store(renderer, job, &store, &key)? {
                (report, Some(change)) => Ok(of_one_file(report, change)),
                (report, None) => Ok(kept_old(&url, report)),
            },
            (Self::Object(store, key, url), RunMode::Preview(each)) => {
                let old = store.get(&key, MAX)?.map(|object| object.bytes.to_vec());
                compare(&url, old, each, (renderer, job))
            }
            (Self::Object(..), _) => Err(unfit()),
            (Self::Packs(path, options), mode) => packs(renderer, job, (&PackTarget::Directory(path), &options), mode),
            (Self::StorePacks(store, options), mode) => {
                packs(renderer, job, (&PackTarget::Store(&store), &options), mode)
            }
        }
    }
}

fn packs(
    renderer: &dyn Stamp,
    job: &Job<'_>,
    (place, options): (&PackTarget<'_>, &PackOptions),
    mode: RunMode<'_>,
) -> Result<Report> {
    match mode {
        RunMode::Write => stamp_packs(renderer, job, place, options),
        RunMode::Preview(each) => check_packs(renderer, job, place, options, each),
        RunMode::Finish { plan, count } => finish_packs(job, plan, count, place, options),
        RunMode::Batches(_) => Err(unfit()),
    }
}

/// Stamps the fleet into the prefix of a store: an object for each output. Works like [`stamp`](crate::stamp()), with
/// concurrent puts. An object with the ETag and the digest of the state is not put again.
///
/// A run that loses its lock stops putting. If a put fails in all attempts, its cluster fails.
///
/// ```
/// # let temp = tempfile::tempdir()?;
/// # let templates = temp.path().join("templates");
/// # std::fs::create_dir(&templates)?;
/// # std::fs::write(templates.join("app.yaml.tera"), "name: {{ name }}\n")?;
/// # use dropforge::bulk::{self, *};
/// # use dropforge::Engine;
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

/// Writes all outputs to one object as YAML documents, in fleet order, like [`stream`]. They are collected in a
/// temporary file, and put whole, unless the object has this content. Returns `None` as change, and keeps the old object,
/// if the run is incomplete.
///
/// ```
/// # let temp = tempfile::tempdir()?;
/// # let templates = temp.path().join("templates");
/// # std::fs::create_dir(&templates)?;
/// # std::fs::write(templates.join("app.yaml.tera"), "name: {{ name }}\n")?;
/// # use dropforge::bulk::{self, *};
/// # use dropforge::Engine;
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
/// let (_, change) = bulk::stream_to_store(&stamper, &job, &store, "all.yaml")?;
/// assert_eq!(change, Some(Change::Create));
/// assert!(store.get("all.yaml", 1_000)?.expect("an object").bytes.starts_with(b"---\n# Source: eu-1/app.yaml\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Errors of [`stream`], of the temporary file and of the store.
pub fn stream_to_store(stamp: &dyn Stamp, job: &Job<'_>, store: &Store, key: &str) -> Result<(Report, Option<Change>)> {
    let mut to = BufWriter::with_capacity(1 << 17, tempfile::tempfile().map_err(failed)?);
    let report = stream(stamp, job, &mut to)?;
    if !report.is_complete() {
        return Ok((report, None));
    }
    let file = to.into_inner().map_err(|error| failed(error.into_error()))?;
    let size = file.metadata().map_err(failed)?.len();
    let change = match store.head(key)? {
        Some(object) if object.size == size && has_content(store, key, &file)? => Change::Unchanged,
        Some(_) => Change::Update,
        None => Change::Create,
    };
    if change != Change::Unchanged {
        upload_file(store, key, &file, Condition::Always, &UploadOptions::default())?;
    }
    Ok((report, Some(change)))
}

/// Returns `true` if the object has the content of the file.
fn has_content(store: &Store, key: &str, mut file: &std::fs::File) -> Result<bool> {
    file.rewind().map_err(failed)?;
    let (mut new, mut old) = (blake3::Hasher::new(), blake3::Hasher::new());
    new.update_reader(file).map_err(failed)?;
    fetch_file(store, key, u64::MAX, &mut old as &mut dyn Write)?;
    Ok(new.finalize() == old.finalize())
}
