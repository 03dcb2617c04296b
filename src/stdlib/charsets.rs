//! Character encodings by their registered names.

use encoding_rs::Encoding;
use oem_cp::code_table as table;

/// A character encoding.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Charset {
    /// UTF-16 with a byte order mark, written as big endian.
    MarkedUtf16,
    /// UTF-16 without a byte order mark; `true` for big endian.
    Utf16(bool),
    /// One byte for each of the first code points, of which there are this many.
    Latin(u32),
    /// ASCII and an upper half of 128 characters.
    Page(&'static [char; 128]),
    /// Any other encoding.
    Other(&'static Encoding),
}

/// Returns the encoding `name`, ignoring case.
pub(crate) fn charset(name: &str) -> Option<Charset> {
    let lower = name.to_ascii_lowercase();
    Some(match lower.as_str() {
        "utf-16le" => Charset::Utf16(false),
        "utf-16be" => Charset::Utf16(true),
        "utf-16" => Charset::MarkedUtf16,
        "us-ascii" | "ascii" | "iso646-us" | "us" | "cp367" | "ibm367" | "ansi_x3.4-1968" => Charset::Latin(0x80),
        "iso-8859-1" | "iso_8859-1" | "latin1" | "l1" | "ibm819" | "cp819" => Charset::Latin(0x100),
        "x-user-defined" | "replacement" => return None,
        lower => match page(lower) {
            Some(page) => Charset::Page(page),
            None => Charset::Other(Encoding::for_label_no_replacement(lower.as_bytes())?),
        },
    })
}

/// Returns the upper half of an IBM code page, by name or number.
fn page(name: &str) -> Option<&'static [char; 128]> {
    let number = name.strip_prefix("ibm").or_else(|| name.strip_prefix("cp")).unwrap_or(name);
    Some(match number {
        "437" => &table::DECODING_TABLE_CP437,
        "850" => &table::DECODING_TABLE_CP850,
        "852" => &table::DECODING_TABLE_CP852,
        "855" => &table::DECODING_TABLE_CP855,
        "00858" | "ccsid00858" => &table::DECODING_TABLE_CP858,
        "860" => &table::DECODING_TABLE_CP860,
        "862" => &table::DECODING_TABLE_CP862,
        "863" => &table::DECODING_TABLE_CP863,
        "865" => &table::DECODING_TABLE_CP865,
        _ => return None,
    })
}

/// The byte of a character in a code page.
fn byte_in(page: &[char; 128], c: char) -> Option<u8> {
    match u8::try_from(c) {
        Ok(ascii @ 0..=0x7F) => Some(ascii),
        _ => page.iter().position(|own| *own == c).and_then(|at| u8::try_from(at + 0x80).ok()),
    }
}

impl Charset {
    /// Encodes `text`. `None` if a character cannot be encoded.
    pub(crate) fn encode(self, text: &str) -> Option<Vec<u8>> {
        match self {
            Self::MarkedUtf16 => Self::Utf16(true).encode(&format!("\u{FEFF}{text}")),
            Self::Page(page) => text.chars().map(|c| byte_in(page, c)).collect(),
            Self::Utf16(big) => {
                let bytes = |unit: u16| if big { unit.to_be_bytes() } else { unit.to_le_bytes() };
                Some(text.encode_utf16().flat_map(bytes).collect())
            }
            Self::Latin(count) => {
                text.chars().map(|c| u8::try_from(c).ok().filter(|byte| u32::from(*byte) < count)).collect()
            }
            Self::Other(encoding) => match encoding.encode(text) {
                (bytes, _, false) => Some(bytes.into_owned()),
                _ => None,
            },
        }
    }

    /// Decodes `bytes`. `None` if they are invalid.
    pub(crate) fn decode(self, bytes: &[u8]) -> Option<String> {
        match self {
            Self::MarkedUtf16 => match bytes.strip_prefix(&[0xFF, 0xFE]) {
                Some(little) => Self::Utf16(false).decode(little),
                None => Self::Utf16(true).decode(bytes.strip_prefix(&[0xFE, 0xFF]).unwrap_or(bytes)),
            },
            Self::Page(page) => {
                let of = |byte: &u8| match byte.checked_sub(0x80) {
                    Some(at) => page.get(usize::from(at)).copied(),
                    None => Some(char::from(*byte)),
                };
                bytes.iter().map(of).collect()
            }
            Self::Utf16(big) => {
                let (pairs, rest) = bytes.as_chunks();
                let unit = |pair: &[u8; 2]| if big { u16::from_be_bytes(*pair) } else { u16::from_le_bytes(*pair) };
                let text = char::decode_utf16(pairs.iter().map(unit)).collect::<Result<String, _>>().ok();
                text.filter(|_| rest.is_empty())
            }
            Self::Latin(count) => {
                bytes.iter().map(|byte| (u32::from(*byte) < count).then_some(char::from(*byte))).collect()
            }
            Self::Other(encoding) => {
                encoding.decode_without_bom_handling_and_without_replacement(bytes).map(std::borrow::Cow::into_owned)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back_from_every_encoding() {
        for name in ["UTF-8", "utf-16le", "UTF-16BE", "ISO-8859-1", "windows-1250", "Shift_JIS", "us-ascii", "GB18030"]
        {
            let charset = charset(name).unwrap();
            let bytes = charset.encode("plain text").unwrap();
            assert_eq!(charset.decode(&bytes).as_deref(), Some("plain text"), "{name}");
        }
        assert_eq!(charset("UTF-16LE").unwrap().encode("é😀").unwrap(), [0xE9, 0, 0x3D, 0xD8, 0, 0xDE]);
        assert_eq!(charset("latin1").unwrap().encode("é").unwrap(), [0xE9]);
        assert!(charset("NOT-EXISTS").is_none());
        for page in ["IBM437", "cp850", "852", "IBM855", "IBM00858", "IBM860", "IBM862", "IBM863", "IBM865"] {
            let (charset, bytes) = (charset(page).unwrap(), (0..=255).collect::<Vec<u8>>());
            assert_eq!(charset.encode(&charset.decode(&bytes).unwrap()).unwrap(), bytes, "{page}");
            assert!(charset.encode("中").is_none());
        }
        assert_eq!(charset("IBM437").unwrap().encode("aé").unwrap(), [0x61, 0x82]);
        let marked = charset("UTF-16").unwrap();
        assert_eq!(marked.encode("a").unwrap(), [0xFE, 0xFF, 0, 0x61]);
        for bytes in [&[0xFE, 0xFF, 0, 0x61][..], &[0xFF, 0xFE, 0x61, 0], &[0, 0x61]] {
            assert_eq!(marked.decode(bytes).as_deref(), Some("a"));
        }
    }

    #[test]
    fn characters_missing_from_an_encoding_are_refused() {
        assert_eq!(charset("iso-8859-1").unwrap().encode("€"), None);
        assert_eq!(charset("windows-1250").unwrap().encode("🤔"), None);
        assert_eq!(charset("us-ascii").unwrap().decode(&[0x80]), None);
        assert_eq!(charset("utf-16le").unwrap().decode(&[0, 0xD8]), None);
        assert_eq!(charset("utf-16le").unwrap().decode(&[0]), None);
        assert_eq!(charset("utf-8").unwrap().decode(&[0xFF]), None);
    }
}
