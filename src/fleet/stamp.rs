//! Stamping to disk, previewing changes, and writing one stream.
//!
//! Results do not depend on the number of threads. Files are independent, and streams, previews and reports are in
//! fleet order.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use super::cluster::Cluster;
use super::deletions::{Deletions, Leftovers};
use super::destination::{Destination, FileReader, Files};
use super::fleet::MAX_REPORTED;
use super::foreign;
use super::hidden_changes::hidden_deletion;
use super::job::{FilePreview, Job, OnPreview, Stamp};
use super::key_set::{KeySet, SortedKeys};
use super::known_files::{KnownFiles, RUN_RECORD};
use super::output_dir::OutputDir;
use super::output_path::check_path;
use super::report::Report;
use super::scratch::Scratch;
use super::shards::{PARTS, PlanShard};
use super::sinks::{PreviewSink, StreamSink};
use super::state::OwnFiles;
use super::state::{self, Entry, MadeBy, NewState, Row, Rows, State};
use super::workers::{Turns, cannot_write, drive};
use dropforge_base::diagnostics::{Code, Diagnostic, Result, counted};

/// Stamps the fleet into the directory `out`.
///
/// ```
/// # let temp = tempfile::tempdir().unwrap();
/// # let out = temp.path().join("out");
/// use dropforge::bulk::{self, Cluster, Fleet, FleetOptions, Format, Job, Layers, Layout, Options, Output, Overlay, Plan};
/// use dropforge::bulk::{Renderer, Selector, Stamp, Watch};
/// use dropforge::diagnostics::Result;
/// use dropforge::text::Source;
///
/// struct Hello;
/// impl Stamp for Hello {
///     fn work(&self, body: &mut dyn FnMut(&mut dyn Renderer)) {
///         body(&mut Hello);
///     }
/// }
/// impl Renderer for Hello {
///     fn render(
///         &mut self,
///         _: Option<usize>,
///         _: &Cluster,
///         own: &Overlay<'_>,
///         text: &mut String,
///         results: &mut Vec<Result<usize>>,
///     ) -> Result<()> {
///         let own = own.to_map()?;
///         text.push_str("hello ");
///         text.push_str(own.get("name").and_then(|name| name.as_str()).unwrap_or("you"));
///         results.push(Ok(text.len()));
///         Ok(())
///     }
/// }
///
/// let source = Source::new("fleet.ndjson", "{\"name\": \"eu-1\"}\n{\"name\": \"us-1\"}\n");
/// let fleet = Fleet::read(&source, Format::Ndjson, &FleetOptions::default()).unwrap();
/// let layers = Layers::default();
/// let outputs = vec![Output { template: "hello.tera".into(), name: "hello.yaml".into(), executable: false, bytes: None, release: None }];
/// let layout = Layout::parse("{cluster}/{template}").unwrap();
/// let plan = Plan::new(&fleet, &layers, &Selector::default(), outputs, layout).unwrap();
/// let options = Options::default();
/// let job = Job { fleet: &fleet, layers: &layers, plan: &plan, options: &options, watch: Watch::none() };
/// let report = bulk::stamp(&Hello, &job, &out).unwrap();
/// assert_eq!((report.created, report.failed), (2, 0));
/// assert_eq!(std::fs::read_to_string(out.join("us-1/hello.yaml")).unwrap(), "hello us-1");
/// ```
///
/// # Errors
/// `file.locked`, `plan.mass_delete`, `plan.foreign_file`, `file.bad_manifest`, and errors of opening the directory.
/// Failures of single clusters are in the report.
pub fn stamp(stamp: &dyn Stamp, job: &Job<'_>, out: &Path) -> Result<Report> {
    let dir = OutputDir::create(out)?;
    // Shards write different files.
    dir.lock(job.options.shard.is_none())?;
    stamp_to(stamp, job, &dir)
}

