//! Syntax errors of TOML in plain words, one for each mistake. The parser continues after an error, and so reports what
//! follows from it, too.

use std::ops::Range;
use std::sync::Arc;

use ::toml::de::{DeTable, Error};
use toml_parser::lexer::TokenKind;

use dropforge_base::diagnostics::{Code, Diagnostic};
use dropforge_base::text::{Source, Span};
use dropforge_value::Mistake;

/// Maximum number of mistakes to look for.
const MOST: usize = 8;

/// The parser's message about a key that is given twice.
const DUPLICATE: &str = "duplicate key";

/// Returns the errors of a document that cannot be parsed. Each further mistake is found in the text without the lines of
/// the ones before it.
pub(super) fn of(source: &Arc<Source>) -> Vec<Box<Diagnostic>> {
    let (mut text, mut found, mut keeps_tables) = (source.text().to_owned(), Vec::new(), true);
    while found.len() < MOST {
        let (_, errors) = DeTable::parse_recoverable(&text);
        let of_syntax = errors.iter().filter(|error| error.message() != DUPLICATE);
        let Some(first) = of_syntax.min_by_key(|error| start(error)) else {
            found.extend(errors.iter().filter(|_| keeps_tables).map(|error| duplicate(source, error)));
            break;
        };
        let mistake = Here { text: &text, at: start(first), message: first.message() }.mistake();
        let lines = damaged(&text, &mistake.span, start(first));
        let part = text.get(lines.clone()).unwrap_or("");
        keeps_tables &= !part.trim_start().starts_with('[');
        let blank: String = part.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }).collect();
        found.push(mistake.report(source, 0, "invalid TOML"));
        if blank == part {
            break;
        }
        text.replace_range(lines, &blank);
    }
    found.sort_by_key(|error| error.primary().map(|label| label.span.start));
    found
}

fn start(error: &Error) -> usize {
    error.span().map_or(0, |span| span.start)
}

fn duplicate(source: &Arc<Source>, error: &Error) -> Box<Diagnostic> {
    let span = Span::of(error.span().unwrap_or_default());
    let key = source.slice(span);
    let help = format!("keep one of them; all keys of a table `{key}` stand below one `[{key}]`");
    Diagnostic::new(Code::DuplicateKey, format!("duplicate key `{key}`")).at(source, span, "").with_help(help)
}

/// Returns the lines that a mistake damages: up to that of its error at `at`, or up to the one before if the error is below
/// the mistake.
fn damaged(text: &str, mistake: &Range<usize>, at: usize) -> Range<usize> {
    let start_of = |at: usize| text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1);
    let end_of = |at: usize| text.get(at..).and_then(|rest| rest.find('\n')).map_or(text.len(), |end| at + end);
    let line = start_of(at);
    let last = if line > end_of(mistake.start) { line - 1 } else { at };
    start_of(mistake.start.min(at))..end_of(last.max(mistake.start))
}

/// The place of an error.
struct Here<'t> {
    text: &'t str,
    at: usize,
    message: &'t str,
}

impl<'t> Here<'t> {
    fn mistake(&self) -> Mistake {
        self.known().unwrap_or_else(|| Mistake {
            what: self.message.to_owned(),
            span: self.at..self.at + self.rest().chars().next().map_or(0, char::len_utf8),
            ..Mistake::default()
        })
    }

    fn known(&self) -> Option<Mistake> {
        let is = |starts: &[&str]| starts.iter().any(|start| self.message.starts_with(start));
        let is_above =
            |(_, start): (char, usize)| self.text.get(start..self.at).is_some_and(|text| text.contains('\n'));
        if self.open().is_some_and(|bracket| is_above(bracket) && self.is_unclosed(bracket.1)) {
            return self.bracket();
        }
        if is(&["invalid basic string", "invalid literal string", "invalid multi-line"]) {
            return self.unclosed_quote();
        }
        if is(&["missing escaped value"]) {
            return self.escape();
        }
        if is(&["unclosed", "missing comma", "unexpected `=`", "missing inline table"]) {
            return self.bracket();
        }
        if is(&[
            "key with no value",
            "invalid unquoted key",
            "invalid key-value",
            "missing assignment",
            "unquoted keys",
        ]) {
            return self.entry();
        }
        if is(&["extra comma", "extra `=`"]) {
            let what = format!("there is a `{}` too many", self.next());
            return Some(Mistake::new(what, self.at..self.at + 1, "remove it"));
        }
        if is(&["unexpected key or value", "unexpected content"]) {
            return Some(self.after_value());
        }
        if is(&["invalid date", "invalid time", "invalid year", "invalid month", "invalid day", "invalid hour"]) {
            return None;
        }
        self.value()
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn next(&self) -> char {
        self.rest().chars().next().unwrap_or(' ')
    }

    /// Returns the line of the error, without white space, and its start.
    fn line(&self) -> (usize, &'t str) {
        let start = self.text.get(..self.at).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1);
        let line = self.text.get(start..).and_then(|rest| rest.lines().next()).unwrap_or("");
        let trimmed = line.trim_start();
        (start + line.len() - trimmed.len(), trimmed.trim_end())
    }

