//! Reading the one file of JSON that a state was in the versions 1 and 2, entry by entry.

use std::fmt;
use std::io::Read;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, Visitor};

use super::runs::RunOptions;
use dropforge_base::diagnostics::{Diagnostic, Result};

/// The last version of the format. Version 1 had no clusters and templates.
const VERSION: u32 = 2;

/// Receives the entries.
type Each<'e> = &'e mut dyn FnMut(OldEntry<'_>) -> Result<()>;

/// A file that a run has written.
pub(super) struct OldEntry<'o> {
    pub path: &'o str,
    /// The digest of the content.
    pub hash: blake3::Hash,
    /// The cluster, and the index of the template.
    pub maker: Option<(&'o str, usize)>,
    /// The ETag of an object, or empty.
    pub tag: &'o str,
}

/// A run and the templates whose files it made, as indexes.
#[derive(Debug, Deserialize)]
pub(super) struct OldRun {
    pub templates: Vec<usize>,
    #[serde(flatten)]
    pub options: RunOptions,
}

/// What the file has besides its entries.
#[derive(Debug, Default)]
pub(super) struct Head {
    /// The run that wrote it ended early.
    pub incomplete: bool,
    pub templates: Vec<String>,
    pub runs: Vec<OldRun>,
    /// The digests of the templates. One may be empty.
    pub digests: Vec<String>,
}

/// Calls `each` with every entry. Returns the rest, or `None` for another file.
///
/// # Errors
/// Errors of `each`.
pub(super) fn parse(reader: impl Read, each: Each<'_>) -> Result<Option<Head>> {
    let (mut failed, mut deserializer) = (None, serde_json::Deserializer::from_reader(reader));
    let parsed = Root { each, failed: &mut failed }
        .deserialize(&mut deserializer)
        .and_then(|head| deserializer.end().map(|()| head));
    match failed {
        Some(error) => Err(error),
        None => Ok(parsed.ok()),
    }
}

/// The whole file.
struct Root<'e> {
    each: Each<'e>,
    /// The error of `each`.
    failed: &'e mut Option<Box<Diagnostic>>,
}

/// The map of clusters, or that of files without a known cluster.
struct FileMap<'r, 'e> {
    root: &'r mut Root<'e>,
    /// The templates, for a map of clusters.
    templates: Option<&'r [String]>,
}

/// A file of a cluster: path, template, hash, and the ETag of an object.
#[derive(Deserialize)]
struct Item(String, usize, String, #[serde(default)] String);

impl<'de> DeserializeSeed<'de> for Root<'_> {
    type Value = Head;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<Head, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Root<'_> {
    type Value = Head;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of files")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> std::result::Result<Head, A::Error> {
        let (mut has_files, mut version, mut head) = (false, 0, Head::default());
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "incomplete" => head.incomplete = map.next_value()?,
                "runs" => head.runs = map.next_value()?,
                "version" => version = map.next_value()?,
                "templates" => head.templates = map.next_value()?,
                "digests" => head.digests = map.next_value()?,
                "clusters" => {
                    map.next_value_seed(FileMap { root: &mut self, templates: Some(&head.templates) })?;
                }
                "files" => {
                    map.next_value_seed(FileMap { root: &mut self, templates: None })?;
                    has_files = true;
                }
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        match has_files && (1..=VERSION).contains(&version) {
            true => Ok(head),
            false => Err(A::Error::custom("not a version of the format")),
        }
    }
}

impl<'de> DeserializeSeed<'de> for FileMap<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for FileMap<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map of files")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<(), A::Error> {
        let mut pass = |path: &str, hash: &str, maker: Option<(&str, usize)>, tag: &str| {
            let hash = blake3::Hash::from_hex(hash).map_err(A::Error::custom)?;
            (self.root.each)(OldEntry { path, hash, maker, tag }).map_err(|error| {
                *self.root.failed = Some(error);
                A::Error::custom("stopped")
            })
        };
        while let Some(key) = map.next_key::<String>()? {
            let Some(templates) = self.templates else {
                pass(&key, &map.next_value::<String>()?, None, "")?;
                continue;
            };
            for Item(path, template, hash, tag) in map.next_value::<Vec<Item>>()? {
                if template >= templates.len() {
                    return Err(A::Error::custom("no such template"));
                }
                pass(&path, &hash, Some((key.as_str(), template)), &tag)?;
            }
        }
        Ok(())
    }
}
