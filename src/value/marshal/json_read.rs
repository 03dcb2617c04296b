//! Reads JSON, with the wording of errors that network services use.

use super::{Numbers, lossy};
use crate::{Arena, Value, json_lexer};
use dropforge_base::stdlib::characters::{is_printable, push_quoted};

/// The kind of value that a caller wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// Any value.
    Any,
    /// A map, or null.
    Map,
    /// A list, or null.
    List,
}

impl Wanted {
    /// Returns the message for a value of another kind.
    ///
    /// # Errors
    /// The message.
    pub fn check(self, value: Value<'_>) -> Result<(), String> {
        let (fits, name) = match self {
            Wanted::Any => return Ok(()),
            Wanted::Map => (value.as_map().is_some(), "map[string]interface {}"),
            Wanted::List => (value.as_list().is_some(), "[]interface {}"),
        };
        let kind = match value {
            _ if fits => return Ok(()),
            Value::Null | Value::Undefined => return Ok(()),
            Value::Bool(_) => "bool",
            Value::Str(_) => "string",
            Value::List(_) => "array",
            Value::Map(_) => "object",
            _ => "number",
        };
        Err(format!("json: cannot unmarshal {kind} into Go value of type {name}"))
    }
}

/// Reads a value of at most `depth` levels. Bytes that are not UTF-8 become U+FFFD.
///
/// # Errors
/// A message about the first character that does not fit.
pub fn read<'v>(arena: &'v Arena, text: &[u8], numbers: Numbers, depth: usize) -> Result<Value<'v>, String> {
    Decoder { arena, text, at: 0, numbers, depth, open: Vec::new(), range: None }.document()
}

