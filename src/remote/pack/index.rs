//! The index of a pack.

use std::collections::HashMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::decompress;
use dropforge_base::diagnostics::{Code, Diagnostic, Result};

/// The version of the format.
const VERSION: u32 = 1;

/// The content of a pack.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PackIndex {
    /// The outputs, in their order in the pack.
    pub files: Vec<PackEntry>,
    /// The frames, in their order.
    pub frames: Vec<Frame>,
    /// The length of the pack in bytes.
    pub bytes: u64,
}

/// An output in a pack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackEntry {
    /// The path.
    pub path: String,
    /// The place of the content in the tar file.
    pub offset: u64,
    /// The length of the content.
    pub size: u64,
    /// The name of the cluster.
    pub cluster: String,
    /// The template.
    pub template: String,
    /// The BLAKE3 hash of the content, in hexadecimal digits.
    pub hash: String,
}

/// A frame of compressed bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    /// The place in the pack.
    pub offset: u64,
    /// The place of its content in the tar file.
    pub start: u64,
}

/// The index as JSON. Clusters and templates are numbered.
#[derive(Debug, Serialize, Deserialize)]
struct IndexJson {
    version: u32,
    bytes: u64,
    frames: Vec<Frame>,
    clusters: Vec<String>,
    templates: Vec<String>,
    files: Vec<(String, u64, u64, usize, usize, String)>,
}

impl PackIndex {
    /// Returns the entry of a path.
    pub fn find(&self, path: &str) -> Option<&PackEntry> {
        self.files.iter().find(|entry| entry.path == path)
    }

    /// Returns the bytes of the pack that hold an entry: whole frames.
    pub fn span(&self, entry: &PackEntry) -> Range<u64> {
        let end = entry.offset.saturating_add(entry.size);
        let offset_of = |frame: Option<&Frame>, other| frame.map_or(other, |frame| frame.offset);
        let start = offset_of(self.frames.iter().rev().find(|frame| frame.start <= entry.offset), 0);
        start..offset_of(self.frames.iter().find(|frame| frame.start >= end && frame.offset > start), self.bytes)
    }

    /// Reads an entry from the pack, or from the part of it that [`PackIndex::span`] names, and checks its hash.
    ///
    /// # Errors
    /// `store.wrong_digest` if the pack is not the one of this index, or is damaged.
    pub fn read(&self, entry: &PackEntry, pack: &[u8]) -> Result<Vec<u8>> {
        let span = self.span(entry);
        let narrow = |place: u64| usize::try_from(place).unwrap_or(usize::MAX);
        let whole = pack.len() as u64 == self.bytes;
        let frames = if whole { pack.get(narrow(span.start)..narrow(span.end)) } else { Some(pack) };
        let start = self.frames.iter().find(|frame| frame.offset == span.start).map_or(0, |frame| frame.start);
        let bytes = decompress(frames.unwrap_or_default(), entry.offset.saturating_sub(start), entry.size);
        let found = bytes.ok().filter(|bytes| blake3::hash(bytes).to_hex().as_str() == entry.hash);
        found.ok_or_else(|| {
            let message = format!("`{}` in the pack does not have the content of the index", entry.path);
            Diagnostic::new(Code::WrongDigest, message).with_help("write the pack again")
        })
    }

    /// Returns the index as JSON, with a final line end. The same index gives the same bytes.
    pub fn to_json(&self) -> Vec<u8> {
        let (mut clusters, mut templates) = (Numbers::default(), Numbers::default());
        let file = |entry: &PackEntry| {
            let (cluster, template) = (clusters.of(&entry.cluster), templates.of(&entry.template));
            (entry.path.clone(), entry.offset, entry.size, cluster, template, entry.hash.clone())
        };
        let files = self.files.iter().map(file).collect();
        let json = IndexJson {
            version: VERSION,
            bytes: self.bytes,
            frames: self.frames.clone(),
            clusters: clusters.names,
            templates: templates.names,
            files,
        };
        let mut bytes = serde_json::to_vec(&json).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }

    /// Parses an index. Returns `None` for anything else.
    pub fn parse(json: &[u8]) -> Option<Self> {
        let json: IndexJson = serde_json::from_slice(json).ok().filter(|json: &IndexJson| json.version == VERSION)?;
        let in_order = json.frames.windows(2).all(|pair| match pair {
            [one, next] => one.offset < next.offset && one.start < next.start,
            _ => true,
        });
        if !in_order {
            return None;
        }
        let entry = |(path, offset, size, cluster, template, hash): (String, u64, u64, usize, usize, String)| {
            let cluster = json.clusters.get(cluster)?.clone();
            let template = json.templates.get(template)?.clone();
            Some(PackEntry { path, offset, size, cluster, template, hash })
        };
        let files = json.files.into_iter().map(entry).collect::<Option<Vec<_>>>()?;
        Some(Self { files, frames: json.frames, bytes: json.bytes })
    }
}

/// Names with their numbers, in the order of their first use.
#[derive(Default)]
struct Numbers {
    names: Vec<String>,
    numbers: HashMap<String, usize>,
}

impl Numbers {
    fn of(&mut self, name: &str) -> usize {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = self.names.len();
        self.names.push(name.to_owned());
        self.numbers.insert(name.to_owned(), number);
        number
    }
}
