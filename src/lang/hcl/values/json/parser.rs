//! A JSON parser that keeps the digits of numbers, the order of names, and duplicates.

use std::borrow::Cow;

/// A JSON value that borrows from its source text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Json<'t> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, as written.
    Number(&'t str),
    /// A string with decoded escapes.
    Text(Cow<'t, str>),
    /// An array.
    List(Vec<Json<'t>>),
    /// An object: names and values in source order, with duplicates.
    Object(Vec<(Cow<'t, str>, Json<'t>)>),
}

impl<'t> Json<'t> {
    /// Parses `text`, which must be one JSON value of at most `depth` levels.
    ///
    /// # Errors
    /// One sentence that says what is wrong and where.
    ///
    /// ```
    /// use dropforge::dialect::hcl::values::json::Json;
    /// assert_eq!(Json::read("[1.50]", 8), Ok(Json::List(vec![Json::Number("1.50")])));
    /// assert_eq!(Json::read("{} {}", 8), Err("unexpected text after the JSON value at byte 3".into()));
    /// ```
    pub fn read(text: &'t str, depth: usize) -> Result<Self, String> {
        let mut parser = Parser { text, at: 0, open: 0, depth };
        let value = parser.value()?;
        match parser.peek() {
            None => Ok(value),
            Some(_) => Err(parser.error("unexpected text after the JSON value")),
        }
    }

    /// Returns the last value of a name in an object.
    pub fn get(&self, name: &str) -> Option<&Json<'t>> {
        let Json::Object(entries) = self else { return None };
        entries.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// Returns the text of a string.
    pub fn as_text(&self) -> Option<&str> {
        if let Json::Text(text) = self { Some(text) } else { None }
    }

    /// Returns the values of an array.
    pub fn as_list(&self) -> Option<&[Json<'t>]> {
        if let Json::List(items) = self { Some(items) } else { None }
    }
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    /// The number of open arrays and objects, at most `depth`.
    open: usize,
    depth: usize,
}

impl<'t> Parser<'t> {
    /// Parses one value.
    fn value(&mut self) -> Result<Json<'t>, String> {
        let first = self.peek().ok_or_else(|| self.error("the JSON text ends where a value is expected"))?;
        match first {
            b'[' => self.parts(b']', Self::value).map(Json::List),
            b'{' => self.parts(b'}', |parser| Ok((parser.name()?, parser.value()?))).map(Json::Object),
            b'"' => self.string().map(Json::Text),
            b'-' | b'0'..=b'9' => self.number(),
            _ => self.word(),
        }
    }

    /// Parses the items of an array or the entries of an object.
    fn parts<T>(&mut self, close: u8, part: impl Fn(&mut Self) -> Result<T, String>) -> Result<Vec<T>, String> {
        if self.open >= self.depth {
            return Err(self.error(&format!("the JSON text nests deeper than {} levels", self.depth)));
        }
        self.open += 1;
        self.at += 1;
        let (mut parts, mut closed) = (Vec::new(), self.peek() == Some(close));
        self.at += usize::from(closed);
        while !closed {
            parts.push(part(self)?);
            let next = self.peek().filter(|&next| next == b',' || next == close);
            closed = next.ok_or_else(|| self.error(&format!("expected `,` or `{}`", char::from(close))))? == close;
            self.at += 1;
        }
        self.open -= 1;
        Ok(parts)
    }

    /// Parses a name and its colon.
    fn name(&mut self) -> Result<Cow<'t, str>, String> {
        if self.peek() != Some(b'"') {
            return Err(self.error("expected a name in quotes"));
        }
        let name = self.string()?;
        if self.peek() != Some(b':') {
            return Err(self.error("expected `:`"));
        }
        self.at += 1;
        Ok(name)
    }

    fn word(&mut self) -> Result<Json<'t>, String> {
        let words = [("null", Json::Null), ("true", Json::Bool(true)), ("false", Json::Bool(false))];
        for (word, value) in words {
            if self.rest().starts_with(word) {
                self.at += word.len();
                return Ok(value);
            }
        }
        let found = self.rest().chars().next().unwrap_or(' ');
        Err(self.error(&format!("expected a JSON value, found {found:?}")))
    }

    fn number(&mut self) -> Result<Json<'t>, String> {
        let start = self.at;
        self.skip(|byte| byte == b'-', 1);
        let whole = if self.byte() == Some(b'0') { 1 } else { usize::MAX };
        let mut valid = self.skip(|byte| byte.is_ascii_digit(), whole) > 0;
        if self.skip(|byte| byte == b'.', 1) > 0 {
            valid &= self.skip(|byte| byte.is_ascii_digit(), usize::MAX) > 0;
        }
        if self.skip(|byte| matches!(byte, b'e' | b'E'), 1) > 0 {
            self.skip(|byte| matches!(byte, b'+' | b'-'), 1);
            valid &= self.skip(|byte| byte.is_ascii_digit(), usize::MAX) > 0;
        }
        if valid { Ok(Json::Number(&self.text[start..self.at])) } else { Err(self.error("expected a digit")) }
    }

    fn string(&mut self) -> Result<Cow<'t, str>, String> {
        self.at += 1;
        let mut text = Cow::Borrowed("");
        loop {
            let start = self.at;
            self.skip(|byte| byte >= b' ' && byte != b'"' && byte != b'\\', usize::MAX);
            // Borrows as long as there is only one run.
            text += &self.text[start..self.at];
            match self.byte() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(text);
                }
                Some(b'\\') => text.to_mut().push(self.escape()?),
                Some(_) => return Err(self.error("unescaped control character in a string")),
                None => return Err(self.error("the JSON text ends within a string")),
            }
        }
    }

    fn escape(&mut self) -> Result<char, String> {
        let (character, len) = unescape(self.rest()).map_err(|at| {
            self.error(if at > 1 { "expected four hexadecimal digits after `\\u`" } else { "unknown escape" })
        })?;
        self.at += len;
        Ok(character)
    }

    /// Skips at most `most` bytes that satisfy `is`. Returns their number.
    fn skip(&mut self, is: impl Fn(u8) -> bool, most: usize) -> usize {
        let count = self.text.as_bytes()[self.at..].iter().take(most).take_while(|byte| is(**byte)).count();
        self.at += count;
        count
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Returns the next byte that is not white space.
    fn peek(&mut self) -> Option<u8> {
        self.skip(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'), usize::MAX);
        self.byte()
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn error(&self, what: &str) -> String {
        format!("{what} at byte {}", self.at)
    }
}

/// Decodes the escape at the start of `text`. Returns the character and the length of the escape in bytes. A lone
/// surrogate becomes U+FFFD.
///
/// # Errors
/// The offset of the first invalid byte, or of the end of an incomplete escape.
pub fn unescape(text: &str) -> Result<(char, usize), usize> {
    let character = match text.as_bytes().get(1) {
        Some(b'u') => return unicode(text),
        Some(&plain @ (b'"' | b'\\' | b'/')) => char::from(plain),
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        _ => return Err(1),
    };
    Ok((character, 2))
}

/// Decodes `\uXXXX`, or two of them if they are a surrogate pair.
fn unicode(text: &str) -> Result<(char, usize), usize> {
    let first = unit(text)?;
    let after = text.get(6..).filter(|_| (0xD800..0xDC00).contains(&first));
    let second = after.and_then(|text| unit(text).ok()).filter(|second| (0xDC00..0xE000).contains(second));
    Ok(match second {
        Some(second) => {
            let code = 0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00);
            (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), 12)
        }
        None => (char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER), 6),
    })
}

