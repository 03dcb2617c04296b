//! Brings finished packs to their place, or compares them with it.

use std::collections::{HashMap, HashSet};

use super::list::{PackFile, PackList};
use super::part::{Finished, Spooled};
use super::place::{FileState, ListedFile, PackPlace, foreign};
use crate::output_files::Change;
use crate::state::StoredRun;
use dropforge_base::diagnostics::Result;

/// The packs of a run so far.
pub(super) struct Delivery<'d, P> {
    place: &'d P,
    old: &'d PackList,
    /// The files of the list of the last run, by name.
    listed: HashMap<&'d str, &'d ListedFile>,
    packs: Vec<PackFile>,
    changes: Vec<(String, Change)>,
    unchanged: usize,
    /// Overwrite files that are in no list.
    force: bool,
    /// Write, or only compare.
    write: bool,
    /// The list says that a run is writing.
    begun: bool,
}

impl<'d, P: PackPlace> Delivery<'d, P> {
    pub(super) fn new(place: &'d P, old: &'d PackList, force: bool, write: bool) -> Self {
        let listed = old.files().map(|file| (file.path.as_str(), file)).collect();
        let (packs, changes) = (Vec::new(), Vec::new());
        Self { place, old, listed, packs, changes, unchanged: 0, force, write, begun: false }
    }

    /// Delivers a pack with its index.
    ///
    /// # Errors
    /// `plan.foreign_file`; errors of the place.
    pub(super) fn take(&mut self, finished: &Finished) -> Result<()> {
        let state = self.state(&finished.pack)?;
        let state_of_index = finished.index.as_ref().map(|index| self.state(index)).transpose()?;
        let (file, change) = self.file(&finished.pack, &state)?;
        // The index of an unchanged pack may be missing.
        let index = finished.index.as_ref().zip(state_of_index.as_ref());
        let index = index.map(|(index, state)| self.file(index, state)).transpose()?;
        match (change, &index) {
            (Change::Unchanged, Some((_, changed))) if *changed != Change::Unchanged => {
                self.changes.push((file.path.clone(), Change::Update));
            }
            (Change::Unchanged, _) => self.unchanged += 1,
            _ => self.changes.push((file.path.clone(), change)),
        }
        let (outputs, clusters) = (finished.outputs, finished.clusters.clone());
        self.packs.push(PackFile { file, index: index.map(|(index, _)| index), outputs, clusters });
        Ok(())
    }

    fn listed(&self, path: &str) -> Option<&'d ListedFile> {
        self.listed.get(path).copied()
    }

    /// Returns the state of a file in the place.
    ///
    /// # Errors
    /// `plan.foreign_file`; errors of the place.
    fn state(&self, spooled: &Spooled) -> Result<FileState> {
        let (path, listed) = (&spooled.path, self.listed(&spooled.path));
        let state = self.place.state(path, listed)?;
        let is_foreign = matches!(state, FileState::Other(_)) && listed.is_none() && self.old.complete;
        if is_foreign && !self.force { Err(foreign(&self.place.name_of(path))) } else { Ok(state) }
    }

    fn file(&mut self, spooled: &Spooled, state: &FileState) -> Result<(ListedFile, Change)> {
        let Spooled { path, file, hash } = spooled;
        let (hash, listed) = (hash.to_hex().to_string(), self.listed(path));
        if let (FileState::Listed, Some(listed)) = (state, listed.filter(|listed| listed.hash == hash)) {
            return Ok((listed.clone(), Change::Unchanged));
        }
        let mut tag = None;
        if self.write {
            self.begin()?;
            tag = self.place.put(path, file, state)?;
        }
        let change = if *state == FileState::Missing { Change::Create } else { Change::Update };
        Ok((ListedFile { path: path.clone(), hash, tag }, change))
    }

    /// Notes in the list that a run is writing, so that the next one knows its packs if this one is killed.
    fn begin(&mut self) -> Result<()> {
        if !std::mem::replace(&mut self.begun, true) && self.old.complete {
            self.place.write_list(&PackList { complete: false, plan: None, ..self.old.clone() }.to_json())?;
        }
        Ok(())
    }

    /// Returns the packs that were, or would be, created or changed.
    pub(super) fn changes(&self) -> &[(String, Change)] {
        &self.changes
    }

    /// Returns the numbers of new, changed and unchanged packs.
    pub(super) fn counts(&self) -> (usize, usize, usize) {
        let created = self.changes.iter().filter(|(_, change)| *change == Change::Create).count();
        (created, self.changes.len() - created, self.unchanged)
    }

    /// Returns the number of packs of this run.
    pub(super) fn written(&self) -> usize {
        self.packs.len()
    }

    /// Returns the packs of earlier runs that are not of this one.
    pub(super) fn stale(&self) -> Vec<String> {
        self.left().into_iter().map(|pack| pack.file.path).collect()
    }

    fn left(&self) -> Vec<PackFile> {
        let new: HashSet<&str> = self.packs.iter().map(|pack| pack.file.path.as_str()).collect();
        self.old
            .packs
            .iter()
            .chain(&self.old.stale)
            .filter(|pack| !new.contains(pack.file.path.as_str()))
            .cloned()
            .collect()
    }

    /// Removes stale packs if `prune` is set, and writes the list. Returns the number of removed packs, and the names of files
    /// that were kept because someone else has changed them.
    ///
    /// # Errors
    /// Errors of the place.
    pub(super) fn finish(
        self,
        whole: bool,
        prune: bool,
        (plan, run): (Option<String>, Option<StoredRun>),
    ) -> Result<(usize, Vec<String>)> {
        let (mut stale, mut kept, mut removed) = (self.left(), Vec::new(), 0);
        if prune {
            removed = remove(self.place, &std::mem::take(&mut stale), &mut kept)?;
        }
        let list = match whole {
            true => PackList { complete: true, plan, run, packs: self.packs, stale, ..PackList::default() },
            // Later packs of the last run are what there is for the rest of the fleet.
            false => {
                let packs =
                    self.packs.into_iter().chain(self.old.packs.iter().filter(|pack| stale.contains(pack)).cloned());
                let packs: Vec<PackFile> = packs.collect();
                let stale = stale.iter().filter(|pack| !packs.contains(pack)).cloned().collect();
                PackList { complete: false, run, packs, stale, ..PackList::default() }
            }
        };
        // `begin` has replaced the old list.
        if self.begun || list != *self.old {
            self.place.write_list(&list.to_json())?;
        }
        Ok((removed, kept))
    }
}

/// Removes packs with their indexes. Returns the number of removed ones, and adds files that someone else has changed to
/// `kept`.
///
/// # Errors
/// Errors of the place.
pub(super) fn remove(place: &impl PackPlace, packs: &[PackFile], kept: &mut Vec<String>) -> Result<usize> {
    let mut removed = 0;
    for pack in packs {
        let before = kept.len();
        for file in std::iter::once(&pack.file).chain(&pack.index) {
            if place.remove(file)? == Some(false) {
                kept.push(file.path.clone());
            }
        }
        removed += usize::from(kept.len() == before);
    }
    Ok(removed)
}
