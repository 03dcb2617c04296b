//! Character encodings by their names in the registry of IANA, as far as the reference has them.

use std::collections::HashMap;
use std::sync::OnceLock;

use encoding_rs::{EUC_JP, Encoding, GB18030};
use oem_cp::code_table as table;

/// A character encoding.
#[derive(Debug, Clone, Copy)]
pub enum Charset {
    /// UTF-16 with a byte order mark, written as big endian.
    MarkedUtf16,
    /// UTF-16 without a byte order mark; `true` for big endian.
    Utf16(bool),
    /// One byte for each of the first code points, of which there are this many.
    Latin(u32),
    /// ASCII and an upper half of 128 characters.
    Page(&'static [char; 128]),
    /// Any 256 characters.
    Table(&'static [char; 256]),
    /// GB 2312 in seven bits, between `~{` and `~}`.
    Hz,
    /// The encoding of this name in the Encoding Standard.
    Standard(&'static str),
}

/// The names of each encoding, in lower case.
const NAMES: &[(&str, Charset)] = &[
    (
        "us-ascii iso-ir-6 ansi_x3.4-1968 ansi_x3.4-1986 iso_646.irv:1991 iso646-us us ibm367 cp367 csascii",
        Charset::Latin(0x80),
    ),
    ("utf-8 csutf8", Charset::Standard("utf-8")),
    ("utf-16 csutf16", Charset::MarkedUtf16),
    ("utf-16be csutf16be", Charset::Utf16(true)),
    ("utf-16le csutf16le", Charset::Utf16(false)),
    ("iso-8859-1 iso_8859-1:1987 iso-ir-100 iso_8859-1 latin1 l1 ibm819 cp819 csisolatin1", Charset::Latin(0x100)),
    ("iso-8859-2 iso_8859-2:1987 iso-ir-101 iso_8859-2 latin2 l2 csisolatin2", Charset::Standard("iso-8859-2")),
    ("iso-8859-3 iso_8859-3:1988 iso-ir-109 iso_8859-3 latin3 l3 csisolatin3", Charset::Standard("iso-8859-3")),
    ("iso-8859-4 iso_8859-4:1988 iso-ir-110 iso_8859-4 latin4 l4 csisolatin4", Charset::Standard("iso-8859-4")),
    ("iso-8859-5 iso_8859-5:1988 iso-ir-144 iso_8859-5 cyrillic csisolatincyrillic", Charset::Standard("iso-8859-5")),
    (
        "iso-8859-6 iso_8859-6:1987 iso-ir-127 iso_8859-6 ecma-114 asmo-708 arabic csisolatinarabic",
        Charset::Standard("iso-8859-6"),
    ),
    ("iso-8859-6-e iso_8859-6-e csiso88596e", Charset::Standard("iso-8859-6")),
    ("iso-8859-6-i iso_8859-6-i csiso88596i", Charset::Standard("iso-8859-6")),
    (
        "iso-8859-7 iso_8859-7:1987 iso-ir-126 iso_8859-7 elot_928 ecma-118 greek greek8 csisolatingreek",
        Charset::Standard("iso-8859-7"),
    ),
    ("iso-8859-8 iso_8859-8:1988 iso-ir-138 iso_8859-8 hebrew csisolatinhebrew", Charset::Standard("iso-8859-8")),
    ("iso-8859-8-e iso_8859-8-e csiso88598e", Charset::Standard("iso-8859-8")),
    ("iso-8859-8-i iso_8859-8-i csiso88598i", Charset::Standard("iso-8859-8")),
    ("iso-8859-9 iso_8859-9:1989 iso-ir-148 iso_8859-9 latin5 l5 csisolatin5", Charset::Page(&LATIN5)),
    ("iso-8859-10 iso-ir-157 l6 iso_8859-10:1992 csisolatin6 latin6", Charset::Standard("iso-8859-10")),
    ("iso-8859-13 csiso885913", Charset::Standard("iso-8859-13")),
    (
        "iso-8859-14 iso-ir-199 iso_8859-14:1998 iso_8859-14 latin8 iso-celtic l8 csiso885914",
        Charset::Standard("iso-8859-14"),
    ),
    ("iso-8859-15 iso_8859-15 latin-9 csiso885915", Charset::Standard("iso-8859-15")),
    ("iso-8859-16 iso-ir-226 iso_8859-16:2001 iso_8859-16 latin10 l10 csiso885916", Charset::Standard("iso-8859-16")),
    ("windows-874 cswindows874", Charset::Standard("windows-874")),
    ("windows-1250 cswindows1250", Charset::Standard("windows-1250")),
    ("windows-1251 cswindows1251", Charset::Standard("windows-1251")),
    ("windows-1252 cswindows1252", Charset::Standard("windows-1252")),
    ("windows-1253 cswindows1253", Charset::Standard("windows-1253")),
    ("windows-1254 cswindows1254", Charset::Standard("windows-1254")),
    ("windows-1255 cswindows1255", Charset::Standard("windows-1255")),
    ("windows-1256 cswindows1256", Charset::Standard("windows-1256")),
    ("windows-1257 cswindows1257", Charset::Standard("windows-1257")),
    ("windows-1258 cswindows1258", Charset::Standard("windows-1258")),
    ("koi8-r cskoi8r", Charset::Standard("koi8-r")),
    ("koi8-u cskoi8u", Charset::Standard("koi8-u")),
    ("macintosh mac csmacintosh", Charset::Standard("macintosh")),
    ("ibm037 cp037 ebcdic-cp-us ebcdic-cp-ca ebcdic-cp-wt ebcdic-cp-nl csibm037", Charset::Table(&CP037)),
    ("ibm437 cp437 437 cspc8codepage437", Charset::Page(&table::DECODING_TABLE_CP437)),
    ("ibm850 cp850 850 cspc850multilingual", Charset::Page(&table::DECODING_TABLE_CP850)),
    ("ibm852 cp852 852 cspcp852", Charset::Page(&table::DECODING_TABLE_CP852)),
    ("ibm855 cp855 855 csibm855", Charset::Page(&table::DECODING_TABLE_CP855)),
    ("ibm00858 ccsid00858 cp00858 pc-multilingual-850+euro csibm00858", Charset::Page(&table::DECODING_TABLE_CP858)),
    ("ibm860 cp860 860 csibm860", Charset::Page(&table::DECODING_TABLE_CP860)),
    ("ibm862 cp862 862 cspc862latinhebrew", Charset::Page(&table::DECODING_TABLE_CP862)),
    ("ibm863 cp863 863 csibm863", Charset::Page(&table::DECODING_TABLE_CP863)),
    ("ibm865 cp865 865 csibm865", Charset::Page(&table::DECODING_TABLE_CP865)),
    ("ibm866 cp866 866 csibm866", Charset::Standard("ibm866")),
    ("ibm1047 ibm-1047 csibm1047", Charset::Table(&CP1047)),
    ("ibm01140 ccsid01140 cp01140 ebcdic-us-37+euro csibm01140", Charset::Table(&CP1140)),
    ("shift_jis ms_kanji csshiftjis", Charset::Standard("shift_jis")),
    ("euc-jp extended_unix_code_packed_format_for_japanese cseucpkdfmtjapanese", Charset::Standard("euc-jp")),
    ("iso-2022-jp csiso2022jp", Charset::Standard("iso-2022-jp")),
    ("euc-kr cseuckr", Charset::Standard("euc-kr")),
    ("gb18030 csgb18030", Charset::Standard("gb18030")),
    ("gbk cp936 ms936 windows-936 csgbk", Charset::Standard("gbk")),
    ("big5 csbig5", Charset::Standard("big5")),
    ("hz-gb-2312", Charset::Hz),
];

/// Returns the encoding `name`, ignoring case and surrounding spaces.
pub fn charset(name: &str) -> Option<Charset> {
    let name = name.trim().to_lowercase();
    NAMES.iter().find(|(names, _)| names.split(' ').any(|own| own == name)).map(|(_, charset)| *charset)
}

/// Returns the usual names of all encodings.
pub fn charset_names() -> impl Iterator<Item = &'static str> {
    NAMES.iter().filter_map(|(names, _)| names.split(' ').next())
}

/// The upper half of ISO-8859-9.
const LATIN5: [char; 128] = {
    let mut page = ['\0'; 128];
    let mut at = 0;
    while at < 128 {
        page[at] = (at as u8 + 0x80) as char;
        at += 1;
    }
    page[0x50] = 'Ğ';
    page[0x5D] = 'İ';
    page[0x5E] = 'Ş';
    page[0x70] = 'ğ';
    page[0x7D] = 'ı';
    page[0x7E] = 'ş';
    page
};

/// The characters of IBM037, all of which ISO-8859-1 has.
const CP037: [char; 256] = {
    #[rustfmt::skip]
    const CODES: [u8; 256] = [
        0x00, 0x01, 0x02, 0x03, 0x9C, 0x09, 0x86, 0x7F, 0x97, 0x8D, 0x8E, 0x0B, 0x0C, 0x0D, 0x0E, 0x0F,
        0x10, 0x11, 0x12, 0x13, 0x9D, 0x85, 0x08, 0x87, 0x18, 0x19, 0x92, 0x8F, 0x1C, 0x1D, 0x1E, 0x1F,
        0x80, 0x81, 0x82, 0x83, 0x84, 0x0A, 0x17, 0x1B, 0x88, 0x89, 0x8A, 0x8B, 0x8C, 0x05, 0x06, 0x07,
        0x90, 0x91, 0x16, 0x93, 0x94, 0x95, 0x96, 0x04, 0x98, 0x99, 0x9A, 0x9B, 0x14, 0x15, 0x9E, 0x1A,
        0x20, 0xA0, 0xE2, 0xE4, 0xE0, 0xE1, 0xE3, 0xE5, 0xE7, 0xF1, 0xA2, 0x2E, 0x3C, 0x28, 0x2B, 0x7C,
        0x26, 0xE9, 0xEA, 0xEB, 0xE8, 0xED, 0xEE, 0xEF, 0xEC, 0xDF, 0x21, 0x24, 0x2A, 0x29, 0x3B, 0xAC,
        0x2D, 0x2F, 0xC2, 0xC4, 0xC0, 0xC1, 0xC3, 0xC5, 0xC7, 0xD1, 0xA6, 0x2C, 0x25, 0x5F, 0x3E, 0x3F,
        0xF8, 0xC9, 0xCA, 0xCB, 0xC8, 0xCD, 0xCE, 0xCF, 0xCC, 0x60, 0x3A, 0x23, 0x40, 0x27, 0x3D, 0x22,
        0xD8, 0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0xAB, 0xBB, 0xF0, 0xFD, 0xFE, 0xB1,
        0xB0, 0x6A, 0x6B, 0x6C, 0x6D, 0x6E, 0x6F, 0x70, 0x71, 0x72, 0xAA, 0xBA, 0xE6, 0xB8, 0xC6, 0xA4,
        0xB5, 0x7E, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, 0x79, 0x7A, 0xA1, 0xBF, 0xD0, 0xDD, 0xDE, 0xAE,
        0x5E, 0xA3, 0xA5, 0xB7, 0xA9, 0xA7, 0xB6, 0xBC, 0xBD, 0xBE, 0x5B, 0x5D, 0xAF, 0xA8, 0xB4, 0xD7,
        0x7B, 0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48, 0x49, 0xAD, 0xF4, 0xF6, 0xF2, 0xF3, 0xF5,
        0x7D, 0x4A, 0x4B, 0x4C, 0x4D, 0x4E, 0x4F, 0x50, 0x51, 0x52, 0xB9, 0xFB, 0xFC, 0xF9, 0xFA, 0xFF,
        0x5C, 0xF7, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58, 0x59, 0x5A, 0xB2, 0xD4, 0xD6, 0xD2, 0xD3, 0xD5,
        0x30, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39, 0xB3, 0xDB, 0xDC, 0xD9, 0xDA, 0x9F,
    ];
    let mut table = ['\0'; 256];
    let mut at = 0;
    while at < 256 {
        table[at] = CODES[at] as char;
        at += 1;
    }
    table
};

/// IBM037 with the euro sign.
const CP1140: [char; 256] = {
    let mut table = CP037;
    table[0x9F] = '€';
    table
};

/// IBM037 with some characters swapped.
const CP1047: [char; 256] = {
    let mut table = CP037;
    (table[0x5F], table[0xB0]) = ('^', '¬');
    (table[0xAD], table[0xBA]) = ('[', 'Ý');
    (table[0xBD], table[0xBB]) = (']', '¨');
    table
};

/// The byte of a character in a table of which the first character has the byte `first`.
fn byte_in(page: &[char], first: usize, c: char) -> Option<u8> {
    page.iter().position(|own| *own == c).and_then(|at| u8::try_from(at + first).ok())
}

/// The characters of the second plane of EUC-JP, JIS X 0212, with their two bytes.
fn second_plane() -> &'static HashMap<char, [u8; 2]> {
    static PLANE: OnceLock<HashMap<char, [u8; 2]>> = OnceLock::new();
    PLANE.get_or_init(|| {
        let pairs = (0xA1..=0xFE).flat_map(|row| (0xA1..=0xFE).map(move |cell| [row, cell]));
        let decoded = |pair: [u8; 2]| {
            let bytes = [0x8F, pair[0], pair[1]];
            let text = EUC_JP.decode_without_bom_handling_and_without_replacement(&bytes)?;
            text.chars().next().map(|c| (c, pair))
        };
        pairs.filter_map(decoded).collect()
    })
}

/// Encodes text. The result must be read back as this text: some encoders replace similar characters.
fn exactly(encoding: &'static Encoding, text: &str) -> Option<Vec<u8>> {
    let (bytes, _, unmappable) = encoding.encode(text);
    let back = encoding.decode_without_bom_handling_and_without_replacement(&bytes);
    (!unmappable && back.is_some_and(|back| back == text)).then(|| bytes.into_owned())
}

fn in_euc_jp(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    for c in text.chars() {
        match exactly(EUC_JP, c.encode_utf8(&mut [0; 4])) {
            Some(own) => bytes.extend(own),
            None => {
                let pair = second_plane().get(&c)?;
                bytes.extend([0x8F, pair[0], pair[1]]);
            }
        }
    }
    Some(bytes)
}

/// Encodes text with an escape sequence before each run of characters of another set. As in the reference, and unlike in
/// the Encoding Standard, half-width katakana stay what they are, and the end needs no escape sequence.
fn in_iso_2022_jp(text: &str) -> Option<Vec<u8>> {
    let (mut bytes, mut set) = (Vec::with_capacity(text.len()), b"(B");
    for c in text.chars() {
        let (own, code) = match c {
            '\u{1b}' => return None,
            '\0'..='\x7f' => (b"(B", vec![c as u8]),
            '\u{ff61}'..='\u{ff9f}' => (b"(I", vec![u8::try_from(u32::from(c) - 0xFF61 + 0x21).ok()?]),
            _ => (b"$B", exactly(EUC_JP, c.encode_utf8(&mut [0; 4]))?.iter().map(|byte| byte & 0x7F).collect()),
        };
        if std::mem::replace(&mut set, own) != own {
            bytes.push(0x1B);
            bytes.extend(own);
        }
        bytes.extend(code);
    }
    Some(bytes)
}

/// Returns `true` for a pair of GB 2312 in seven bits.
fn is_hz_pair(pair: &[u8]) -> bool {
    matches!(pair, [0x21..=0x7D, 0x21..=0x7E])
}

fn in_hz(text: &str) -> Option<Vec<u8>> {
    let (mut bytes, mut wide) = (Vec::with_capacity(text.len()), false);
    for c in text.chars() {
        if c == '~' {
            bytes.extend(b"~~");
            continue;
        }
        if wide == c.is_ascii() {
            wide = !wide;
            bytes.extend(if wide { b"~{" } else { b"~}" });
        }
        if !wide {
            bytes.push(c as u8);
            continue;
        }
        let pair: Vec<u8> = exactly(GB18030, c.encode_utf8(&mut [0; 4]))?.iter().map(|byte| byte & 0x7F).collect();
        bytes.extend(Some(pair).filter(|pair| is_hz_pair(pair))?);
    }
    Some(bytes)
}

fn of_hz(mut bytes: &[u8]) -> Option<String> {
    let (mut text, mut wide) = (String::new(), false);
    while let Some((&first, rest)) = bytes.split_first() {
        let (taken, found) = match (first, rest.first()) {
            (b'~', Some(b'{' | b'}')) => {
                wide = rest.first() == Some(&b'{');
                (2, None)
            }
            (b'~', Some(b'~')) => (2, Some('~')),
            (b'~', Some(b'\n')) => (2, None),
            (b'~' | 0x80.., _) => return None,
            _ if !wide => (1, Some(char::from(first))),
            _ => {
                let pair = bytes.get(..2).filter(|pair| is_hz_pair(pair))?;
                let pair = [pair.first()? | 0x80, pair.get(1)? | 0x80];
                let decoded = GB18030.decode_without_bom_handling_and_without_replacement(&pair)?;
                (2, decoded.chars().next())
            }
        };
        text.extend(found);
        bytes = bytes.get(taken..).unwrap_or(&[]);
    }
    Some(text)
}

impl Charset {
    /// Encodes `text`. `None` if a character cannot be encoded.
    pub fn encode(self, text: &str) -> Option<Vec<u8>> {
        match self {
            Self::MarkedUtf16 => Self::Utf16(true).encode(&format!("\u{FEFF}{text}")),
            Self::Page(page) => {
                let byte = |c: char| if c.is_ascii() { u8::try_from(c).ok() } else { byte_in(page, 0x80, c) };
                text.chars().map(byte).collect()
            }
            Self::Table(table) => text.chars().map(|c| byte_in(table, 0, c)).collect(),
            Self::Utf16(big) => {
                let bytes = |unit: u16| if big { unit.to_be_bytes() } else { unit.to_le_bytes() };
                Some(text.encode_utf16().flat_map(bytes).collect())
            }
            Self::Latin(count) => {
                text.chars().map(|c| u8::try_from(c).ok().filter(|byte| u32::from(*byte) < count)).collect()
            }
            Self::Hz => in_hz(text),
            Self::Standard("euc-jp") => in_euc_jp(text),
            Self::Standard("iso-2022-jp") => in_iso_2022_jp(text),
            Self::Standard(label) => exactly(Encoding::for_label(label.as_bytes())?, text),
        }
    }

