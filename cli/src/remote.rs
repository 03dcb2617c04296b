//! Object stores and OCI registries: inputs and outputs by URL, and packs.

use std::fs;
use std::fs::File;
use std::io::{Cursor, Read, Seek};
use std::path::{Path, PathBuf};

use crate::input::source;
use crate::output::EMPTY_OUTPUT;
use crate::outputs::StoreArgs;
use crate::usage::unfit_to;
use dropforge::bulk::{
    Locking, Maker, PackFormat, PackOptions, PackTarget, RemoteTarget, RunTarget, STATE, State, find_in_packs,
    packs_above,
};
use dropforge::diagnostics::{Code, Diagnostic, Result};
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

/// Parses a path. Returns `None` if it is not a URL.
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

/// A place in an object store, or packs in any place.
#[derive(Debug)]
pub(crate) struct StoreTarget {
    place: Destination,
    locking: Locking,
    pack: Option<PackFormat>,
    is_single: bool,
}

/// The place that `-o` names.
#[derive(Debug)]
enum Destination {
    Directory(PathBuf),
    Bucket(Bucket),
}

/// Parses the value of `-o`: `file://` URLs are paths.
///
/// # Errors
/// The reason why it cannot be a URL; the path is empty.
pub(crate) fn output(text: &str) -> std::result::Result<PathBuf, String> {
    if text.is_empty() {
        return Err(EMPTY_OUTPUT.to_owned());
    }
    match Location::parse(text) {
        Ok(Some(Location::File(path))) => Ok(path),
        Ok(Some(Location::Registry(_))) => Err("outputs cannot be written to a registry".to_owned()),
        Ok(_) => Ok(PathBuf::from(text)),
        Err(error) => Err(error.message.clone()),
    }
}

impl StoreTarget {
    /// Returns the target of a run with the option `-o`, or `None` for directories and files without packs.
    ///
    /// # Errors
    /// `usage`, `store.bad_url`.
    pub(crate) fn of(output: Option<&Path>, is_single: bool, args: &StoreArgs) -> Result<Option<Self>> {
        let usage = |message: String, help: &str| Err(Diagnostic::new(Code::Usage, message).with_help(help));
        let pack = args.pack.as_deref().map(format).transpose()?;
        let location = output.and_then(Path::to_str).map_or(Ok(None), Location::parse)?;
        let bucket = match location {
            Some(Location::Bucket(bucket)) => Some(bucket),
            _ => None,
        };
        if pack.is_some() && is_single {
            return Err(unfit_to("--pack", "`--layout single`").with_help("remove one of them"));
        }
        if let Some(option) = args.given().filter(|option| *option != "--pack")
            && (bucket.is_none() || is_single)
        {
            let message = format!("`{option}` needs a prefix of an object store");
            return usage(message, "write `-o s3://BUCKET/PREFIX`, or remove it");
        }
        let locking = match (args.break_lock, args.no_lock) {
            (true, _) => Locking::Break,
            (_, true) => Locking::Without,
            _ => Locking::Take,
        };
        let place = match (bucket, output) {
            (Some(bucket), _) => Destination::Bucket(bucket),
            (None, Some(path)) if pack.is_some() && path.as_os_str() != "-" => Destination::Directory(path.to_owned()),
            (None, _) if pack.is_some() => return usage("`--pack` needs an output".to_owned(), "add `-o DIR`"),
            _ => return Ok(None),
        };
        Ok(Some(Self { place, locking, pack, is_single }))
    }

    /// Returns `true` for one object.
    pub(crate) fn is_single(&self) -> bool {
        self.is_single
    }

    /// Returns the path or the URL that the paths of changes are below. That of one object is whole.
    pub(crate) fn prefix(&self) -> PathBuf {
        match &self.place {
            _ if self.is_single => PathBuf::new(),
            Destination::Directory(path) => path.clone(),
            Destination::Bucket(bucket) => PathBuf::from(bucket.to_string()),
        }
    }

    /// Opens the target of a run. `option` asks for another mode than writing.
    ///
    /// # Errors
    /// `usage` for a mode that the target does not have; `store.bad_url` for a bucket in place of an object; errors of the
    /// store.
    pub(crate) fn open(&self, option: Option<&str>) -> Result<RunTarget<'_>> {
        let pack = self.pack.map(|format| PackOptions { locking: self.locking, ..PackOptions::new(format) });
        match (&self.place, pack, option) {
            (_, Some(_), Some("--stream")) => Err(unfit_to("--stream", "`--pack`")),
            (_, Some(_), Some("--diff")) => {
                Err(unfit_to("--diff", "`--pack`").with_help("`--check` shows which packs would change"))
            }
            (_, None, Some(option @ ("--stream" | "--finish"))) if self.is_single => {
                Err(unfit_to(option, "one object"))
            }
            (Destination::Directory(path), Some(pack), _) => Ok(RunTarget::Remote(RemoteTarget::Packs(path, pack))),
            // Directories without packs are no target of this kind.
            (Destination::Directory(path), None, _) => Ok(RunTarget::Directory(path)),
            (Destination::Bucket(bucket), Some(pack), _) => {
                Ok(RunTarget::Remote(RemoteTarget::StorePacks(Store::open(bucket)?, pack)))
            }
            (Destination::Bucket(bucket), None, _) if !self.is_single => {
                Ok(RunTarget::Remote(RemoteTarget::Objects(Store::open(bucket)?, self.locking)))
            }
            (Destination::Bucket(bucket), None, _) if bucket.key.is_empty() => {
                Err(Diagnostic::new(Code::BadUrl, format!("`{bucket}` names a bucket, not an object")))
            }
            (Destination::Bucket(bucket), None, _) => {
                let store = Store::open(&Bucket { key: String::new(), ..bucket.clone() })?;
                Ok(RunTarget::Remote(RemoteTarget::Object(store, bucket.key.clone(), bucket.to_string())))
            }
        }
    }
}

fn format(text: &str) -> Result<PackFormat> {
    let help =
        |name| format!("install a build with it: `cargo install --locked --path cli --profile dist --features {name}`");
    match text.parse::<PackFormat>() {
        Ok(format) => Ok(format),
        Err(_) if text == "parquet" => {
            let message = "cannot use `--pack parquet`: this build of dropforge has no Parquet";
            Err(Diagnostic::new(Code::Usage, message).with_help(help("remote,arrow")))
        }
        Err(why) => Err(Diagnostic::new(Code::Usage, format!("invalid value `{text}` for `--pack`: {why}"))),
    }
}

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
