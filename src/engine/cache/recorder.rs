//! A loader that records the names that it was asked for.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use super::Digest;
use super::head::{Head, digest_of};
use dropforge_base::diagnostics::Result;
use dropforge_base::text::Source;
use dropforge_machine::compiler::Loader;

/// Forwards every request and records the answer.
pub struct Recorder<'l> {
    loader: &'l dyn Loader,
    asked: Mutex<Option<BTreeMap<String, Digest>>>,
}

impl<'l> Recorder<'l> {
    pub fn new(loader: &'l dyn Loader) -> Self {
        Self { loader, asked: Mutex::new(Some(BTreeMap::new())) }
    }

    /// Returns the recorded names, or `None` if an answer cannot be compared with a later one.
    pub(super) fn head(&self) -> Option<Head> {
        let asked = self.asked.lock().ok()?.take()?;
        Some(Head::new(asked.into_iter().collect()))
    }

    fn record(&self, update: impl FnOnce(&mut Option<BTreeMap<String, Digest>>)) {
        if let Ok(mut asked) = self.asked.lock() {
            update(&mut asked);
        }
    }
}

impl Loader for Recorder<'_> {
    fn load(&self, name: &str) -> Result<Option<Arc<Source>>> {
        let found = self.loader.load(name);
        let digest = found.as_ref().ok().map(|found| digest_of(found.as_deref().map(Source::text)));
        self.record(|asked| match (asked.as_mut(), digest) {
            (Some(asked), Some(digest)) => drop(asked.insert(name.to_owned(), digest)),
            _ => *asked = None,
        });
        found
    }

    /// Listing prevents caching: the suggestions in errors would change with any other template.
    fn names(&self) -> Vec<String> {
        let names = self.loader.names();
        if !names.is_empty() {
            self.record(|asked| *asked = None);
        }
        names
    }

    /// Prevents caching, because another file may be added.
    fn files(&self, prefix: &str, suffix: &str) -> Vec<String> {
        self.record(|asked| *asked = None);
        self.loader.files(prefix, suffix)
    }
}
