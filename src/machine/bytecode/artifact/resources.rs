//! Files in an artifact: those that a language needs beside its programs.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::super::header::Dialect;
use super::super::pool::Pool;
use super::super::verify::{Rule, Rules};
use super::decoder::Decoder;
use super::format::{head, sorted_name};
use super::stored::StoredValue;
use dropforge_base::diagnostics::Result;
use dropforge_base::text::Text;

/// The number of bytes of an artifact that [`owner`] needs.
pub const HEAD: usize = 256;

/// The files of an artifact and the language that owns them. Cheap to clone.
#[derive(Clone)]
pub struct Resources {
    dialect: Dialect,
    name: Box<str>,
    files: Arc<[Listing<Box<str>>]>,
    text: Pool,
    bytes: Arc<[u8]>,
}

/// A file and the places of its content and value.
#[derive(Debug, Clone)]
struct Listing<P> {
    path: P,
    /// `true` if the content is a part of the artifact's text, `false` if it is one of the bytes.
    is_text: bool,
    content: Range<usize>,
    /// A part of the bytes.
    value: Option<Range<usize>>,
}

impl Resources {
    /// Returns the language that owns the files.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Returns the name that the language gave them.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the files, sorted by path.
    pub fn files(&self) -> impl ExactSizeIterator<Item = ResourceFile<'_>> {
        self.files.iter().map(|file| ResourceFile { resources: self, file })
    }
}

/// A file of an artifact.
#[derive(Debug, Clone, Copy)]
pub struct ResourceFile<'r> {
    resources: &'r Resources,
    file: &'r Listing<Box<str>>,
}

impl<'r> ResourceFile<'r> {
    /// Returns the path.
    pub fn path(&self) -> &'r str {
        &self.file.path
    }

    /// Returns the content.
    pub fn bytes(&self) -> &'r [u8] {
        let range = self.file.content.clone();
        let content = match self.file.is_text {
            true => self.resources.text.text().get(range).map(str::as_bytes),
            false => self.resources.bytes.get(range),
        };
        content.unwrap_or(&[])
    }

    /// Returns the content without copying it, if it is text.
    pub fn text(&self) -> Option<Text> {
        self.file.is_text.then(|| self.resources.text.range(self.file.content.clone()))
    }

    /// Returns the value that the language read from the file.
    pub fn value(&self) -> Option<StoredValue> {
        self.file.value.as_ref().map(|range| StoredValue::new(&self.resources.bytes, range.clone()))
    }
}

impl fmt::Debug for Resources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resources").field("name", &self.name).field("files", &self.files.len()).finish_non_exhaustive()
    }
}

/// The files of an artifact whose contents were not read.
pub(super) struct Listed<'b> {
    dialect: Dialect,
    name: &'b str,
    files: Vec<Listing<&'b str>>,
}

impl<'b> Listed<'b> {
    /// Reads a list of none or one set of files.
    pub fn read(decoder: &mut Decoder<'b>, rules: Rules) -> Result<Option<Self>> {
        match decoder.array()? {
            0 => Ok(None),
            1 => Self::one(decoder, rules).map(Some),
            _ => Err(decoder.damaged("there is more than one set of files")),
        }
    }

    fn one(decoder: &mut Decoder<'b>, rules: Rules) -> Result<Self> {
        let dialect = dialect(decoder)?;
        decoder.key("name")?;
        let name = sorted_name(decoder.str()?, None, rules)?;
        decoder.key("files")?;
        let mut files: Vec<Listing<&str>> = Vec::new();
        for _ in 0..decoder.array()? {
            let last = files.last().map(|last| last.path);
            files.push(Self::file(decoder, last, rules)?);
        }
        Ok(Self { dialect, name, files })
    }

    fn file(decoder: &mut Decoder<'b>, last: Option<&str>, rules: Rules) -> Result<Listing<&'b str>> {
        decoder.array_of(5)?;
        let path = sorted_name(decoder.str()?, last, rules)?;
        let is_text = decoder.bool()?;
        let content = decoder.narrow()?..decoder.narrow()?;
        let value = match decoder.array()? {
            0 => None,
            2 => Some(decoder.narrow()?..decoder.narrow()?),
            _ => return Err(decoder.damaged("a place is expected")),
        };
        Ok(Listing { path, is_text, content, value })
    }

    /// Checks that the contents and values are parts of `text` and `bytes`, and begin and end at a character.
    pub fn check(&self, text: &str, bytes: &[u8]) -> Result<()> {
        let is_part = |range: &Range<usize>| bytes.get(range.clone()).is_some();
        let is_there = |file: &&Listing<&str>| {
            let content = if file.is_text { text.get(file.content.clone()).is_some() } else { is_part(&file.content) };
            content && file.value.as_ref().is_none_or(is_part)
        };
        match self.files.iter().find(|file| !is_there(file)) {
            None => Ok(()),
            Some(file) => {
                Err(Rule::V15.broken(format_args!("the file `{}` leaves the artifact", file.path.escape_debug())))
            }
        }
    }

    /// Returns the files with their contents.
    pub fn with(self, text: Pool, bytes: Arc<[u8]>) -> Resources {
        let files = self.files.into_iter();
        let files = files.map(|Listing { path, is_text, content, value }| Listing {
            path: path.into(),
            is_text,
            content,
            value,
        });
        let files = files.collect();
        Resources { dialect: self.dialect, name: self.name.into(), files, text, bytes }
    }
}

/// Reads the head of a set of files.
fn dialect(decoder: &mut Decoder<'_>) -> Result<Dialect> {
    decoder.map(3)?;
    decoder.key("dialect")?;
    Dialect::from_number(decoder.narrow()?).ok_or_else(|| Rule::V1.broken("no such language"))
}

/// Returns the language that owns the files of an artifact, if it has any. `start` is the beginning of the artifact, which
/// may be damaged behind its first [`HEAD`] bytes.
///
/// ```
/// use dropforge::bytecode::{Dialect, FileEntry, Files, encode_with_files, owner};
/// let file = FileEntry { path: "notes/a.txt", content: b"a note", value: None };
/// let files = Files { dialect: Dialect::Tera, name: "web", files: &[file] };
/// let artifact = encode_with_files(&[], &files, false)?;
/// assert_eq!(owner(&artifact), Some(Dialect::Tera));
/// assert_eq!(owner(b"a note"), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn owner(start: &[u8]) -> Option<Dialect> {
    let mut decoder = Decoder::new(start);
    head(&mut decoder).ok()?;
    decoder.key("stripped").ok()?;
    decoder.bool().ok()?;
    decoder.key("resources").ok()?;
    match start.get(decoder.at) {
        Some(0x91) => {}
        _ => return None,
    }
    decoder.at += 1;
    dialect(&mut decoder).ok()
}
