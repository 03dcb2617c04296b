//! JSON text as it is written: numbers by their digits, names in their order and as often as they come.

use std::borrow::Cow;

use super::escape::unescape;

/// A JSON value, borrowing from the text it was read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Json<'t> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, as it is written.
    Number(&'t str),
    /// A text, with its escapes read.
    Text(Cow<'t, str>),
    /// An array.
    List(Vec<Json<'t>>),
    /// An object: its names and values in their order; a name may come twice.
    Object(Vec<(Cow<'t, str>, Json<'t>)>),
}

impl<'t> Json<'t> {
    /// Reads `text`, which is one JSON value and nothing else, at most `depth` levels deep. The error says in one
    /// sentence what is wrong and where.
    ///
    /// ```
    /// use dropforge::dialect::hcl::values::json::Json;
    /// assert_eq!(Json::read("[1.50]", 8), Ok(Json::List(vec![Json::Number("1.50")])));
    /// assert_eq!(Json::read("{} {}", 8), Err("there is more behind the JSON value at byte 3".into()));
    /// ```
    pub fn read(text: &'t str, depth: usize) -> Result<Self, String> {
        let mut reader = Reader { text, at: 0, depth };
        let value = reader.document()?;
        match reader.peek() {
            None => Ok(value),
            Some(_) => Err(reader.error("there is more behind the JSON value")),
        }
    }

    /// The last value of this name, where this is an object that has it.
    pub fn get(&self, name: &str) -> Option<&Json<'t>> {
        let Json::Object(entries) = self else { return None };
        entries.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// The text, where this is one.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Json::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The values, where this is an array.
    pub fn as_list(&self) -> Option<&[Json<'t>]> {
        match self {
            Json::List(items) => Some(items),
            _ => None,
        }
    }
}

/// An array or object that is being read.
enum Open<'t> {
    List(Vec<Json<'t>>),
    /// With the name whose value comes next.
    Object(Vec<(Cow<'t, str>, Json<'t>)>, Cow<'t, str>),
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
}

impl<'t> Reader<'t> {
    /// One value, whatever comes behind it. What is open stands on a stack of its own.
    fn document(&mut self) -> Result<Json<'t>, String> {
        let mut open = Vec::new();
        loop {
            let Some(mut value) = self.begin(&mut open)? else { continue };
            loop {
                let Some(top) = open.last_mut() else { return Ok(value) };
                match self.attach(top, value)? {
                    None => break,
                    Some(whole) => value = whole,
                }
                open.pop();
            }
        }
    }

    /// A value that is whole, or nothing where one was opened.
    fn begin(&mut self, open: &mut Vec<Open<'t>>) -> Result<Option<Json<'t>>, String> {
        let first = self.peek().ok_or_else(|| self.error("the JSON text ends where a value is wanted"))?;
        match first {
            b'[' | b'{' => self.open(first, open),
            b'"' => self.string().map(|text| Some(Json::Text(text))),
            b'-' | b'0'..=b'9' => self.number().map(Some),
            _ => self.word().map(Some),
        }
    }

    fn open(&mut self, bracket: u8, open: &mut Vec<Open<'t>>) -> Result<Option<Json<'t>>, String> {
        if open.len() >= self.depth {
            return Err(self.error(&format!("the JSON text nests deeper than {} levels", self.depth)));
        }
        self.at += 1;
        let list = bracket == b'[';
        if self.peek() == Some(if list { b']' } else { b'}' }) {
            self.at += 1;
            return Ok(Some(if list { Json::List(Vec::new()) } else { Json::Object(Vec::new()) }));
        }
        let opened = if list { Open::List(Vec::new()) } else { Open::Object(Vec::new(), self.name()?) };
        open.push(opened);
        Ok(None)
    }

    /// Puts `value` where it belongs: nothing where more is to come, or what is whole with it.
    fn attach(&mut self, top: &mut Open<'t>, value: Json<'t>) -> Result<Option<Json<'t>>, String> {
        let close = if matches!(top, Open::List(_)) { b']' } else { b'}' };
        let next = self.peek().filter(|&next| next == b',' || next == close);
        let next = next.ok_or_else(|| self.error(&format!("`,` or `{}` is wanted", char::from(close))))?;
        self.at += 1;
        match top {
            Open::List(items) => {
                items.push(value);
                Ok((next == close).then(|| Json::List(std::mem::take(items))))
            }
            Open::Object(entries, name) => {
                entries.push((std::mem::take(name), value));
                if next == close {
                    return Ok(Some(Json::Object(std::mem::take(entries))));
                }
                *name = self.name()?;
                Ok(None)
            }
        }
    }

    /// A name and the colon behind it.
    fn name(&mut self) -> Result<Cow<'t, str>, String> {
        if self.peek() != Some(b'"') {
            return Err(self.error("a name in quotes is wanted"));
        }
        let name = self.string()?;
        if self.peek() != Some(b':') {
            return Err(self.error("`:` is wanted"));
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
        Err(self.error(&format!("{found:?} begins no JSON value")))
    }

    fn number(&mut self) -> Result<Json<'t>, String> {
        let start = self.at;
        self.skip(|byte| byte == b'-', 1);
        let whole = if self.byte() == Some(b'0') { 1 } else { usize::MAX };
        let mut well = self.skip(|byte| byte.is_ascii_digit(), whole) > 0;
        if self.skip(|byte| byte == b'.', 1) > 0 {
            well &= self.skip(|byte| byte.is_ascii_digit(), usize::MAX) > 0;
        }
        if self.skip(|byte| matches!(byte, b'e' | b'E'), 1) > 0 {
            self.skip(|byte| matches!(byte, b'+' | b'-'), 1);
            well &= self.skip(|byte| byte.is_ascii_digit(), usize::MAX) > 0;
        }
        if well { Ok(Json::Number(&self.text[start..self.at])) } else { Err(self.error("a digit is wanted")) }
    }

    fn string(&mut self) -> Result<Cow<'t, str>, String> {
        self.at += 1;
        let mut text = Cow::Borrowed("");
        loop {
            let start = self.at;
            self.skip(|byte| byte >= b' ' && byte != b'"' && byte != b'\\', usize::MAX);
            let run = &self.text[start..self.at];
            if text.is_empty() {
                text = Cow::Borrowed(run)
            } else {
                text.to_mut().push_str(run)
            }
            match self.byte() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(text);
                }
                Some(b'\\') => {
                    let escaped = self.escape()?;
                    text.to_mut().push(escaped);
                }
                Some(_) => return Err(self.error("a control character stands in a text")),
                None => return Err(self.error("the JSON text ends within a text")),
            }
        }
    }

    fn escape(&mut self) -> Result<char, String> {
        let (character, len) = unescape(self.rest()).map_err(|bad| {
            self.error(if bad > 1 { "`\\u` wants four hexadecimal digits" } else { "an escape is not known" })
        })?;
        self.at += len;
        Ok(character)
    }

    /// Goes over at most `most` bytes that `is` holds for: how many they were.
    fn skip(&mut self, is: impl Fn(u8) -> bool, most: usize) -> usize {
        let count = self.text.as_bytes()[self.at..].iter().take(most).take_while(|byte| is(**byte)).count();
        self.at += count;
        count
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// The next byte that is not white space.
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
            ("", "ends where a value"),
            ("[1,]", "']' begins no JSON value at byte 3"),
            ("[1 2]", "`,` or `]` is wanted at byte 3"),
            ("{a:1}", "a name in quotes is wanted at byte 1"),
            (r#"{"a" 1}"#, "`:` is wanted at byte 5"),
            ("01", "more behind the JSON value at byte 1"),
            ("1.", "a digit is wanted at byte 2"),
            ("-", "a digit is wanted at byte 1"),
            ("1e+", "a digit is wanted at byte 3"),
            ("\"a\nb\"", "a control character"),
            ("\"ab", "ends within a text"),
            (r#""\x""#, "an escape is not known at byte 1"),
            (r#""\u00g0""#, "four hexadecimal digits"),
            (r#""\u+0a0""#, "four hexadecimal digits"),
            ("[[[[[]]]]]", "nests deeper than 4 levels"),
            ("é", "'é' begins no JSON value"),
            ("\"\\u00é\"", "four hexadecimal digits"),
        ];
        for (text, wanted) in cases {
            assert!(read(text).contains(wanted), "{text}: {}", read(text));
        }
    }
}
