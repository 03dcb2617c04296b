//! Packs: the outputs of a run in a few files, in fleet order, with a list of them.
//!
//! Workers render blocks of clusters and add them in turn, so the bytes do not depend on the number of threads. A pack is
//! written to a temporary file, and put while the next one is written. A pack whose hash is in the list of the last run,
//! and that nobody has changed since, is not put again.

mod delivery;
mod find;
mod list;
#[cfg(feature = "arrow")]
mod parquet;
mod part;
mod place;
mod shards;
mod sink;

use std::io;
use std::sync::mpsc::sync_channel;
use std::thread;

use self::delivery::Delivery;
pub use self::find::{PackedOutput, find_in_packs, packs_above};
use self::list::{PackList, run_of};
use self::part::Finished;
pub use self::part::PackFormat;
use self::place::{DirectoryPlace, PackPlace, StorePlace};
pub use self::place::{PackOptions, PackTarget};
pub use self::shards::finish_packs;
use self::shards::folder;
use self::sink::{PackSink, Writer};
use crate::job::{FilePreview, Job, Stamp};
use crate::output_files::Change;
use crate::report::Report;
use crate::state::State;
use crate::workers::{Turns, cannot_write, drive};
use dropforge_base::diagnostics::{Code, Diagnostic, Result, counted};

/// Stamps the fleet into packs. The report counts packs, without indexes.
///
/// A shard writes packs below a folder of its own, `shard-I-of-N/`.
///
/// Clusters that fail are in no pack. Packs of earlier runs that this run did not write are only removed by
/// [`Options::prune`](crate::Options::prune), after a run without failures.
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
/// use dropforge::remote::pack::PackIndex;
/// let (store, options) = (Store::in_memory(), PackOptions::new(PackFormat::TarZst));
/// let report = bulk::stamp_packs(&stamper, &job, &PackTarget::Store(&store), &options)?;
/// assert_eq!((report.created, report.failed), (1, 0));
/// let read = |key: &str| store.get(key, 1 << 20).map(|object| object.expect("an object").bytes);
/// let index = PackIndex::parse(&read("pack-00000.index.json")?).expect("an index");
/// let entry = index.find("us-1/app.yaml").expect("an entry");
/// assert_eq!(index.read(entry, &read("pack-00000.tar.zst")?)?, b"name: us-1\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// `file.locked`, `store.locked`, `plan.mass_delete`, `plan.foreign_file` for packs that dropforge did not write,
/// `file.bad_manifest`; errors of writing a pack. Failures of single clusters are in the report.
pub fn stamp_packs(stamp: &dyn Stamp, job: &Job<'_>, place: &PackTarget<'_>, options: &PackOptions) -> Result<Report> {
    let fsync = job.options.fsync;
    match (place, &job.options.shard) {
        (PackTarget::Directory(path), None) => write(stamp, job, &DirectoryPlace::create(path, fsync)?, options),
        (PackTarget::Store(store), None) => write(stamp, job, &StorePlace::lock(store, options.locking)?, options),
        (PackTarget::Directory(path), Some(shard)) => {
            write(stamp, job, &DirectoryPlace::create(&path.join(folder(shard.shard)), fsync)?, options)
        }
        (PackTarget::Store(store), Some(shard)) => {
            let own = store.below(&folder(shard.shard));
            write(stamp, job, &StorePlace::lock_shard((store, &own), options.locking, job.watch.stop)?, options)
        }
    }
}

