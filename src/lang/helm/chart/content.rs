//! The contents of files.

use std::fmt;
use std::sync::Arc;

use super::error::Stage;
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_base::text::Text;

/// The content of a file. Cheap to clone.
#[derive(Clone)]
pub(super) enum Content {
    /// UTF-8, static or shared.
    Text(Text),
    /// Bytes that are not UTF-8.
    Bytes(Arc<[u8]>),
}

impl Content {
    pub(super) fn of(bytes: &[u8]) -> Self {
        match std::str::from_utf8(bytes) {
            Ok(text) => Content::Text(Text::Shared(text.to_owned().into(), 0..text.len())),
            Err(_) => Content::Bytes(bytes.into()),
        }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Content::Text(text) => text.as_str().as_bytes(),
            Content::Bytes(bytes) => bytes,
        }
    }

    /// Returns the text of the file `path` in the directory `at`, which ends with `/` if it is not empty.
    ///
    /// # Errors
    /// `syntax.not_utf8`.
    pub(super) fn text(&self, at: &str, path: &str) -> Result<Text> {
        let bytes = match self {
            Content::Text(text) => return Ok(text.clone()),
            Content::Bytes(bytes) => bytes,
        };
        let valid = std::str::from_utf8(bytes).map_or_else(|error| error.valid_up_to(), str::len);
        let message = format!("`{at}{path}` is not valid UTF-8 at byte {valid}");
        Err(Stage::Load.of(Diagnostic::new(Code::NotUtf8, message)))
    }
}

impl Default for Content {
    fn default() -> Self {
        Content::Text(Text::Static(""))
    }
}

impl PartialEq for Content {
    fn eq(&self, other: &Self) -> bool {
        self.bytes() == other.bytes()
    }
}

impl Eq for Content {}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.bytes().len())
    }
}