/// Works like [`stamp`], for any destination. It must be locked, unless for a shard.
///
/// # Errors
/// Same as [`stamp`]; errors of the destination.
pub(crate) fn stamp_to<D: Destination>(stamp: &dyn Stamp, job: &Job<'_>, to: &D) -> Result<Report> {
    let state = State::of(Some(to))?;
    let mut stale = None;
    let prune = job.options.prune && job.options.shard.is_none();
    if prune && !job.plan.is_of_documents() {
        // Nothing is written if pruning would remove too much.
        stale = Some(Deletions::find(job, &state, vec![Arc::new(planned(job)?)])?.guarded()?);
    }
    let own = job.options.shard.as_ref().map_or_else(|| RUN_RECORD.to_owned(), PlanShard::record);
    let mut known = KnownFiles::read(Some(to), (&state, job.options.run.as_ref()), &own)?;
    let record = foreign::check(stamp, job, to, &mut known)?;
    begin(job, to, (&own, &record))?;
    let files = Mutex::default();
    let (done, mut report) = drive(stamp, job, &|_| {}, &|| to.sink(job, &known, &files))?;
    done.iter().for_each(|counts| report.add(counts));
    match &job.options.shard {
        // Without its part, a shard has files that no state lists.
        Some(shard) => match end_shard(job, to, (shard, &state), files, &mut report) {
            Ok(true) => _ = to.remove_own(&own),
            Ok(false) => {}
            Err(error) => report.errors.push(error),
        },
        None => end(job, to, Before { state: &state, stale, record: Some(&own) }, made(files), &mut report),
    }
    Ok(report)
}

/// Writes the record of the files that the run may write. Removes what a killed run left behind.
pub(super) fn begin<D: Destination>(job: &Job<'_>, to: &D, (own, record): (&str, &Scratch)) -> Result<()> {
    let was_killed = to.open_own(own)?.is_some();
    if let Some(shard) = job.options.shard.as_ref().filter(|_| was_killed) {
        // Temporary files of other shards are in use: the finishing run sweeps.
        to.write_own(&shard.killed(), false, &mut |_| Ok(()))?;
    }
    // The record of the killed run counts until this one is whole.
    to.write_own(own, job.options.fsync, &mut |write| record.each_part(write))?;
    if was_killed && job.options.shard.is_none() { to.sweep() } else { Ok(()) }
}

/// Writes the part of a shard. Returns `false` if the shard is not complete.
fn end_shard<D: Destination>(
    job: &Job<'_>,
    to: &D,
    (shard, state): (&PlanShard, &State),
    files: Mutex<Files>,
    report: &mut Report,
) -> Result<bool> {
    if !report.is_complete() {
        report.warnings.push(format!("shard {} is not done because it is incomplete", shard.shard));
        return Ok(false);
    }
    let Files { rows, .. } = files.into_inner().unwrap_or_else(PoisonError::into_inner);
    let new = NewState { shard: Some(shard), ..new_state(to, job) };
    // The state has the tags of objects that were not put again.
    state::write(state, &|_| Ok(false), (rows, makers(job)), &new).map(|()| true)
}

/// Returns the state of a run.
fn new_state<'a>(to: &'a dyn OwnFiles, job: &Job<'_>) -> NewState<'a> {
    let run = job.options.run_and_files(job.fleet);
    NewState { to, shard: None, fsync: job.options.fsync, incomplete: false, run }
}

/// Returns the makers of all outputs, and last that of the values of clusters.
pub(super) fn makers(job: &Job<'_>) -> Vec<MadeBy> {
    let templates = &job.options.templates;
    let of_output = |name: &String| MadeBy {
        release: templates.release(name).to_owned(),
        template: templates.path(name).to_owned(),
    };
    let outputs = job.plan.outputs().iter().map(|output| of_output(&output.template));
    outputs.chain([MadeBy::default()]).collect()
}

