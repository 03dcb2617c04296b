//! The bounded decoder: MessagePack as `rmp-serde` writes it and no other.

use std::ops::Range;

use super::{DIGEST, ENGINE, FORMAT, MAGIC, fingerprint};
use crate::diagnostics::{Code, Diagnostic, Result};

/// Reads values off the front of bytes. Lengths are held against the bytes that are left before anything is
/// done with them; nothing nests but as the format says.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reader<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> Reader<'b> {
    pub fn new(bytes: &'b [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    #[cold]
    fn fault(&self, what: &str) -> Box<Diagnostic> {
        let at = self.at;
        Diagnostic::new(Code::ArtifactEncoding, format!("the artifact is damaged at byte {at}: {what}"))
            .with_help("compile it again")
    }

    /// The next `len` bytes.
    fn take(&mut self, len: usize) -> Result<&'b [u8]> {
        let bytes = self.at.checked_add(len).and_then(|end| self.bytes.get(self.at..end));
        let bytes = bytes.ok_or_else(|| self.fault("it is cut off"))?;
        self.at += len;
        Ok(bytes)
    }

    /// The next `len` bytes (at most 8) as a big-endian number.
    fn number(&mut self, len: usize) -> Result<u64> {
        Ok(self.take(len)?.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    fn marker(&mut self) -> Result<u8> {
        Ok(self.number(1)? as u8)
    }

    /// A number that must be written with more bytes than are enough for one below `least`.
    fn wide(&mut self, len: usize, least: u64) -> Result<u64> {
        let number = self.number(len)?;
        if number < least { Err(self.fault("a number is not written in the shortest form")) } else { Ok(number) }
    }

    pub fn uint(&mut self) -> Result<u64> {
        match self.marker()? {
            small @ 0..=0x7F => Ok(small.into()),
            0xCC => self.wide(1, 0x80),
            0xCD => self.wide(2, 0x100),
            0xCE => self.wide(4, 0x1_0000),
            0xCF => self.wide(8, 0x1_0000_0000),
            _ => Err(self.fault("a number is expected")),
        }
    }

    pub fn narrow<T: TryFrom<u64>>(&mut self) -> Result<T> {
        T::try_from(self.uint()?).map_err(|_| self.fault("a number is too large"))
    }

    pub fn bool(&mut self) -> Result<bool> {
        match self.marker()? {
            0xC2 => Ok(false),
            0xC3 => Ok(true),
            _ => Err(self.fault("true or false is expected")),
        }
    }

    pub fn str(&mut self) -> Result<&'b str> {
        let len = match self.marker()? {
            fixed @ 0xA0..=0xBF => u64::from(fixed & 0x1F),
            0xD9 => self.wide(1, 0x20)?,
            0xDA => self.wide(2, 0x100)?,
            0xDB => self.wide(4, 0x1_0000)?,
            _ => return Err(self.fault("text is expected")),
        };
        let bytes = self.take(len as usize)?;
        std::str::from_utf8(bytes).map_err(|_| self.fault("text is not UTF-8"))
    }

    pub fn bin(&mut self) -> Result<&'b [u8]> {
        let len = match self.marker()? {
            0xC4 => self.number(1)?,
            0xC5 => self.wide(2, 0x100)?,
            0xC6 => self.wide(4, 0x1_0000)?,
            _ => return Err(self.fault("bytes are expected")),
        };
        self.take(len as usize)
    }

    /// The length of an array, each element of which has at least one byte.
    pub fn array(&mut self) -> Result<usize> {
        let len = match self.marker()? {
            fixed @ 0x90..=0x9F => u64::from(fixed & 0x0F),
            0xDC => self.wide(2, 0x10)?,
            0xDD => self.wide(4, 0x1_0000)?,
            _ => return Err(self.fault("a list is expected")),
        };
        let left = self.bytes.len() - self.at;
        if len > left as u64 { Err(self.fault("it is cut off")) } else { Ok(len as usize) }
    }

    /// The head of an array with `len` elements.
    pub fn array_of(&mut self, len: usize) -> Result<()> {
        if self.array()? == len { Ok(()) } else { Err(self.fault("a list has another length")) }
    }

    /// Exactly `N` bytes.
    pub fn bytes<const N: usize>(&mut self) -> Result<[u8; N]> {
        self.bin()?.try_into().map_err(|_| self.fault("there are not as many bytes as there should be"))
    }

    /// The head of a map with `len` entries (at most 15).
    pub fn map(&mut self, len: u8) -> Result<()> {
        if self.marker()? == 0x80 | len { Ok(()) } else { Err(self.fault("another map is expected")) }
    }

    /// The key `name` (at most 31 bytes).
    pub fn key(&mut self, name: &str) -> Result<()> {
        let left = self.bytes.get(self.at..).unwrap_or(&[]);
        match left.split_first() {
            Some((&marker, rest)) if usize::from(marker ^ 0xA0) == name.len() && rest.starts_with(name.as_bytes()) => {
                self.at += 1 + name.len();
                Ok(())
            }
            _ => Err(self.fault(&format!("the key `{name}` is expected"))),
        }
    }

    /// Nothing is left.
    pub fn end(&self) -> Result<()> {
        if self.at == self.bytes.len() { Ok(()) } else { Err(self.fault("there is more behind its end")) }
    }
}

/// What every artifact begins with.
#[derive(Debug, Clone)]
pub(super) struct Head {
    /// Where the digest is.
    pub digest: Range<usize>,
}

/// How many entries the map of a file has.
const ENTRIES: u8 = 9;

/// Reads the head of a file and refuses what this engine did not write.
pub(super) fn head(reader: &mut Reader<'_>) -> Result<Head> {
    let is_ours =
        reader.map(ENTRIES).is_ok() && reader.key("magic").is_ok() && reader.str().is_ok_and(|it| it == MAGIC);
    if !is_ours {
        let error = Diagnostic::new(Code::NotAnArtifact, "this is not an artifact of dropforge");
        return Err(error.with_help("`dropforge compile` makes one"));
    }
    reader.key("format")?;
    let format = reader.uint()?;
    if format != FORMAT {
        return Err(other_version(format_args!("format {format}, not {FORMAT}")));
    }
    reader.key("engine")?;
    let engine = reader.str()?;
    if engine != ENGINE {
        return Err(other_version(format_args!("version {}, not {ENGINE}", engine.escape_debug())));
    }
    reader.key("isa")?;
    let isa = reader.uint()?;
    if isa != fingerprint() {
        return Err(other_version(format_args!("instruction set {isa:016x}, not {:016x}", fingerprint())));
    }
    reader.key("digest")?;
    reader.bytes::<DIGEST>()?;
    Ok(Head { digest: reader.at - DIGEST..reader.at })
}

#[cold]
fn other_version(what: std::fmt::Arguments<'_>) -> Box<Diagnostic> {
    Diagnostic::new(Code::ArtifactVersion, format!("the artifact was compiled by another version ({what})"))
        .with_help("compile it again")
}

/// Where the digest of a file is, and what it must be: all bytes behind it. What stands before it is the same
/// in every file of this version.
pub(super) fn digest_of(bytes: &[u8]) -> Result<(Range<usize>, [u8; DIGEST])> {
    let Head { digest } = head(&mut Reader::new(bytes))?;
    let hash = blake3::hash(bytes.get(digest.end..).unwrap_or(&[]));
    Ok((digest, *hash.as_bytes()))
}
