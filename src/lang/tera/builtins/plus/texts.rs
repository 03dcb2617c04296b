//! Filters of texts: quotes, indentation, base64, names; writing YAML and JSON, and reading JSON.

use std::borrow::Cow;

use crate::builtins::values::{json, write_text, yaml};
use crate::builtins::{Written, written, wrong};
use dropforge_base::diagnostics::{Code, Result};
use dropforge_base::stdlib::encodings::{base64, base64_len, octets_of_base64};
use dropforge_base::stdlib::strings::{self, DNS_LABEL, Indent};
use dropforge_machine::function::Cx;
use dropforge_machine::functions;
use dropforge_value::{JsonStyle, QUOTED, Text, Value, write_quoted};

functions! {
    /// Filters of text.
    pub(super) static TEXTS:
    filter "quote" (value: Any) => quote,
        "A string, number or boolean between double quotes, escaped for YAML; nothing for null."
        [
            r#"{{ 'say "hi"' | quote }} {{ 8080 | quote }}"# => r#""say \"hi\"" "8080""#,
            r"{{ [1] | quote }}" => "E0403",
        ];
    filter "squote" (value: Any) => squote,
        "A string, number or boolean between single quotes, with `'` doubled as YAML reads it; nothing for null. Text with line breaks needs `quote`."
        [
            r#"{{ "it's" | squote }} {{ 8080 | squote }}"# => "'it''s' '8080'",
            "{{ 'a\nb' | squote }}" => "E0403",
        ];
    filter "nindent" (value: Str, n: Size) => nindent,
        "On a new line, with `n` spaces before every line."
        ["a:{{ 'b: 1\nc: 2' | nindent(n=2) }}" => "a:\n  b: 1\n  c: 2", r"{{ 'a' | nindent }}" => "E0402"];
    filter "trunc" (value: Str, length: Int) = trunc,
        "The first `length` characters; the last ones if `length` is negative."
        [r"{{ 'release' | trunc(length=3) }} {{ 'release' | trunc(length=-3) }}" => "rel ase"];
    filter "dns_label" (value: Str) = dns_label,
        "As a name that Kubernetes accepts: lower-case ASCII letters, digits and hyphens, at most 63, with no hyphen at the ends. Other characters become hyphens."
        [r"{{ 'My_App v1.2 ' | dns_label }}" => "my-app-v1-2", r"{{ '__' | dns_label }}" => "E0403"];
    filter "b64encode" (value: Str) => b64encode,
        "As base64."
        [r"{{ 'grün' | b64encode }}" => "Z3LDvG4="];
    filter "b64decode" (value: Str) = b64decode,
        "The text in base64, with or without padding."
        [r"{{ 'Z3LDvG4=' | b64decode }}" => "grün", r"{{ '?' | b64decode }}" => "E0403", r"{{ '/w==' | b64decode }}" => "E0403"];
}

/// Returns the text of a string, number or boolean, and nothing for null.
fn scalar<'v>(of: &str, value: Value<'v>) -> Result<Option<Cow<'v, str>>> {
    match value {
        Value::Null | Value::Undefined => Ok(None),
        Value::Str(text) => Ok(Some(Cow::Borrowed(text.as_str()))),
        Value::Bool(_) | Value::Int(_) | Value::Uint(_) | Value::Float(_) => {
            let mut text = String::new();
            write_text(value, &mut |piece| -> Result<()> {
                text.push_str(piece);
                Ok(())
            })?;
            Ok(Some(Cow::Owned(text)))
        }
        _ => Err(wrong(of, "value", "a string, a number or a boolean", value)),
    }
}

fn quote<'v>(cx: &Cx<'v>, value: Value<'v>, out: &mut String) -> Written<'v> {
    let Some(text) = scalar("filter `quote`", value)? else { return cx.borrowed("").map(Some) };
    written(cx, text.len().checked_mul(QUOTED), out, |out| write_quoted(&text, out))
}

fn squote<'v>(cx: &Cx<'v>, value: Value<'v>, out: &mut String) -> Written<'v> {
    const SQUOTE: &str = "filter `squote`";
    let Some(text) = scalar(SQUOTE, value)? else { return cx.borrowed("").map(Some) };
    cx.spend(text.len() as u64 / 64)?;
    if text.chars().any(char::is_control) {
        let error = wrong(SQUOTE, "value", "text in one line, without control characters", value);
        return Err(error.with_help("use `quote`, which has escapes"));
    }
    written(cx, text.len().checked_mul(2), out, |out| {
        out.push('\'');
        strings::replace_into(&text, "'", "''", |piece| out.push_str(piece));
        out.push('\'');
    })
}