    /// Decodes `bytes`. `None` if they are invalid, or contain the character that stands for invalid bytes.
    pub fn decode(self, bytes: &[u8]) -> Option<String> {
        let text = match self {
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
            Self::Table(table) => bytes.iter().map(|byte| table.get(usize::from(*byte)).copied()).collect(),
            Self::Utf16(big) => {
                let (pairs, rest) = bytes.as_chunks();
                let unit = |pair: &[u8; 2]| if big { u16::from_be_bytes(*pair) } else { u16::from_le_bytes(*pair) };
                let text = char::decode_utf16(pairs.iter().map(unit)).collect::<Result<String, _>>().ok();
                text.filter(|_| rest.is_empty())
            }
            Self::Latin(count) => {
                bytes.iter().map(|byte| (u32::from(*byte) < count).then_some(char::from(*byte))).collect()
            }
            Self::Hz => of_hz(bytes),
            Self::Standard(label) => {
                let encoding = Encoding::for_label(label.as_bytes())?;
                encoding.decode_without_bom_handling_and_without_replacement(bytes).map(std::borrow::Cow::into_owned)
            }
        };
        text.filter(|text| !text.contains(char::REPLACEMENT_CHARACTER))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back_from_every_encoding() {
        for name in charset_names() {
            let charset = charset(&name.to_uppercase()).unwrap();
            let bytes = charset.encode("plain text").unwrap();
            assert_eq!(charset.decode(&bytes).as_deref(), Some("plain text"), "{name}");
        }
        assert_eq!(charset("UTF-16LE").unwrap().encode("é😀").unwrap(), [0xE9, 0, 0x3D, 0xD8, 0, 0xDE]);
        assert_eq!(charset("latin1").unwrap().encode("é").unwrap(), [0xE9]);
        assert!(charset("NOT-EXISTS").is_none());
        for page in [
            "IBM437",
            "cp850",
            "852",
            "IBM855",
            "IBM00858",
            "IBM860",
            "IBM862",
            "IBM863",
            "IBM865",
            "IBM037",
            "IBM1047",
            "IBM01140",
            "ISO-8859-9",
        ] {
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
    fn names_are_those_of_the_registry() {
        for name in ["utf8", "ascii", "unicode", "iso88591", "GB2312", "Big5-HKSCS", "x-user-defined", "TIS-620", ""] {
            assert!(charset(name).is_none(), "{name}");
        }
        for name in [" UTF-8 ", "Latin-9", "csISOLatin1", "MS936", "IBM-1047", "macintosh"] {
            assert!(charset(name).is_some(), "{name}");
        }
    }

    #[test]
    fn both_planes_of_euc_jp_and_nothing_similar() {
        let charset = charset("EUC-JP").unwrap();
        for (text, bytes) in [("日", &[0xC6, 0xFC][..]), ("丂a", &[0x8F, 0xB0, 0xA1, 0x61]), ("ｱ", &[0x8E, 0xB1])] {
            assert_eq!(charset.encode(text).unwrap(), bytes, "{text}");
            assert_eq!(charset.decode(bytes).as_deref(), Some(text));
        }
        for text in ["¥", "‾", "−", "😀"] {
            assert_eq!(charset.encode(text), None, "{text}");
        }
    }

    #[test]
    fn sets_of_characters_are_switched_in_seven_bits() {
        for (name, text, bytes) in [
            ("ISO-2022-JP", "aｱｲ日本b", &b"a\x1b(I12\x1b$BF|K\\\x1b(Bb"[..]),
            ("ISO-2022-JP", "日", b"\x1b$BF|"),
            ("HZ-GB-2312", "a~中文~b", b"a~~~{VPND~~~}b"),
            ("HZ-GB-2312", "中", b"~{VP"),
        ] {
            let charset = charset(name).unwrap();
            assert_eq!(charset.encode(text).as_deref(), Some(bytes), "{text}");
            assert_eq!(charset.decode(bytes).as_deref(), Some(text), "{text}");
        }
        let hz = charset("hz-gb-2312").unwrap();
        assert_eq!(hz.decode(b"a~\nb~{VP~}c").as_deref(), Some("ab中c"));
        for bytes in [&b"~"[..], b"~x", b"~{V", b"~{V\x7f", b"\x80"] {
            assert_eq!(hz.decode(bytes), None, "{bytes:?}");
        }
        for text in ["😀", "é\u{301}", "丂", "\u{1b}日"] {
            assert_eq!(hz.encode(text).filter(|_| !text.contains('\u{1b}')), None, "{text}");
            assert_eq!(charset("iso-2022-jp").unwrap().encode(text), None, "{text}");
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
        assert_eq!(charset("utf-8").unwrap().decode("\u{fffd}".as_bytes()), None);
    }
}
