//! Environment files: lines `KEY=VALUE`, as Docker Compose reads them, but without interpolation.
//!
//! | in the file | value |
//! |---|---|
//! | `export KEY=VALUE` | the same as without `export` |
//! | `KEY=a b # comment` | `a b`: a comment begins with a blank and `#` |
//! | `KEY='a $b'` | verbatim up to the next quote, over several lines, except `\'` |
//! | `KEY="a\tb"` | with the escapes `\n`, `\r`, `\t`, `\"`, `\\` and `\$`, over several lines |
//!
//! Every value is text, and `$` has no meaning. The grammar is that of <https://docs.docker.com/compose/how-tos/environment-variables/variable-interpolation/#env-file-syntax>.

use std::sync::Arc;

use super::{all_of, failed};
use crate::values::Step;
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_base::text::{Source, Span};
use dropforge_value::{Data, DataMap};

/// Reads an environment file as a map of text.
///
/// # Errors
/// All of `input.syntax` and `input.duplicate_key`, with their positions.
pub(super) fn env(source: &Arc<Source>) -> Result<DataMap> {
    let (mut map, mut errors, mut at) = (DataMap::default(), Vec::new(), 0);
    while at < source.text().len() {
        let mut line = EnvLine { source, at };
        let start = line.at;
        match line.assignment() {
            Ok(None) => {}
            Ok(Some((key, value))) => {
                if map.insert(key.to_owned(), Data::Str(value)).is_some() {
                    let error = Diagnostic::new(Code::DuplicateKey, format!("duplicate key `{key}`"));
                    errors.push(error.at(source, Span::of(start..start + line.rest_of(start).len()), ""));
                }
            }
            Err(error) => errors.push(error),
        }
        at = line.at + line.rest().len() + 1;
    }
    if errors.is_empty() { Ok(map) } else { Err(all_of(errors)) }
}

/// Finds the assignment to the key that is `path`. Returns `None` after an error.
pub(super) fn find(source: &Arc<Source>, path: &[Step]) -> Option<Span> {
    let [Step::Key(wanted)] = path else { return None };
    let mut at = 0;
    while at < source.text().len() {
        let mut line = EnvLine { source, at };
        match line.assignment().ok()? {
            Some((key, _)) if key == wanted => return Some(Span::of(at..line.at + line.rest().len())),
            _ => at = line.at + line.rest().len() + 1,
        }
    }
    None
}

/// The text from a position to the end of its line.
struct EnvLine<'s> {
    source: &'s Arc<Source>,
    at: usize,
}

impl<'s> EnvLine<'s> {
    fn text(&self) -> &'s str {
        self.source.text().get(self.at..).unwrap_or("")
    }

    fn rest(&self) -> &'s str {
        self.rest_of(self.at)
    }

    fn rest_of(&self, at: usize) -> &'s str {
        let text = self.source.text().get(at..).unwrap_or("");
        text.get(..memchr::memchr(b'\n', text.as_bytes()).unwrap_or(text.len())).unwrap_or("")
    }

    fn skip_blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn fail<T>(&self, message: impl Into<String>) -> Result<T> {
        let end = self.at + self.rest().trim_end().len();
        Err(failed(self.source, self.at..end, message)
            .with_help("write KEY=VALUE, and quote values with `#` or quotes"))
    }

    /// Reads `KEY=VALUE`. Returns `None` for a line without one.
    fn assignment(&mut self) -> Result<Option<(&'s str, String)>> {
        if self.at == 0 && self.text().starts_with('\u{feff}') {
            self.at = '\u{feff}'.len_utf8();
        }
        self.skip_blanks();
        if self.rest().is_empty() || self.rest().starts_with('#') {
            return Ok(None);
        }
        if let Some(rest) = self.rest().strip_prefix("export").filter(|rest| rest.starts_with([' ', '\t'])) {
            self.at += self.rest().len() - rest.trim_start().len();
        }
        let Some((key, _)) = self.rest().split_once('=') else {
            return self.fail("expected KEY=VALUE");
        };
        let name = key.trim_end();
        if !is_name(name) {
            let is = "is not a name: ASCII letters, digits, `_`, `.` and `-`, with no digit, `.` or `-` first";
            return self.fail(format!("`{name}` {is}"));
        }
        self.at += key.len() + 1;
        self.skip_blanks();
        self.value().map(|value| Some((name, value)))
    }

    fn value(&mut self) -> Result<String> {
        match self.rest().as_bytes().first() {
            Some(b'\'') => self.quoted('\'', |escaped| (escaped == '\'').then_some('\'')),
            Some(b'"') => self.quoted('"', |escaped| match escaped {
                'n' => Some('\n'),
                'r' => Some('\r'),
                't' => Some('\t'),
                '"' | '\\' | '$' => Some(escaped),
                _ => None,
            }),
            _ => Ok(without_comment(self.rest()).trim_end().to_owned()),
        }
    }

    /// Reads a value in quotes. `escape` returns the character that one after a backslash stands for.
    fn quoted(&mut self, quote: char, escape: fn(char) -> Option<char>) -> Result<String> {
        let (mut value, mut chars) = (String::new(), self.text().char_indices().skip(1).peekable());
        while let Some((at, c)) = chars.next() {
            if c == quote {
                self.at += at + 1;
                let behind = self.rest().trim_start();
                let is_end = behind.is_empty() || behind.starts_with('#');
                return if is_end { Ok(value) } else { self.fail("unexpected text after the closing quote") };
            }
            let escaped = chars.peek().filter(|_| c == '\\').and_then(|(_, next)| escape(*next));
            value.push(escaped.unwrap_or(c));
            if escaped.is_some() {
                chars.next();
            }
        }
        let unclosed = self.fail("unclosed quote");
        self.at = self.source.text().len();
        unclosed
    }
}

