//! Values as text: quotes, indentation, wrapping, joining.

use super::arguments::{bytes, copied, int, is_nil, made, text_of};
use super::lists::texts;
use super::strings::repetitions;
use crate::values::{print, strings, text_bytes};
use dropforge_base::diagnostics::Result;
use dropforge_base::stdlib::characters::{push_quoted, quoted_len};
use dropforge_base::stdlib::small_sort::SmallSort as _;
use dropforge_base::stdlib::{byte_texts, strings as plain};
use dropforge_machine::assigned;
use dropforge_machine::function::{Cx, Written, written};
use dropforge_value::Value;

assigned! {
    /// Values as text.
    pub(super) static QUOTES:
    "quote" (... Any) => quote, "Returns the texts of values in double quotes, except nil."
        [r#"{{ quote "a" 1 nil }}"# => r#""a" "1""#];
    "squote" (... Any) = |cx, args| printed(cx, args, b"'"),
        "Returns values in single quotes, except nil. Quotes in them are not escaped."
        [r#"{{ squote "a" 1 }}"# => "'a' '1'"];
    "cat" (... Any) = |cx, args| printed(cx, args, b""),
        "Returns values with spaces between them, except nil." [r#"{{ cat "a" 1 true }}"# => "a 1 true"];
    "indent" (Int, Str) => indent, "Indents every line by a number of spaces." ["{{ indent 2 \"a\\nb\" }}" => "  a\n  b"];
    "nindent" (Int, Str) => indent_on_new_line, "Indents every line, after a line break."
        ["{{ nindent 2 \"a\\nb\" }}" => "\n  a\n  b"];
    "wrap" (Int, Str) = wrap, "Wraps a text at a number of bytes. Longer words are kept."
        [r#"{{ wrap 5 "Hello World" }}"# => "Hello\nWorld"];
    "wrapWith" (Int, Str, Str) = wrap_with, "Wraps a text with a separator of lines. Longer words are broken."
        [r#"{{ wrapWith 5 "|" "averylongword" }}"# => "avery|longw|ord"];
    "join" (Str, Any) = join, "Joins the texts of a list with a separator. Nil is left out."
        [r#"{{ list 1 nil "a" | join "-" }}"# => "1-a"];
    "toStrings" (Any) = to_strings, "Returns the texts of a list, without nil." [r#"{{ list 1 nil "a" | toStrings }}"# => "[1 a]"];
    "sortAlpha" (Any) = sort_alpha, "Returns the texts of a list in byte order." [r#"{{ list "b" "a" | sortAlpha }}"# => "[a b]"];
}

fn quote<'v>(cx: &Cx<'v>, args: &[Value<'v>], out: &mut String) -> Written<'v> {
    let mut separator = "";
    for value in args.iter().filter(|value| !is_nil(**value)) {
        let text = text_of(cx, *value)?;
        written(cx, quoted_len(&text), out, |out| {
            out.push_str(separator);
            push_quoted(&text, &mut |piece| out.push_str(piece));
        })?;
        separator = " ";
    }
    Ok(None)
}

/// Returns values except nil as they are printed, between `quote`s, with spaces between them.
fn printed<'v>(cx: &Cx<'v>, args: &[Value<'v>], quote: &[u8]) -> Result<Value<'v>> {
    let mut text = Vec::new();
    for (at, value) in args.iter().filter(|value| !is_nil(**value)).enumerate() {
        if at > 0 {
            text.push(b' ');
        }
        text.extend_from_slice(quote);
        print(cx, *value, &mut text)?;
        text.extend_from_slice(quote);
    }
    copied(cx, &[&text])
}

fn indent<'v>(cx: &Cx<'v>, args: &[Value<'v>], out: &mut String) -> Written<'v> {
    indented(cx, args, "", out)
}

fn indent_on_new_line<'v>(cx: &Cx<'v>, args: &[Value<'v>], out: &mut String) -> Written<'v> {
    indented(cx, args, "\n", out)
}

/// Appends `before` and the indented lines of a text.
fn indented<'v>(cx: &Cx<'v>, args: &[Value<'v>], before: &str, out: &mut String) -> Written<'v> {
    let [width, text] = args else { return Err(cx.arity()) };
    let (width, source) = (repetitions(int(cx, *width)?)?, bytes(cx, *text)?);
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

fn wrap<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let [width, text] = args else { return Err(cx.arity()) };
    wrapped(cx, int(cx, *width)?, b"\n", bytes(cx, *text)?, false)
}

fn wrap_with<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let [width, separator, text] = args else { return Err(cx.arity()) };
    let separator = Some(bytes(cx, *separator)?).filter(|separator| !separator.is_empty()).unwrap_or(b"\n");
    wrapped(cx, int(cx, *width)?, separator, bytes(cx, *text)?, true)
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

fn join<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let [separator, list] = args else { return Err(cx.arity()) };
    let (separator, texts) = (bytes(cx, *separator)?, texts(cx, *list)?);
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

fn to_strings<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let [list] = args else { return Err(cx.arity()) };
    strings(cx, &texts(cx, *list)?)
}

fn sort_alpha<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let [list] = args else { return Err(cx.arity()) };
    if is_nil(*list) {
        return strings(cx, &[cx.borrowed("<nil>")?]);
    }
    let mut texts = texts(cx, *list)?;
    cx.spend(texts.len() as u64 * u64::from(texts.len().checked_ilog2().unwrap_or(0)))?;
    texts.small_sort_by_key(|text| text_bytes(*text));
    strings(cx, &texts)
}
