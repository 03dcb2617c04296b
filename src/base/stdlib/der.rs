//! The binary encoding of keys and certificates (DER), and their text form (PEM).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

pub const INTEGER: u8 = 0x02;
pub(crate) const OCTETS: u8 = 0x04;
pub(crate) const SEQUENCE: u8 = 0x30;
pub const BOOLEAN: u8 = 0x01;
pub const BITS: u8 = 0x03;
pub const OBJECT: u8 = 0x06;
pub(crate) const UTF8: u8 = 0x0c;
pub const SET: u8 = 0x31;

/// Reads a value with this tag.
pub fn read<'d>(der: &mut &'d [u8], tag: u8) -> Option<&'d [u8]> {
    let (found, rest) = der.split_first()?;
    let (short, rest) = rest.split_first()?;
    let (length, rest) = match short {
        0..=0x7f => (usize::from(*short), rest),
        0x81..=0x84 => {
            let (bytes, rest) = rest.split_at_checked(usize::from(short - 0x80))?;
            (bytes.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)), rest)
        }
        _ => return None,
    };
    let (value, rest) = rest.split_at_checked(length)?;
    if *found != tag {
        return None;
    }
    *der = rest;
    Some(value)
}

/// Reads a value with this tag, together with its tag and length.
pub(crate) fn read_whole<'d>(der: &mut &'d [u8], tag: u8) -> Option<&'d [u8]> {
    let whole = *der;
    read(der, tag)?;
    whole.get(..whole.len() - der.len())
}

/// Returns a value of these parts.
pub fn value(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let content = parts.concat();
    let mut out = vec![tag];
    match u8::try_from(content.len()) {
        Ok(length @ 0..=0x7f) => out.push(length),
        _ => {
            let length = content.len().to_be_bytes();
            let significant = length.iter().position(|byte| *byte != 0).map_or(&[][..], |at| &length[at..]);
            out.push(0x80 | significant.len() as u8);
            out.extend_from_slice(significant);
        }
    }
    out.extend(content);
    out
}

/// Returns an unsigned integer of these bytes, most significant first.
pub fn unsigned(bytes: &[u8]) -> Vec<u8> {
    let significant = bytes.iter().position(|byte| *byte != 0).and_then(|at| bytes.get(at..)).unwrap_or(&[0]);
    let sign: &[u8] = if significant.first().is_some_and(|first| *first >= 0x80) { &[0] } else { &[] };
    value(INTEGER, &[sign, significant])
}

/// Returns a bit string of whole bytes.
pub fn bits(bytes: &[u8]) -> Vec<u8> {
    value(BITS, &[&[0], bytes])
}

/// Returns the label and the text of the first PEM block: everything between its lines.
pub(crate) fn pem_block(pem: &str) -> Option<(&str, &str)> {
    let (_, behind) = pem.split_once("-----BEGIN ")?;
    let (label, behind) = behind.split_once("-----")?;
    let end = format!("-----END {label}-----");
    behind.split_once(end.as_str()).map(|(body, _)| (label, body))
}

/// Returns the content of a PEM block of this text. Its headers are passed over.
pub(crate) fn pem_content(body: &str) -> Option<Vec<u8>> {
    let body = body.rsplit_once(':').map_or(body, |(_, behind)| behind.split_once('\n').map_or("", |(_, body)| body));
    let digits: String = body.split_ascii_whitespace().collect();
    STANDARD.decode(digits).ok()
}

/// Returns a PEM block, in lines of 64 characters.
pub fn pem(label: &str, der: &[u8]) -> String {
    let mut out = format!("-----BEGIN {label}-----\n");
    // 48 bytes are 64 characters.
    for line in der.chunks(48) {
        out.push_str(&STANDARD.encode(line));
        out.push('\n');
    }
    out.push_str(&format!("-----END {label}-----\n"));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_as_they_were_written() {
        for length in [0, 1, 127, 128, 255, 256, 70_000] {
            let content = vec![7; length];
            let (mut der, whole) = (&value(OCTETS, &[&content])[..], value(OCTETS, &[&content]));
            assert_eq!(read(&mut &*whole, INTEGER), None);
            assert_eq!(read_whole(&mut &*whole, OCTETS), Some(&whole[..]));
            assert_eq!(read(&mut der, OCTETS), Some(&content[..]));
            assert!(der.is_empty());
            let text = pem("X", &content);
            assert_eq!(pem_block(&text).map(|(label, body)| (label, pem_content(body))), Some(("X", Some(content))));
        }
        assert_eq!(unsigned(&[0, 0x80]), [INTEGER, 2, 0, 0x80]);
        assert_eq!(unsigned(&[0, 0]), [INTEGER, 1, 0]);
    }
}
