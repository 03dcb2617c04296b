//! Values as text: quotes, indentation, wrapping, joining.

use super::lists::texts;
use super::strings::repetitions;
use super::{is_nil, made};
use crate::values::{print, strings, strval, text_bytes};
use dropforge_base::diagnostics::Result;
use dropforge_base::stdlib::characters::{push_quoted, quoted_len};
use dropforge_base::stdlib::{byte_texts, strings as plain};
use dropforge_machine::function::{Cx, Growing, Rest, Written, written};
use dropforge_machine::functions;
use dropforge_value::Value;

functions! {
    /// Values as text.
    pub(super) static QUOTES:
    "quote" [... Any] => quote, "Returns the texts of values in double quotes, except nil."
        [r#"{{ quote "a" 1 nil }}"# => r#""a" "1""#];
    "squote" [... Any] = printed("'"),
        "Returns values in single quotes, except nil. Quotes in them are not escaped."
        [r#"{{ squote "a" 1 }}"# => "'a' '1'"];
    "cat" [... Any] = printed(""),
        "Returns values with spaces between them, except nil." [r#"{{ cat "a" 1 true }}"# => "a 1 true"];
    "indent" [Int, Str] => indent, "Indents every line by a number of spaces." ["{{ indent 2 \"a\\nb\" }}" => "  a\n  b"];
    "nindent" [Int, Str] => indent_on_new_line, "Indents every line, after a line break."
        ["{{ nindent 2 \"a\\nb\" }}" => "\n  a\n  b"];
    "wrap" [Int, Str] = wrap, "Wraps a text at a number of bytes. Longer words are kept."
        [r#"{{ wrap 5 "Hello World" }}"# => "Hello\nWorld"];
    "wrapWith" [Int, Str, Str] = wrap_with, "Wraps a text with a separator of lines. Longer words are broken."
        [r#"{{ wrapWith 5 "|" "averylongword" }}"# => "avery|longw|ord"];
    "join" [Str, Any] = join, "Joins the texts of a list with a separator. Nil is left out."
        [r#"{{ list 1 nil "a" | join "-" }}"# => "1-a"];
    "toStrings" [Any] = to_strings, "Returns the texts of a list, without nil." [r#"{{ list 1 nil "a" | toStrings }}"# => "[1 a]"];
    "sortAlpha" [Any] = sort_alpha, "Returns the texts of a list in byte order." [r#"{{ list "b" "a" | sortAlpha }}"# => "[a b]"];
}

fn quote<'v>(cx: &Cx<'v>, Rest(values): Rest<'_, 'v>, out: &mut String) -> Written<'v> {
    let mut separator = "";
    for value in values.iter().filter(|value| !is_nil(**value)) {
        let text = strval(cx, *value)?;
        written(cx, quoted_len(text), out, |out| {
            out.push_str(separator);
            push_quoted(text, &mut |piece| out.push_str(piece));
        })?;
        separator = " ";
    }
    Ok(None)
}

/// Returns a body that prints values except nil between `quote`s, with spaces between them.
fn printed<'a, 'v>(quote: &str) -> impl Fn(&Cx<'v>, Rest<'a, 'v>) -> Result<Value<'v>> {
    move |cx, Rest(values)| {
        let mut text = Growing::new(cx);
        for (at, value) in values.iter().filter(|value| !is_nil(**value)).enumerate() {
            if at > 0 {
                text.push(b" ")?;
            }
            text.push(quote.as_bytes())?;
            print(cx, *value, &mut text)?;
            text.push(quote.as_bytes())?;
        }
        cx.string(text.bytes())
    }
}

fn indent<'v>(cx: &Cx<'v>, width: i64, text: Value<'v>, out: &mut String) -> Written<'v> {
    indented(cx, width, text, "", out)
}

fn indent_on_new_line<'v>(cx: &Cx<'v>, width: i64, text: Value<'v>, out: &mut String) -> Written<'v> {
    indented(cx, width, text, "\n", out)
}

/// Appends `before` and the indented lines of a text.
fn indented<'v>(cx: &Cx<'v>, width: i64, text: Value<'v>, before: &str, out: &mut String) -> Written<'v> {
    let (width, source) = (repetitions(width)?, text_bytes(text).unwrap_or(b""));
    let breaks = memchr::memchr_iter(b'\n', source).count();
    let padding = (breaks + 1).checked_mul(width).and_then(|len| len.checked_add(source.len() + 1));
    cx.charge(width)?;
    let step = format!("\n{}", " ".repeat(width));
    let first = step.get(1..).unwrap_or("");
    if let Some(source) = text.as_str() {
        return written(cx, padding, out, |out| {
            out.extend([before, first]);
            plain::push_replaced(source, "\n", &step, breaks, out);
        });
    }
    made(cx, padding, |push| {
        push(before.as_bytes());
        push(first.as_bytes());
        byte_texts::replaced(source, b"\n", step.as_bytes(), &mut |piece| push(piece));
    })
    .map(Some)
}

fn wrap<'v>(cx: &Cx<'v>, width: i64, text: &'v [u8]) -> Result<Value<'v>> {
    wrapped(cx, width, b"\n", text, false)
}

fn wrap_with<'v>(cx: &Cx<'v>, width: i64, separator: &'v [u8], text: &'v [u8]) -> Result<Value<'v>> {
    let separator = if separator.is_empty() { b"\n" } else { separator };
    wrapped(cx, width, separator, text, true)
}

fn wrapped<'v>(cx: &Cx<'v>, width: i64, separator: &[u8], text: &[u8], breaks_words: bool) -> Result<Value<'v>> {
    // The lines are counted before they are written.
    cx.spend(text.len() as u64 / 8)?;
    let mut len = Some(0_usize);
    byte_texts::wrapped(text, width, separator, breaks_words, &mut |piece| {
        len = len.and_then(|len| len.checked_add(piece.len()));
    });
    made(cx, len, |push| byte_texts::wrapped(text, width, separator, breaks_words, &mut |piece| push(piece)))
}

fn join<'v>(cx: &Cx<'v>, separator: &'v [u8], list: Value<'v>) -> Result<Value<'v>> {
    let texts = texts(cx, list)?;
    let texts: Vec<&[u8]> = texts.iter().filter_map(|text| text_bytes(*text)).collect();
    let all = texts.iter().try_fold(0_usize, |len, text| len.checked_add(text.len()));
    let len = separator.len().checked_mul(texts.len()).zip(all).and_then(|(a, b)| a.checked_add(b));
    made(cx, len, |push| {
        for (at, text) in texts.iter().enumerate() {
            push(if at == 0 { b"" } else { separator });
            push(text);
        }
    })
}

fn to_strings<'v>(cx: &Cx<'v>, list: Value<'v>) -> Result<Value<'v>> {
    strings(cx, &texts(cx, list)?)
}

fn sort_alpha<'v>(cx: &Cx<'v>, list: Value<'v>) -> Result<Value<'v>> {
    if is_nil(list) {
        return strings(cx, &[cx.borrowed("<nil>")?]);
    }
    let mut texts = texts(cx, list)?;
    cx.spend(texts.len() as u64 * u64::from(texts.len().checked_ilog2().unwrap_or(0)))?;
    cx.sort_by(&mut texts, |a, b| text_bytes(*a).cmp(&text_bytes(*b)))?;
    strings(cx, &texts)
}
