//! Syntax errors of JSON in plain words. The parser names what it did not expect, which often stands after the mistake.

use std::ops::Range;

use crate::mistake::{Mistake, closing, quoted};

/// Returns the mistake that is likely the cause of an error of the parser at byte `at`.
pub(crate) fn mistake(text: &str, at: usize, message: &str) -> Option<Mistake> {
    let here = Here { text, at };
    match message {
        "trailing comma" => here.trailing_comma(),
        "key must be a string" => here.comment().or_else(|| here.key()),
        "expected value" | "expected ident" | "invalid number" => here.comment().or_else(|| here.value()),
        "expected `:`" => here.comment().or_else(|| here.colon()),
        "expected `,` or `}`" | "expected `,` or `]`" => here.comment().or_else(|| here.separator()),
        "trailing characters" => here.comment().or_else(|| here.after_all()),
        "invalid escape" => here.escape(),
        message if message.starts_with("control character") => here.in_string(),
        message if message.starts_with("EOF") => here.end(),
        _ => None,
    }
}

/// The place of an error.
#[derive(Clone, Copy)]
struct Here<'t> {
    text: &'t str,
    at: usize,
}

/// The brackets and the string that are open at a place.
#[derive(Default)]
struct Open {
    brackets: Vec<(char, usize)>,
    string: Option<usize>,
}

impl<'t> Here<'t> {
    fn rest(self) -> &'t str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn before(self) -> &'t str {
        self.text.get(..self.at).unwrap_or("")
    }

    fn next(self) -> char {
        self.rest().chars().next().unwrap_or(' ')
    }

    /// Returns the bytes of the character here.
    fn one(self) -> Range<usize> {
        self.at..self.at + self.rest().chars().next().map_or(0, char::len_utf8)
    }

    /// Returns the last character before this place that is not white space, and its bytes.
    fn previous(self) -> Option<(char, Range<usize>)> {
        let before = self.before().trim_end();
        let last = before.chars().next_back()?;
        Some((last, before.len() - last.len_utf8()..before.len()))
    }

    /// Returns the word around this place, up to the next separator.
    fn word(self) -> (Range<usize>, &'t str) {
        let is_part = |c: char| !c.is_control() && !",:{}[]\"' ".contains(c);
        let start = self.before().trim_end_matches(is_part).len();
        let rest = self.text.get(start..).unwrap_or("");
        let length = rest.find(|c: char| c.is_control() || ",:{}[]\"".contains(c)).unwrap_or(rest.len());
        let word = rest.get(..length).unwrap_or("").trim_end();
        (start..start + word.len(), word)
    }

    fn open(self) -> Open {
        let (mut open, mut is_escaped) = (Open::default(), false);
        for (at, c) in self.before().char_indices() {
            match (open.string, c) {
                (Some(_), _) if std::mem::take(&mut is_escaped) => {}
                (Some(_), '\\') => is_escaped = true,
                (Some(_), '"') => open.string = None,
                (Some(_), _) => {}
                (None, '"') => open.string = Some(at),
                (None, '[' | '{') => open.brackets.push((c, at)),
                (None, ']' | '}') => drop(open.brackets.pop()),
                (None, _) => {}
            }
        }
        open
    }

    fn comment(self) -> Option<Mistake> {
        let is_one = ["//", "/*", "#"].iter().any(|mark| self.rest().starts_with(mark));
        let end = self.at + self.rest().lines().next().unwrap_or("").trim_end().len();
        let help = "remove it; YAML files can have comments, which begin with `#`";
        is_one.then(|| Mistake::new("JSON has no comments", self.at..end, help))
    }

    fn trailing_comma(self) -> Option<Mistake> {
        let (_, comma) = self.previous().filter(|(last, _)| *last == ',')?;
        Some(Mistake::new(format!("a comma stands before the closing `{}`", self.next()), comma, "remove this comma"))
    }

    fn key(self) -> Option<Mistake> {
        let (span, word) = self.word();
        match self.next() {
            '\'' => self.single_quotes(),
            // A placeholder of a template has a help of its own.
            '{' => None,
            ',' => Some(Mistake::new("a comma stands where a key is expected", self.one(), "remove this comma")),
            _ if word.is_empty() => None,
            _ => Some(Mistake::new(
                format!("the key `{word}` is not in quotes"),
                span,
                format!("write `{}`", quoted(word)),
            )),
        }
    }

