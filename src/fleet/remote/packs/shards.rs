//! Packs of shards: each writes its packs below a folder of its own, and a last run checks that all are there.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::delivery::remove;
use super::list::PackList;
use super::place::{DirectoryPlace, LIST, OLD_LIST, PackOptions, PackPlace, PackTarget, StorePlace};
use crate::finish::missing_parts;
use crate::job::Job;
use crate::output_dir::OutputDir;
use crate::report::Report;
use crate::shards::Shard;
use crate::state::State;
use dropforge_base::diagnostics::{Result, counted};
use dropforge_remote::Store;

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
pub fn finish_packs(
    job: &Job<'_>,
    plan: &str,
    count: u32,
    place: &PackTarget<'_>,
    options: &PackOptions,
) -> Result<Report> {
    match place {
        PackTarget::Directory(path) => {
            let root = DirectoryPlace::create(path, job.options.fsync)?;
            let read = |folder: &str| match DirectoryPlace::open(&path.join(folder))? {
                Some(place) => PackList::read(&place),
                None => Ok(PackList::default()),
            };
            let open = |folder: &str| DirectoryPlace::create(&path.join(folder), job.options.fsync);
            Finish { job, plan, count, lists: lists(folders_of_directory(path)?, read)? }.run(&root, &open)
        }
        PackTarget::Store(store) => {
            let root = StorePlace::lock(store, options.locking)?;
            let open = |folder: &str| StorePlace::unlocked(&store.below(folder));
            let lists = lists(folders_of_store(store)?, |folder| PackList::read(&open(folder)))?;
            Finish { job, plan, count, lists }.run(&root, &|folder| Ok(open(folder)))
        }
    }
}

/// Reads the lists of folders.
fn lists(folders: Vec<String>, read: impl Fn(&str) -> Result<PackList>) -> Result<BTreeMap<String, PackList>> {
    let list = |folder: String| read(&folder).map(|list| (folder, list));
    folders.into_iter().map(list).collect()
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
    let folder = path.strip_suffix(LIST).or_else(|| path.strip_suffix(OLD_LIST))?.strip_suffix('/')?;
    let (index, count) = folder.strip_prefix("shard-")?.split_once("-of-")?;
    Shard::new(index.parse().ok()?, count.parse().ok()?).map(|_| folder.to_owned())
}

/// The end of a run of shards.
struct Finish<'f, 'j> {
    job: &'f Job<'j>,
    plan: &'f str,
    count: u32,
    /// The lists of the folders of shards, also of other numbers of shards.
    lists: BTreeMap<String, PackList>,
}

impl Finish<'_, '_> {
    fn run<P: PackPlace>(&self, root: &P, open: &dyn Fn(&str) -> Result<P>) -> Result<Report> {
        let own = self.own()?;
        let options = self.job.options;
        let (of_shards, of_others): (Vec<_>, Vec<_>) = self.lists.iter().partition(|(folder, _)| own.contains(*folder));
        let root_list = PackList::read(root)?;
        let packs: usize = of_shards.iter().map(|(_, list)| list.packs.len()).sum();
        let others = of_others.iter().map(|(_, list)| *list).chain([&root_list]);
        let stale = of_shards.iter().map(|(_, list)| list.stale.len()).sum::<usize>()
            + others.map(|list| list.packs.len() + list.stale.len()).sum::<usize>();
        let mut report = Report { clusters: self.job.plan.clusters(), unchanged: packs, ..Report::default() };
        match State::guard(stale, packs + stale, options.prune_force) {
            _ if stale == 0 => {}
            Ok(()) if options.prune => {
                let mut kept = Vec::new();
                for (folder, _) in of_shards.iter().filter(|(_, list)| !list.stale.is_empty()) {
                    report.deleted += prune(&open(folder)?, false, &mut kept)?;
                }
                for (folder, _) in of_others {
                    report.deleted += prune(&open(folder)?, true, &mut kept)?;
                }
                if root_list != PackList::default() {
                    report.deleted += prune(root, true, &mut kept)?;
                }
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

    /// Returns the folders of the shards of this plan.
    ///
    /// # Errors
    /// `plan.missing_part` if a shard is not done.
    fn own(&self) -> Result<BTreeSet<String>> {
        let (mut own, mut missing) = (BTreeSet::new(), Vec::new());
        for shard in (0..self.count).filter_map(|index| Shard::new(index, self.count)) {
            let folder = folder(shard);
            let list = self.lists.get(&folder);
            if !list.is_some_and(|list| list.complete && list.plan.as_deref() == Some(self.plan)) {
                missing.push(shard.to_string());
            }
            own.insert(folder);
        }
        if missing.is_empty() { Ok(own) } else { Err(missing_parts(&missing, self.count)) }
    }
}

/// Removes the stale packs of a place, or all. Returns their number.
fn prune<P: PackPlace>(place: &P, all: bool, kept: &mut Vec<String>) -> Result<usize> {
    // Places write a list only if it is as they read it.
    let mut list = PackList::read(place)?;
    let mut stale = std::mem::take(&mut list.stale);
    if all {
        stale.append(&mut list.packs);
    }
    let removed = remove(place, &stale, kept)?;
    if all {
        place.clear()?;
    } else {
        place.write_list(&list.to_json())?;
        place.end();
    }
    Ok(removed)
}
