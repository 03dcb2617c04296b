//! Writes JSON as services exchange it: keys in byte order, and characters that web pages take for markup escaped on
//! request.

use super::{MAX_DEPTH, Plain, Refused};
use crate::{Map, Value};
use dropforge_base::stdlib::encodings::{base64, base64_len};

/// The layout of JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout<'a> {
    /// The indentation of one level. Without it everything stands on one line.
    pub indent: Option<&'a str>,
    /// Escapes `<`, `>` and `&`.
    pub escape_markup: bool,
}

impl Layout<'_> {
    /// One line, with markup escaped.
    pub const COMPACT: Self = Layout { indent: None, escape_markup: true };
}

/// Appends `value` to `out`. `grow` receives the length of `out` after each node and before each long text, and may stop
/// the writing.
///
/// # Errors
/// Non-finite floats, values that the view refuses, and values that contain themselves.
pub fn write<'v, E>(
    value: Value<'v>,
    view: &impl Fn(Value<'v>) -> Plain<'v>,
    layout: Layout<'_>,
    out: &mut String,
    grow: &mut impl FnMut(usize) -> Result<(), E>,
) -> Result<(), Refused<E>> {
    let mut open: Vec<OpenPlain<'v>> = Vec::new();
    let mut next = Some(value);
    loop {
        if let Some(value) = next.take() {
            match view(value) {
                Plain::List(items) if !items.is_empty() => open.push(OpenPlain::List(items, 0)),
                Plain::Map(map) if !map.is_empty() => open.push(OpenPlain::Map(map, 0)),
                Plain::Fields(map) if !map.is_empty() => open.push(OpenPlain::Fields(map, 0)),
                other => scalar(other, layout, out, grow)?,
            }
            grow(out.len())?;
            if open.len() > MAX_DEPTH {
                return Err(Refused::Value(cycle(value)));
            }
        }
        let level = open.len();
        let Some(last) = open.last_mut() else { return Ok(()) };
        next = last.next(layout, level, out, grow)?;
        if next.is_none() {
            open.pop();
        }
    }
}

/// Returns the error of a value that contains itself.
fn cycle(value: Value<'_>) -> String {
    let kind = if value.as_list().is_some() { "[]interface {}" } else { "map[string]interface {}" };
    format!("json: unsupported value: encountered a cycle via {kind}")
}

/// A list, map or fields, and the number of parts that are written.
enum OpenPlain<'v> {
    List(&'v [Value<'v>], usize),
    Map(&'v Map<'v>, usize),
    Fields(&'v Map<'v>, usize),
}

impl<'v> OpenPlain<'v> {
    /// Writes up to the next part and returns it, or writes the end.
    fn next<E>(
        &mut self,
        layout: Layout<'_>,
        level: usize,
        out: &mut String,
        grow: &mut impl FnMut(usize) -> Result<(), E>,
    ) -> Result<Option<Value<'v>>, Refused<E>> {
        let (at, brackets) = match self {
            OpenPlain::List(_, at) => (at, ['[', ']']),
            OpenPlain::Map(_, at) | OpenPlain::Fields(_, at) => (at, ['{', '}']),
        };
        let index = *at;
        *at += 1;
        let (key, value) = match self {
            OpenPlain::List(items, _) => (None, items.get(index).copied()),
            OpenPlain::Map(map, _) => {
                map.sorted_entry(index).map_or((None, None), |(key, value)| (Some(key), Some(value)))
            }
            OpenPlain::Fields(map, _) => (map.shape().keys().get(index), map.values().get(index).copied()),
        };
        if value.is_none() {
            new_line(layout, level - 1, out);
            out.push(brackets[1]);
            return Ok(None);
        }
        out.push(if index == 0 { brackets[0] } else { ',' });
        new_line(layout, level, out);
        if let Some(key) = key {
            text(key.as_str().as_bytes(), layout, out, grow)?;
            out.push_str(if layout.indent.is_some() { ": " } else { ":" });
        }
        Ok(value)
    }
}

fn new_line(layout: Layout<'_>, level: usize, out: &mut String) {
    if let Some(indent) = layout.indent {
        out.push('\n');
        (0..level).for_each(|_| out.push_str(indent));
    }
}

fn scalar<E>(
    value: Plain<'_>,
    layout: Layout<'_>,
    out: &mut String,
    grow: &mut impl FnMut(usize) -> Result<(), E>,
) -> Result<(), Refused<E>> {
    match value {
        Plain::Null => out.push_str("null"),
        Plain::Bool(truth) => out.push_str(if truth { "true" } else { "false" }),
        Plain::Int(n) => out.push_str(itoa::Buffer::new().format(n)),
        Plain::Uint(n) => out.push_str(itoa::Buffer::new().format(n)),
        Plain::Float(n) => match float(n) {
            Some(text) => out.push_str(&text),
            None => return Err(Refused::Value(format!("json: unsupported value: {}", not_finite(n)))),
        },
        Plain::Text(bytes) => text(&bytes, layout, out, grow)?,
        Plain::Time(time) => text(time.as_bytes(), layout, out, grow)?,
        Plain::Bytes(bytes) => {
            grow(out.len().saturating_add(base64_len(bytes.len())))?;
            out.push('"');
            out.push_str(&base64(bytes));
            out.push('"');
        }
        Plain::List(_) => out.push_str("[]"),
        Plain::Map(_) | Plain::Fields(_) => out.push_str("{}"),
        Plain::Refused(why) => return Err(Refused::Value(why)),
    }
    Ok(())
}