fn nindent<'v>(cx: &Cx<'v>, text: &'v str, n: usize, out: &mut String) -> Written<'v> {
    cx.spend(text.len() as u64 / 64)?;
    let lines = 1 + text.bytes().filter(|byte| *byte == b'\n').count();
    let len = lines.checked_mul(n.saturating_add(1)).and_then(|more| more.checked_add(text.len()));
    written(cx, len, out, |out| {
        let start = format!("\n{}", " ".repeat(n));
        out.push_str(&start);
        strings::replace_into(text, "\n", &start, |piece| out.push_str(piece));
    })
}

fn trunc<'v>(cx: &Cx<'v>, value: &'v Text<'v>, length: Value<'v>) -> Result<Value<'v>> {
    // A length above `i64::MAX` keeps everything.
    let Value::Int(length) = length else { return Ok(Value::Str(value)) };
    let text = value.as_str();
    cx.spend(text.len() as u64 / 64)?;
    cx.borrowed(strings::first_or_last(text, length))
}

fn dns_label<'v>(cx: &Cx<'v>, value: &'v Text<'v>) -> Result<Value<'v>> {
    let text = value.as_str();
    cx.spend(text.len() as u64 / 64)?;
    cx.charge(DNS_LABEL)?;
    match strings::dns_label(text) {
        label if label.is_empty() => {
            Err(wrong("filter `dns_label`", "value", "text with a letter or digit", Value::Str(value)))
        }
        label => cx.text(&label),
    }
}

fn b64encode<'v>(cx: &Cx<'v>, text: &'v str, out: &mut String) -> Written<'v> {
    written(cx, Some(base64_len(text.len())), out, |out| out.push_str(&base64(text.as_bytes())))
}

fn b64decode<'v>(cx: &Cx<'v>, value: &'v Text<'v>) -> Result<Value<'v>> {
    let text = value.as_str();
    cx.charge(text.len().saturating_mul(2))?;
    let Some(octets) = octets_of_base64(text) else {
        return Err(wrong("filter `b64decode`", "value", "base64", Value::Str(value)));
    };
    match String::from_utf8(octets) {
        Ok(text) => cx.text(&text),
        Err(_) => Err(cx.fault(Code::BadArgument, "filter `b64decode`: the decoded bytes are not UTF-8 text")),
    }
}

functions! {
    /// Filters that write YAML and JSON, and read JSON.
    pub(super) static DOCUMENTS:
    filter "to_yaml" (value: Any, indent: Size = int 0) => to_yaml,
        "As YAML with sorted keys, without a final line break; with `indent` spaces before each line but the first, which stands where the tag does."
        [
            r"{{ [1, 'no'] | to_yaml }}" => "- 1\n- \"no\"",
            "args:\n  {{ ['-v', 'all'] | to_yaml(indent=2) }}" => "args:\n  - \"-v\"\n  - all",
        ];
    filter "to_json" (value: Any, pretty: Bool = false) => to_json,
        "As JSON with sorted keys, on one line or `pretty`."
        [r#"{{ [1, "a"] | to_json }}"# => r#"[1,"a"]"#, r"{{ [1] | to_json(pretty=true) }}" => "[\n  1\n]"];
    filter "from_json" (value: Str) = from_json,
        "The value in JSON."
        [
            r#"{% set image = '{"name": "web", "tags": [1, 2]}' | from_json %}{{ image.name }} {{ image.tags | last }}"# => "web 2",
            r"{{ '{' | from_json }}" => "E0403",
        ];
}

fn to_yaml<'v>(cx: &Cx<'v>, value: Value<'v>, indent: usize, out: &mut String) -> Written<'v> {
    let start = out.len();
    yaml(cx, value, out)?;
    if out.ends_with('\n') {
        out.pop();
    }
    if indent == 0 {
        return Ok(None);
    }
    cx.charge(indent)?;
    let text = out.split_off(start);
    let indent = Indent { prefix: &" ".repeat(indent), first: false, blank: false };
    written(cx, indent.len(&text), out, |out| indent.apply(&text, out))
}

fn to_json<'v>(cx: &Cx<'v>, value: Value<'v>, pretty: bool, out: &mut String) -> Written<'v> {
    json(cx, value, if pretty { JsonStyle::Pretty } else { JsonStyle::Compact }, out)
}

fn from_json<'v>(cx: &Cx<'v>, value: &'v Text<'v>) -> Result<Value<'v>> {
    let read = cx.json(value.as_str())?;
    read.map_err(|error| wrong("filter `from_json`", "value", "JSON", Value::Str(value)).with_note(error.to_string()))
}
