//! Reads the objects below a prefix.

use super::prefix::Prefix;
use crate::destination::FileReader;
use dropforge_base::diagnostics::Result;
use dropforge_remote::Object;

/// Maximum length of an object that is compared with an output.
const MAX: u64 = 1 << 30;

/// Reads objects.
pub(super) struct StoreReader<'p> {
    prefix: &'p Prefix,
    last: Option<Object>,
}

impl<'p> StoreReader<'p> {
    pub(super) fn new(prefix: &'p Prefix) -> Self {
        Self { prefix, last: None }
    }

    /// Reads an object that was there at the start.
    ///
    /// # Errors
    /// `limit.source_bytes` for one of more than 1 GiB; errors of the store.
    pub(super) fn content(&self, path: &str) -> Result<Option<Object>> {
        if self.prefix.has(path)? { self.prefix.store.get(path, MAX) } else { Ok(None) }
    }
}

impl FileReader for StoreReader<'_> {
    fn exists(&mut self, path: &str) -> Result<bool> {
        self.prefix.has(path)
    }

    fn is_current(&mut self, path: &str, content: &[u8]) -> Result<bool> {
        self.prefix.has_content(path, &blake3::hash(content))
    }

    fn read(&mut self, path: &str) -> Result<Option<(&[u8], Option<bool>)>> {
        self.last = self.content(path)?;
        Ok(self.last.as_ref().map(|object| (&object.bytes[..], None)))
    }
}
