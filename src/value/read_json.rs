//! Reads JSON text into an arena, without its errors: text that is not JSON is left to a reader that explains them.

use std::sync::Arc;

use super::input_builder::{InputBuilder, Scratch};
use super::json_lexer::{self, LEVELS, WHITE};
use super::json_mistakes::mistake;
use super::mistake::Mistake;
use super::outline::Place;
use super::{Data, Text, Value};
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_base::text::Source;

/// Maximum number of digits that certainly fit 64 bits.
const DIGITS: usize = 18;

/// A reader of one JSON text. Its methods return `None` if the text is not JSON, or not certainly.
pub(super) struct JsonReader<'r, 'v, 'w> {
    builder: &'r InputBuilder<'v, 'w>,
    scratch: &'r mut Scratch<'v>,
    text: &'v str,
    bytes: &'v [u8],
    at: usize,
    /// The number of levels left.
    levels: u32,
}

impl<'r, 'v, 'w: 'v> JsonReader<'r, 'v, 'w> {
    pub fn new(builder: &'r InputBuilder<'v, 'w>, scratch: &'r mut Scratch<'v>, text: &'v str) -> Self {
        Self { builder, scratch, text, bytes: text.as_bytes(), at: 0, levels: LEVELS }
    }

    /// Reads the whole text as one value.
    pub fn document(mut self, place: Place<'v, 'w>) -> Option<Value<'v>> {
        self.skip_white();
        let value = self.value(place)?;
        self.skip_white();
        (self.at == self.bytes.len()).then_some(value)
    }

    /// Returns the current byte, or 0 at the end, which no JSON text has.
    #[inline(always)]
    fn here(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or(0)
    }

    #[inline(always)]
    fn rest(&self) -> &'v [u8] {
        self.bytes.get(self.at..).unwrap_or(&[])
    }

    #[inline(always)]
    fn skip_white(&mut self) {
        // Most tokens follow at once or after one space.
        while self.here() <= b' ' && WHITE >> self.here() & 1 == 1 {
            self.at += 1;
        }
    }

    /// Takes `byte` and the white space after it.
    #[inline(always)]
    fn take(&mut self, byte: u8) -> Option<()> {
        let is_here = self.here() == byte;
        self.at += 1;
        self.skip_white();
        is_here.then_some(())
    }

    fn value(&mut self, place: Place<'_, 'w>) -> Option<Value<'v>> {
        match self.here() {
            b'"' => {
                self.at += 1;
                self.string()
            }
            b'{' => self.map(place),
            b'[' => self.list(place),
            b'-' | b'0'..=b'9' => self.number(),
            b't' => self.word("true", Value::Bool(true)),
            b'f' => self.word("false", Value::Bool(false)),
            _ => self.word("null", Value::Null),
        }
    }

    #[inline(always)]
    fn word(&mut self, word: &str, value: Value<'v>) -> Option<Value<'v>> {
        let is_here = self.rest().starts_with(word.as_bytes());
        self.at += word.len();
        is_here.then_some(value)
    }

    fn map(&mut self, place: Place<'_, 'w>) -> Option<Value<'v>> {
        self.levels = self.levels.checked_sub(1)?;
        let mut map = self.builder.open_map(place, self.scratch);
        self.take(b'{')?;
        if self.here() != b'}' {
            loop {
                let known = map.expected().and_then(|step| Some((step, step.begins(self.quoted()?)?)));
                let place = match known {
                    Some((step, length)) => {
                        self.at += 1 + length;
                        map.enter(step)
                    }
                    None => {
                        let key = self.key()?;
                        self.builder.enter_slowly(&mut map, key, self.scratch, |key| key)
                    }
                };
                self.skip_white();
                self.take(b':')?;
                let value = self.entry(place)?;
                self.scratch.values.push(value);
                if !self.has_more(b'}')? {
                    break;
                }
            }
        }
        self.at += 1;
        self.levels += 1;
        Some(self.builder.finish_map(map, self.scratch))
    }

    /// Reads the value of an entry or an item, if it is read.
    #[inline(always)]
    fn entry(&mut self, place: Place<'_, 'w>) -> Option<Value<'v>> {
        match place {
            Some(place) if place.is_unread() => self.unread(),
            _ => self.value(place),
        }
    }

    /// Skips a value that is not read. Returns an empty value of the same kind.
    fn unread(&mut self) -> Option<Value<'v>> {
        let arena = self.builder.arena();
        let empty = match self.here() {
            b'"' => arena.text(""),
            b'{' => arena.map(&[]),
            b'[' => arena.list(&[]),
            _ => {
                let start = self.at;
                if let Some(value) = self.value(None) {
                    return Some(value);
                }
                self.at = start;
                Value::Int(0)
            }
        };
        let after = json_lexer::value(self.rest(), self.levels)?;
        self.at = self.bytes.len() - after.len();
        Some(empty)
    }

    /// Returns the text after a quotation mark, if there is one.
    #[inline(always)]
    fn quoted(&self) -> Option<&'v [u8]> {
        self.rest().split_first().filter(|(first, _)| **first == b'"').map(|(_, quoted)| quoted)
    }

    fn list(&mut self, place: Place<'_, 'w>) -> Option<Value<'v>> {
        self.levels = self.levels.checked_sub(1)?;
        let start = self.scratch.values.len();
        let item = self.builder.item(place);
        self.take(b'[')?;
        if self.here() != b']' {
            loop {
                let value = self.entry(item)?;
                self.scratch.values.push(value);
                if !self.has_more(b']')? {
                    break;
                }
            }
        }
        self.at += 1;
        self.levels += 1;
        let list = self.builder.arena().list(self.scratch.values.get(start..).unwrap_or(&[]));
        self.scratch.values.truncate(start);
        Some(list)
    }

    /// Moves to the next entry and returns `true`, or to the closing bracket.
    #[inline(always)]
    fn has_more(&mut self, close: u8) -> Option<bool> {
        self.skip_white();
        if self.here() == close {
            return Some(false);
        }
        self.take(b',')?;
        Some(true)
    }

    /// Moves to the next quotation mark, backslash or control character, and returns it.
    #[inline(always)]
    fn skip_plain(&mut self) -> u8 {
        self.at += json_lexer::plain(self.rest());
        self.here()
    }

    /// Reads a string after its quotation mark.
    #[inline(always)]
    fn string(&mut self) -> Option<Value<'v>> {
        let start = self.at;
        if self.skip_plain() != b'"' {
            return self.escaped(start).map(|text| self.builder.arena().text(&text));
        }
        let text = Text::prefix_of(self.text.get(start..)?, self.at - start);
        self.at += 1;
        Some(Value::Str(self.builder.arena().bump().alloc(text)))
    }

    /// Reads a key.
    fn key(&mut self) -> Option<&'v str> {
        self.quoted()?;
        self.at += 1;
        let start = self.at;
        if self.skip_plain() != b'"' {
            return self.escaped(start).map(|key| self.builder.arena().copy_str(&key));
        }
        self.at += 1;
        self.text.get(start..self.at - 1)
    }

    /// Reads the rest of a string that begins at `start` and has an escape here.
    #[cold]
    fn escaped(&mut self, start: usize) -> Option<String> {
        let mut text = self.text.get(start..self.at)?.to_owned();
        loop {
            match self.here() {
                b'"' => break,
                b'\\' => text.push(self.escape()?),
                0..0x20 => return None,
                _ => {
                    let from = self.at;
                    self.skip_plain();
                    text.push_str(self.text.get(from..self.at)?);
                }
            }
        }
        self.at += 1;
        Some(text)
    }

    /// Reads an escape.
    fn escape(&mut self) -> Option<char> {
        let (escaped, after) = json_lexer::escape(self.rest().get(1..)?)?;
        self.at = self.bytes.len() - after.len();
        Some(escaped)
    }

    #[inline(always)]
    fn number(&mut self) -> Option<Value<'v>> {
        let start = self.at;
        let is_negative = self.here() == b'-';
        self.at += usize::from(is_negative);
        let (first, mut n) = (self.at, 0i64);
        while let digit @ 0..10 = self.here().wrapping_sub(b'0') {
            // Of a longer number this is not used.
            n = i64::wrapping_add(n.wrapping_mul(10), digit.into());
            self.at += 1;
        }
        let length = self.at - first;
        let is_plain = length.wrapping_sub(1) < DIGITS
            && (length == 1 || self.bytes.get(first) != Some(&b'0'))
            && !matches!(self.here(), b'.' | b'e' | b'E')
            && !(is_negative && n == 0);
        if is_plain {
            return Some(Value::Int(if is_negative { -n } else { n }));
        }
        self.long_number(start)
    }

    /// Reads a number that is not a short integer.
    #[inline(never)]
    fn long_number(&mut self, start: usize) -> Option<Value<'v>> {
        let after = json_lexer::number(self.bytes.get(start..)?)?;
        self.at = self.bytes.len() - after.len();
        let text = self.text.get(start..self.at)?;
        match Data::number(text)? {
            Data::Int(n) => Some(Value::Int(n)),
            Data::Uint(n) => Some(Value::Uint(n)),
            Data::Float(n) => Some(Value::Float(n)),
            _ => self.builder.numbers().long(self.builder.arena(), text).ok(),
        }
    }
}

