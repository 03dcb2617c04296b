//! Finding one output in packs.

use std::path::Path;

use super::list::{PackFile, PackList};
use super::place::{DirectoryPlace, LIST, OLD_LIST, PackPlace, PackTarget, StorePlace};
use crate::state::Maker;
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_remote::pack::PackIndex;

/// An output in a pack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackedOutput {
    /// The content.
    pub bytes: Vec<u8>,
    /// What made it.
    pub maker: Maker,
}

/// Finds the output `path` in the packs of a place. Returns `None` if the place has no packs, or no pack has the output.
///
/// ```
/// use dropforge::bulk::{PackTarget, find_in_packs};
/// use dropforge::remote::Store;
/// let store = Store::in_memory();
/// assert_eq!(find_in_packs(&PackTarget::Store(&store), "eu-1/app.yaml")?, None);
/// # Ok::<(), Box<dropforge::Diagnostic>>(())
/// ```
///
/// # Errors
/// `file.bad_manifest`; `store.missing` and `store.wrong_digest` for packs that are not as they were written; errors of the
/// place.
pub fn find_in_packs(place: &PackTarget<'_>, path: &str) -> Result<Option<PackedOutput>> {
    match place {
        PackTarget::Directory(directory) if !has_packs(directory) => Ok(None),
        PackTarget::Directory(directory) => match DirectoryPlace::open(directory)? {
            Some(place) => find(&place, path),
            None => Ok(None),
        },
        PackTarget::Store(store) => find(&StorePlace::unlocked(store), path),
    }
}

/// Returns the nearest directory above a path that has packs.
pub fn packs_above(path: &Path) -> Option<&Path> {
    path.ancestors().skip(1).find(|directory| has_packs(directory))
}

fn has_packs(directory: &Path) -> bool {
    [LIST, OLD_LIST].iter().any(|list| directory.join(list).is_file())
}

fn find(place: &impl PackPlace, path: &str) -> Result<Option<PackedOutput>> {
    let PackList { mut packs, run, .. } = PackList::read(place)?;
    // Most fleets are sorted by name, and most paths have the name of the cluster.
    packs.sort_by_key(|pack| !may_have(pack, path));
    for pack in &packs {
        if let Some(Found { bytes, cluster, template, release }) = in_pack(place, pack, path)? {
            let run = run.map(|run| run.of_template(&template));
            let maker = Maker { cluster, template, release, is_unchanged: true, run, values: None };
            return Ok(Some(PackedOutput { bytes, maker }));
        }
    }
    Ok(None)
}

/// Returns `true` if a part of the path lies between the first and the last cluster of a pack.
fn may_have(PackFile { clusters: [first, last], .. }: &PackFile, path: &str) -> bool {
    path.split('/').any(|part| (first.as_str()..=last.as_str()).contains(&part))
}

/// The content of an output, and what made it.
pub(super) struct Found {
    pub bytes: Vec<u8>,
    pub cluster: String,
    pub template: String,
    pub release: String,
}

fn in_pack(place: &impl PackPlace, pack: &PackFile, path: &str) -> Result<Option<Found>> {
    let read = |name: &str, range| {
        place.read(name, range)?.ok_or_else(|| {
            let message = format!("cannot read `{}`: it does not exist", place.name_of(name));
            Diagnostic::new(Code::StoreMissing, message).with_help("stamp again")
        })
    };
    let Some(index) = &pack.index else { return in_table(&pack.file.path, &read(&pack.file.path, None)?, path) };
    let index = PackIndex::parse(&read(&index.path, None)?).ok_or_else(|| {
        let message = format!("`{}` is not the index of a pack", place.name_of(&index.path));
        Diagnostic::new(Code::BadManifest, message).with_help("stamp again")
    })?;
    let Some(entry) = index.find(path) else { return Ok(None) };
    let bytes = index.read(entry, &read(&pack.file.path, Some(index.span(entry)))?)?;
    let [cluster, template, release] = [&entry.cluster, &entry.template, &entry.release].map(String::clone);
    Ok(Some(Found { bytes, cluster, template, release }))
}

#[cfg(feature = "arrow")]
use super::parquet::find as in_table;

/// Refuses a pack in Parquet.
#[cfg(not(feature = "arrow"))]
fn in_table(name: &str, _: &[u8], _: &str) -> Result<Option<Found>> {
    let error = Diagnostic::new(Code::Usage, format!("cannot read `{name}`: this build of dropforge has no Parquet"));
    Err(error.with_help(
        "install a build with it: `cargo install --locked --path cli --profile dist --features remote,arrow`",
    ))
}