/// Returns the row with the digest of the values that a cluster has of its own, unless nobody will ask for it.
pub(super) fn values_row(job: &Job<'_>, cluster: &Cluster) -> Option<Row> {
    let place = u32::try_from(job.plan.outputs().len()).ok().filter(|_| job.options.run.is_some())?;
    Some(Row::of_values(cluster.name(), place, job.fleet.digest(cluster)))
}

/// Returns all paths that clusters may make, including those of clusters that were not selected.
///
/// # Errors
/// Errors of reading clusters and of temporary files.
fn planned(job: &Job<'_>) -> Result<SortedKeys> {
    let mut planned = KeySet::default();
    job.plan.each_path(job.fleet, job.layers, &mut |path| planned.add(path))?;
    planned.sort()
}

/// Returns all paths of clusters that were not selected.
///
/// # Errors
/// Same as [`planned`].
fn unselected(job: &Job<'_>) -> Result<SortedKeys> {
    let mut paths = KeySet::default();
    job.plan.each_unselected_path(job.fleet, job.layers, &mut |path| paths.add(path))?;
    paths.sort()
}

/// What a run has found before it writes.
pub(super) struct Before<'b> {
    pub(super) state: &'b State,
    /// The files to prune as far as they are known before rendering.
    pub(super) stale: Option<Deletions<'b>>,
    /// The record of the run, if it has one.
    pub(super) record: Option<&'b str>,
}

/// The rows of the files of a run, and the paths that the clusters make.
pub(super) type WrittenRows = (Rows, Arc<SortedKeys>);

/// Sorts what the workers have made.
///
/// # Errors
/// Errors of temporary files.
pub(super) fn made(files: Mutex<Files>) -> Result<WrittenRows> {
    let Files { rows, made } = files.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok((rows, Arc::new(made.sort()?)))
}

/// Ends a run: prunes, writes the state, and removes what is not needed any more: the parts of shards, and the record.
/// Errors are in the report.
pub(super) fn end<D: Destination>(
    job: &Job<'_>,
    to: &D,
    before: Before<'_>,
    made: Result<WrittenRows>,
    report: &mut Report,
) {
    let record = before.record;
    match made.and_then(|made| finish(job, to, before, made, report)).and_then(|()| remove_parts(to)) {
        // If the record stays, the next run sweeps in vain.
        Ok(()) => _ = record.map(|record| to.remove_own(record)),
        // The record stays, because the state may not list the new files.
        Err(error) => report.errors.push(error),
    }
}

/// Removes the parts of all plans, and what killed shards left behind.
///
/// # Errors
/// Errors of the destination.
fn remove_parts<D: Destination>(from: &D) -> Result<()> {
    let mut own = Vec::new();
    from.each_own(PARTS, &mut |path| {
        own.push(path.to_owned());
        Ok(())
    })?;
    if own.iter().any(|path| path.ends_with(".killed")) {
        from.sweep()?;
    }
    own.iter().try_for_each(|path| from.remove_own(path))
}

