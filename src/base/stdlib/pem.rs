//! PEM, as lenient as OpenSSL: with headers, and with lines of any length.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Returns the label and the text of the first PEM block: everything between its lines.
pub fn pem_block(pem: &str) -> Option<(&str, &str)> {
    let (_, behind) = pem.split_once("-----BEGIN ")?;
    let (label, behind) = behind.split_once("-----")?;
    let end = format!("-----END {label}-----");
    behind.split_once(end.as_str()).map(|(body, _)| (label, body))
}

/// Decodes the text of a PEM block. Skips its headers.
pub fn pem_content(body: &str) -> Option<Vec<u8>> {
    let body = body.rsplit_once(':').map_or(body, |(_, behind)| behind.split_once('\n').map_or("", |(_, body)| body));
    let digits: String = body.split_ascii_whitespace().collect();
    STANDARD.decode(digits).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_read_with_headers_and_lines_of_any_length() {
        for text in [
            "x\n-----BEGIN A B-----\nQUJDREVG\n-----END A B-----\n",
            "-----BEGIN A B-----\r\nQUJD\r\n  REVG\r\n-----END A B-----",
            "-----BEGIN A B-----\nC: d\nE: f\n\nQUJDREVG\n-----END A B-----\n-----BEGIN C-----\n-----END C-----",
        ] {
            let (label, body) = pem_block(text).unwrap();
            assert_eq!((label, pem_content(body).as_deref()), ("A B", Some(&b"ABCDEF"[..])), "{text}");
        }
        assert_eq!(pem_block("-----BEGIN A-----\nQUJD\n-----END B-----"), None);
        assert_eq!(pem_content("!"), None);
    }
}