    /// Returns the tokens before the error.
    fn before(&self) -> impl Iterator<Item = (TokenKind, usize)> {
        let tokens = toml_parser::Source::new(self.text).lex().map(|token| (token.kind(), token.span().start()));
        tokens.take_while(|(_, start)| *start < self.at)
    }

    /// Returns the innermost bracket that is open at the error.
    fn open(&self) -> Option<(char, usize)> {
        let mut brackets = Vec::new();
        for (kind, start) in self.before() {
            match kind {
                TokenKind::LeftSquareBracket => brackets.push(('[', start)),
                TokenKind::LeftCurlyBracket => brackets.push(('{', start)),
                TokenKind::RightSquareBracket | TokenKind::RightCurlyBracket => drop(brackets.pop()),
                _ => {}
            }
        }
        brackets.last().copied()
    }

    /// Returns the quote of the last text before the error.
    fn quote(&self) -> Option<(usize, &'t str)> {
        let quotes = self.before().filter_map(|(kind, start)| match kind {
            TokenKind::BasicString | TokenKind::LiteralString => Some((start, start + 1)),
            TokenKind::MlBasicString | TokenKind::MlLiteralString => Some((start, start + 3)),
            _ => None,
        });
        let (start, end) = quotes.last()?;
        Some((start, self.text.get(start..end)?))
    }

