//! Files in an artifact: those that a language needs beside its programs.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::super::header::Dialect;
use super::super::pool::Pool;
use super::super::verify::{Rule, Rules};
use super::decoder::Decoder;
use super::format::{head, sorted_name};
use crate::diagnostics::Result;

/// The number of bytes of an artifact that [`owner`] needs.
pub const HEAD: usize = 256;

/// The files of an artifact and the language that owns them. Cheap to clone.
#[derive(Clone)]
pub struct Resources {
    dialect: Dialect,
    name: Box<str>,
    files: Arc<[(Box<str>, Place)]>,
    text: Pool,
    bytes: Arc<[u8]>,
}

/// The place of a file's content.
#[derive(Debug, Clone)]
enum Place {
    /// A part of the artifact's text.
    Text(Range<usize>),
    /// A part of the artifact's bytes.
    Bytes(Range<usize>),
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

    /// Returns the paths and contents, sorted by path.
    pub fn files(&self) -> impl ExactSizeIterator<Item = (&str, &[u8])> {
        self.files.iter().map(|(path, place)| (&**path, self.content(place)))
    }

    fn content(&self, place: &Place) -> &[u8] {
        let content = match place {
            Place::Text(range) => self.text.text().get(range.clone()).map(str::as_bytes),
            Place::Bytes(range) => self.bytes.get(range.clone()),
        };
        content.unwrap_or(&[])
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
    files: Vec<(&'b str, Place)>,
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
        let mut files: Vec<(&str, Place)> = Vec::new();
        for _ in 0..decoder.array()? {
            decoder.array_of(4)?;
            let path = sorted_name(decoder.str()?, files.last().map(|(last, _)| *last), rules)?;
            let is_text = decoder.bool()?;
            let range = decoder.narrow()?..decoder.narrow()?;
            files.push((path, if is_text { Place::Text(range) } else { Place::Bytes(range) }));
        }
        Ok(Self { dialect, name, files })
    }

    /// Checks that the contents are parts of `text` and `bytes`, and of nothing that they begin or end within.
    pub fn check(&self, text: &str, bytes: &[u8]) -> Result<()> {
        let is_there = |place: &Place| match place {
            Place::Text(range) => text.get(range.clone()).is_some(),
            Place::Bytes(range) => bytes.get(range.clone()).is_some(),
        };
        match self.files.iter().find(|(_, place)| !is_there(place)) {
            None => Ok(()),
            Some((path, _)) => {
                Err(Rule::V15.broken(format_args!("the file `{}` leaves the artifact", path.escape_debug())))
            }
        }
    }

    /// Returns the files with their contents.
    pub fn with(self, text: Pool, bytes: Arc<[u8]>) -> Resources {
        let files = self.files.into_iter().map(|(path, place)| (path.into(), place)).collect();
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
/// use dropforge::bytecode::{Dialect, Files, encode_with_files, owner};
/// let files = Files { dialect: Dialect::Tera, name: "web", files: &[("notes/a.txt", b"a note".as_slice())] };
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
