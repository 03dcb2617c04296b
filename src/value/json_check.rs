//! Reads JSON only for its errors.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_base::text::Source;

/// Checks that `source` is one JSON value without duplicate keys.
///
/// # Errors
/// `input.syntax`, `input.duplicate_key`.
pub fn check_json(source: &Arc<Source>) -> Result<()> {
    let text = source.text();
    serde_json::from_str::<Unique>(text).map(drop).map_err(|error| {
        let (at, message) = json_error(text, &error);
        let span = source.character(at);
        match error.is_data() {
            true => Diagnostic::new(Code::DuplicateKey, message).at(source, span, "again here"),
            false => Diagnostic::new(Code::InputSyntax, format!("this is not JSON: {message}"))
                .caused_by(message)
                .at(source, span, ""),
        }
    })
}

/// Returns the offset of an error in `text` and its message. serde_json counts lines, and bytes in a line.
pub fn json_error(text: &str, error: &serde_json::Error) -> (usize, String) {
    let start = match error.line() {
        0 | 1 => 0,
        line => memchr::memchr_iter(b'\n', text.as_bytes()).nth(line - 2).map_or(0, |end| end + 1),
    };
    let mut message = error.to_string();
    message.truncate(message.find(" at line ").unwrap_or(message.len()));
    if message == "expected ident" {
        message = "expected `null`, `true` or `false`".to_owned();
    }
    ((start + error.column().saturating_sub(1)).min(text.len()), message)
}

/// A value whose maps have each key once.
struct Unique;

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_any(Self)
    }
}

/// A key, borrowed unless it has escapes.
#[derive(serde::Deserialize)]
struct Name<'k>(#[serde(borrow)] Cow<'k, str>);

impl<'de> Visitor<'de> for Unique {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> std::result::Result<Self, E> {
        Ok(self)
    }

    fn visit_bool<E>(self, _: bool) -> std::result::Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> std::result::Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> std::result::Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> std::result::Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> std::result::Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> std::result::Result<Self, A::Error> {
        while items.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> std::result::Result<Self, A::Error> {
        let mut names = HashSet::new();
        while let Some(Name(name)) = entries.next_key()? {
            if names.contains(&name) {
                return Err(Error::custom(format!("the key `{name}` is given twice")));
            }
            names.insert(name);
            entries.next_value::<Self>()?;
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_their_place() {
        let cases = [
            ("{\"a\": 1}", None),
            (" [1, {\"a\": [{}], \"b\": null}]\n", None),
            ("{\"a\": 1,\n \"b\": }", Some(("this is not JSON: expected value", "2:7"))),
            ("", Some(("this is not JSON: EOF while parsing a value", "1:1"))),
            ("[1] 2", Some(("this is not JSON: trailing characters", "1:5"))),
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
