//! Files in an artifact that a language needs besides its programs, and their values.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::super::header::Dialect;
use super::super::pool::Pool;
use super::super::verify::{Rule, Rules};
use super::format::{head, sorted_name};
use super::messagepack::Decoder;
use dropforge_base::diagnostics::Result;
use dropforge_base::text::Text;
use dropforge_value::{Data, DataMap};

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
/// may be damaged after its first [`HEAD`] bytes.
///
/// ```
/// use dropforge::bytecode::{Dialect, FileEntry, FileSet, encode_with_files, owner};
/// let file = FileEntry { path: "notes/a.txt", content: b"a note", value: None };
/// let files = FileSet { dialect: Dialect::Tera, name: "web", files: &[file] };
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

/// Maximum nesting of a value, that of inputs.
const LEVELS: usize = 128;

/// A value in an artifact. It is decoded when it is requested. Cheap to clone.
#[derive(Clone)]
pub struct StoredValue {
    bytes: Arc<[u8]>,
    range: Range<usize>,
}

impl StoredValue {
    pub(super) fn new(bytes: &Arc<[u8]>, range: Range<usize>) -> Self {
        Self { bytes: bytes.clone(), range }
    }

    /// Decodes the value.
    ///
    /// # Errors
    /// `artifact.encoding`.
    pub fn data(&self) -> Result<Data> {
        data(self.bytes.get(self.range.clone()).unwrap_or(&[]))
    }
}

impl fmt::Debug for StoredValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StoredValue").field(&self.range.len()).finish()
    }
}

/// Decodes bytes that are exactly one value.
pub(super) fn data(bytes: &[u8]) -> Result<Data> {
    let mut reader = Reader { decoder: Decoder::new(bytes), items: bytes.len() };
    let data = reader.value(LEVELS)?;
    reader.decoder.end()?;
    Ok(data)
}

struct Reader<'b> {
    decoder: Decoder<'b>,
    /// The number of items that are still to come at most, in all lists and maps: each has a byte.
    items: usize,
}

impl Reader<'_> {
    /// Decodes a value of at most `levels` levels.
    fn value(&mut self, levels: usize) -> Result<Data> {
        let decoder = &mut self.decoder;
        Ok(match decoder.peek() {
            0xA0..=0xBF | 0xD9..=0xDB => Data::Str(decoder.str()?.to_owned()),
            0xC4..=0xC6 => {
                let text = std::str::from_utf8(decoder.bin()?).ok();
                let number = text.and_then(Data::number).filter(|number| matches!(number, Data::Number(_)));
                number.ok_or_else(|| decoder.damaged("a number is expected"))?
            }
            0xCB => Data::Float(decoder.float()?),
            0xC2 | 0xC3 => Data::Bool(decoder.bool()?),
            0x80..=0x8F | 0xDE | 0xDF => Data::Map(self.map(levels)?),
            0x90..=0x9F | 0xDC | 0xDD => Data::List(self.list(levels)?),
            0xC0 => {
                decoder.at += 1;
                Data::Null
            }
            0xE0..=0xFF | 0xD0..=0xD3 => Data::Int(decoder.negative()?),
            _ => Data::uint(decoder.uint()?),
        })
    }

    fn list(&mut self, levels: usize) -> Result<Vec<Data>> {
        let length = self.decoder.array()?;
        let levels = self.enter(length, levels)?;
        let mut items = Vec::with_capacity(length);
        for _ in 0..length {
            items.push(self.value(levels)?);
        }
        Ok(items)
    }

    fn map(&mut self, levels: usize) -> Result<DataMap> {
        let length = self.decoder.map_length()?;
        let levels = self.enter(length, levels)?;
        let mut map = DataMap::with_capacity_and_hasher(length, Default::default());
        for _ in 0..length {
            let key = self.decoder.str()?.to_owned();
            let value = self.value(levels)?;
            if map.insert(key, value).is_some() {
                return Err(self.decoder.damaged("a map has a key twice"));
            }
        }
        Ok(map)
    }

    /// Begins a collection. Returns the number of levels inside.
    fn enter(&mut self, length: usize, levels: usize) -> Result<usize> {
        match (self.items.checked_sub(length), levels.checked_sub(1)) {
            (Some(items), Some(levels)) => {
                self.items = items;
                Ok(levels)
            }
            (None, _) => Err(self.decoder.damaged("it is cut off")),
            (_, None) => Err(self.decoder.damaged("a value nests too deep")),
        }
    }
}
