//! Outputs of earlier runs in object stores.

use std::path::Path;

use dropforge::bulk::{MANIFEST, Manifest};
use dropforge::diagnostics::{Code, Diagnostic, Result};
use dropforge::remote::{Bucket, Location, Store};

use crate::input::source;

/// Maximum length of an output.
const MAX: u64 = 1 << 30;

/// The URL of an output.
#[derive(Debug)]
pub(crate) struct StoredOutput {
    bucket: Bucket,
    /// The whole bucket.
    store: Store,
}

impl StoredOutput {
    /// Parses a URL. Returns `None` for a path.
    ///
    /// # Errors
    /// `store.bad_url` for a URL of something else, and of a whole bucket; `store.failed` for a configuration that cannot be
    /// used.
    pub(crate) fn of(path: &Path) -> Result<Option<Self>> {
        match path.to_str().map_or(Ok(None), Location::parse)? {
            None => Ok(None),
            Some(Location::Bucket(bucket)) if !bucket.key.is_empty() => {
                let store = Store::open(&Bucket { key: String::new(), ..bucket.clone() })?;
                Ok(Some(Self { bucket, store }))
            }
            Some(other) => Err(Diagnostic::new(Code::BadUrl, format!("`{other}` names no object of an object store"))
                .with_help("write `s3://BUCKET/PREFIX/FILE:LINE`, or a path")),
        }
    }

    /// Reads the output.
    ///
    /// # Errors
    /// `store.missing`; `limit.source_bytes`; `syntax.not_utf8`; errors of the store.
    pub(crate) fn text(&self) -> Result<String> {
        let url = self.bucket.to_string();
        let Some(object) = self.store.get(&self.bucket.key, MAX)? else {
            return Err(Diagnostic::new(Code::StoreMissing, format!("cannot read `{url}`: it does not exist")));
        };
        Ok(source(Path::new(&url), object.bytes.to_vec())?.text().to_owned())
    }

    /// Returns the nearest manifest above the output, with its URL and the path of the output below it.
    ///
    /// # Errors
    /// `file.bad_manifest`; errors of the store.
    pub(crate) fn manifest(&self) -> Result<Option<(Manifest, String, String)>> {
        let (key, mut denied) = (self.bucket.key.as_str(), None);
        let ends = key.rmatch_indices('/').map(|(at, _)| at);
        let prefixes = ends.filter_map(|at| Some((key.get(..at)?, key.get(at + 1..)?))).chain([("", key)]);
        for (prefix, below) in prefixes {
            let store = self.store.below(prefix);
            match Manifest::of_store(&store) {
                Ok(Some(manifest)) => return Ok(Some((manifest, store.url_of(MANIFEST), below.to_owned()))),
                Ok(None) => {}
                // Stores deny access to objects that do not exist to those who may not list them.
                Err(error) if error.code == Code::StoreDenied => denied = denied.or(Some(error)),
                Err(error) => return Err(error),
            }
        }
        denied.map_or(Ok(None), Err)
    }
}
