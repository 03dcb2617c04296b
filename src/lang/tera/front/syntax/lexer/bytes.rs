//! Searches in bytes: white space, words, opening marks, ends of raw blocks.

use memchr::memchr;

use super::whitespace::Trim;

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

/// Returns `text` without the white space (space, tab, carriage return, line feed) at its start.
pub(super) fn skip_space(text: &str) -> &str {
    &text[behind_space(text, 0)..]
}

/// Returns `true` if `text` begins with white space.
pub(super) fn begins_with_space(text: &str) -> bool {
    text.bytes().next().is_some_and(is_space)
}

/// Returns the first offset from `at` on without white space.
pub(super) fn behind_space(source: &str, mut at: usize) -> usize {
    while source.as_bytes().get(at).is_some_and(|&byte| is_space(byte)) {
        at += 1;
    }
    at
}

/// Returns the text after an optional `-` and white space.
pub(super) fn skip_marker(text: &str) -> &str {
    skip_space(text.strip_prefix('-').unwrap_or(text))
}

/// Returns the word at the start of `text`.
pub(super) fn leading(text: &str) -> &str {
    &text[..word_end(text.as_bytes(), 0)]
}

/// Returns the end of the word that begins at `at`.
pub(crate) fn word_end(source: &[u8], mut at: usize) -> usize {
    while source.get(at).is_some_and(|&byte| is_word(byte)) {
        at += 1;
    }
    at
}

/// The bytes of words: letters, digits and underscores.
static WORD: [bool; 256] = {
    let mut word = [false; 256];
    let mut byte = 0;
    while byte < 128 {
        word[byte] = (byte as u8).is_ascii_alphanumeric() || byte as u8 == b'_';
        byte += 1;
    }
    word
};

/// Returns `true` if a word may contain `byte`.
pub(super) fn is_word(byte: u8) -> bool {
    WORD[usize::from(byte)]
}

/// Returns `true` if a name may begin with `byte`.
pub(super) fn is_word_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

/// Finds the first `{{`, `{%` or `{#` from `from` on. Returns its offset and its second byte.
pub(super) fn opener(source: &[u8], mut from: usize) -> Option<(usize, u8)> {
    while let Some(found) = memchr(b'{', source.get(from..)?) {
        let at = from + found;
        match source.get(at + 1) {
            Some(&mark @ (b'{' | b'%' | b'#')) => return Some((at, mark)),
            _ => from = at + 1,
        }
    }
    None
}

/// Returns the offset to resume at after a broken tag: after the next `}}` or `%}`, or at an opening mark before it.
pub(super) fn resume(source: &[u8], from: usize) -> usize {
    let from = from.min(source.len());
    let opener = opener(source, from).map_or(source.len(), |(at, _)| at);
    let tail = source.get(from..opener).unwrap_or(&[]);
    let close = tail.windows(2).position(|pair| pair == b"}}" || pair == b"%}");
    close.map_or(opener, |at| from + at + 2)
}

/// Finds the first `{% endraw %}`. Returns its start, its end and its markers.
pub(super) fn find_endraw(text: &str) -> Option<(usize, usize, Trim)> {
    let mut from = 0;
    loop {
        let start = from + text.get(from..)?.find("{%")?;
        let after = &text[start + 2..];
        let left = after.starts_with('-');
        let name = skip_marker(after);
        if let Some(behind) = name.strip_prefix("endraw") {
            let end = skip_space(behind);
            let right = end.starts_with("-%}");
            if right || end.starts_with("%}") {
                let close = if right { 3 } else { 2 };
                return Some((start, text.len() - end.len() + close, Trim { left, right }));
            }
        }
        from = start + 2;
    }
}
