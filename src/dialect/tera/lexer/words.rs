//! Finding things in bytes: openers, ends of raw blocks, the names of tags.

use memchr::memchr;

use super::{Bare, Token, Trim};
use crate::diagnostics::nearest;
use crate::dialect::tera::syntax::SyntaxError;
use crate::text::Span;

/// How many of the first bytes are white space of the language (space, tab, carriage return, line feed).
pub(super) fn space(text: &str) -> usize {
    text.bytes().position(|byte| !is_space(byte)).unwrap_or(text.len())
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

/// The first place at or behind `at` that holds no white space of the language.
pub(super) fn behind_space(source: &str, mut at: usize) -> usize {
    while source.as_bytes().get(at).is_some_and(|&byte| is_space(byte)) {
        at += 1;
    }
    at
}

/// The text behind a `-` and white space.
pub(super) fn skip_marker(text: &str) -> &str {
    let text = text.strip_prefix('-').unwrap_or(text);
    &text[space(text)..]
}

/// The letters, digits and underscores at the start of `text`.
pub(super) fn leading(text: &str) -> &str {
    &text[..word_end(text.as_bytes(), 0)]
}

/// Where the letters, digits and underscores that begin at `at` end.
pub(in crate::dialect::tera) fn word_end(source: &[u8], mut at: usize) -> usize {
    while source.get(at).is_some_and(|&byte| is_word(byte)) {
        at += 1;
    }
    at
}

/// The bytes that may stand inside a name.
static WORD: [bool; 256] = {
    let mut word = [false; 256];
    let mut byte = 0;
    while byte < 128 {
        word[byte] = (byte as u8).is_ascii_alphanumeric() || byte as u8 == b'_';
        byte += 1;
    }
    word
};

/// Whether a byte may stand inside a name.
pub(super) fn is_word(byte: u8) -> bool {
    WORD[usize::from(byte)]
}

/// Whether a name may begin with this byte.
pub(super) fn is_word_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

/// The next `{{`, `{%` or `{#` at or behind `from`, with its second byte.
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

/// Where to go on after a broken tag: behind the next `}}` or `%}`, or at the next opener before it.
pub(super) fn resume(source: &[u8], from: usize) -> usize {
    let from = from.min(source.len());
    let opener = opener(source, from).map_or(source.len(), |(at, _)| at);
    let tail = source.get(from..opener).unwrap_or(&[]);
    let close = tail.windows(2).position(|pair| pair == b"}}" || pair == b"%}");
    close.map_or(opener, |at| from + at + 2)
}

/// The first `{% endraw %}`: where it begins and ends, and how it trims.
pub(super) fn find_endraw(text: &str) -> Option<(usize, usize, Trim)> {
    let mut from = 0;
    loop {
        let start = from + text.get(from..)?.find("{%")?;
        let after = &text[start + 2..];
        let left = after.starts_with('-');
        let name = skip_marker(after);
        if let Some(behind) = name.strip_prefix("endraw") {
            let end = &behind[space(behind)..];
            let right = end.starts_with("-%}");
            if right || end.starts_with("%}") {
                let close = if right { 3 } else { 2 };
                return Some((start, text.len() - end.len() + close, Trim { left, right }));
            }
        }
        from = start + 2;
    }
}

/// What the name of a tag says.
pub(super) enum Tag {
    /// A tag whose content the grammar reads.
    Head(Token<'static>),
    /// A tag that takes nothing.
    Bare(Bare),
    /// `raw`
    Raw,
    /// There is no such tag.
    Unknown,
}

/// The tag called `name`. `endblock` and `endmacro` may have a name glued to them.
pub(super) fn tag(name: &str) -> Tag {
    match name {
        "if" => Tag::Head(Token::If),
        "elif" => Tag::Head(Token::Elif),
        "for" => Tag::Head(Token::For),
        "set" => Tag::Head(Token::Set),
        "set_global" => Tag::Head(Token::SetGlobal),
        "filter" => Tag::Head(Token::Filter),
        "block" => Tag::Head(Token::Block),
        "macro" => Tag::Head(Token::Macro),
        "include" => Tag::Head(Token::Include),
        "extends" => Tag::Head(Token::Extends),
        "import" => Tag::Head(Token::Import),
        "else" => Tag::Bare(Bare::Else),
        "endif" => Tag::Bare(Bare::EndIf),
        "endfor" => Tag::Bare(Bare::EndFor),
        "endfilter" => Tag::Bare(Bare::EndFilter),
        "break" => Tag::Bare(Bare::Break),
        "continue" => Tag::Bare(Bare::Continue),
        "raw" => Tag::Raw,
        _ if ends_block(name, "endblock") => Tag::Bare(Bare::EndBlock),
        _ if ends_block(name, "endmacro") => Tag::Bare(Bare::EndMacro),
        _ => Tag::Unknown,
    }
}

fn ends_block(name: &str, end: &str) -> bool {
    name.strip_prefix(end).is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()))
}

const TAGS: [&str; 21] = [
    "if",
    "elif",
    "else",
    "endif",
    "for",
    "endfor",
    "break",
    "continue",
    "set",
    "set_global",
    "filter",
    "endfilter",
    "block",
    "endblock",
    "macro",
    "endmacro",
    "include",
    "extends",
    "import",
    "raw",
    "endraw",
];

/// The error of a tag whose name is none.
pub(super) fn unknown_tag(tag_at: usize, name_at: usize, name: &str) -> Box<SyntaxError> {
    let span = Span::of(tag_at..(name_at + name.len()).max(tag_at + 2));
    if name.is_empty() {
        return SyntaxError::unexpected(span, "a tag needs a name", "write `{{ … }}` to print a value");
    }
    let help = match nearest(name, TAGS) {
        _ if name == "endraw" => "there is no `{% raw %}` before it".to_owned(),
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the tags are {}", TAGS.join(", ")),
    };
    SyntaxError::unexpected(span, format!("there is no tag `{name}`"), help)
}