    fn value(self) -> Option<Mistake> {
        let (span, word) = self.word();
        match self.next() {
            '\'' => self.single_quotes(),
            ',' | ']' | '}' | ':' if word.is_empty() => {
                let what = format!("a value is missing before this `{}`", self.next());
                Some(Mistake::new(what, self.one(), "write the value; `null` is none, `\"\"` an empty text"))
            }
            _ if word.is_empty() => None,
            _ if self.is_yaml(&span) => Some(Mistake::new(
                "this looks like YAML",
                span,
                "name the file `.yaml`, or put keys and texts in double quotes",
            )),
            _ => Some(Mistake::word("JSON", word, span)),
        }
    }

    /// Returns `true` if a key of YAML or a list of YAML begins the text.
    fn is_yaml(self, word: &Range<usize>) -> bool {
        let [begin, after] = [word.start, word.end].map(|at| self.text.get(at..).unwrap_or(""));
        let is_key = after.starts_with(": ") || after.starts_with(":\n");
        let begins_list = begin.starts_with("- ") || begin.starts_with("---");
        (is_key || begins_list) && self.open().brackets.is_empty()
    }

    fn single_quotes(self) -> Option<Mistake> {
        let inside = self.rest().strip_prefix('\'')?;
        let length = inside.find(['\'', '\n']).unwrap_or(inside.len());
        let text = inside.get(..length).unwrap_or("");
        let is_closed = inside.get(length..).is_some_and(|rest| rest.starts_with('\''));
        let span = self.at..self.at + 1 + length + usize::from(is_closed);
        Some(Mistake::new("JSON has no single quotes", span, format!("write `{}`", quoted(text))))
    }

    fn colon(self) -> Option<Mistake> {
        let (last, key) = self.previous()?;
        match self.next() {
            '=' => Some(Mistake::new("`=` stands after the key", self.one(), "write `:`")),
            ',' | '}' => {
                let help = "write `\"key\": VALUE`; a list of texts stands in `[` and `]`";
                Some(Mistake::new("the key has no value", key, help))
            }
            next if last == '"' && key.end == self.at && next.is_alphanumeric() => Some(inner_quote(key)),
            _ => Some(Mistake::new("there is no `:` after the key", key, "put a `:` between the key and its value")),
        }
    }

    fn separator(self) -> Option<Mistake> {
        let ((last, previous), next) = (self.previous()?, self.next());
        let open = self.open().brackets.last().map_or('{', |(open, _)| *open);
        let is_adjacent = previous.end == self.at;
        match next {
            ']' | '}' => {
                let help = format!("close it with `{}`", closing(open));
                Some(Mistake::new(format!("`{open}` is closed by `{next}`"), self.one(), help))
            }
            ';' => Some(Mistake::new("`;` stands after the value", self.one(), "write `,`")),
            ':' if open == '[' => {
                Some(Mistake::new("a list has no keys", self.one(), "put the entry in braces: `{\"key\": VALUE}`"))
            }
            ':' | '=' => {
                Some(Mistake::new(format!("`{next}` stands after a value"), self.one(), "put a `,` between entries"))
            }
            _ if is_adjacent && last == '"' && next.is_alphanumeric() => Some(inner_quote(previous)),
            _ if is_adjacent && !"]}\"".contains(last) && !"[{\"".contains(next) => self.value(),
            _ => {
                let what = "a comma is missing after this value";
                Some(Mistake::new(what, previous, "put a `,` between this value and the next"))
            }
        }
    }

    fn after_all(self) -> Option<Mistake> {
        let found = match self.next() {
            ',' => ("a comma stands after the value", "remove it"),
            ']' | '}' => ("this bracket closes nothing", "remove it"),
            '{' | '[' | '"' => (
                "a second value stands after the first",
                "put both in a list: `[…, …]`; a file with a value on each line is named `.ndjson`",
            ),
            _ => return None,
        };
        Some(Mistake::new(found.0, self.one(), found.1))
    }

