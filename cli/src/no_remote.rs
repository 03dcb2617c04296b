//! URLs of object stores and registries in a build without the feature `remote`.

use std::io::Read;
use std::path::{Path, PathBuf};

use dropforge::bulk::{Maker, RunTarget, State};
use dropforge::diagnostics::{Code, Diagnostic, Result};

use crate::output::EMPTY_OUTPUT;
use crate::outputs::StoreArgs;

pub(crate) use {NoOutput as StoredOutput, NoTarget as StoreTarget, NotFetched as Fetched};

/// Outputs in object stores and packs: none.
#[derive(Debug)]
pub(crate) enum NoTarget {}

impl NoTarget {
    /// Refuses URLs, and the options of stores and packs.
    ///
    /// # Errors
    /// `usage`.
    pub(crate) fn of(output: Option<&Path>, _single: bool, args: &StoreArgs) -> Result<Option<Self>> {
        match (output.filter(|path| is_url(path)), args.given()) {
            (Some(path), _) => Err(missing(&format!("cannot write to `{}`", path.display()))),
            (None, Some(option)) => Err(missing(&format!("cannot use `{option}`"))),
            (None, None) => Ok(None),
        }
    }

    /// Does nothing: there is no such value.
    pub(crate) fn is_single(&self) -> bool {
        match *self {}
    }

    /// Does nothing: there is no such value.
    pub(crate) fn prefix(&self) -> PathBuf {
        match *self {}
    }

    /// Does nothing: there is no such value.
    pub(crate) fn open(&self, _: Option<&str>) -> Result<RunTarget<'_>> {
        match *self {}
    }
}

/// Returns the path of a directory or a file.
///
/// # Errors
/// The path is empty. URLs are refused later.
pub(crate) fn output(text: &str) -> std::result::Result<PathBuf, String> {
    if text.is_empty() {
        return Err(EMPTY_OUTPUT.to_owned());
    }
    Ok(PathBuf::from(text))
}

/// The URL of an output: none.
#[derive(Debug)]
pub(crate) enum NoOutput {}

impl NoOutput {
    /// Refuses a URL.
    ///
    /// # Errors
    /// `usage`.
    pub(crate) fn of(path: &Path) -> Result<Option<Self>> {
        NotFetched::open(path, 0).map(|_| None)
    }

    /// Does nothing: there is no such value.
    pub(crate) fn read(&self) -> Result<(String, Option<Maker>)> {
        match *self {}
    }

    /// Does nothing: there is no such value.
    pub(crate) fn state(&self) -> Result<Option<(State, String, String)>> {
        match *self {}
    }
}

/// Returns `None`.
///
/// # Errors
/// None: packs are not read.
pub(crate) fn packed(_: &Path) -> Result<Option<(String, Maker, PathBuf)>> {
    Ok(None)
}

/// Files that were fetched for this run: none.
#[derive(Debug, Default)]
pub(crate) struct NotFetched;

const SCHEMES: [&str; 5] = ["s3", "gs", "az", "oci", "file"];

/// Returns `true` for a URL of an object store, a registry or a file.
pub(crate) fn is_url(path: &Path) -> bool {
    let scheme = path.to_str().and_then(|text| text.split_once("://")).map(|(scheme, _)| scheme.to_ascii_lowercase());
    scheme.is_some_and(|scheme| SCHEMES.contains(&scheme.as_str()))
}

impl NotFetched {
    /// Refuses a URL.
    ///
    /// # Errors
    /// `usage`.
    pub(crate) fn open(path: &Path, _max: u64) -> Result<Option<Box<dyn Read>>> {
        if is_url(path) { Err(missing(&format!("cannot read `{}`", path.display()))) } else { Ok(None) }
    }

    /// Refuses a URL, and returns other paths.
    ///
    /// # Errors
    /// `usage`.
    pub(crate) fn local(&mut self, path: &Path, _max: u64) -> Result<PathBuf> {
        Self::open(path, 0).map(|_| path.to_owned())
    }

    /// Does nothing.
    pub(crate) fn each(&self, _: &mut dyn FnMut(&Path, &str)) {}

    /// Returns `None`.
    pub(crate) fn url_of(&self, _: &Path) -> Option<String> {
        None
    }
}

fn missing(message: &str) -> Box<Diagnostic> {
    Diagnostic::new(Code::Usage, message)
        .with_help("install a build with it: `cargo install --locked --path cli --profile dist --features remote`")
}
