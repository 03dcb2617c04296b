//! Reading input files, and objects by their URLs. `-` is standard input.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dropforge::bulk::Format;
use dropforge::diagnostics::{Code, Diagnostic, Result, thousands};
use dropforge::text::Source;
use humansize::{BINARY, format_size};

#[cfg(not(feature = "remote"))]
use crate::no_remote as remote;
#[cfg(feature = "remote")]
use crate::remote;

/// Maximum size of a fleet that is not one cluster a line: 1 GiB.
const MAX_FLEET: u64 = 1 << 30;
/// Maximum size of one line of a fleet with one cluster a line: 16 MiB.
const MAX_RECORD: usize = 16 << 20;
/// Number of bytes to read at once from a fleet.
const PIECE: u64 = 1 << 20;

/// Reads the input files of a command. Standard input can be read once.
#[derive(Debug)]
pub(crate) struct InputFiles {
    stdin_used: bool,
    max_bytes: u64,
    fetched: remote::Fetched,
}

impl InputFiles {
    /// Refuses files of more than `max_bytes`.
    pub(crate) fn new(max_bytes: u64) -> Self {
        Self { stdin_used: false, max_bytes, fetched: Default::default() }
    }

    /// Returns the maximum size of a file in bytes.
    #[cfg(feature = "remote")]
    pub(crate) fn max_bytes(&self) -> u64 {
        self.max_bytes
    }

    /// Returns a local path for templates: `path` itself, or a copy of the object, prefix or artifact that its URL
    /// names. The copy is deleted with this value.
    ///
    /// # Errors
    /// Errors of the store and of the registry; `limit.source_bytes`; `usage` for a URL in a build without them.
    pub(crate) fn local(&mut self, path: &Path) -> Result<PathBuf> {
        self.fetched.local(path, self.max_bytes)
    }

    /// Returns the URL of which `path` is a copy, or is in the copy.
    #[expect(dead_code, reason = "for the names of templates in manifests")]
    pub(crate) fn url_of(&self, path: &Path) -> Option<String> {
        self.fetched.url_of(path)
    }

    /// Reads a text file.
    ///
    /// # Errors
    /// Errors of [`InputFiles::bytes`] and [`source`].
    pub(crate) fn read(&mut self, path: &Path) -> Result<Arc<Source>> {
        source(path, self.bytes(path)?)
    }

    /// Reads the bytes of a file.
    ///
    /// # Errors
    /// `file.read_failed`; `limit.source_bytes` for a file that is too long; `usage` for a second `-`.
    pub(crate) fn bytes(&mut self, path: &Path) -> Result<Vec<u8>> {
        let max = self.max_bytes;
        let mut bytes = Vec::new();
        let input = self.open(path, max)?;
        input.take(max.saturating_add(1)).read_to_end(&mut bytes).map_err(|error| unreadable(path, error))?;
        if bytes.len() as u64 > max {
            return Err(too_long(path, max).with_help("raise the limit with `--max-input SIZE`"));
        }
        Ok(bytes)
    }

    /// Reads a file of clusters in `format`, or that of its name or content. One with a cluster a line (NDJSON) may have
    /// any size, but no line over 16 MiB.
    ///
    /// # Errors
    /// Same as [`InputFiles::bytes`], with the limits of fleets; those of [`source`].
    pub(crate) fn fleet(&mut self, path: &Path, format: Option<Format>) -> Result<Arc<Source>> {
        let mut input = self.open(path, u64::MAX)?;
        let (mut bytes, mut line, mut line_wise) = (Vec::new(), 0, None);
        loop {
            let before = bytes.len();
            let read = input.by_ref().take(PIECE).read_to_end(&mut bytes).map_err(|error| unreadable(path, error))?;
            if read == 0 {
                return source(path, bytes);
            }
            let ends = memchr::memrchr(b'\n', bytes.get(before..).unwrap_or(&[]));
            line = ends.map_or(line, |at| before + at + 1);
            if bytes.len() <= MAX_RECORD {
                continue;
            }
            // The beginning decides, and reading it again for each piece would take the square of the length.
            let line_wise = *line_wise.get_or_insert_with(|| is_line_wise(path, format, &bytes));
            if bytes.len() as u64 > MAX_FLEET && !line_wise {
                return Err(too_long(path, MAX_FLEET).with_help("write one cluster a line (NDJSON), or several files"));
            }
            if bytes.len() - line > MAX_RECORD && line_wise {
                return Err(too_long(path, MAX_RECORD as u64).with_note("a line of a fleet is one cluster"));
            }
        }
    }

