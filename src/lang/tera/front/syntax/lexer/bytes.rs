//! Searches in bytes: white space, words, opening marks, ends of raw blocks; white-space control.
//!
//! `{%-` trims the text directly before the tag and `-%}` the text directly after it, up to the next tag or comment.
//! Markers have no effect in the body after the `else` of a loop.

use super::{Spanned, Token, push};
use memchr::memchr;

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

/// The sides of a tag that carry the `-`.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Trim {
    /// `{%-`
    pub left: bool,
    /// `-%}`
    pub right: bool,
}

/// The state of white-space control in one body.
#[derive(Debug, Clone, Copy)]
pub(super) struct Body {
    /// Index of the text token that the next tag touches.
    touched: Option<usize>,
    /// `true` if the previous tag has a marker on its right.
    trim_next: bool,
    /// `true` if markers have an effect.
    trims: bool,
}

impl Body {
    /// The state at the start of a template.
    pub const START: Self = Self { touched: None, trim_next: false, trims: true };

    /// The state after the `else` of a loop.
    pub(crate) const UNTRIMMED: Self = Self { trims: false, ..Self::START };

    /// Returns the state after the tag that begins a body inside this one.
    pub fn inner(&self, trim_next: bool) -> Self {
        Self { touched: None, trim_next, trims: self.trims }
    }

    /// Adds the text between two tags.
    pub fn text<'s>(&mut self, text: &'s str, start: usize, tokens: &mut Vec<Spanned<'s>>) {
        let trim = std::mem::take(&mut self.trim_next) && self.trims;
        let text = if trim { text.trim_start() } else { text };
        self.touched = (!text.is_empty()).then_some(tokens.len());
        push(tokens, start..start + text.len(), Token::Text(text));
    }

    /// Adds the text of a raw block. Tags outside it do not trim it.
    pub fn raw<'s>(&mut self, inner: Trim, mut text: &'s str, start: usize, tokens: &mut Vec<Spanned<'s>>) {
        if self.trims {
            text = if inner.left { text.trim_start() } else { text };
            text = if inner.right { text.trim_end() } else { text };
        }
        push(tokens, start..start + text.len(), Token::Text(text));
    }

    /// Trims the text before a tag.
    pub(crate) fn begin_tag(&mut self, left: bool, tokens: &mut [Spanned<'_>]) {
        let touched = self.touched.take().filter(|_| left && self.trims);
        if let Some((_, Token::Text(text), _)) = touched.and_then(|at| tokens.get_mut(at)) {
            *text = text.trim_end();
        }
    }

    /// Stores the right marker of a tag for the text after it.
    pub(crate) fn end_tag(&mut self, right: bool) {
        self.trim_next = right;
    }

    /// Passes `{{ super() }}`. Its own markers have no effect, and a marker before it applies to the text after it.
    pub(crate) fn super_tag(&mut self) {
        self.touched = None;
    }
}