    fn escape(self) -> Option<Mistake> {
        let end = self.one().end;
        let start = self.text.get(..end)?.rfind('\\')?;
        let what = format!("text has the unknown escape `{}`", self.text.get(start..end)?);
        Some(Mistake::new(what, start..end, "write `\\\\` for a backslash"))
    }

    /// A character that ends a string, or that a string cannot have.
    fn in_string(self) -> Option<Mistake> {
        let is_control = |(_, c): &(usize, char)| c.is_control();
        let (at, c) = self.text.get(..self.one().end)?.char_indices().rev().find(is_control)?;
        if matches!(c, '\n' | '\r') {
            return Here { at, ..self }
                .unclosed_string("add the closing `\"`; a line break in a text is written `\\n`");
        }
        let escape = if c == '\t' { "\\t".to_owned() } else { format!("\\u{:04x}", u32::from(c)) };
        let what = if c == '\t' { "a text has a tab in it" } else { "a text has a control character in it" };
        Some(Mistake::new(what, at..at + c.len_utf8(), format!("write it as `{escape}`")))
    }

    fn unclosed_string(self, help: &str) -> Option<Mistake> {
        let start = self.open().string?;
        Some(Mistake::new("the quote is not closed", start..start + 1, help))
    }

    fn end(self) -> Option<Mistake> {
        let all = Here { at: self.text.len(), ..self };
        if self.text.trim().is_empty() {
            return Some(Mistake::new("there is no value", 0..0, "an empty map is `{}`, an empty list `[]`"));
        }
        let unclosed_bracket = || {
            let (open, at) = all.open().brackets.last().copied()?;
            let help = format!("add the closing `{}`", closing(open));
            Some(Mistake::new(format!("`{open}` is not closed"), at..at + 1, help))
        };
        all.unclosed_string("add the closing `\"`").or_else(unclosed_bracket)
    }
}

