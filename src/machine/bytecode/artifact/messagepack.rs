//! Writing MessagePack.

use rmp::encode::{self, ByteBuf};

use dropforge_base::diagnostics::Result;
use dropforge_value::Data;

use super::write::too_large;

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