enum Partial<'v> {
    List(Vec<Value<'v>>),
    Map(Vec<(&'v str, Value<'v>)>, &'v str),
}

struct Decoder<'t, 'v> {
    arena: &'v Arena,
    text: &'t [u8],
    at: usize,
    numbers: Numbers,
    depth: usize,
    open: Vec<Partial<'v>>,
    /// The first number that is out of range.
    range: Option<String>,
}

impl<'t, 'v> Decoder<'t, 'v> {
    fn here(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn rest(&self) -> &'t [u8] {
        self.text.get(self.at..).unwrap_or(&[])
    }

    /// Moves to the bytes `rest`, which are the last ones.
    fn skip_to(&mut self, rest: &[u8]) {
        self.at = self.text.len() - rest.len();
    }

    fn skip_white(&mut self) {
        self.skip_to(json_lexer::white(self.rest()));
    }

    /// Returns the error of the character here.
    fn invalid<T>(&self, context: &str) -> Result<T, String> {
        let (character, _) = self.rest().split_at(self.character_len());
        let shown = match character {
            b"" => return Err("unexpected end of JSON input".to_owned()),
            b"'" => "'\\''".to_owned(),
            b"\"" => "'\"'".to_owned(),
            _ => {
                let quoted = quoted(character);
                format!("'{}'", quoted.get(1..quoted.len() - 1).unwrap_or(""))
            }
        };
        Err(format!("invalid character {shown} {context}"))
    }

    /// Returns the number of bytes of the character here: one if they are not UTF-8.
    fn character_len(&self) -> usize {
        let rest = self.rest().get(..4).unwrap_or(self.rest());
        let first = rest.utf8_chunks().next().and_then(|chunk| chunk.valid().chars().next());
        first.map_or(rest.len().min(1), char::len_utf8)
    }

    /// Returns the error of an escape of at most `len` bytes, whose backslash is before this place.
    fn invalid_escape<T>(&self, len: usize) -> Result<T, String> {
        let from = self.text.get(self.at - 1..).unwrap_or(&[]);
        let escape = from.get(..len).unwrap_or(from);
        let is_plain = |c| is_printable(c) && !matches!(c, ' ' | '`' | '\u{fffd}');
        let shown = match std::str::from_utf8(escape) {
            Ok(text) if text.chars().all(is_plain) => format!("`{text}`"),
            _ => quoted(escape),
        };
        Err(format!("invalid escape sequence {shown} in string"))
    }

    fn document(mut self) -> Result<Value<'v>, String> {
        loop {
            self.skip_white();
            let Some(mut value) = self.begin()? else { continue };
            loop {
                self.skip_white();
                if self.open.is_empty() {
                    return self.end(value);
                }
                let Some(closed) = self.close(value)? else { break };
                value = closed;
            }
        }
    }

    fn end(&mut self, value: Value<'v>) -> Result<Value<'v>, String> {
        self.skip_white();
        if self.at < self.text.len() {
            return self.invalid("after top-level value");
        }
        self.range.take().map_or(Ok(value), Err)
    }

    /// Reads a scalar or an empty collection, or opens a collection.
    fn begin(&mut self) -> Result<Option<Value<'v>>, String> {
        let value = match self.here() {
            Some(b'{') => return self.begin_map(),
            Some(b'[') => return self.begin_list(),
            Some(b'"') => {
                let text = self.string()?;
                self.arena.text(&text)
            }
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(b't') => self.word("true", Value::Bool(true))?,
            Some(b'f') => self.word("false", Value::Bool(false))?,
            Some(b'n') => self.word("null", Value::Null)?,
            _ => return self.invalid("looking for beginning of value"),
        };
        Ok(Some(value))
    }

    fn check_depth(&self) -> Result<(), String> {
        if self.open.len() < self.depth { Ok(()) } else { Err("exceeded max depth".to_owned()) }
    }

    fn begin_list(&mut self) -> Result<Option<Value<'v>>, String> {
        self.check_depth()?;
        self.at += 1;
        self.skip_white();
        if self.here() == Some(b']') {
            self.at += 1;
            return Ok(Some(self.arena.list(&[])));
        }
        self.open.push(Partial::List(Vec::new()));
        Ok(None)
    }

    fn begin_map(&mut self) -> Result<Option<Value<'v>>, String> {
        self.check_depth()?;
        self.at += 1;
        self.skip_white();
        if self.here() == Some(b'}') {
            self.at += 1;
            return Ok(Some(self.arena.map(&[])));
        }
        let key = self.key()?;
        self.open.push(Partial::Map(Vec::new(), key));
        Ok(None)
    }

    fn key(&mut self) -> Result<&'v str, String> {
        self.skip_white();
        if self.here() != Some(b'"') {
            return self.invalid("looking for beginning of object key string");
        }
        let key = self.string()?;
        let key = self.arena.copy_str(&key);
        self.skip_white();
        if self.here() != Some(b':') {
            return self.invalid("after object key");
        }
        self.at += 1;
        Ok(key)
    }

    /// Adds a value to the innermost collection. Returns the collection if it ends here.
    fn close(&mut self, value: Value<'v>) -> Result<Option<Value<'v>>, String> {
        let (end, context) = match self.open.last_mut() {
            Some(Partial::Map(entries, key)) => {
                entries.push((key, value));
                (b'}', "after object key:value pair")
            }
            Some(Partial::List(items)) => {
                items.push(value);
                (b']', "after array element")
            }
            None => return Ok(None),
        };
        let is_map = end == b'}';
        match self.here() {
            Some(b',') => {
                self.at += 1;
                if is_map {
                    let next = self.key()?;
                    if let Some(Partial::Map(_, key)) = self.open.last_mut() {
                        *key = next;
                    }
                }
                Ok(None)
            }
            Some(byte) if byte == end => {
                self.at += 1;
                Ok(self.open.pop().map(|closed| match closed {
                    Partial::List(items) => self.arena.list(&items),
                    Partial::Map(entries, _) => self.arena.map(&entries),
                }))
            }
            _ => self.invalid(context),
        }
    }

    fn word(&mut self, word: &str, value: Value<'v>) -> Result<Value<'v>, String> {
        for byte in word.bytes() {
            if self.here() != Some(byte) {
                return self.invalid(&format!("in literal {word} (expecting '{}')", char::from(byte)));
            }
            self.at += 1;
        }
        Ok(value)
    }

    fn digits(&mut self) -> Result<(), String> {
        let Some(rest) = json_lexer::some_digits(self.rest()) else { return self.invalid("in numeric literal") };
        self.skip_to(rest);
        Ok(())
    }

    fn number(&mut self) -> Result<Value<'v>, String> {
        let start = self.at;
        self.at += usize::from(self.here() == Some(b'-'));
        if self.here() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.here() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.here(), Some(b'e' | b'E')) {
            self.at += 1;
            self.at += usize::from(matches!(self.here(), Some(b'+' | b'-')));
            self.digits()?;
        }
        let text = self.text.get(start..self.at).and_then(|text| std::str::from_utf8(text).ok()).unwrap_or("0");
        Ok(self.value_of(text))
    }

    fn value_of(&mut self, text: &str) -> Value<'v> {
        // With floats, -0 keeps its sign.
        if self.numbers != Numbers::Floats {
            if let Ok(n) = text.parse() {
                return self.numbers.int(self.arena, n);
            }
            if let Ok(n) = text.parse() {
                return self.numbers.uint(self.arena, n);
            }
        }
        match text.parse() {
            Ok(n) if f64::is_finite(n) => Value::Float(n),
            _ => {
                let error = || format!("json: cannot unmarshal number {text} into Go value of type float64");
                self.range.get_or_insert_with(error);
                Value::Null
            }
        }
    }

    /// Reads a string.
    fn string(&mut self) -> Result<String, String> {
        self.at += 1;
        let mut out = String::new();
        loop {
            let (plain, rest) = self.rest().split_at(json_lexer::plain(self.rest()));
            out.push_str(&lossy(plain));
            self.skip_to(rest);
            match self.here() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => {
                    self.at += 1;
                    self.escape(&mut out)?;
                }
                _ => return self.invalid("in string"),
            }
        }
    }

    /// Reads an escape after its backslash. A surrogate without a partner becomes U+FFFD.
    fn escape(&mut self, out: &mut String) -> Result<(), String> {
        if let Some((c, rest)) = json_lexer::escape(self.rest()) {
            out.push(c);
            self.skip_to(rest);
            return Ok(());
        }
        let digits = match self.rest() {
            [] => return self.invalid("in string"),
            [b'u', digits @ ..] => digits.get(..4).unwrap_or(digits),
            _ => return self.invalid_escape(2),
        };
        if !digits.iter().all(u8::is_ascii_hexdigit) {
            return self.invalid_escape(6);
        }
        self.at += 1 + digits.len();
        if digits.len() < 4 {
            return self.invalid("in string");
        }
        out.push('\u{fffd}');
        Ok(())
    }
}

