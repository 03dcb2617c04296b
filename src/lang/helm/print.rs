//! The text of values: Go's `%v`; the end of a render, which removes the text of missing values;
//! the likely fix in a template for an output that is not YAML.

use memchr::memmem::Finder;

use super::error::failed;
use super::objects;
use super::values::text_bytes;
use dropforge_base::diagnostics::{Diagnostic, Result};
use dropforge_base::stdlib::float_format::shortest;
use dropforge_base::stdlib::timestamps;
use dropforge_machine::bytecode::Program;
use dropforge_machine::function::{Cx, Growing};
use dropforge_machine::language::{InvalidOutput, indent_below};
use dropforge_value::{CapsuleContent, Extended, Type, Value};

/// The text of nil as the value of an action.
pub const NO_VALUE: &str = "<no value>";

/// Appends the text of a value.
///
/// # Errors
/// A limit. A map that contains itself exceeds the limit on the depth of values.
pub fn print<'v>(cx: &Cx<'v>, value: Value<'v>, out: &mut Growing<'_, 'v>) -> Result<()> {
    ValuePrinter { cx, out }.value(value, 0)
}

/// Returns the text of a value as functions of strings take it: strings and `[]byte` as they are, other values printed.
pub(crate) fn strval<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<&'v [u8]> {
    let bytes = match value.extended() {
        Some(Extended::Typed(Type::Capsule("bytes"), bytes)) => text_bytes(*bytes),
        _ => text_bytes(value),
    };
    if let Some(bytes) = bytes {
        return Ok(bytes);
    }
    let mut out = Growing::new(cx);
    print(cx, value, &mut out)?;
    out.kept()
}

/// Copies of a text in an error: its message, the field with Go's message, and the printed error.
const COPIES: usize = 4;

/// Returns the text of a value for the message of an error.
///
/// # Errors
/// A limit: the message needs too much memory.
pub(crate) fn shown<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<String> {
    let mut out = Growing::new(cx);
    print(cx, value, &mut out)?;
    message(cx, &out)
}

/// Returns text for the message of an error, like [`shown`].
pub(crate) fn message(cx: &Cx<'_>, text: &Growing<'_, '_>) -> Result<String> {
    cx.afford(text.bytes().len(), COPIES)?;
    Ok(String::from_utf8_lossy(text.bytes()).into_owned())
}

/// Returns the error of text for the output that is not UTF-8.
#[cold]
pub fn not_utf8() -> Box<Diagnostic> {
    failed("the text is not valid UTF-8, so it cannot be written to the output")
}

struct ValuePrinter<'p, 'c, 'v> {
    cx: &'p Cx<'v>,
    out: &'p mut Growing<'c, 'v>,
}

impl<'v> ValuePrinter<'_, '_, 'v> {
    fn push(&mut self, text: &str) -> Result<()> {
        self.out.push(text.as_bytes())
    }

    /// Appends a value that is `depth` levels deep.
    fn value(&mut self, value: Value<'v>, depth: usize) -> Result<()> {
        self.cx.spend(1)?;
        if depth > self.cx.limits().value_depth {
            return Err(self.cx.too_deep());
        }
        match value {
            Value::Undefined | Value::Null => self.push("<nil>"),
            Value::Bool(truth) => self.push(if truth { "true" } else { "false" }),
            Value::Int(n) => self.push(itoa::Buffer::new().format(n)),
            Value::Uint(n) => self.push(itoa::Buffer::new().format(n)),
            Value::Float(n) => self.push(&shortest(n)),
            Value::Str(text) => self.push(text.as_str()),
            Value::List(list) => self.several("[", list.items(), "]", depth),
            Value::Map(map) => self.map(self.cx.content(map).iter_sorted(), depth),
            Value::Extended(extension) => match objects::printed(self.cx.arena(), value) {
                Some((before, fields)) => {
                    self.push(before)?;
                    self.several("{", &fields, "}", depth)
                }
                None => self.rare(extension.kind(), depth),
            },
        }
    }

    /// Appends the items of a list, or the fields of a struct.
    fn several(&mut self, open: &str, values: &[Value<'v>], close: &str, depth: usize) -> Result<()> {
        self.push(open)?;
        for (at, value) in values.iter().enumerate() {
            if at > 0 {
                self.push(" ")?;
            }
            self.value(*value, depth + 1)?;
        }
        self.push(close)
    }

    fn map(&mut self, entries: impl Iterator<Item = (&'v str, Value<'v>)>, depth: usize) -> Result<()> {
        self.push("map[")?;
        for (at, (key, value)) in entries.enumerate() {
            if at > 0 {
                self.push(" ")?;
            }
            self.push(key)?;
            self.push(":")?;
            self.value(value, depth + 1)?;
        }
        self.push("]")
    }

    fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        self.push("[")?;
        for (at, byte) in bytes.iter().enumerate() {
            if at > 0 {
                self.push(" ")?;
            }
            self.push(itoa::Buffer::new().format(*byte))?;
        }
        self.push("]")
    }