/// The mistake of a quote within a text.
fn inner_quote(quote: Range<usize>) -> Mistake {
    Mistake::new("the text ends at this quote", quote, "a quote inside a text is written `\\\"`")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Data, json_mistake};

    /// Returns the mistake in a text with the bytes that it is about.
    fn found(text: &str) -> (String, String, String) {
        let error = Data::of_json_with_unique_keys(text).unwrap_err();
        let Mistake { what, span, help, .. } = json_mistake(text, &error);
        (what, text[span].to_owned(), help.unwrap_or_default())
    }

    #[test]
    fn mistakes_are_named_with_their_place_and_fix() {
        for (text, what, place, help) in [
            ("[1,\n]", "a comma stands before the closing `]`", ",", "remove this comma"),
            ("{\"a\": 1, }", "a comma stands before the closing `}`", ",", "remove this comma"),
            ("{'a': 1}", "JSON has no single quotes", "'a'", "write `\"a\"`"),
            ("{\"a\": 'x\"y'}", "JSON has no single quotes", "'x\"y'", "write `\"x\\\"y\"`"),
            ("{\n// c\n\"a\": 1}", "JSON has no comments", "// c", "remove it"),
            ("{\"a\": 1 # c\n}", "JSON has no comments", "# c", "remove it"),
            ("{\"a\": /* c */ 1}", "JSON has no comments", "/* c */ 1}", "remove it"),
            ("[1, 2] // c", "JSON has no comments", "// c", "remove it"),
            ("{a-b: 1}", "the key `a-b` is not in quotes", "a-b", "write `\"a-b\"`"),
            ("{\"a\": 1,, \"b\": 2}", "a comma stands where a key is expected", ",", "remove this comma"),
            ("{\"a\": prod}", "`prod` is not in quotes", "prod", "write `\"prod\"`"),
            ("[two words, 1]", "`two words` is not in quotes", "two words", "write `\"two words\"`"),
            ("[10.0.0.1]", "`10.0.0.1` is not in quotes", "10.0.0.1", "write `\"10.0.0.1\"`"),
            ("[500m]", "`500m` is not in quotes", "500m", "write `\"500m\"`"),
            ("{\"a\": trve}", "`trve` is not in quotes", "trve", "write `\"trve\"`"),
            ("{\"a\": True}", "JSON has no `True`", "True", "write `true`"),
            ("[None]", "JSON has no `None`", "None", "write `null`"),
            ("[NaN]", "JSON has no `NaN`", "NaN", "write `null`, or a text: `\"NaN\"`"),
            ("[-Infinity]", "JSON has no `-Infinity`", "-Infinity", "write `null`"),
            ("[007]", "`007` is not a number of JSON", "007", "write `7`, or a text: `\"007\"`"),
            ("[.5]", "`.5` is not a number of JSON", ".5", "write `0.5`"),
            ("[+5]", "`+5` is not a number of JSON", "+5", "write `5`"),
            ("[5.]", "`5.` is not a number of JSON", "5.", "write `5`"),
            ("[1,,2]", "a value is missing before this `,`", ",", "write the value"),
            ("{\"a\": }", "a value is missing before this `}`", "}", "write the value"),
            ("{\"a\": \"x\"\n \"b\": 1}", "a comma is missing after this value", "\"", "put a `,`"),
            ("[1 2]", "a comma is missing after this value", "1", "put a `,`"),
            ("[{}{}]", "a comma is missing after this value", "}", "put a `,`"),
            ("{\"a\" 1}", "there is no `:` after the key", "\"", "put a `:`"),
            ("{\"a\" = 1}", "`=` stands after the key", "=", "write `:`"),
            ("{\"a\", \"b\"}", "the key has no value", "\"", "in `[` and `]`"),
            ("[\"a\": 1]", "a list has no keys", ":", "in braces"),
            ("{\"a\": 1; \"b\": 2}", "`;` stands after the value", ";", "write `,`"),
            ("{\"a\": [1, 2}", "`[` is closed by `}`", "}", "close it with `]`"),
            ("[{\"a\": 1]", "`{` is closed by `]`", "]", "close it with `}`"),
            ("{\"a\": \"say \"hi\" now\"}", "the text ends at this quote", "\"", "written `\\\"`"),
            ("{\"a\": \"C:\\dir\"}", "text has the unknown escape `\\d`", "\\d", "write `\\\\`"),
            ("{\"a\": \"x,\n\"b\": 1}", "the quote is not closed", "\"", "add the closing `\"`"),
            ("[\"a\tb\"]", "a text has a tab in it", "\t", "write it as `\\t`"),
            ("[\"a\u{1}b\"]", "a text has a control character in it", "\u{1}", "write it as `\\u0001`"),
            ("[\"a", "the quote is not closed", "\"", "add the closing `\"`"),
            ("{\"a\": [1, {\"]\": 2}", "`[` is not closed", "[", "add the closing `]`"),
            ("{\"a\":", "`{` is not closed", "{", "add the closing `}`"),
            (" \n", "there is no value", "", "`{}`"),
            ("{\"a\": 1},", "a comma stands after the value", ",", "remove it"),
            ("{\"a\": 1}}", "this bracket closes nothing", "}", "remove it"),
            ("{} {}", "a second value stands after the first", "{", ".ndjson"),
            ("name: x\n", "this looks like YAML", "name", "name the file `.yaml`"),
            ("- a\n", "this looks like YAML", "- a", "name the file `.yaml`"),
        ] {
            let (found_what, found_place, found_help) = found(text);
            assert_eq!((found_what.as_str(), found_place.as_str()), (what, place), "{text}");
            assert!(found_help.contains(help), "{text}: {found_help}");
        }
    }

    /// Every text with one character changed is read, or has an error within it.
    #[test]
    fn damaged_texts_have_their_place() {
        let text = "{\"é\": [1.5, {\"b\": \"x\\\"y\"}, null],\n \"c\": true}";
        let with =
            ["", "\"", "'", "{", "}", "[", "]", ",", ":", "=", ";", "#", "/", "\\", "\n", "\t", "a", "0", ".", "é"];
        for (at, c) in text.char_indices() {
            for new in with {
                let damaged = [&text[..at], new, &text[at + c.len_utf8()..]].concat();
                if let Err(error) = Data::of_json_with_unique_keys(&damaged) {
                    let Mistake { what, span, .. } = json_mistake(&damaged, &error);
                    assert!(damaged.get(span.clone()).is_some() && !what.is_empty(), "{damaged}: {what} {span:?}");
                }
            }
        }
    }
}
