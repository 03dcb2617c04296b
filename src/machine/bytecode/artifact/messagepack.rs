//! MessagePack as rmp-serde writes it: a bounded decoder, and a writer.

use rmp::encode::{self, ByteBuf};

use super::write::too_large;
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_value::Data;

/// Decodes values from the front of bytes. Lengths are compared with the remaining bytes before they are used, and
/// nothing nests beyond the format's own structure.
#[derive(Debug, Clone, Copy)]
pub(super) struct Decoder<'b> {
    bytes: &'b [u8],
    pub at: usize,
}

impl<'b> Decoder<'b> {
    pub fn new(bytes: &'b [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Returns the error of bytes that are not what they should be.
    #[cold]
    pub fn damaged(&self, what: &str) -> Box<Diagnostic> {
        let at = self.at;
        Diagnostic::new(Code::ArtifactEncoding, format!("the artifact is damaged at byte {at}: {what}"))
            .with_help("compile it again")
    }

    /// Returns the next `len` bytes.
    fn take(&mut self, len: usize) -> Result<&'b [u8]> {
        let bytes = self.at.checked_add(len).and_then(|end| self.bytes.get(self.at..end));
        let bytes = bytes.ok_or_else(|| self.damaged("it is cut off"))?;
        self.at += len;
        Ok(bytes)
    }

    /// Returns the next `len` bytes (at most 8) as a big-endian number.
    fn number(&mut self, len: usize) -> Result<u64> {
        Ok(self.take(len)?.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    /// Returns the next byte, which stays, or 0 at the end.
    pub fn peek(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or(0)
    }

    fn marker(&mut self) -> Result<u8> {
        Ok(self.number(1)? as u8)
    }

    /// Returns a number in `len` bytes, which must be at least `least`: smaller ones have a shorter form.
    fn wide(&mut self, len: usize, least: u64) -> Result<u64> {
        let number = self.number(len)?;
        if number < least { Err(self.damaged("a number is not written in the shortest form")) } else { Ok(number) }
    }

    pub fn uint(&mut self) -> Result<u64> {
        match self.marker()? {
            small @ 0..=0x7F => Ok(small.into()),
            0xCC => self.wide(1, 0x80),
            0xCD => self.wide(2, 0x100),
            0xCE => self.wide(4, 0x1_0000),
            0xCF => self.wide(8, 0x1_0000_0000),
            _ => Err(self.damaged("a number is expected")),
        }
    }

    /// Returns a negative number.
    pub fn negative(&mut self) -> Result<i64> {
        let (number, most) = match self.marker()? {
            fixed @ 0xE0..=0xFF => (i64::from(fixed as i8), 0),
            0xD0 => (i64::from(self.number(1)? as i8), -0x20),
            0xD1 => (i64::from(self.number(2)? as i16), i64::from(i8::MIN)),
            0xD2 => (i64::from(self.number(4)? as i32), i64::from(i16::MIN)),
            0xD3 => (self.number(8)? as i64, i64::from(i32::MIN)),
            _ => return Err(self.damaged("a negative number is expected")),
        };
        if number < most { Ok(number) } else { Err(self.damaged("a number is not written in the shortest form")) }
    }

    /// Returns a finite float.
    pub fn float(&mut self) -> Result<f64> {
        let number = match self.marker()? {
            0xCB => f64::from_bits(self.number(8)?),
            _ => return Err(self.damaged("a float is expected")),
        };
        if number.is_finite() { Ok(number) } else { Err(self.damaged("a number is not finite")) }
    }

    pub fn narrow<T: TryFrom<u64>>(&mut self) -> Result<T> {
        T::try_from(self.uint()?).map_err(|_| self.damaged("a number is too large"))
    }

    pub fn bool(&mut self) -> Result<bool> {
        match self.marker()? {
            0xC2 => Ok(false),
            0xC3 => Ok(true),
            _ => Err(self.damaged("true or false is expected")),
        }
    }

    pub fn str(&mut self) -> Result<&'b str> {
        let len = match self.marker()? {
            fixed @ 0xA0..=0xBF => u64::from(fixed & 0x1F),
            0xD9 => self.wide(1, 0x20)?,
            0xDA => self.wide(2, 0x100)?,
            0xDB => self.wide(4, 0x1_0000)?,
            _ => return Err(self.damaged("text is expected")),
        };
        let bytes = self.take(len as usize)?;
        std::str::from_utf8(bytes).map_err(|_| self.damaged("text is not UTF-8"))
    }

    pub fn bin(&mut self) -> Result<&'b [u8]> {
        let len = match self.marker()? {
            0xC4 => self.number(1)?,
            0xC5 => self.wide(2, 0x100)?,
            0xC6 => self.wide(4, 0x1_0000)?,
            _ => return Err(self.damaged("bytes are expected")),
        };
        self.take(len as usize)
    }

    /// Returns the length of an array whose elements have at least one byte each.
    pub fn array(&mut self) -> Result<usize> {
        let len = match self.marker()? {
            fixed @ 0x90..=0x9F => u64::from(fixed & 0x0F),
            0xDC => self.wide(2, 0x10)?,
            0xDD => self.wide(4, 0x1_0000)?,
            _ => return Err(self.damaged("a list is expected")),
        };
        self.with_room(len)
    }