    fn rare(&mut self, kind: &Extended<'v>, depth: usize) -> Result<()> {
        match kind {
            Extended::Sized(number) => self.push(&number.number().to_string()),
            Extended::Bytes(bytes) => self.out.push(bytes),
            Extended::Typed(Type::Capsule("bytes"), bytes) => self.bytes(text_bytes(*bytes).unwrap_or(&[])),
            Extended::Typed(Type::Capsule("complex128"), Value::List(parts)) => {
                let parts: Vec<f64> = parts.items().iter().filter_map(Value::as_f64).collect();
                self.push(&complex_text(&parts))
            }
            Extended::Typed(Type::Capsule(_), Value::Map(fields)) => self.several("{", fields.values(), "}", depth),
            Extended::Typed(_, Value::Map(map)) => self.map(self.cx.content(map).iter_sorted(), depth),
            Extended::Typed(_, inner) | Extended::Written(inner, _) => self.value(*inner, depth),
            Extended::Entries(entries) => {
                let entries: Vec<_> = entries.as_texts().collect();
                let arena = self.cx.arena();
                self.map(entries.iter().map(|(key, value)| (arena.copy_str(key), *value)), depth)
            }
            Extended::Timestamp { seconds, nanos } => self.push(&time_text(*seconds, *nanos)),
            Extended::Duration(nanos) => self.push(&duration_text(*nanos)),
            Extended::Capsule(capsule) => match capsule.content {
                CapsuleContent::Text(text) => self.push(text),
                CapsuleContent::Texts([text, ..]) => self.push(text),
                _ => self.push(capsule.name),
            },
            other => self.push(other.name()),
        }
    }
}

/// Returns the text of a complex number: `(1+2i)`.
fn complex_text(parts: &[f64]) -> String {
    let [re, im] = parts else { return String::new() };
    let im = shortest(*im);
    let sign = if im.starts_with(['+', '-']) { "" } else { "+" };
    format!("({}{sign}{im}i)", shortest(*re))
}

/// Returns a time as Go prints it: `2024-02-29 00:00:00 +0000 UTC`.
fn time_text(seconds: i64, nanos: u32) -> String {
    let text = timestamps::utc_text(seconds, nanos).unwrap_or_default();
    let text = text.replace('T', " ");
    format!("{} +0000 UTC", text.trim_end_matches('Z'))
}

/// Returns a duration as Go prints it: `1h2m3.5s`, `1.5ms`.
pub(crate) fn duration_text(nanos: i64) -> String {
    let sign = if nanos < 0 { "-" } else { "" };
    let all = nanos.unsigned_abs();
    if all == 0 {
        return "0s".to_owned();
    }
    let small = [(1_000_u64, 1_u64, "ns"), (1_000_000, 1_000, "\u{b5}s"), (1_000_000_000, 1_000_000, "ms")];
    if let Some((_, unit, name)) = small.into_iter().find(|(end, ..)| all < *end) {
        return format!("{sign}{}{name}", decimal(all, unit));
    }
    let (seconds, minutes) = (all % 60_000_000_000, all / 60_000_000_000);
    let seconds = decimal(seconds, 1_000_000_000);
    match (minutes / 60, minutes % 60) {
        (0, 0) => format!("{sign}{seconds}s"),
        (0, minutes) => format!("{sign}{minutes}m{seconds}s"),
        (hours, minutes) => format!("{sign}{hours}h{minutes}m{seconds}s"),
    }
}

/// Returns a number of units with its decimals.
fn decimal(number: u64, unit: u64) -> String {
    let digits = unit.ilog10() as usize;
    let (whole, rest) = (number / unit, number % unit);
    if rest == 0 {
        return whole.to_string();
    }
    let rest = format!("{rest:0digits$}");
    format!("{whole}.{}", rest.trim_end_matches('0'))
}

/// Removes every `<no value>` from the text that a program wrote to `out` after `start`, unless the program keeps it.
pub fn finish(program: &Program, out: &mut String, start: usize) {
    if program.start().lenient {
        return;
    }
    let finder = Finder::new(NO_VALUE);
    let Some(first) = finder.find(out.as_bytes().get(start..).unwrap_or(&[])) else { return };
    let written = out.split_off(start + first);
    add_rest(&finder, &written, out);
}

/// Adds a text to `out` without the `<no value>` in it.
fn add_rest(finder: &Finder<'_>, mut text: &str, out: &mut String) {
    while let Some(at) = finder.find(text.as_bytes()) {
        out.push_str(text.get(..at).unwrap_or(""));
        text = text.get(at + NO_VALUE.len()..).unwrap_or("");
    }
    out.push_str(text);
}

/// Removes every `<no value>` from texts that a program wrote to `out` one after another, each up to one of `ends`.
pub fn finish_all(program: &Program, out: &mut String, ends: &mut [usize]) {
    let finder = Finder::new(NO_VALUE);
    if program.start().lenient || finder.find(out.as_bytes()).is_none() {
        return;
    }
    let (written, mut start) = (std::mem::take(out), 0);
    out.reserve(written.len());
    for end in ends {
        add_rest(&finder, written.get(start..*end).unwrap_or(""), out);
        start = std::mem::replace(end, out.len());
    }
}