/// Returns text in double quotes.
fn quoted(text: &[u8]) -> String {
    let mut quoted = String::new();
    push_quoted(text, &mut |piece| quoted.push_str(piece));
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_character() {
        let arena = Arena::new();
        for (text, wanted) in [
            ("", "unexpected end of JSON input"),
            ("{", "unexpected end of JSON input"),
            ("x", "invalid character 'x' looking for beginning of value"),
            ("nul", "unexpected end of JSON input"),
            ("nulx", "invalid character 'x' in literal null (expecting 'l')"),
            ("[1 2]", "invalid character '2' after array element"),
            ("{\"a\" 1}", "invalid character '1' after object key"),
            ("{\"a\":1,}", "invalid character '}' looking for beginning of object key string"),
            ("{a:1}", "invalid character 'a' looking for beginning of object key string"),
            ("{} x", "invalid character 'x' after top-level value"),
            ("01", "invalid character '1' after top-level value"),
            ("1.x", "invalid character 'x' in numeric literal"),
            ("1e", "unexpected end of JSON input"),
            ("1e+é", "invalid character 'é' in numeric literal"),
            ("\u{feff}{}", "invalid character '\\ufeff' looking for beginning of value"),
            ("\"\n\"", "invalid character '\\n' in string"),
            ("\"\\", "unexpected end of JSON input"),
            ("\"\\q\"", "invalid escape sequence `\\q` in string"),
            ("\"\\é\"", "invalid escape sequence \"\\\\\\xc3\" in string"),
            ("\"\\u1", "unexpected end of JSON input"),
            ("\"\\u12\"", "invalid escape sequence `\\u12\"` in string"),
            ("\"\\u12 3\"", "invalid escape sequence \"\\\\u12 3\" in string"),
            ("'a'", "invalid character '\\'' looking for beginning of value"),
            ("1e999", "json: cannot unmarshal number 1e999 into Go value of type float64"),
        ] {
            assert_eq!(
                read(&arena, text.as_bytes(), Numbers::Floats, 10).map(|value| value.to_data()),
                Err(wanted.to_owned()),
                "{text}"
            );
        }
        assert_eq!(read(&arena, "[".repeat(11).as_bytes(), Numbers::Floats, 10).unwrap_err(), "exceeded max depth");
    }

    #[test]
    fn values_are_read() {
        let arena = Arena::new();
        let text = br#" {"b":[1,-2.5,"\u00e9\ud83d\ude00\ud800x\n",[],{}],"a":true,"a":null} "#;
        let value = read(&arena, text, Numbers::Floats, 10).unwrap();
        let shown = format!("{:?}", value.to_data());
        assert!(shown.contains("Float(1.0), Float(-2.5), Str(\"é😀\u{fffd}x\\n\"), List([]), Map({})"), "{shown}");
        assert_eq!(value.as_map().unwrap().len(), 2);
        assert!(Wanted::Map.check(value).is_ok());
        let error = Wanted::List.check(value).unwrap_err();
        assert_eq!(error, "json: cannot unmarshal object into Go value of type []interface {}");
        assert_eq!(read(&arena, b"\"h\xc3(\"", Numbers::Floats, 10).unwrap().as_str(), Some("h\u{fffd}("));
    }
}