    /// Returns `true` if nothing closes the bracket at `start`.
    fn is_unclosed(&self, start: usize) -> bool {
        let mut depth = 0_usize;
        for token in toml_parser::Source::new(self.text).lex().skip_while(|token| token.span().start() < start) {
            match token.kind() {
                TokenKind::LeftSquareBracket | TokenKind::LeftCurlyBracket => depth += 1,
                TokenKind::RightSquareBracket | TokenKind::RightCurlyBracket if depth == 1 => return false,
                TokenKind::RightSquareBracket | TokenKind::RightCurlyBracket => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        true
    }

    fn unclosed_quote(&self) -> Option<Mistake> {
        let (start, quote) = self.quote()?;
        Some(Mistake::new("the quote is not closed", start..start + quote.len(), format!("add the closing `{quote}`")))
    }

    fn escape(&self) -> Option<Mistake> {
        let start = self.text.get(..self.at)?.strip_suffix('\\')?.len();
        let end = self.at + self.next().len_utf8();
        let what = format!("text has the unknown escape `{}`", self.text.get(start..end)?);
        Some(Mistake::new(what, start..end, "write `\\\\` for a backslash, or put the text in single quotes"))
    }

    fn bracket(&self) -> Option<Mistake> {
        let ((open, start), (_, line)) = (self.open()?, self.line());
        let close = if open == '[' { ']' } else { '}' };
        if let next @ (']' | '}') = self.next() {
            let what = format!("`{open}` is closed by `{next}`");
            return Some(Mistake::new(what, self.at..self.at + 1, format!("close it with `{close}`")));
        }
        let name = line.trim_matches(['[', ']']);
        if line.starts_with('[') && line.ends_with(']') && name.contains(' ') && !name.contains(['=', ',']) {
            let help = format!("put it in quotes: `{}`", line.replace(name, &format!("\"{name}\"")));
            return Some(Mistake::new("the name of the table has a space in it", start..start + line.len(), help));
        }
        if self.is_unclosed(start) {
            let help = format!("add the closing `{close}`");
            return Some(Mistake::new(format!("`{open}` is not closed"), start..start + 1, help));
        }
        let before = self.text.get(..self.at)?.trim_end();
        let last = before.chars().next_back()?.len_utf8();
        let what = "a comma is missing after this value";
        Some(Mistake::new(what, before.len() - last..before.len(), "put a `,` between this value and the next"))
    }

    /// A line that is no entry `key = value`.
    fn entry(&self) -> Option<Mistake> {
        let (start, line) = self.line();
        let whole = start..start + line.len();
        let entries = "write `KEY = VALUE` on each line, or name the file";
        if line.starts_with("//") {
            return Some(Mistake::new("comments of TOML begin with `#`", whole, "write `#`"));
        }
        if line.starts_with('{') && self.at == start {
            return Some(Mistake::new("this looks like JSON", whole, format!("{entries} `.json`")));
        }
        if line.starts_with("- ") || line == "---" {
            return Some(Mistake::new("this looks like YAML", whole, format!("{entries} `.yaml`")));
        }
        if self.next() == ':' && self.open().is_some() {
            return Some(Mistake::new("`:` stands after a key", self.at..self.at + 1, "write `=`"));
        }
        self.misspelled_entry(start, line)
    }

    fn misspelled_entry(&self, start: usize, line: &str) -> Option<Mistake> {
        let is_key = |key: &str| !key.is_empty() && !key.contains(['"', '\'', '=', '{', '[']);
        if let Some((key, value)) = line.split_once(':').filter(|(key, _)| is_key(key)) {
            let colon = start + key.len();
            let help = format!("write `{} = {}`", key.trim_end(), as_value(value.trim()));
            return Some(Mistake::new("`:` stands after a key", colon..colon + 1, help));
        }
        let whole = start..start + line.len();
        match line.split_once('=').map(|(key, value)| (key.trim(), value.trim())) {
            None => Some(Mistake::new("the key has no value", whole, format!("write `{line} = VALUE`"))),
            Some(("", _)) => Some(Mistake::new("there is no key before `=`", whole, "write `KEY = VALUE`")),
            Some((key, value)) if is_key(key) => {
                let help = format!("put it in quotes: `\"{key}\" = {value}`");
                Some(Mistake::new(format!("the key `{key}` needs quotes"), start..start + key.len(), help))
            }
            Some(_) => None,
        }
    }

    fn after_value(&self) -> Mistake {
        match self.next() {
            next @ (',' | ';') => {
                let help = "remove it; each key has a line of its own";
                Mistake::new(format!("`{next}` stands after the value"), self.at..self.at + 1, help)
            }
            ']' | '}' => Mistake::new("this bracket closes nothing", self.at..self.at + 1, "remove it"),
            _ => {
                let end = self.at + self.rest().lines().next().unwrap_or("").trim_end().len();
                let help = "put each key on a line of its own, and the values of a list in `[` and `]`";
                Mistake::new("something stands after the value", self.at..end, help)
            }
        }
    }

    fn value(&self) -> Option<Mistake> {
        let is_end = |c: char| c.is_control() || "=,[]{}#\"'".contains(c);
        let start = self.text.get(..self.at)?.trim_end_matches(|c| !is_end(c) && c != ' ').len();
        let rest = self.text.get(start..)?;
        let (word, after) = rest.split_at_checked(rest.find(is_end).unwrap_or(rest.len()))?;
        let word = word.trim_end();
        let span = start..start + word.len();
        let is_number = |word: &str| word.parse::<f64>().is_ok();
        if let Some(comment) = word.find("//") {
            return Some(Mistake::new("comments of TOML begin with `#`", start + comment..span.end, "write `#`"));
        }
        if word.is_empty() {
            let help = format!("write it: `{} …`; an empty text is `\"\"`", self.line().1);
            return Some(Mistake::new("the key has no value", span, help));
        }
        if after.starts_with('=') && self.open().is_none() {
            return Some(Mistake::new("two entries stand on one line", span, "put each key on a line of its own"));
        }
        if word.contains(' ') && word.split_whitespace().all(is_number) {
            let end = start + word.find(' ')?;
            return Some(Mistake::new(
                "a comma is missing after this value",
                start..end,
                "put a `,` between the values",
            ));
        }
        Some(Mistake::word("TOML", word, span))
    }
}

/// Returns a value of YAML as TOML writes it.
fn as_value(text: &str) -> String {
    let is_value =
        text.starts_with(['"', '\'', '[', '{']) || matches!(text, "true" | "false") || text.parse::<f64>().is_ok();
    match text {
        "" => "VALUE".to_owned(),
        text if is_value => text.to_owned(),
        text => format!("\"{text}\""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_mistake_is_one_error_with_its_place_and_fix() {
        for (text, expected) in [
            ("name = prod\n", &[("1:8", "`prod` is not in quotes", "write `\"prod\"`")][..]),
            ("a = \"x\nb = 1\n", &[("1:5", "the quote is not closed", "add the closing `\"`")]),
            ("a = 'x\nb = 1\n", &[("1:5", "the quote is not closed", "add the closing `'`")]),
            ("a = \"\"\"x\nb = 1\n", &[("1:5", "the quote is not closed", "add the closing `\"\"\"`")]),
            ("a = [\"x\", \"y\"\nb = 1\nc = 2\n", &[("1:5", "`[` is not closed", "add the closing `]`")]),
            ("a = [\n  1,\n  2\nb = 3\nc = 4\n", &[("1:5", "`[` is not closed", "add the closing `]`")]),
            ("a = {b = 1\nc = 2\n", &[("1:5", "`{` is not closed", "add the closing `}`")]),
            ("a = [1, 2}\n", &[("1:10", "`[` is closed by `}`", "close it with `]`")]),
            ("[a\nb = 1\n[c]\nb = 1\n", &[("1:1", "`[` is not closed", "add the closing `]`")]),
            ("[[a]\nb = 1\n[c]\n", &[("1:1", "`[` is not closed", "add the closing `]`")]),
            ("[a b]\n", &[("1:1", "the name of the table has a space in it", "`[\"a b\"]`")]),
            ("a = [1 2]\n", &[("1:6", "a comma is missing after this value", "put a `,`")]),
            ("a = [\"x\" \"y\"]\n", &[("1:8", "a comma is missing after this value", "put a `,`")]),
            ("a: prod\nb = 1\n", &[("1:2", "`:` stands after a key", "write `a = \"prod\"`")]),
            (
                "a: 1\nb: [2]\n",
                &[
                    ("1:2", "`:` stands after a key", "write `a = 1`"),
                    ("2:2", "`:` stands after a key", "write `b = [2]`"),
                ],
            ),
            ("a = {b: 1}\n", &[("1:7", "`:` stands after a key", "write `=`")]),
            ("my key = 1\n", &[("1:1", "the key `my key` needs quotes", "`\"my key\" = 1`")]),
            ("é = 1\n", &[("1:1", "the key `é` needs quotes", "`\"é\" = 1`")]),
            ("= 1\n", &[("1:1", "there is no key before `=`", "write `KEY = VALUE`")]),
            ("a b\n", &[("1:1", "the key has no value", "write `a b = VALUE`")]),
            ("a =\nb = 1\n", &[("1:4", "the key has no value", "write it")]),
            ("a = True\n", &[("1:5", "TOML has no `True`", "write `true`")]),
            ("a = null\n", &[("1:5", "TOML has no `null`", "leave the key out")]),
            ("a = 10.0.0.1\n", &[("1:5", "`10.0.0.1` is not in quotes", "write `\"10.0.0.1\"`")]),
            ("a = 007\n", &[("1:5", "`007` is not a number of TOML", "write `7`")]),
            ("a = .5\n", &[("1:5", "`.5` is not a number of TOML", "write `0.5`")]),
            ("a = 500m\n", &[("1:5", "`500m` is not in quotes", "write `\"500m\"`")]),
            ("a = [t.tera]\n", &[("1:6", "`t.tera` is not in quotes", "write `\"t.tera\"`")]),
            ("// c\na = 1\n", &[("1:1", "comments of TOML begin with `#`", "write `#`")]),
            ("a = 1 // c\n", &[("1:7", "comments of TOML begin with `#`", "write `#`")]),
            ("a = \"C:\\dir\"\n", &[("1:8", "text has the unknown escape `\\d`", "single quotes")]),
            ("a = 1,\nb = 2\n", &[("1:6", "`,` stands after the value", "remove it")]),
            ("a = \"x\" \"y\"\n", &[("1:9", "something stands after the value", "on a line of its own")]),
            ("a = 1 b = 2\n", &[("1:5", "two entries stand on one line", "on a line of its own")]),
            ("[a]]\n", &[("1:4", "this bracket closes nothing", "remove it")]),
            ("a == 1\n", &[("1:4", "there is a `=` too many", "remove it")]),
            ("a = [1,,2]\n", &[("1:8", "there is a `,` too many", "remove it")]),
            ("{\"a\": 1}\n", &[("1:1", "this looks like JSON", "`.json`")]),
            ("- a\n", &[("1:1", "this looks like YAML", "`.yaml`")]),
        ] {
            let errors = of(&Source::new("t", text));
            let found: Vec<_> =
                errors.iter().map(|error| (error.position().unwrap().to_string(), error.message.clone())).collect();
            let wanted: Vec<_> =
                expected.iter().map(|(at, what, _)| (at.to_string(), format!("invalid TOML: {what}"))).collect();
            assert_eq!(found, wanted, "{text}");
            for (error, (_, _, help)) in errors.iter().zip(expected) {
                assert!(error.help.as_ref().is_some_and(|found| found.contains(help)), "{text}: {:?}", error.help);
            }
        }
    }

    #[test]
    fn damaged_documents_have_their_place() {
        let text = "a = \"x\" # é\n[b.c]\nd = [1, {e = '''y'''}]\nf = 2001-01-01\n";
        let with = ["", "\"", "'", "{", "}", "[", "]", ",", ":", "=", "#", "\\", "\n", "a", "0", ".", "é"];
        for (at, c) in text.char_indices() {
            for new in with {
                let damaged = [&text[..at], new, &text[at + c.len_utf8()..]].concat();
                if DeTable::parse_recoverable(&damaged).1.is_empty() {
                    continue;
                }
                let errors = of(&Source::new("t", damaged.as_str()));
                assert!(!errors.is_empty() && errors.len() <= 3, "{damaged}: {errors:?}");
                assert!(errors.iter().all(|error| error.position().is_some()), "{damaged}");
            }
        }
    }
}
