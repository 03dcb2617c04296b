//! Errors of deserialization.

use std::fmt::{self, Write as _};

use serde::de::{self, Expected, Unexpected};

use super::coerce::Misfit;
use dropforge_base::diagnostics::{Code, Diagnostic};
use dropforge_base::stdlib::strings::prefix;

/// Maximum number of bytes of a text in a message.
const SHOWN: usize = 60;

/// A step into a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// To the value under a key.
    Key(String),
    /// To an item.
    Index(usize),
}

/// A path into a value. Steps are stored innermost first, in the order in which they are found.
#[derive(Debug, Clone, Default)]
pub struct Path(Vec<Step>);

impl Path {
    /// Prepends a step.
    pub fn begin_with(&mut self, step: Step) {
        self.0.push(step);
    }

    /// Returns `true` if there are no steps.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut path = String::new();
        for step in self.0.iter().rev() {
            match step {
                Step::Key(name) => add_name(&mut path, name),
                Step::Index(at) => write!(path, "[{at}]")?,
            }
        }
        f.write_str(&path)
    }
}

/// Appends a key to a path: `.name`, or `["a name"]` if it is not a plain word.
pub fn add_name(path: &mut String, name: &str) {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'$') || byte >= 0x80;
    if name.is_empty() || !name.bytes().all(plain) {
        path.push_str(&format!("[{name:?}]"));
        return;
    }
    if !path.is_empty() {
        path.push('.');
    }
    path.push_str(name);
}

/// A mismatch and its path in the value.
#[derive(Debug)]
pub(super) struct Error {
    path: Path,
    /// Boxed to keep results small.
    diagnostic: Box<Diagnostic>,
}

impl Error {
    fn new(message: String) -> Self {
        Self { path: Path::default(), diagnostic: Diagnostic::new(Code::Unfit, message) }
    }

    /// Returns an unknown field or variant.
    fn unknown(what: &str, name: &str, names: &'static [&'static str]) -> Self {
        let diagnostic = Self::new(format!("unknown {what} {}", quoted(name))).diagnostic;
        let diagnostic = diagnostic.with_available(names.iter().copied()).with_suggestion(name, names.iter().copied());
        Self { path: Path::default(), diagnostic }
    }

    /// Returns the diagnostic, with the path in its message.
    pub fn into_diagnostic(self) -> Box<Diagnostic> {
        let Self { path, mut diagnostic } = self;
        if !path.is_empty() {
            diagnostic.message = format!("{path}: {}", diagnostic.message);
        }
        diagnostic
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.is_empty() {
            true => f.write_str(&self.diagnostic.message),
            false => write!(f, "{}: {}", self.path, self.diagnostic.message),
        }
    }
}

impl std::error::Error for Error {}

impl Misfit for Error {
    fn within(mut self, step: Step) -> Self {
        self.path.begin_with(step);
        self
    }

    fn withheld(self) -> Self {
        Self::new("a marked value does not fit".to_owned())
    }
}

impl de::Error for Error {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(message.to_string())
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::new(format!("expected {expected}, found {}", Found(found)))
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::invalid_type(found, expected)
    }

    fn invalid_length(len: usize, expected: &dyn Expected) -> Self {
        let items = if len == 1 { "item" } else { "items" };
        Self::new(format!("expected {expected}, found {len} {items}"))
    }

    fn unknown_variant(name: &str, names: &'static [&'static str]) -> Self {
        Self::unknown("variant", name, names)
    }

    fn unknown_field(name: &str, names: &'static [&'static str]) -> Self {
        Self::unknown("field", name, names)
    }

    fn missing_field(name: &'static str) -> Self {
        Self::new(format!("`{name}` is missing"))
    }

    fn duplicate_field(name: &'static str) -> Self {
        Self::new(format!("`{name}` is there twice"))
    }
}

/// The description of an unexpected value, with long texts shortened.
struct Found<'u>(Unexpected<'u>);

impl fmt::Display for Found<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Unexpected::Unit | Unexpected::Option => f.write_str("null"),
            Unexpected::Str(text) => write!(f, "string {}", quoted(text)),
            Unexpected::Bytes(_) => f.write_str("bytes"),
            Unexpected::Seq => f.write_str("a list"),
            Unexpected::Map => f.write_str("a map"),
            other => fmt::Display::fmt(&other, f),
        }
    }
}

/// Returns a quoted text, shortened if necessary.
fn quoted(text: &str) -> String {
    let shown = prefix(text, SHOWN);
    if shown.len() < text.len() { format!("{shown:?}…") } else { format!("{shown:?}") }
}