/// Renders all packs and compares their hashes with those in the list of the last run. Writes nothing. Calls `on_preview`
/// with every pack that would change, without its content.
///
/// # Errors
/// Same as [`stamp_packs`]; also errors of `on_preview`, as `file.closed_pipe` or `file.write_failed`.
pub fn check_packs(
    stamp: &dyn Stamp,
    job: &Job<'_>,
    place: &PackTarget<'_>,
    options: &PackOptions,
    on_preview: &mut dyn FnMut(&FilePreview<'_>) -> io::Result<()>,
) -> Result<Report> {
    match place {
        PackTarget::Directory(path) => match DirectoryPlace::open(path)? {
            Some(place) => compare(stamp, job, &place, options, on_preview),
            None => compare(stamp, job, &place::Nowhere, options, on_preview),
        },
        PackTarget::Store(store) => compare(stamp, job, &StorePlace::unlocked(store), options, on_preview),
    }
}

fn write<P: PackPlace>(stamp: &dyn Stamp, job: &Job<'_>, place: &P, options: &PackOptions) -> Result<Report> {
    let old = PackList::read(place)?;
    let delivery = Delivery::new(place, &old, job.options.force, true);
    let (mut report, delivery) = render(stamp, job, options, delivery)?;
    let stale = delivery.stale();
    let total = delivery.written() + stale.len();
    let mut is_pruned = job.options.prune && job.options.shard.is_none() && report.is_complete();
    if is_pruned && let Err(error) = State::guard(stale.len(), total, job.options.prune_force) {
        report.errors.push(error);
        is_pruned = false;
    }
    let plan = job.options.shard.as_ref().filter(|_| report.is_complete()).map(|shard| shard.plan.clone());
    match delivery.finish(is_whole(job, &report), is_pruned, (plan, run_of(job))) {
        Ok((removed, kept)) => {
            report.deleted = removed;
            let kept = kept.iter().map(|path| format!("kept `{path}` with content that dropforge did not write"));
            report.warnings.extend(kept);
        }
        Err(error) => report.errors.push(error),
    }
    if !stale.is_empty() && !is_pruned && job.options.shard.is_none() {
        report.warnings.push(left(stale.len(), job, &report));
    }
    place.end();
    Ok(report)
}

fn left(count: usize, job: &Job<'_>, report: &Report) -> String {
    let packs = counted(count, "pack");
    match report.is_complete() {
        true if !job.options.prune => format!("{packs} of an earlier run are out of date: `--prune` removes them"),
        true => format!("kept {packs} of an earlier run"),
        false => format!("kept {packs} of an earlier run because the run is incomplete"),
    }
}

/// Returns `true` if the run has reached the end of the fleet, so that the last pack is whole.
fn is_whole(job: &Job<'_>, report: &Report) -> bool {
    !report.interrupted && (report.failed == 0 || !job.options.fail_fast)
}

fn compare<P: PackPlace>(
    stamp: &dyn Stamp,
    job: &Job<'_>,
    place: &P,
    options: &PackOptions,
    on_preview: &mut dyn FnMut(&FilePreview<'_>) -> io::Result<()>,
) -> Result<Report> {
    let old = PackList::read(place)?;
    let delivery = Delivery::new(place, &old, true, false);
    let (mut report, delivery) = render(stamp, job, options, delivery)?;
    let mut changes: Vec<(String, Option<Change>)> =
        delivery.changes().iter().map(|(path, change)| (path.clone(), Some(*change))).collect();
    if job.options.prune && report.is_complete() {
        let stale = delivery.stale();
        report.deleted = stale.len();
        changes.extend(stale.into_iter().map(|path| (path, None)));
    }
    for (path, change) in &changes {
        let preview = FilePreview { path, cluster: "", template: "", change: *change, old: "", new: "" };
        on_preview(&preview).map_err(cannot_write)?;
    }
    Ok(report)
}

/// Packs that wait to be put.
const WAITING: usize = 1;

/// Renders all clusters into packs and delivers them.
fn render<'d, P: PackPlace>(
    stamp: &dyn Stamp,
    job: &Job<'_>,
    options: &PackOptions,
    mut delivery: Delivery<'d, P>,
) -> Result<(Report, Delivery<'d, P>)> {
    let (sender, receiver) = sync_channel::<Finished>(WAITING);
    thread::scope(|scope| {
        let deliverer = scope.spawn(move || {
            let result = receiver.iter().try_for_each(|finished| delivery.take(&finished));
            (result, delivery)
        });
        let turns = Turns::new(Writer::new(options, sender));
        let driven = drive(stamp, job, &|at| turns.close(at), &|| PackSink::new(job, &turns));
        let rendered = driven.and_then(|(counts, mut report)| {
            counts.iter().for_each(|counts| report.add(counts));
            if is_whole(job, &report) {
                turns.lock().out.end()?;
            }
            Ok(report)
        });
        // Without a writer the deliverer ends.
        drop(turns);
        let ended = deliverer.join();
        let (delivered, delivery) = ended.map_err(|_| Diagnostic::new(Code::Internal, "a thread panicked"))?;
        // The writer only knows that nothing is delivered any more.
        delivered?;
        let mut report = rendered?;
        (report.created, report.updated, report.unchanged) = delivery.counts();
        Ok((report, delivery))
    })
}

#[cfg(test)]
mod tests;