fn is_name(name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && name.chars().all(is_part)
}

/// Returns a value without its comment, which begins with a blank and `#`.
fn without_comment(value: &str) -> &str {
    let is_comment =
        |at: &usize| value.get(..*at).is_some_and(|before| before.is_empty() || before.ends_with([' ', '\t']));
    let comment = memchr::memchr_iter(b'#', value.as_bytes()).find(is_comment);
    comment.and_then(|at| value.get(..at)).unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> std::result::Result<String, Vec<String>> {
        match env(&Source::new(".env", text)) {
            Ok(map) => Ok(serde_json::to_string(&Data::Map(map)).unwrap()),
            Err(error) => {
                let all = std::iter::once(&error).chain(&error.also);
                Err(all.map(|error| error.to_string()).collect())
            }
        }
    }

    #[test]
    fn the_grammar() {
        let cases = [
            ("A=1\n\n# c\n  B = two words  \r\n", r#"{"A":"1","B":"two words"}"#),
            ("\u{feff}export A=x\nexport\tB=y", r#"{"A":"x","B":"y"}"#),
            ("A=\nB=''\nC=\"\" # c", r#"{"A":"","B":"","C":""}"#),
            ("A=a#b # c\nB=#c\nC=a=b", r#"{"A":"a#b","B":"","C":"a=b"}"#),
            (r#"A="a\tb\"c\\n\$d\x" # c"#, r#"{"A":"a\tb\"c\\n$d\\x"}"#),
            (r"A='a\n$B\'c'", r#"{"A":"a\\n$B'c"}"#),
            ("A=\"one\ntwo\"\nB='x\n#y'\n", r#"{"A":"one\ntwo","B":"x\n#y"}"#),
            ("A=$B ${C} true", r#"{"A":"$B ${C} true"}"#),
            ("a.b-c=1", r#"{"a.b-c":"1"}"#),
            ("exported=1", r#"{"exported":"1"}"#),
            ("", "{}"),
        ];
        for (text, expected) in cases {
            assert_eq!(read(text).as_deref(), Ok(expected), "{text:?}");
        }
    }

    #[test]
    fn all_errors_have_places() {
        let errors = read("A\nB=1\n1x=2\nB=3\nC='a' b\nD=\"x\nE=1\n").unwrap_err();
        let expected = [
            ("expected KEY=VALUE", ".env:1:1"),
            ("`1x` is not a name", ".env:3:1"),
            ("duplicate key `B`", ".env:4:1"),
            ("after the closing quote", ".env:5:6"),
            ("unclosed quote", ".env:6:3"),
        ];
        assert_eq!(errors.len(), expected.len(), "{errors:?}");
        for (error, (message, place)) in errors.iter().zip(expected) {
            assert!(error.contains(message) && error.contains(place), "{error}");
        }
    }
}
