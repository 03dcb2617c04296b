//! Outputs of earlier runs in object stores.

use std::path::{Path, PathBuf};

use dropforge::bulk::{Maker, PackTarget, STATE, State, find_in_packs, packs_above};
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

    /// Reads the output: an object, or a part of a pack. Of the latter it also returns the maker.
    ///
    /// # Errors
    /// `store.missing`; `limit.source_bytes`; `syntax.not_utf8`; errors of packs and of the store.
    pub(crate) fn read(&self) -> Result<(String, Option<Maker>)> {
        let url = self.bucket.to_string();
        if let Some(object) = self.store.get(&self.bucket.key, MAX)? {
            return text(Path::new(&url), object.bytes.to_vec()).map(|text| (text, None));
        }
        match self.nearest(|store, below| find_in_packs(&PackTarget::Store(store), below))? {
            Some((found, ..)) => Ok((text(Path::new(&url), found.bytes)?, Some(found.maker))),
            None => Err(Diagnostic::new(Code::StoreMissing, format!("cannot read `{url}`: it does not exist"))),
        }
    }

    /// Returns the nearest state above the output, with its URL and the path of the output below it.
    ///
    /// # Errors
    /// `file.bad_manifest`; errors of the store.
    pub(crate) fn state(&self) -> Result<Option<(State, String, String)>> {
        let found = self.nearest(|store, _| State::of_store(store))?;
        Ok(found.map(|(state, store, below)| (state, store.url_of(STATE), below)))
    }

    /// Returns what `find` finds below the nearest prefix, and the path of the output below it.
    fn nearest<T>(&self, find: impl Fn(&Store, &str) -> Result<Option<T>>) -> Result<Option<(T, Store, String)>> {
        let (key, mut denied) = (self.bucket.key.as_str(), None);
        let ends = key.rmatch_indices('/').map(|(at, _)| at);
        let prefixes = ends.filter_map(|at| Some((key.get(..at)?, key.get(at + 1..)?))).chain([("", key)]);
        for (prefix, below) in prefixes {
            let store = self.store.below(prefix);
            match find(&store, below) {
                Ok(Some(found)) => return Ok(Some((found, store, below.to_owned()))),
                Ok(None) => {}
                // Stores deny access to objects that do not exist to those who may not list them.
                Err(error) if error.code == Code::StoreDenied => denied = denied.or(Some(error)),
                Err(error) => return Err(error),
            }
        }
        denied.map_or(Ok(None), Err)
    }
}

/// Reads an output of packs in a directory, with its maker and the directory. Returns `None` if no directory above it has
/// packs with it.
///
/// # Errors
/// `syntax.not_utf8`; errors of packs.
pub(crate) fn packed(file: &Path) -> Result<Option<(String, Maker, PathBuf)>> {
    let file = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let Some(directory) = packs_above(&file) else { return Ok(None) };
    let below = file.strip_prefix(directory).unwrap_or(&file).to_string_lossy();
    match find_in_packs(&PackTarget::Directory(directory), &below)? {
        Some(found) => Ok(Some((text(&file, found.bytes)?, found.maker, directory.to_owned()))),
        None => Ok(None),
    }
}

fn text(path: &Path, bytes: Vec<u8>) -> Result<String> {
    Ok(source(path, bytes)?.text().to_owned())
}
