//! Inputs by URL: objects in memory, objects and prefixes in temporary directories.

use std::fs::{self, File};
use std::io::{Cursor, Read, Seek};
use std::path::{Path, PathBuf};

use dropforge::diagnostics::Result;
use dropforge::files::unreadable;
use dropforge::remote::{Bucket, Location, Store, TreeLimits, fetch_file, fetch_tree, oci};
use tempfile::TempDir;

/// Files that were fetched for this run. They are deleted with it.
#[derive(Debug, Default)]
pub(crate) struct Fetched {
    dirs: Vec<TempDir>,
    /// The URLs that were fetched, and their places.
    places: Vec<(PathBuf, PathBuf)>,
}

/// Returns `true` for a URL of an object store, a registry or a file.
pub(crate) fn is_url(path: &Path) -> bool {
    path.to_str().is_some_and(Location::is_url)
}

/// Parses a path. Returns `None` if it is no URL.
fn location(path: &Path) -> Result<Option<Location>> {
    path.to_str().map_or(Ok(None), Location::parse)
}

impl Fetched {
    /// Opens the object or artifact that `path` names if it is a URL, of at most `max` bytes. The URL of a file is a path.
    ///
    /// # Errors
    /// Errors of the store, of the registry, and of the file.
    pub(crate) fn open(path: &Path, max: u64) -> Result<Option<Box<dyn Read>>> {
        Ok(match location(path)? {
            None | Some(Location::File(_)) => None,
            Some(Location::Bucket(bucket)) => Some(Box::new(object(path, &bucket, max)?)),
            Some(Location::Registry(reference)) => Some(Box::new(Cursor::new(oci::pull(&reference, max)?.bytes))),
        })
    }

    /// Returns a local path for templates: `path` itself, or a copy of the object, of the objects below the prefix, or
    /// of the artifact that it names. Each URL is fetched once.
    ///
    /// # Errors
    /// Errors of the store and of the registry; `limit.source_bytes` for more than `max` bytes.
    pub(crate) fn local(&mut self, path: &Path, max: u64) -> Result<PathBuf> {
        let location = match location(path)? {
            None => return Ok(path.to_owned()),
            Some(Location::File(file)) => return Ok(file),
            Some(location) => location,
        };
        if let Some((_, place)) = self.places.iter().find(|(url, _)| url == path) {
            return Ok(place.clone());
        }
        let dir = tempfile::tempdir().map_err(|error| unreadable(path, error))?;
        let place = match &location {
            Location::Bucket(bucket) => copy(path, bucket, max, dir.path())?,
            Location::Registry(reference) => artifact(path, reference, max, dir.path())?,
            Location::File(file) => file.clone(),
        };
        self.dirs.push(dir);
        self.places.push((path.to_owned(), place.clone()));
        Ok(place)
    }

    /// Calls `each` with every copy and its URL.
    pub(crate) fn each(&self, each: &mut dyn FnMut(&Path, &str)) {
        self.places.iter().for_each(|(url, place)| each(place, &url.display().to_string()));
    }

    /// Returns the URL of a path that [`Fetched::local`] returned, or of a file below it.
    pub(crate) fn url_of(&self, path: &Path) -> Option<String> {
        self.places.iter().find_map(|(url, place)| {
            let below = path.strip_prefix(place).ok()?;
            let url = url.display().to_string();
            let slash = if below.as_os_str().is_empty() { "" } else { "/" };
            Some(format!("{}{slash}{}", url.trim_end_matches('/'), below.display()))
        })
    }
}

/// Fetches an object to a file without a name.
fn object(path: &Path, bucket: &Bucket, max: u64) -> Result<File> {
    let store = Store::open(&Bucket { key: String::new(), ..bucket.clone() })?;
    let mut file = tempfile::tempfile().map_err(|error| unreadable(path, error))?;
    fetch_file(&store, &bucket.key, max, &mut file)?;
    file.rewind().map_err(|error| unreadable(path, error))?;
    Ok(file)
}

/// Copies an object, or the objects below a prefix, into `dir`.
fn copy(path: &Path, bucket: &Bucket, max: u64, dir: &Path) -> Result<PathBuf> {
    let store = Store::open(&Bucket { key: String::new(), ..bucket.clone() })?;
    let name = bucket.key.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or(&bucket.name);
    let place = dir.join(name);
    if is_object(&store, &bucket.key)? {
        let mut file = File::create_new(&place).map_err(|error| unreadable(path, error))?;
        fetch_file(&store, &bucket.key, max, &mut file)?;
    } else {
        fs::create_dir(&place).map_err(|error| unreadable(path, error))?;
        let limits = TreeLimits { bytes: max, ..TreeLimits::default() };
        fetch_tree(&store.below(&bucket.key), &place, limits)?;
    }
    Ok(place)
}

/// Returns `true` for the key of an object. An empty one with others below it stands for a directory.
fn is_object(store: &Store, key: &str) -> Result<bool> {
    match store.head(key.trim_end_matches('/')) {
        _ if key.is_empty() => Ok(false),
        Ok(Some(object)) if object.size == 0 => {
            let mut below = store.below(key).list("")?;
            below.find(|one| !one.as_ref().is_ok_and(|one| one.key.is_empty())).transpose().map(|one| one.is_none())
        }
        head => Ok(head?.is_some()),
    }
}

/// Pulls an artifact into `dir`.
fn artifact(path: &Path, reference: &oci::Reference, max: u64, dir: &Path) -> Result<PathBuf> {
    let pulled = oci::pull(reference, max)?;
    let name = reference.name().rsplit('/').next().unwrap_or("artifact");
    let place = dir.join(format!("{name}.mpk"));
    fs::write(&place, pulled.bytes).map_err(|error| unreadable(path, error))?;
    Ok(place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropforge::remote::Condition;

    #[test]
    fn an_empty_object_is_a_directory_only_with_others_below_it() {
        let store = Store::in_memory();
        for (key, text) in [("empty.tera", ""), ("full.tera", "x"), ("dir", ""), ("dir/a.tera", "")] {
            store.put(key, text.into(), Condition::Always).unwrap();
        }
        let found =
            ["", "empty.tera", "full.tera", "dir", "dir/a.tera", "none"].map(|key| is_object(&store, key).unwrap());
        assert_eq!(found, [false, true, true, false, true, false]);
    }
}