/// Prunes, and writes the state.
fn finish<D: Destination>(
    job: &Job<'_>,
    to: &D,
    Before { state, mut stale, .. }: Before<'_>,
    (rows, written): WrittenRows,
    report: &mut Report,
) -> Result<()> {
    let is_cut = !report.errors.is_empty();
    let is_complete = report.is_complete() && !is_cut && written.are_distinct();
    if is_complete && job.options.prune {
        // Outputs that make no file are known only now.
        let made = unselected(job).map(|others| vec![written.clone(), Arc::new(others)]);
        let found = made.and_then(|made| Deletions::find(job, state, made)?.guarded());
        stale = found.map_err(|error| report.errors.push(error)).ok();
    }
    if let Some(stale) = &stale {
        report.notes.extend(stale.notes());
    }
    let stale = stale.filter(|_| is_complete);
    if let Some(stale) = &stale {
        let (removed, changed) = stale.remove(state, to)?;
        report.deleted = removed;
        if changed > 0 {
            let files = counted(changed, "stale file");
            report.warnings.push(format!("kept {files} with content that dropforge did not write"));
        }
    } else if job.options.prune && !is_complete {
        report.warnings.push("pruned nothing because the run is incomplete".into());
    }
    let is_stale = |entry: Entry<'_>| stale.as_ref().map_or(Ok(false), |stale| stale.contains(entry));
    let left = is_complete.then(|| Leftovers::of(job, state, to.reader())).flatten();
    let has_others = Cell::new(false);
    let kept = |entry: Entry<'_>| {
        let is_kept = !written.contains(entry.path)? && !is_stale(entry)?;
        has_others.set(has_others.get() || is_kept);
        left.iter().filter(|_| is_kept).try_for_each(|left| left.see(entry)).map(|()| is_kept)
    };
    let new = NewState { incomplete: is_cut, ..new_state(to, job) };
    state::write(state, &kept, (rows, makers(job)), &new)?;
    report.has_others = has_others.get();
    report.notes.extend(left.and_then(|left| left.note()));
    if !written.are_distinct() {
        report.errors.extend(made_twice("batches", &written, &[State::of(Some(to))?])?);
    }
    Ok(())
}

/// Finds outputs that clusters of different `groups` made: no plan has all of them. `written` has the paths of all
/// outputs, and `lists` have their makers.
///
/// # Errors
/// Errors of reading the lists.
pub(super) fn made_twice(groups: &str, written: &SortedKeys, lists: &[State]) -> Result<Option<Box<Diagnostic>>> {
    let mut makers = BTreeMap::<String, Vec<String>>::new();
    let mut find = |entry: Entry<'_>| {
        let is_wanted = makers.contains_key(entry.path) || makers.len() < MAX_REPORTED;
        if is_wanted && written.is_repeated(entry.path) {
            let (cluster, template) = entry.maker.unwrap_or_default();
            let maker = format!("cluster `{cluster}`, template `{template}`");
            makers.entry(entry.path.to_owned()).or_default().push(maker);
        }
        Ok(())
    };
    lists.iter().try_for_each(|list| list.each(&mut find))?;
    // Different paths may have one hash.
    makers.retain(|_, makers| makers.len() > 1);
    if makers.is_empty() {
        return Ok(None);
    }
    let message = format!("clusters of different {groups} made the same output");
    let error =
        Diagnostic::new(Code::DuplicateOutput, message).with_help("use a `--layout` with `{cluster}`, and stamp again");
    Ok(Some(
        makers.iter().fold(error, |error, (path, makers)| error.with_note(format!("`{path}`: {}", makers.join("; ")))),
    ))
}

