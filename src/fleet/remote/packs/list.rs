//! The list of the packs of a place.

use serde::{Deserialize, Serialize};

use super::place::{LIST, ListedFile, PackPlace};
use crate::job::Job;
use crate::output_path::check_path;
use crate::stamp::makers;
use crate::state::StoredRun;
use dropforge_base::diagnostics::{Code, Diagnostic, Result};

/// The version of the format.
const VERSION: u32 = 1;
/// The packs of a place, as the last run left them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PackList {
    pub(super) version: u32,
    /// The algorithm of the hashes.
    pub(super) hash: String,
    /// `false` while a run writes packs, and after one that did not reach the end of the fleet.
    pub(super) complete: bool,
    /// The digest of the plan that the packs are of, for a shard that is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) plan: Option<String>,
    /// The run that the packs are of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) run: Option<StoredRun>,
    /// The packs, in fleet order.
    pub(super) packs: Vec<PackFile>,
    /// Packs of earlier runs that are out of date.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) stale: Vec<PackFile>,
}

/// Returns the options of a run, if it has some. That of a shard has its packs in a folder.
pub(super) fn run_of(job: &Job<'_>) -> Option<StoredRun> {
    let mut options = job.options.run_and_files(job.fleet)?;
    if job.options.shard.is_some() {
        options.folder = options.folder.map(|folder| format!("../{folder}"));
    }
    let makers = makers(job);
    Some(StoredRun::of(options, makers.iter().map(|made_by| made_by.template.as_str())))
}

/// A pack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PackFile {
    #[serde(flatten)]
    pub(super) file: ListedFile,
    /// The index, if the format has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) index: Option<ListedFile>,
    /// The number of outputs.
    pub(super) outputs: u64,
    /// The names of the first and the last cluster.
    pub(super) clusters: [String; 2],
}

impl Default for PackList {
    fn default() -> Self {
        let (packs, stale) = (Vec::new(), Vec::new());
        Self { version: VERSION, hash: "blake3".to_owned(), complete: true, plan: None, run: None, packs, stale }
    }
}

impl PackList {
    /// Reads the list of the last run. Returns an empty one if there is none.
    ///
    /// # Errors
    /// `file.bad_manifest`; errors of reading it.
    pub(super) fn read(place: &impl PackPlace) -> Result<Self> {
        let Some(bytes) = place.read_list()? else { return Ok(Self::default()) };
        let list: Option<Self> = serde_json::from_slice(&bytes).ok();
        list.filter(|list| list.version == VERSION && list.hash == "blake3" && list.has_plain_paths()).ok_or_else(
            || {
                let message = format!("`{}` is not a valid list of packs", place.name_of(LIST));
                Diagnostic::new(Code::BadManifest, message)
                    .with_help("delete it and the packs; the next run writes new ones")
            },
        )
    }

    /// Someone may have edited the list, so paths are checked as for writing.
    fn has_plain_paths(&self) -> bool {
        self.files().all(|file| check_path(&file.path).is_ok() && is_pack(&file.path))
    }

    /// Returns all files, also those that are out of date.
    pub(super) fn files(&self) -> impl Iterator<Item = &ListedFile> {
        let packs = self.packs.iter().chain(&self.stale);
        packs.flat_map(|pack| std::iter::once(&pack.file).chain(&pack.index))
    }

    /// Returns the list as JSON, a line for each pack.
    pub(super) fn to_json(&self) -> Vec<u8> {
        let mut text = serde_json::to_string(self).unwrap_or_default().replace("{\"path\"", "\n{\"path\"");
        // The index of a pack stays on its line.
        text = text.replace("\"index\":\n{", "\"index\":{");
        text.push('\n');
        text.into_bytes()
    }
}

/// Returns `true` for names of packs and indexes.
fn is_pack(path: &str) -> bool {
    let number = path.strip_prefix("pack-").and_then(|rest| rest.split('.').next());
    number.is_some_and(|number| number.len() >= 5 && number.bytes().all(|byte| byte.is_ascii_digit()))
}