/// Returns the name of a float without a value.
pub fn not_finite(n: f64) -> &'static str {
    match n {
        n if n.is_nan() => "NaN",
        n if n > 0.0 => "+Inf",
        _ => "-Inf",
    }
}

/// Returns the text of a finite float: plain digits, with an exponent only below 1e-6 and from 1e21.
///
/// ```
/// use dropforge::value::marshal::json::float;
/// assert_eq!([1e20, 1e21, 0.1, 1e-7, -0.0].map(|n| float(n).unwrap()).join(" "), "100000000000000000000 1e+21 0.1 1e-7 -0");
/// ```
pub fn float(n: f64) -> Option<String> {
    if !n.is_finite() {
        return None;
    }
    if n == 0.0 || (1e-6..1e21).contains(&n.abs()) {
        return Some(n.to_string());
    }
    let text = format!("{n:e}");
    Some(if text.contains("e-") { text } else { text.replace('e', "e+") })
}

/// Writes text in quotes.
fn text<E>(
    bytes: &[u8],
    layout: Layout<'_>,
    out: &mut String,
    grow: &mut impl FnMut(usize) -> Result<(), E>,
) -> Result<(), Refused<E>> {
    grow(out.len().saturating_add(bytes.len()))?;
    quoted(bytes, layout.escape_markup, out);
    Ok(())
}

/// Appends text in quotes. Bytes that are not UTF-8 become the escape of U+FFFD.
pub fn quoted(bytes: &[u8], escape_markup: bool, out: &mut String) {
    out.push('"');
    for chunk in bytes.utf8_chunks() {
        escaped(chunk.valid(), escape_markup, out);
        chunk.invalid().iter().for_each(|_| out.push_str("\\ufffd"));
    }
    out.push('"');
}

fn escaped(text: &str, escape_markup: bool, out: &mut String) {
    let mut done = 0;
    for (at, byte) in text.bytes().enumerate() {
        let special = match byte {
            b'<' | b'>' | b'&' => escape_markup,
            // The first byte of U+2028 and U+2029, which end lines in scripts.
            0xe2 => matches!(text.as_bytes().get(at + 1..at + 3), Some([0x80, 0xa8 | 0xa9])),
            _ => byte < b' ' || byte == b'"' || byte == b'\\',
        };
        if !special {
            continue;
        }
        out.push_str(text.get(done..at).unwrap_or(""));
        done = at + if byte == 0xe2 { 3 } else { 1 };
        let c = text.get(at..).and_then(|rest| rest.chars().next()).unwrap_or(' ');
        push_escape(c, out);
    }
    out.push_str(text.get(done..).unwrap_or(""));
}

fn push_escape(c: char, out: &mut String) {
    match c {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\u{8}' => out.push_str("\\b"),
        '\u{c}' => out.push_str("\\f"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        c => out.push_str(&format!("\\u{:04x}", u32::from(c))),
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::super::plain;
    use super::*;
    use crate::{Arena, Extended};

    fn written(value: Value<'_>, layout: Layout<'_>) -> Result<String, Refused<Infallible>> {
        let mut out = String::new();
        write(value, &plain, layout, &mut out, &mut |_| Ok(())).map(|()| out)
    }

    #[test]
    fn texts_are_escaped_for_web_pages_or_not() {
        let arena = Arena::new();
        let text = arena.text("<a>&\u{2028}\u{e9}\"\\\n\t\u{1}\u{8}\u{7f}");
        assert_eq!(
            written(text, Layout::COMPACT).unwrap(),
            "\"\\u003ca\\u003e\\u0026\\u2028é\\\"\\\\\\n\\t\\u0001\\b\u{7f}\""
        );
        let raw = Layout { indent: None, escape_markup: false };
        assert_eq!(written(arena.text("<&>"), raw).unwrap(), "\"<&>\"");
        let bytes = arena.extended(Extended::Bytes(b"h\xc3("));
        assert_eq!(written(bytes, raw).unwrap(), "\"h\\ufffd(\"");
    }

    #[test]
    fn keys_are_sorted_and_levels_indented() {
        let arena = Arena::new();
        let list = arena.list(&[Value::Float(1.0), Value::Null, arena.list(&[])]);
        let map = arena.map(&[("b", list), ("B", Value::Bool(true)), ("a", arena.map(&[]))]);
        assert_eq!(written(map, Layout::COMPACT).unwrap(), r#"{"B":true,"a":{},"b":[1,null,[]]}"#);
        let pretty = Layout { indent: Some("  "), ..Layout::COMPACT };
        let wanted = "{\n  \"B\": true,\n  \"a\": {},\n  \"b\": [\n    1,\n    null,\n    []\n  ]\n}";
        assert_eq!(written(map, pretty).unwrap(), wanted);
    }

    #[test]
    fn what_json_cannot_hold_is_refused() {
        for (n, name) in [(f64::NAN, "NaN"), (f64::INFINITY, "+Inf"), (f64::NEG_INFINITY, "-Inf")] {
            let refused = Refused::Value(format!("json: unsupported value: {name}"));
            assert_eq!(written(Value::Float(n), Layout::COMPACT), Err(refused));
        }
        let arena = Arena::new();
        let stopped = write(arena.text("long"), &plain, Layout::COMPACT, &mut String::new(), &mut |_| Err("full"));
        assert_eq!(stopped, Err(Refused::Stopped("full")));
    }
}