// Reads JSON only for its errors.

/// Checks that `source` is one JSON value without duplicate keys.
///
/// # Errors
/// `input.syntax`, `input.duplicate_key`.
pub fn check_json(source: &Arc<Source>) -> Result<()> {
    let text = source.text();
    Data::of_json_with_unique_keys(text).map(drop).map_err(|error| json_failure(source, 0, text, &error))
}

/// Returns the diagnostic for an error of the parser in `text`, which stands at byte `base` of `source`.
pub fn json_failure(source: &Arc<Source>, base: usize, text: &str, error: &serde_json::Error) -> Box<Diagnostic> {
    match error.is_data() {
        true => {
            let (at, message) = place_of(text, error);
            let help = "keep one of them; a map has each key once";
            Diagnostic::new(Code::DuplicateKey, message)
                .at(source, source.character(base + at), "again here")
                .with_help(help)
        }
        false => json_mistake(text, error).report(source, base, "invalid JSON"),
    }
}

/// Returns the mistake in `text` that an error of the parser is about.
pub fn json_mistake(text: &str, error: &serde_json::Error) -> Mistake {
    let (at, message) = place_of(text, error);
    let next = text.get(at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
    mistake(text, at, &message).unwrap_or(Mistake { what: message, span: at..at + next, ..Mistake::default() })
}

/// Returns the offset of an error in `text` and its message. serde_json counts lines, and bytes in a line.
fn place_of(text: &str, error: &serde_json::Error) -> (usize, String) {
    let start = match error.line() {
        0 | 1 => 0,
        line => memchr::memchr_iter(b'\n', text.as_bytes()).nth(line - 2).map_or(0, |end| end + 1),
    };
    let mut message = error.to_string();
    message.truncate(message.find(" at line ").unwrap_or(message.len()));
    let at = (start + error.column().saturating_sub(1)).min(text.len());
    let at = (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    (at, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_their_place() {
        let cases = [
            ("{\"a\": 1}", None),
            (" [1, {\"a\": [{}], \"b\": null}]\n", None),
            ("{\"a\": 1,\n \"b\": }", Some(("invalid JSON: a value is missing before this `}`", "2:7"))),
            ("", Some(("invalid JSON: there is no value", "1:1"))),
            ("[1] 2", Some(("invalid JSON: trailing characters", "1:5"))),
            ("{\"a\": {\"a\": 1},\n \"é\": 1, \"\\u0061\": 2}", Some(("the key `a` is given twice", "2:17"))),
        ];
        for (text, expected) in cases {
            let error = check_json(&Source::new("t", text)).err();
            let found = error.map(|error| (error.message.clone(), error.position().unwrap().to_string()));
            assert_eq!(found, expected.map(|(message, at)| (message.to_owned(), at.to_owned())), "{text}");
        }
    }

    #[test]
    fn depth_is_bounded() {
        let error = check_json(&Source::new("t", "[".repeat(1 << 20))).unwrap_err();
        assert!(error.message.contains("recursion limit"), "{error}");
    }
}
