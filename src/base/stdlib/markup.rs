//! HTML and XML: escaping by a table of entities, removal of tags and of the space between them.
//!
//! Escaping passes on pieces of some bytes, which can be appended to any buffer without an intermediate string.
//! Tag removal caches each lookahead until the scan has passed it, which keeps it linear.

use std::convert::Infallible;

use super::strings::prefix;

/// Bytes whose growth is summed in a byte.
const BLOCK: usize = 16;

/// Bytes of the longest replacement and its length, rounded up to what one move copies.
const WIDE: usize = 8;

/// The shift of the length of a replacement.
const LEN: u32 = 56;

/// Maximum number of bytes that are escaped at a time.
const PART: usize = 64;

/// Maximum number of characters in a table.
const MOST: usize = 6;

/// A table of replaced ASCII characters.
#[derive(Debug)]
pub struct Entities {
    /// For each byte, its replacement, or the byte itself, as a little-endian number whose last byte is the length.
    texts: [u64; 256],
    /// The replaced bytes, each with the growth of the text. The rest are bytes that no text has.
    growth: [(u8, u8); MOST],
}

/// `& < > " ' /`, safe in HTML text and quoted attributes.
pub static HTML: Entities = Entities::new(b"&<>\"'/", &["&amp;", "&lt;", "&gt;", "&quot;", "&#x27;", "&#x2F;"]);

/// The five characters with predefined XML entities.
pub static XML: Entities = Entities::new(b"&<>\"'", &["&amp;", "&lt;", "&gt;", "&quot;", "&apos;"]);

/// Backslash escapes for backslashes and quotes.
pub static SLASHES: Entities = Entities::new(b"\\\"'", &["\\\\", "\\\"", "\\'"]);

impl Entities {
    const fn new(bytes: &[u8], names: &[&str]) -> Self {
        let (mut texts, mut growth) = ([0; 256], [(0xFF, 0); MOST]);
        let mut byte = 0;
        while byte < texts.len() {
            texts[byte] = byte as u64 | 1 << LEN;
            byte += 1;
        }
        let mut at = 0;
        while at < bytes.len() {
            let (byte, name) = (bytes[at], names[at].as_bytes());
            let mut text = [0; WIDE];
            text.split_at_mut(name.len()).0.copy_from_slice(name);
            texts[byte as usize] = u64::from_le_bytes(text) | (name.len() as u64) << LEN;
            growth[at] = (byte, name.len() as u8 - 1);
            at += 1;
        }
        Self { texts, growth }
    }

    /// Passes the escaped text to `push` in pieces. Meant for texts that [need](Self::needed) it.
    ///
    /// # Errors
    /// The first error of `push`.
    #[inline]
    pub fn pieces<E>(
        &self,
        text: &str,
        mut push: impl FnMut(&str) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let mut escaped = [0; PART * WIDE];
        let mut rest = text;
        while !rest.is_empty() {
            let (part, behind) = rest.split_at(prefix(rest, PART).len());
            let changes = text.len() <= PART || self.needed(part);
            let len = if changes { self.escape_part(part, &mut escaped) } else { 0 };
            // Without a length, nothing is replaced.
            let piece = escaped.get(..len).and_then(|piece| std::str::from_utf8(piece).ok());
            push(piece.filter(|piece| !piece.is_empty()).unwrap_or(part))?;
            rest = behind;
        }
        Ok(())
    }

    /// Escapes a text of at most [`PART`] bytes into `out`. Returns the length.
    fn escape_part(&self, part: &str, out: &mut [u8; PART * WIDE]) -> usize {
        part.bytes().fold(0, |len, byte| {
            let replaced = self.texts[usize::from(byte)];
            if let Some(place) = out.get_mut(len..).and_then(<[u8]>::first_chunk_mut) {
                // Moving the whole array costs less than a loop over the replacement.
                *place = replaced.to_le_bytes();
            }
            len + (replaced >> LEN) as usize
        })
    }

    /// Returns `true` if escaping changes the text.
    pub fn needed(&self, text: &str) -> bool {
        self.escaped_len(text) > text.len()
    }

    /// Returns the length of the escaped text in bytes.
    pub fn escaped_len(&self, text: &str) -> usize {
        let (blocks, rest) = text.as_bytes().as_chunks::<BLOCK>();
        let blocks = blocks.iter().map(|block| self.growth_of(block)).sum::<usize>();
        let rest = rest.iter().map(|byte| (self.texts[usize::from(*byte)] >> LEN) as usize).sum::<usize>();
        text.len() / BLOCK * BLOCK + blocks + rest
    }

    /// Returns the growth of a block. Compiles to vector instructions.
    #[inline(always)]
    fn growth_of(&self, block: &[u8; BLOCK]) -> usize {
        let of = |byte: u8| self.growth.iter().fold(0, |growth, (one, by)| growth | if byte == *one { *by } else { 0 });
        usize::from(block.iter().fold(0_u8, |growth, &byte| growth.wrapping_add(of(byte))))
    }

    /// Appends the escaped text.
    pub fn escape_into(&self, text: &str, out: &mut String) {
        let Ok(()) = self.pieces(text, |piece| -> std::result::Result<(), Infallible> {
            out.push_str(piece);
            Ok(())
        });
    }

    /// Returns the escaped text.
    pub fn escape(&self, text: &str) -> String {
        let mut out = String::new();
        self.escape_into(text, &mut out);
        out
    }
}

