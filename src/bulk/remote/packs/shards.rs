//! Packs of shards: each writes its packs below a folder of its own, and a last run checks that all are there.

use std::path::Path;

use super::delivery::remove;
use super::list::{LIST, PackList};
use super::place::{DirectoryPlace, PackPlace, StorePlace};
use super::{PackOptions, Place};
use crate::bulk::job::Job;
use crate::bulk::manifest::Manifest;
use crate::bulk::output_dir::OutputDir;
use crate::bulk::report::Report;
use crate::bulk::shards::{Shard, missing_parts};
use crate::diagnostics::{Result, counted};
use crate::remote::Store;

/// Returns the folder of a shard's packs.
pub(super) fn folder(shard: Shard) -> String {
    format!("shard-{}", shard.to_string().replace('/', "-of-"))
}

/// Ends a run of `count` shards that wrote packs: checks that each is done with the plan of this digest, and removes packs
/// of earlier runs if `job` prunes: those that no shard made, those of another number of shards, and those without
/// shards. `job` is the run without shards. The report counts packs.
///
/// # Errors
/// `plan.missing_part`; `file.locked`, `store.locked`, `file.bad_manifest`; errors of the place. Errors of pruning are in
/// the report.
pub fn finish_packs(job: &Job<'_>, plan: &str, count: u32, place: &Place<'_>, options: &PackOptions) -> Result<Report> {
    match place {
        Place::Directory(path) => {
            let root = DirectoryPlace::create(path, job.options.fsync)?;
            let folders = folders_of_directory(path)?;
            let open = |folder: &str| DirectoryPlace::create(&path.join(folder), job.options.fsync);
            Finish { job, plan, count, folders }.run(&root, &open)
        }
        Place::Store(store) => {
            let root = StorePlace::lock(store, options.locking)?;
            let folders = folders_of_store(store)?;
            let open = |folder: &str| Ok(StorePlace::unlocked(&store.below(folder)));
            Finish { job, plan, count, folders }.run(&root, &open)
        }
    }
}

/// Returns the folders with a list of packs.
fn folders_of_directory(path: &Path) -> Result<Vec<String>> {
    let mut folders = Vec::new();
    if let Some(dir) = OutputDir::open(path)? {
        dir.each_file("", &mut |path, _| {
            folders.extend(folder_of(path));
            Ok(())
        })?;
    }
    Ok(folders)
}

fn folders_of_store(store: &Store) -> Result<Vec<String>> {
    let mut folders = Vec::new();
    for object in store.list("")? {
        folders.extend(folder_of(&object?.key));
    }
    Ok(folders)
}

/// Returns the folder of a shard if `path` is its list.
fn folder_of(path: &str) -> Option<String> {
    let folder = path.strip_suffix(LIST)?.strip_suffix('/')?;
    let (index, count) = folder.strip_prefix("shard-")?.split_once("-of-")?;
    Shard::new(index.parse().ok()?, count.parse().ok()?).map(|_| folder.to_owned())
}

/// The end of a run of shards.
struct Finish<'f, 'j> {
    job: &'f Job<'j>,
    plan: &'f str,
    count: u32,
    /// The folders of shards that are there.
    folders: Vec<String>,
}

impl Finish<'_, '_> {
    fn run<P: PackPlace>(&self, root: &P, open: &dyn Fn(&str) -> Result<P>) -> Result<Report> {
        let (packs, mut stale) = self.check(open)?;
        let options = self.job.options;
        let own: Vec<String> = self.shards().map(folder).collect();
        let others: Vec<&String> = self.folders.iter().filter(|folder| !own.contains(folder)).collect();
        for other in &others {
            let list = list_of(open, other)?;
            stale += list.packs.len() + list.stale.len();
        }
        let root_list = PackList::read(root)?;
        stale += root_list.packs.len() + root_list.stale.len();
        let mut report = Report { clusters: self.job.plan.clusters(), unchanged: packs, ..Report::default() };
        match Manifest::guard(stale, packs + stale, options.prune_force) {
            _ if stale == 0 => {}
            Ok(()) if options.prune => {
                let mut kept = Vec::new();
                for folder in &own {
                    report.deleted += prune(&open(folder)?, false, &mut kept)?;
                }
                for folder in others {
                    report.deleted += prune(&open(folder)?, true, &mut kept)?;
                }
                report.deleted += prune(root, true, &mut kept)?;
                let kept = kept.iter().map(|path| format!("kept `{path}` with content that dropforge did not write"));
                report.warnings.extend(kept);
            }
            Err(error) if options.prune => report.errors.push(error),
            _ => {
                let packs = counted(stale, "pack");
                report.warnings.push(format!("{packs} of an earlier run are out of date: `--prune` removes them"));
            }
        }
        root.end();
        Ok(report)
    }

    fn shards(&self) -> impl Iterator<Item = Shard> {
        let count = self.count;
        (0..count).filter_map(move |index| Shard::new(index, count))
    }

    /// Checks that all shards are done. Returns the numbers of their packs, and of those that are out of date.
    fn check<P: PackPlace>(&self, open: &dyn Fn(&str) -> Result<P>) -> Result<(usize, usize)> {
        let (mut packs, mut stale, mut missing) = (0, 0, Vec::new());
        for shard in self.shards() {
            let folder = folder(shard);
            // Opening a directory makes it.
            let list = match self.folders.contains(&folder) {
                true => list_of(open, &folder)?,
                false => PackList::default(),
            };
            match list.complete && list.plan.as_deref() == Some(self.plan) {
                true => (packs, stale) = (packs + list.packs.len(), stale + list.stale.len()),
                false => missing.push(shard.to_string()),
            }
        }
        if missing.is_empty() { Ok((packs, stale)) } else { Err(missing_parts(&missing, self.count)) }
    }
}

fn list_of<P: PackPlace>(open: &dyn Fn(&str) -> Result<P>, folder: &str) -> Result<PackList> {
    let place = open(folder)?;
    let list = PackList::read(&place);
    place.end();
    list
}

/// Removes the stale packs of a place, or all. Returns their number.
fn prune<P: PackPlace>(place: &P, all: bool, kept: &mut Vec<String>) -> Result<usize> {
    let mut list = PackList::read(place)?;
    let mut stale = std::mem::take(&mut list.stale);
    if all {
        stale.append(&mut list.packs);
    }
    let removed = remove(place, &stale, kept)?;
    match list.packs.is_empty() && all {
        true => place.clear()?,
        false if stale.is_empty() => place.end(),
        false => {
            place.write_list(&list.to_json())?;
            place.end();
        }
    }
    Ok(removed)
}