/// Renders everything and calls `on_preview`, in fleet order, with each change that a run would make in the directory
/// `out`.
///
/// # Errors
/// Same as [`stamp`]; also errors of `on_preview`, as `file.closed_pipe` or `file.write_failed`.
pub fn preview(
    stamp: &dyn Stamp,
    job: &Job<'_>,
    out: &Path,
    on_preview: &mut (dyn FnMut(&FilePreview<'_>) -> io::Result<()> + Send),
) -> Result<Report> {
    let dir = OutputDir::open(out)?;
    if let Some(dir) = &dir {
        dir.lock(false)?;
    }
    preview_of(stamp, job, dir.as_ref(), on_preview)
}

/// Works like [`preview`], for any destination.
///
/// # Errors
/// Same as [`preview`]; errors of the destination.
pub(crate) fn preview_of<D: Destination>(
    stamp: &dyn Stamp,
    job: &Job<'_>,
    from: Option<&D>,
    on_preview: OnPreview<'_>,
) -> Result<Report> {
    let state = State::of(from.map(|from| from as &dyn OwnFiles))?;
    let run = job.options.run.as_ref();
    let known = KnownFiles::read(from.map(|from| from as &dyn OwnFiles), (&state, run), "")?;
    let turns = Turns::new(on_preview);
    let files = Mutex::default();
    let sink = || PreviewSink::new((stamp, job), from.map(|from| from.reader()), &known, &turns, &files);
    let (done, mut report) = drive(stamp, job, &|at| turns.close(at), &sink)?;
    let mut foreign_files = 0;
    for (counts, foreign) in done {
        report.add(&counts);
        foreign_files += foreign;
    }
    if foreign_files > 0 && !job.options.force {
        report.warnings.push(foreign::warning(foreign_files));
    }
    report.notes.extend(state.notes().map(str::to_owned));
    // The documents of clusters that failed are unknown.
    if !job.plan.is_of_documents() || report.is_complete() {
        preview_unmade(stamp, job, (&state, from), files, &mut report, &turns)?;
    }
    Ok(report)
}

/// Passes on the files to delete, and notes those that only pruning would delete.
fn preview_unmade<D: Destination>(
    stamp: &dyn Stamp,
    job: &Job<'_>,
    (state, from): (&State, Option<&D>),
    files: Mutex<Files>,
    report: &mut Report,
    turns: &Turns<OnPreview<'_>>,
) -> Result<()> {
    let left = report.is_complete().then(|| Leftovers::of(job, state, from.map(|from| from.reader()))).flatten();
    let are_listed = job.options.prune || job.options.deletions;
    if !are_listed && left.is_none() {
        return Ok(());
    }
    let Files { made, .. } = files.into_inner().unwrap_or_else(PoisonError::into_inner);
    let made = match report.is_complete() {
        true => vec![Arc::new(made.sort()?), Arc::new(unselected(job)?)],
        false => vec![Arc::new(planned(job)?)],
    };
    let found = Deletions::find(job, state, made)?;
    if are_listed {
        report.notes.extend(found.notes());
        let has_secrets = job.has_secrets(stamp);
        preview_deletions(&found, (state, has_secrets), from, report, turns)?;
    }
    if let Some(left) = left {
        state.each(&mut |entry| if found.contains(entry)? { left.see(entry) } else { Ok(()) })?;
        report.notes.extend(left.note());
    }
    Ok(())
}

/// Passes on the files that exist and that nothing makes any more.
fn preview_deletions<D: Destination>(
    found: &Deletions<'_>,
    (state, has_secrets): (&State, bool),
    from: Option<&D>,
    report: &mut Report,
    turns: &Turns<OnPreview<'_>>,
) -> Result<()> {
    let mut reader = from.map(|from| from.reader());
    state.each(&mut |entry| {
        // Someone may have edited the state.
        if !found.contains(entry)? || check_path(entry.path).is_err() {
            return Ok(());
        }
        let Ok(Some((old, _))) = reader.read(entry.path) else { return Ok(()) };
        report.deleted += 1;
        let (cluster, template) = entry.maker.unwrap_or_default();
        let old = String::from_utf8_lossy(old);
        let old = &if has_secrets { hidden_deletion(&old).into() } else { old };
        let deletion = FilePreview { path: entry.path, cluster, template, change: None, old, new: "" };
        (turns.lock().out)(&deletion).map_err(cannot_write)
    })
}

/// Writes all outputs to one stream as YAML documents, in fleet order.
///
/// # Errors
/// `file.closed_pipe`, `file.write_failed`.
pub fn stream(stamp: &dyn Stamp, job: &Job<'_>, out: &mut (dyn Write + Send)) -> Result<Report> {
    let turns = Turns::new(out);
    let (done, mut report) = drive(stamp, job, &|at| turns.close(at), &|| StreamSink::new(job, &turns))?;
    done.iter().for_each(|counts| report.add(counts));
    turns.lock().out.flush().map_err(cannot_write)?;
    Ok(report)
}

#[cfg(test)]
#[path = "stamp_tests.rs"]
mod tests;