/// Returns the offset in `whole` of the byte at `at` of `text`, which is `whole` without the text of missing values, or the
/// same. `None` if it is another text.
pub(crate) fn with_no_values(whole: &str, text: &str, at: usize) -> Option<usize> {
    if whole == text {
        return Some(at);
    }
    let (mut rest, mut found) = (text, None);
    let mut parts = whole.split(NO_VALUE).peekable();
    let mut start = 0;
    while let Some(part) = parts.next() {
        rest = rest.strip_prefix(part)?;
        let end = text.len() - rest.len();
        if found.is_none() && (at < end || parts.peek().is_none()) {
            found = Some(start + at.checked_sub(end - part.len())?);
        }
        start += part.len() + NO_VALUE.len();
    }
    found.filter(|_| rest.is_empty())
}

/// Functions whose text often has several lines.
const OF_LINES: [&str; 6] = ["toYaml", "include", "tpl", "toToml", ".Files", "toPrettyJson"];

/// Returns the fix for the code that wrote a part of an output.
pub(crate) fn fix(invalid: &InvalidOutput<'_>) -> Option<String> {
    if invalid.is_joined() {
        return Some("a `-` in braces removes the line break before it: write `}}` in place of `-}}`".to_owned());
    }
    let (lead, code) = (invalid.lead("{{")?, invalid.code);
    let (plain, indented) = indentation(code);
    if let Some(("nindent", by)) = indented {
        let wanted = invalid.wanted_indent()?;
        return (wanted != by).then(|| format!("write `nindent {wanted}`, as the line before is indented"));
    }
    if indented.is_some() || OF_LINES.iter().any(|function| code.contains(function)) {
        let by = indent_below(lead);
        return Some(format!("indent all of its lines: `{{{{- {plain} | nindent {by} }}}}`"));
    }
    (!code.contains("quote")).then(|| format!("put the value in quotes: `{{{{ {code} | quote }}}}`"))
}

/// Returns an expression without the indentation at its end, and that: the function and the number of spaces.
fn indentation(code: &str) -> (&str, Option<(&str, usize)>) {
    let split = code.rsplit_once('|').and_then(|(plain, last)| {
        let (function, by) = last.trim().split_once(' ')?;
        let by = by.trim().parse().ok().filter(|_| matches!(function, "indent" | "nindent"))?;
        Some((plain.trim_end(), Some((function, by))))
    });
    split.unwrap_or((code, None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_the_largest_unit_that_fits() {
        let texts = [0, 1, 1_500, 2_000_000, 1_500_000_000, 61_000_000_000, -3_723_500_000_000].map(duration_text);
        assert_eq!(texts.join(" "), "0s 1ns 1.5\u{b5}s 2ms 1.5s 1m1s -1h2m3.5s");
    }

    #[test]
    fn offsets_are_those_before_texts_were_removed() {
        let (whole, text) = ("a<no value>b<no value><no value>c", "abc");
        let found = (0..4).map(|at| with_no_values(whole, text, at)).collect::<Vec<_>>();
        assert_eq!(found, [Some(0), Some(11), Some(32), Some(33)]);
        assert_eq!(with_no_values("abc", "abc", 1), Some(1));
        assert_eq!(with_no_values("abd", "abc", 1), None);
        assert_eq!(with_no_values("<no value>abcd", "abc", 1), None);
    }
}

#[cfg(test)]
mod output_fixes_tests {
    use super::*;

    #[test]
    fn the_fix_follows_from_the_code_and_its_place() {
        let indented = Some("indent all of its lines: `{{- toYaml .a | nindent 4 }}`");
        let quoted = Some("put the value in quotes: `{{ .a | quote }}`");
        for (code, before, output, at, expected) in [
            (".a", "url: {{ ", "url: a: b", 6, quoted),
            ("toYaml .a", "  a: {{ ", "x:\n  a: b: 1\n  c: 1", 8, indented),
            ("toYaml .a | indent 4", "    {{ ", "a:\n        b: 1\n    c: 1", 18, indented),
            (
                "toYaml . | nindent 1",
                "  {{- ",
                "a:\n  b: 1\n c: 2",
                10,
                Some("write `nindent 2`, as the line before is indented"),
            ),
            ("toYaml . | nindent 2", "  {{- ", "a:\n  b: 1\n  c: d: 2", 10, None),
            (".a | quote", "a: {{ ", "a: \"b\" c", 7, None),
        ] {
            let invalid = InvalidOutput { code, before, is_text: false, output, at };
            assert_eq!(fix(&invalid).as_deref(), expected, "{code}");
        }
        let text = InvalidOutput { code: "b: 1", before: "", is_text: true, output: "a: 1b: 1", at: 5 };
        assert!(fix(&text).is_some_and(|fix| fix.contains("`-}}`")));
        assert_eq!(fix(&InvalidOutput { output: "a: 1\nb: 1", at: 6, ..text }), None);
    }
}
