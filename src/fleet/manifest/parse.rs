//! Reading a manifest entry by entry.

use std::fmt;
use std::io::Read;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, Visitor};

use super::rows::{Entry, VERSION};
use super::runs::Stored;
use dropforge_base::diagnostics::{Diagnostic, Result};

/// Receives the entries.
type Each<'e> = &'e mut dyn FnMut(Entry<'_>) -> Result<()>;

/// What a manifest has besides its entries.
#[derive(Debug, Default)]
pub(super) struct Head {
    /// The run that wrote it ended early.
    pub incomplete: bool,
    pub templates: Vec<String>,
    pub runs: Vec<Stored>,
    /// The digests of the templates. One may be empty.
    pub digests: Vec<String>,
}

/// Calls `each` with every entry. `runs` has the run of each template. Returns the rest, or `None` if it is not a manifest.
///
/// # Errors
/// Errors of `each`.
pub(super) fn parse(reader: impl Read, runs: &[Option<usize>], each: Each<'_>) -> Result<Option<Head>> {
    let (mut failed, mut deserializer) = (None, serde_json::Deserializer::from_reader(reader));
    let parsed = Root { runs, each, failed: &mut failed }
        .deserialize(&mut deserializer)
        .and_then(|head| deserializer.end().map(|()| head));
    match failed {
        Some(error) => Err(error),
        None => Ok(parsed.ok()),
    }
}

/// The whole file.
struct Root<'e> {
    /// The run of each template.
    runs: &'e [Option<usize>],
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
        f.write_str("a manifest")
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
        let mut pass = |path: &str, hash: &str, maker: Option<(&str, &str)>, run, tag: &str| {
            let hash = blake3::Hash::from_hex(hash).map_err(A::Error::custom)?;
            (self.root.each)(Entry { path, hash, maker, run, tag }).map_err(|error| {
                *self.root.failed = Some(error);
                A::Error::custom("stopped")
            })
        };
        while let Some(key) = map.next_key::<String>()? {
            let Some(templates) = self.templates else {
                pass(&key, &map.next_value::<String>()?, None, None, "")?;
                continue;
            };
            for Item(path, template, hash, tag) in map.next_value::<Vec<Item>>()? {
                let run = self.root.runs.get(template).copied().flatten();
                let template = templates.get(template).ok_or_else(|| A::Error::custom("no such template"))?;
                pass(&path, &hash, Some((key.as_str(), template.as_str())), run, &tag)?;
            }
        }
        Ok(())
    }
}