    /// Returns a length if there is at least one byte for each element.
    fn with_room(&self, len: u64) -> Result<usize> {
        let left = self.bytes.len() - self.at;
        if len > left as u64 { Err(self.damaged("it is cut off")) } else { Ok(len as usize) }
    }

    /// Returns the number of entries of a map, which have at least one byte each.
    pub(crate) fn map_length(&mut self) -> Result<usize> {
        let len = match self.marker()? {
            fixed @ 0x80..=0x8F => u64::from(fixed & 0x0F),
            0xDE => self.wide(2, 0x10)?,
            0xDF => self.wide(4, 0x1_0000)?,
            _ => return Err(self.damaged("a map is expected")),
        };
        self.with_room(len)
    }

    /// Returns the head of an array of `len` elements.
    pub(crate) fn array_of(&mut self, len: usize) -> Result<()> {
        if self.array()? == len { Ok(()) } else { Err(self.damaged("a list has another length")) }
    }

    /// Exactly `N` bytes.
    pub fn bytes<const N: usize>(&mut self) -> Result<[u8; N]> {
        self.bin()?.try_into().map_err(|_| self.damaged("there are not as many bytes as there should be"))
    }

    /// Returns the head of a map of `len` entries (at most 15).
    pub fn map(&mut self, len: u8) -> Result<()> {
        if self.marker()? == 0x80 | len { Ok(()) } else { Err(self.damaged("another map is expected")) }
    }

    /// Returns the key `name` (at most 31 bytes).
    pub fn key(&mut self, name: &str) -> Result<()> {
        let left = self.bytes.get(self.at..).unwrap_or(&[]);
        match left.split_first() {
            Some((&marker, rest)) if usize::from(marker ^ 0xA0) == name.len() && rest.starts_with(name.as_bytes()) => {
                self.at += 1 + name.len();
                Ok(())
            }
            _ => Err(self.damaged(&format!("the key `{name}` is expected"))),
        }
    }

    /// Requires that no bytes are left.
    pub fn end(&self) -> Result<()> {
        if self.at == self.bytes.len() { Ok(()) } else { Err(self.damaged("there is more data after its end")) }
    }
}

/// A growing text of MessagePack. Errors are lengths beyond 32 bits.
#[derive(Debug, Default)]
pub(super) struct MessagePack(ByteBuf);

impl MessagePack {
    /// Creates an empty text with room for `capacity` bytes.
    pub fn with_capacity(capacity: usize) -> Self {
        Self(ByteBuf::with_capacity(capacity))
    }

    /// Returns the bytes.
    pub fn into_bytes(self) -> Vec<u8> {
        self.0.into_vec()
    }

    /// Begins a map of `len` entries. Each is a key and a value.
    pub fn map(&mut self, len: usize) -> Result<&mut Self> {
        encode::write_map_len(&mut self.0, length(len)?).map_err(|_| too_large())?;
        Ok(self)
    }

    /// Begins a list of `len` items.
    pub fn list(&mut self, len: usize) -> Result<&mut Self> {
        encode::write_array_len(&mut self.0, length(len)?).map_err(|_| too_large())?;
        Ok(self)
    }

    pub fn str(&mut self, text: &str) -> Result<&mut Self> {
        length(text.len())?;
        encode::write_str(&mut self.0, text).map_err(|_| too_large())?;
        Ok(self)
    }

    pub fn bin(&mut self, bytes: &[u8]) -> Result<&mut Self> {
        length(bytes.len())?;
        encode::write_bin(&mut self.0, bytes).map_err(|_| too_large())?;
        Ok(self)
    }

    pub fn uint(&mut self, number: u64) -> Result<&mut Self> {
        encode::write_uint(&mut self.0, number).map_err(|_| too_large())?;
        Ok(self)
    }

    pub fn bool(&mut self, truth: bool) -> Result<&mut Self> {
        encode::write_bool(&mut self.0, truth).map_err(|_| too_large())?;
        Ok(self)
    }

    /// Writes a value. It is not deeper than its reader allowed.
    pub fn data(&mut self, data: &Data) -> Result<&mut Self> {
        match data {
            Data::Null => encode::write_nil(&mut self.0).map_err(|_| too_large())?,
            Data::Bool(truth) => return self.bool(*truth),
            Data::Int(number) => drop(encode::write_sint(&mut self.0, *number).map_err(|_| too_large())?),
            Data::Uint(number) => return self.uint(*number),
            Data::Float(number) => encode::write_f64(&mut self.0, *number).map_err(|_| too_large())?,
            Data::Number(text) => return self.bin(text.as_bytes()),
            Data::Str(text) => return self.str(text),
            Data::List(items) => {
                self.list(items.len())?;
                items.iter().try_for_each(|item| self.data(item).map(drop))?;
            }
            Data::Map(map) => {
                self.map(map.len())?;
                map.iter().try_for_each(|(key, value)| self.str(key)?.data(value).map(drop))?;
            }
        }
        Ok(self)
    }
}

fn length(len: usize) -> Result<u32> {
    u32::try_from(len).map_err(|_| too_large())
}