/// Decodes the UTF-16 code unit of `\uXXXX`.
fn unit(text: &str) -> Result<u32, usize> {
    let bytes = text.as_bytes();
    for (at, wanted) in b"\\u".iter().enumerate() {
        if bytes.get(at) != Some(wanted) {
            return Err(at);
        }
    }
    let digit = |at: usize| bytes.get(at).and_then(|byte| char::from(*byte).to_digit(16)).ok_or(at);
    (2..6).try_fold(0, |unit, at| Ok(unit << 4 | digit(at)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        match Json::read(text, 4) {
            Ok(value) => format!("{value:?}"),
            Err(error) => error,
        }
    }

    #[test]
    fn texts_are_read_with_their_escapes() {
        let cases = [
            (r#""""#, ""),
            (r#""a\"\\\/\b\f\n\r\tz""#, "a\"\\/\u{8}\u{c}\n\r\tz"),
            (r#""\u00e9\ud83d\uDE00\ud83dx\ude00""#, "é😀\u{fffd}x\u{fffd}"),
        ];
        for (text, wanted) in cases {
            assert_eq!(Json::read(text, 1), Ok(Json::Text(wanted.into())), "{text}");
        }
    }

    #[test]
    fn numbers_stay_as_they_are_written() {
        for number in ["0", "-0", "1.50", "1e5", "-12.5E-07", "123456789012345678901234567890"] {
            assert_eq!(Json::read(number, 1), Ok(Json::Number(number)));
        }
    }

    #[test]
    fn objects_keep_names_that_come_twice() {
        assert_eq!(
            read(r#" { "b" : 1 , "a" : [ ] , "b" : {} } "#),
            r#"Object([("b", Number("1")), ("a", List([])), ("b", Object([]))])"#
        );
    }

    #[test]
    fn what_is_not_json_is_refused() {
        let cases = [
            ("", "ends where a value is expected"),
            ("[1,]", "expected a JSON value, found ']' at byte 3"),
            ("[1 2]", "expected `,` or `]` at byte 3"),
            ("{a:1}", "expected a name in quotes at byte 1"),
            (r#"{"a" 1}"#, "expected `:` at byte 5"),
            ("01", "unexpected text after the JSON value at byte 1"),
            ("1.", "expected a digit at byte 2"),
            ("-", "expected a digit at byte 1"),
            ("1e+", "expected a digit at byte 3"),
            ("\"a\nb\"", "unescaped control character"),
            ("\"ab", "ends within a string"),
            (r#""\x""#, "unknown escape at byte 1"),
            (r#""\u00g0""#, "four hexadecimal digits"),
            (r#""\u+0a0""#, "four hexadecimal digits"),
            ("[[[[[]]]]]", "nests deeper than 4 levels"),
            ("é", "expected a JSON value, found 'é'"),
            ("\"\\u00é\"", "four hexadecimal digits"),
        ];
        for (text, wanted) in cases {
            assert!(read(text).contains(wanted), "{text}: {}", read(text));
        }
    }
}