/// Removes tags and comments. A comment ends at the first `-->` in its line; otherwise it counts as a tag. A tag extends
/// from `<` to the first `>`, across lines. An unclosed `<` is kept.
///
/// `<b>x</b><!-- a > b -->y` becomes `xy`, which is appended to `out`.
pub fn strip_tags(text: &str, out: &mut String) {
    let (mut comment_end, mut line_end, mut tag_end) =
        (Ahead::new(text, "-->"), Ahead::new(text, "\n"), Ahead::new(text, ">"));
    let mut done = 0;
    while let Some(open) = memchr::memchr(b'<', &text.as_bytes()[done..]).map(|at| done + at) {
        let comment = text[open..].starts_with("<!--").then(|| comment_end.from(open + 4)).flatten();
        let close = match comment {
            Some(at) if line_end.from(open + 4).is_none_or(|newline| at < newline) => at + 3,
            _ => match tag_end.from(open + 1) {
                Some(at) => at + 1,
                None => break,
            },
        };
        out.push_str(&text[done..open]);
        done = close;
    }
    out.push_str(&text[done..]);
}

/// The next occurrence of a needle after a position that only moves forward. Each occurrence is searched once.
struct Ahead<'t> {
    text: &'t str,
    needle: &'t str,
    /// The start and the result of the last search.
    last: Option<(usize, Option<usize>)>,
}

impl<'t> Ahead<'t> {
    fn new(text: &'t str, needle: &'t str) -> Self {
        Self { text, needle, last: None }
    }

    fn from(&mut self, start: usize) -> Option<usize> {
        match self.last {
            Some((asked, answer)) if asked <= start && answer.is_none_or(|at| at >= start) => answer,
            _ => {
                let rest = self.text.get(start..).unwrap_or("");
                let answer = match self.needle.as_bytes() {
                    [byte] => memchr::memchr(*byte, rest.as_bytes()),
                    _ => rest.find(self.needle),
                };
                let answer = answer.map(|at| start + at);
                self.last = Some((start, answer));
                answer
            }
        }
    }
}

/// Removes white space between `>` and `<`.
///
/// `<p>\n  <b>a b</b> </p>` becomes `<p><b>a b</b></p>`, which is appended to `out`.
pub fn spaceless(text: &str, out: &mut String) {
    let (bytes, mut done, mut at) = (text.as_bytes(), 0, 0);
    while let Some(close) = bytes.get(at..).and_then(|rest| rest.iter().position(|byte| *byte == b'>')) {
        at += close + 1;
        // White space of other scripts is not ASCII.
        if !bytes.get(at).is_some_and(|byte| *byte <= b' ' || !byte.is_ascii()) {
            continue;
        }
        let behind = text.get(at..).unwrap_or("");
        let trimmed = behind.trim_start();
        let next = text.len() - trimmed.len();
        if trimmed.starts_with('<') {
            out.push_str(text.get(done..at).unwrap_or(""));
            done = next;
        }
        // The white space contains no `>`.
        at = next;
    }
    out.push_str(text.get(done..).unwrap_or(""));
}

#[cfg(test)]
mod tests {
    use regex::Regex;

    use super::*;

    fn strip_tags(text: &str) -> String {
        let mut out = String::new();
        super::strip_tags(text, &mut out);
        out
    }

    fn spaceless(text: &str) -> String {
        let mut out = String::new();
        super::spaceless(text, &mut out);
        out
    }

    #[test]
    fn entities_of_each_kind() {
        assert_eq!(
            HTML.escape("<a href=\"/x\">'&'é</a>"),
            "&lt;a href=&quot;&#x2F;x&quot;&gt;&#x27;&amp;&#x27;é&lt;&#x2F;a&gt;"
        );
        assert_eq!(XML.escape("</a '\"&>"), "&lt;/a &apos;&quot;&amp;&gt;");
        assert_eq!(SLASHES.escape(r#"a\b"c'd"#), r#"a\\b\"c\'d"#);
        assert_eq!(HTML.escape(""), "");
    }

    #[test]
    fn pieces_are_never_empty_and_add_up() {
        for text in ["", "a", "<", "a<", "<a", "<<", "a<b>c", "é&é"] {
            assert_eq!(HTML.pieces(text, |piece| if piece.is_empty() { Err(()) } else { Ok(()) }), Ok(()), "{text}");
            assert_eq!(HTML.escaped_len(text), HTML.escape(text).len(), "{text}");
            assert_eq!(HTML.needed(text), HTML.escape(text) != text, "{text}");
        }
    }

    /// Every text of up to `length` letters of the alphabet.
    fn all_texts(alphabet: &[&str], length: usize) -> Vec<String> {
        let mut texts = vec![String::new()];
        let mut last = texts.clone();
        for _ in 0..length {
            last = last.iter().flat_map(|text| alphabet.iter().map(move |letter| format!("{text}{letter}"))).collect();
            texts.extend(last.iter().cloned());
        }
        texts
    }

    #[test]
    fn tags_go_as_the_pattern_says() {
        let pattern = Regex::new("(<!--.*?-->|<[^>]*>)").unwrap();
        for text in all_texts(&["<!--", "-->", "<", ">", "\n", "-", "é"], 6) {
            assert_eq!(strip_tags(&text), pattern.replace_all(&text, ""), "{text:?}");
        }
    }

    #[test]
    fn spaceless_matches_its_pattern() {
        let pattern = Regex::new(r">\s+<").unwrap();
        for text in all_texts(&["<", ">", " ", "\n", "a", "\u{a0}"], 7) {
            assert_eq!(spaceless(&text), pattern.replace_all(&text, "><"), "{text:?}");
        }
    }

    #[test]
    fn a_million_unclosed_comments_take_no_second_look() {
        let text = "<!--a>".repeat(200_000);
        assert_eq!(strip_tags(&text), "");
        assert_eq!(strip_tags(&"<".repeat(1_000_000)).len(), 1_000_000);
        assert_eq!(spaceless(&"> ".repeat(500_000)).len(), 1_000_000);
    }
}
