//! Making the parts of shards into a manifest.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Mutex;

use super::{PARTS, PlanShard, Shard};
use crate::bulk::destination::{Destination, Files};
use crate::bulk::job::Job;
use crate::bulk::key_set::{KeySet, SortedKeys};
use crate::bulk::manifest::{Entry, Manifest, Row};
use crate::bulk::output_dir::OutputDir;
use crate::bulk::report::Report;
use crate::bulk::run::finish;
use crate::diagnostics::{Code, Diagnostic, Result, counted, listed};

/// Maximum number of shards or outputs to name.
const NAMED: usize = 5;

/// Ends a run of `count` shards in the directory `out`: makes their parts into the manifest, prunes, and removes all
/// parts, also those of other plans. `job` is the run without shards; `plan` is the digest of its inputs.
///
/// # Errors
/// `plan.missing_part`; `plan.duplicate_output` if two shards made the same file; `file.locked`, `file.bad_manifest`,
/// and errors of opening the directory. Errors of pruning are in the report.
pub fn finish_shards(job: &Job<'_>, plan: &str, count: u32, out: &Path) -> Result<Report> {
    let dir = OutputDir::create(out)?;
    dir.lock(true)?;
    finish_shards_of(job, plan, count, &dir)
}

/// Works like [`finish_shards`], for any destination. It must be locked.
///
/// # Errors
/// Same as [`finish_shards`]; errors of the destination.
pub(crate) fn finish_shards_of<D: Destination>(job: &Job<'_>, plan: &str, count: u32, to: &D) -> Result<Report> {
    let manifest = Manifest::of(Some(to))?;
    let parts = parts(plan, count, to)?;
    let files = files(job, &parts)?;
    let mut report = Report { clusters: job.plan.clusters(), unchanged: files.0, ..Report::default() };
    match finish(job, to, (&manifest, None), Mutex::new(files.1), &mut report) {
        Ok(()) => remove_parts(to)?,
        Err(error) => report.errors.push(error),
    }
    Ok(report)
}

/// Opens the parts of a plan.
fn parts<D: Destination>(plan: &str, count: u32, from: &D) -> Result<Vec<Manifest>> {
    let (mut parts, mut missing) = (Vec::new(), Vec::new());
    for shard in (0..count).filter_map(|index| Shard::new(index, count)) {
        let part = PlanShard { plan: plan.to_owned(), shard }.part();
        match from.open_own(&part)? {
            Some(file) => parts.push(Manifest::part(part, file)),
            None => missing.push(shard.to_string()),
        }
    }
    if missing.is_empty() { Ok(parts) } else { Err(missing_parts(&missing, count)) }
}

/// Returns the error of shards that are not done.
pub(crate) fn missing_parts(missing: &[String], count: u32) -> Box<Diagnostic> {
    let message = match missing.len() == count as usize {
        true => format!("none of {} has stamped this plan", counted(missing.len(), "shard")),
        false => format!("{} of {count} shards did not finish this plan", missing.len()),
    };
    let help = "run these shards again, then finish; a plan is the same templates, values, fleet, options and version";
    let note = format!("shards: {}", listed(missing, NAMED));
    Diagnostic::new(Code::MissingPart, message).with_note(note).with_help(help)
}

/// Returns the files of all parts, and their number.
fn files(job: &Job<'_>, parts: &[Manifest]) -> Result<(usize, Files)> {
    let outputs = job.plan.outputs().iter().map(|output| job.options.templates.path(&output.template));
    let templates: HashMap<&str, u32> = outputs.zip(0..).collect();
    let (mut files, mut paths, mut count) = (Files::default(), KeySet::default(), 0);
    for part in parts {
        part.each(&mut |entry| {
            let found = entry.maker.and_then(|(cluster, template)| Some((cluster, *templates.get(template)?)));
            let (cluster, template) = found.ok_or_else(|| part.damaged())?;
            count += 1;
            files.made.add(entry.path)?;
            paths.add(entry.path)?;
            let (cluster, path, tag) = (cluster.to_owned(), entry.path.to_owned(), entry.tag.to_owned());
            files.rows.add(Row { cluster, path, template, hash: *entry.hash.as_bytes(), tag })
        })?;
    }
    let paths = paths.sort()?;
    if !paths.are_distinct() {
        claimed_twice(parts, &paths)?;
    }
    Ok((count, files))
}

/// Finds outputs that two shards made.
///
/// # Errors
/// `plan.duplicate_output`.
fn claimed_twice(parts: &[Manifest], paths: &SortedKeys) -> Result<()> {
    let (mut makers, mut twice) = (HashMap::<String, String>::new(), Vec::new());
    let mut find = |entry: Entry<'_>| {
        if !paths.is_repeated(entry.path) {
            return Ok(());
        }
        let (cluster, template) = entry.maker.unwrap_or_default();
        let maker = format!("cluster `{cluster}`, template `{template}`");
        if let Some(first) = makers.insert(entry.path.to_owned(), maker.clone()) {
            twice.push(format!("`{}`: {first}; {maker}", entry.path));
        }
        Ok(())
    };
    parts.iter().try_for_each(|part| part.each(&mut find))?;
    if twice.is_empty() {
        return Ok(());
    }
    let message = format!("clusters of different shards made the same output: {}", counted(twice.len(), "output"));
    let mut error = Diagnostic::new(Code::DuplicateOutput, message)
        .with_help("use a `--layout` with `{cluster}`, and stamp all shards again");
    error.notes.extend(twice.into_iter().take(NAMED));
    Err(error)
}

/// Removes the parts of all plans, and what killed shards left behind.
///
/// # Errors
/// Errors of the destination.
pub(crate) fn remove_parts<D: Destination>(from: &D) -> Result<()> {
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