    /// Opens a file, or an object of at most `max` bytes.
    fn open(&mut self, path: &Path, max: u64) -> Result<Box<dyn Read>> {
        if let Some(input) = remote::Fetched::open(path, max)? {
            return Ok(input);
        }
        if !is_dash(path) {
            return Ok(Box::new(File::open(path).map_err(|error| unreadable(path, error))?));
        }
        if std::mem::replace(&mut self.stdin_used, true) {
            return Err(Diagnostic::new(Code::Usage, "`-` is used twice, but standard input can be read only once"));
        }
        Ok(Box::new(io::stdin().lock()))
    }
}

/// Returns `true` if a fleet that begins with `bytes` has one cluster a line.
fn is_line_wise(path: &Path, format: Option<Format>, bytes: &[u8]) -> bool {
    let head = bytes.get(..bytes.len().min(MAX_RECORD)).unwrap_or(bytes);
    let found = || Format::of(&path.display().to_string(), &String::from_utf8_lossy(head));
    format.unwrap_or_else(found) == Format::Ndjson
}

fn too_long(path: &Path, max: u64) -> Box<Diagnostic> {
    let message = format!("`{}` is too long: the limit is {}", path.display(), format_size(max, BINARY));
    Diagnostic::new(Code::LimitSourceBytes, message)
}

/// Parses a size: a number of bytes, or of a unit such as `KiB`, `M` or `G`. Units are powers of 1,024.
pub(crate) fn size(text: &str) -> std::result::Result<u64, String> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let shift = match unit.trim_end_matches("iB").trim_end_matches('B') {
        "" => 0,
        "K" | "k" => 10,
        "M" => 20,
        "G" => 30,
        _ => return Err("expected a size such as 64MiB".to_owned()),
    };
    let number: Option<u64> = number.parse().ok();
    number.and_then(|number| number.checked_mul(1 << shift)).ok_or_else(|| "expected a size such as 64MiB".to_owned())
}

/// Refuses a URL in place of a file. `option` reads standard input.
///
/// # Errors
/// `usage`.
pub(crate) fn refuse_url(path: &Path, option: &str) -> Result<()> {
    let text = path.to_string_lossy();
    let is_scheme = |c: char| c.is_ascii_alphanumeric() || "+.-".contains(c);
    match text.split_once("://") {
        Some((scheme, _)) if !scheme.is_empty() && scheme.chars().all(is_scheme) => {
            let message =
                format!("cannot read `{text}`: URLs are not read, so that the same files give the same output");
            let help = format!("fetch it yourself: `curl -fsSL '{text}' | dropforge … {option}`");
            Err(Diagnostic::new(Code::Usage, message).with_help(help))
        }
        _ => Ok(()),
    }
}

/// Refuses a URL that cannot be read: see [`refuse_url`]. Those of object stores, registries and files can.
///
/// # Errors
/// `usage`.
pub(crate) fn refuse_other_url(path: &Path, option: &str) -> Result<()> {
    if remote::is_url(path) { Ok(()) } else { refuse_url(path, option) }
}

/// Returns `true` for `-`, which is standard input or output.
pub(crate) fn is_dash(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Decodes the content of `path` as text.
///
/// # Errors
/// `syntax.not_utf8`.
pub(crate) fn source(path: &Path, bytes: Vec<u8>) -> Result<Arc<Source>> {
    let name = path.display().to_string();
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Source::new(name, text)),
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            Err(Diagnostic::new(Code::NotUtf8, format!("`{name}` is not valid UTF-8 at byte {}", thousands(at))))
        }
    }
}

/// Returns the error of a file or directory that cannot be read.
pub(crate) fn unreadable(path: &Path, error: io::Error) -> Box<Diagnostic> {
    Diagnostic::new(Code::ReadFailed, format!("cannot read `{}`: {error}", path.display())).caused_by(error)
}
