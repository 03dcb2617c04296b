//! Values in an artifact: what a language read from a file, in MessagePack.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::decoder::Decoder;
use dropforge_base::diagnostics::Result;
use dropforge_value::{Data, DataMap};

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
