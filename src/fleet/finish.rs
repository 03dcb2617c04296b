//! The end of a run of several shards: their parts become the state.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use super::destination::Destination;
use super::job::Job;
use super::key_set::KeySet;
use super::output_dir::OutputDir;
use super::report::Report;
use super::shards::{PARTS, PlanShard, Shard};
use super::stamp::{Before, WrittenRows, end, made_twice, makers};
use super::state::{Row, Rows, State, damaged};
use dropforge_base::diagnostics::{Code, Diagnostic, Result, counted, listed};

/// Maximum number of shards or outputs to name.
const NAMED: usize = 5;

/// Ends a run of `count` shards in the directory `out`: makes their parts into the state, prunes, and removes all
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
    let state = State::of(Some(to))?;
    let parts = parts(plan, count, to)?;
    let (count, files) = files(job, &parts)?;
    let mut report = Report { clusters: job.plan.clusters(), unchanged: count, ..Report::default() };
    // The record of a run that was killed stays: its files may be in no part.
    let before = Before { state: &state, stale: None, record: None };
    end(job, to, before, Ok(files), &mut report);
    Ok(report)
}

/// Opens the parts of a plan.
fn parts<D: Destination>(plan: &str, count: u32, from: &D) -> Result<Vec<State>> {
    let (mut parts, mut missing) = (Vec::new(), Vec::new());
    for shard in (0..count).filter_map(|index| Shard::new(index, count)) {
        match State::of_part(from, &PlanShard { plan: plan.to_owned(), shard })? {
            Some(part) => parts.push(part),
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

/// Returns the number of files of all parts, and the files.
///
/// # Errors
/// `plan.duplicate_output` if two shards made the same file; errors of reading the parts.
fn files(job: &Job<'_>, parts: &[State]) -> Result<(usize, WrittenRows)> {
    let makers = makers(job);
    let of_run = makers.iter().map(|made_by| (made_by.release.as_str(), made_by.template.as_str())).zip(0..);
    let places: HashMap<(&str, &str), u32> = of_run.collect();
    let (mut rows, mut paths, mut count) = (Rows::default(), KeySet::default(), 0);
    for part in parts {
        part.each_with_values(&mut |entry| {
            let found = entry.maker.and_then(|(cluster, name)| Some((cluster, *places.get(&(entry.release, name))?)));
            let (cluster, place) = found.ok_or_else(|| damaged(PARTS, None))?;
            if !entry.is_of_values() {
                count += 1;
                paths.add(entry.path)?;
            }
            Row::of(entry, cluster, place).try_for_each(|row| rows.add(row))
        })?;
    }
    let paths = paths.sort()?;
    if !paths.are_distinct()
        && let Some(error) = made_twice("shards", &paths, parts)?
    {
        return Err(error);
    }
    Ok((count, (rows, Arc::new(paths))))
}
