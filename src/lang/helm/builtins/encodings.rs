//! Encodings: base64 and base32, and the escapes `html`, `js`, `urlquery`; URLs, file paths, and
//! questions to a cluster or the network.

use super::{nil_pointer, part};
use crate::error::failed;
use crate::objects;
use crate::print::{NO_VALUE, print};
use crate::values::{GoKind, kind, map_of, text_bytes, type_name};
use dropforge_base::diagnostics::Result;
use dropforge_base::stdlib::characters::is_printable;
use dropforge_base::stdlib::encodings::{base32, base32_len, octets_of_base32};
use dropforge_base::stdlib::encodings::{base64, base64_len, octets_of_padded_base64};
use dropforge_base::stdlib::paths;
use dropforge_base::stdlib::urls::reference::{Parts, parse, user_of};
use dropforge_machine::function::{Cx, Growing, Rest};
use dropforge_machine::functions;
use dropforge_value::Value;

functions! {
    /// Functions of base64 and base32.
    pub(super) static ENCODINGS:
    "b64enc" [Str] = b64enc, "Encodes a text in base64." [r#"{{ b64enc "coffee" }}"# => "Y29mZmVl"];
    "b64dec" [Str] = b64dec, "Decodes base64. The result for invalid base64 is the message of the error."
        [r#"{{ b64dec "aGVsbG8=" }}"# => "hello", r#"{{ b64dec "aGVsbG8" }}"# => "illegal base64 data at input byte 4"];
    "b32enc" [Str] = b32enc, "Encodes a text in base32." [r#"{{ b32enc "hello" }}"# => "NBSWY3DP"];
    "b32dec" [Str] = b32dec, "Decodes base32. The result for invalid base32 is the message of the error."
        [r#"{{ b32dec "NBSWY3DP" }}"# => "hello"];
}

/// Returns the message about invalid base64 at an offset.
pub(super) fn illegal_base64(at: usize) -> String {
    format!("illegal base64 data at input byte {at}")
}

fn b64enc<'v>(cx: &Cx<'v>, bytes: &'v [u8]) -> Result<String> {
    cx.charge(base64_len(bytes.len()))?;
    Ok(base64(bytes))
}

fn b64dec<'v>(cx: &Cx<'v>, text: &'v [u8]) -> Result<Value<'v>> {
    cx.charge(text.len())?;
    match octets_of_padded_base64(text) {
        Ok(octets) => cx.string(&octets),
        Err(at) => cx.text(&illegal_base64(at)),
    }
}

fn b32enc<'v>(cx: &Cx<'v>, bytes: &'v [u8]) -> Result<String> {
    cx.charge(base32_len(bytes.len()))?;
    Ok(base32(bytes))
}

fn b32dec<'v>(cx: &Cx<'v>, text: &'v [u8]) -> Result<Value<'v>> {
    cx.charge(text.len().saturating_mul(2))?;
    match octets_of_base32(text) {
        Ok(octets) => cx.string(&octets),
        Err(at) => cx.text(&format!("illegal base32 data at input byte {at}")),
    }
}

functions! {
    /// Escapes.
    pub(super) static ESCAPES:
    "html" [... Any] = html, "Escapes text for HTML." [r#"{{ html "<a>" }}"# => "&lt;a&gt;"];
    "js" [... Any] = js, "Escapes text for JavaScript." [r#"{{ js "it's" }}"# => r"it\'s"];
    "urlquery" [... Any] = urlquery, "Escapes text for the query of a URL." [r#"{{ urlquery "a b&c" }}"# => "a+b%26c"];
}

/// Returns the text of the arguments: a string as it is, others as `print` shows them.
fn text<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<&'v [u8]> {
    if let [one] = args
        && let Some(bytes) = text_bytes(*one)
    {
        return Ok(bytes);
    }
    let mut out = Growing::new(cx);
    let is_text = |value: &Value<'_>| text_bytes(*value).is_some() || matches!(value, Value::Undefined | Value::Null);
    for (at, value) in args.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| args.get(at));
        if before.is_some_and(|before| !is_text(before)) && !is_text(value) {
            out.push(b" ")?;
        }
        match value {
            Value::Undefined | Value::Null => out.push(NO_VALUE.as_bytes())?,
            value => print(cx, *value, &mut out)?,
        }
    }
    out.kept()
}

/// Returns the text of the arguments with each byte replaced that `escape` has another text for.
fn escaped<'v>(cx: &Cx<'v>, text: &[u8], escape: impl Fn(u8) -> Option<&'static str>) -> Result<Value<'v>> {
    let mut out = Growing::new(cx);
    let mut rest = text;
    while let Some((at, escaped)) = rest.iter().enumerate().find_map(|(at, byte)| Some((at, escape(*byte)?))) {
        out.push(rest.get(..at).unwrap_or(&[]))?;
        out.push(escaped.as_bytes())?;
        rest = rest.get(at + 1..).unwrap_or(&[]);
    }
    out.push(rest)?;
    cx.string(out.bytes())
}

fn html<'v>(cx: &Cx<'v>, Rest(args): Rest<'_, 'v>) -> Result<Value<'v>> {
    escaped(cx, text(cx, args)?, |byte| {
        Some(match byte {
            b'<' => "&lt;",
            b'>' => "&gt;",
            b'&' => "&amp;",
            b'"' => "&#34;",
            b'\'' => "&#39;",
            0 => "\u{FFFD}",
            _ => return None,
        })
    })
}

fn js<'v>(cx: &Cx<'v>, Rest(args): Rest<'_, 'v>) -> Result<Value<'v>> {
    let mut out = Growing::new(cx);
    for chunk in text(cx, args)?.utf8_chunks() {
        for c in chunk.valid().chars() {
            js_character(c, &mut out)?;
        }
        // Each byte that is no character stands for one that is unknown.
        for _ in chunk.invalid() {
            out.push("\u{FFFD}".as_bytes())?;
        }
    }
    cx.string(out.bytes())
}

fn js_character(c: char, out: &mut Growing<'_, '_>) -> Result<()> {
    let code = u32::from(c);
    match c {
        '\\' => out.push(b"\\\\"),
        '\'' => out.push(b"\\'"),
        '"' => out.push(b"\\\""),
        '<' | '>' | '&' | '=' => out.push(format!("\\u{code:04X}").as_bytes()),
        _ if code >= 0x20 && (c.is_ascii() || is_printable(c)) => out.push(c.encode_utf8(&mut [0; 4]).as_bytes()),
        _ => out.push(format!("\\u{code:04X}").as_bytes()),
    }
}

fn urlquery<'v>(cx: &Cx<'v>, Rest(args): Rest<'_, 'v>) -> Result<Value<'v>> {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    let mut out = Growing::new(cx);
    for byte in text(cx, args)? {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(&[*byte])?,
            b' ' => out.push(b"+")?,
            _ => out.push(&[b'%', DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]])?,
        }
    }
    cx.string(out.bytes())
}

functions! {
    /// Functions of URLs.
    pub(super) static URLS:
    "urlParse" [Str] = url_parse, makes Map,
        "Takes a URL apart: `scheme`, `host`, `hostname`, `path`, `query`, `opaque`, `fragment`, `userinfo`."
        [r#"{{ (urlParse "http://u:p@host:80/path?q=1#frag").hostname }}"# => "host", r#"{{ urlParse "%zz" }}"# => "E0404"];
    "urlJoin" [Map] = url_join, "Puts the parts of a URL together, named like those of `urlParse`."
        [r#"{{ urlJoin (dict "scheme" "http" "host" "h:80" "path" "/p" "query" "q=1") }}"# => "http://h:80/p?q=1"];
}

fn url_parse<'v>(cx: &Cx<'v>, text: &'v [u8]) -> Result<Value<'v>> {
    // Each part is copied at most three times.
    cx.charge(text.len().saturating_mul(8))?;
    let text = String::from_utf8_lossy(text);
    let parts = parse(&text).map_err(|why| failed(format!("unable to parse url: {why}")))?;
    let entries = [
        ("scheme", cx.text(&parts.scheme)?),
        ("host", cx.text(&parts.host)?),
        ("hostname", cx.text(&parts.hostname)?),
        ("path", cx.string(&parts.path)?),
        ("query", cx.text(&parts.query)?),
        ("opaque", cx.text(&parts.opaque)?),
        ("fragment", cx.string(&parts.fragment)?),
        ("userinfo", cx.text(parts.user.as_deref().unwrap_or(""))?),
    ];
    cx.map(&entries)
}

/// Returns the text under a key; empty if the key is missing.
fn dict_part<'v>(cx: &Cx<'v>, of: Value<'v>, key: &str) -> Result<&'v [u8]> {
    let Some(value) = map_of(cx, of).and_then(|map| map.get(key)) else { return Ok(b"") };
    if kind(value) == GoKind::Nil {
        return Err(nil_pointer());
    }
    text_bytes(value).ok_or_else(|| {
        failed(format!("unable to parse {key} key, must be of type string, but {} found", type_name(value)))
    })
}

fn url_join<'v>(cx: &Cx<'v>, of: Value<'v>) -> Result<String> {
    let text = |key| -> Result<String> {
        let bytes = dict_part(cx, of, key)?;
        // Escapes take three bytes for one.
        cx.charge(bytes.len().saturating_mul(8))?;
        Ok(String::from_utf8_lossy(bytes).into_owned())
    };
    let mut parts = Parts {
        scheme: text("scheme")?,
        host: text("host")?,
        path: dict_part(cx, of, "path")?.to_vec(),
        query: text("query")?,
        opaque: text("opaque")?,
        fragment: dict_part(cx, of, "fragment")?.to_vec(),
        ..Parts::default()
    };
    cx.charge((parts.path.len() + parts.fragment.len()).saturating_mul(8))?;
    let user = text("userinfo")?;
    if !user.is_empty() {
        parts.user = user_of(&user).map_err(|why| failed(format!("unable to parse userinfo in dict: {why}")))?;
    }
    Ok(parts.to_text())
}

functions! {
    /// Questions to the outside.
    pub(super) static OUTSIDE:
    "lookup" [Str, Str, Str, Str] = lookup, makes Map, "Returns an object of the cluster, by version, kind, namespace and name, or a list of them without a name: of those that a test gives. Otherwise it returns an empty map: there is no cluster."
        [r#"{{ lookup "v1" "Secret" "default" "password" }}"# => "map[]"];
    "getHostByName" [Str] = |_: &[u8]| String::new(), "Returns an empty text: names are not resolved."
        [r#"[{{ getHostByName "localhost" }}]"# => "[]"];
}

functions! {
    /// Functions of file paths.
    pub(super) static PATHS:
    "base" [Str] = base, "Returns the last part of a path." [r#"{{ base "foo/bar" }}"# => "bar", r#"{{ base "" }}"# => "."];
    "osBase" [Str] = base, "Returns the last part of a path." [r#"{{ osBase "/foo/bar" }}"# => "bar"];
    "dir" [Str] = dir, "Returns a path without its last part." [r#"{{ dir "foo/bar/baz" }}"# => "foo/bar"];
    "osDir" [Str] = dir, "Returns a path without its last part." [r#"{{ osDir "/foo" }}"# => "/"];
    "clean" [Str] = clean, "Returns the shortest path with the same meaning." [r#"{{ clean "foo/bar/../baz" }}"# => "foo/baz"];
    "osClean" [Str] = clean, "Returns the shortest path with the same meaning." [r#"{{ osClean "/a//b/." }}"# => "/a/b"];
    "ext" [Str] = ext, "Returns the extension of a path with its point." [r#"{{ ext "foo.tar.gz" }}"# => ".gz"];
    "osExt" [Str] = ext, "Returns the extension of a path with its point." [r#"[{{ osExt "/foo" }}]"# => "[]"];
    "isAbs" [Str] = paths::is_absolute, "Returns `true` if a path starts at the root." [r#"{{ isAbs "/foo" }}"# => "true"];
    "osIsAbs" [Str] = paths::is_absolute, "Returns `true` if a path starts at the root." [r#"{{ osIsAbs "foo" }}"# => "false"];
}

fn lookup<'v>(cx: &Cx<'v>, Rest(arguments): Rest<'_, 'v>) -> Result<Value<'v>> {
    // The result is that of an empty cluster wherever it is known before the render: only tests give objects.
    let known = objects::known(cx);
    let text = |at: usize| arguments.get(at).and_then(|value| value.as_str()).unwrap_or("");
    let [version, kind, namespace, name] = [0, 1, 2, 3].map(text);
    let field = |object: Value<'v>, path: &[&str]| {
        path.iter().try_fold(object, |value, key| value.as_map()?.get(key)).and_then(|value| value.as_str())
    };
    let is_it = |object: &Value<'v>| {
        let of_namespace = field(*object, &["metadata", "namespace"]).unwrap_or(namespace);
        field(*object, &["apiVersion"]) == Some(version)
            && field(*object, &["kind"]) == Some(kind)
            && (namespace.is_empty() || of_namespace == namespace)
            && (name.is_empty() || field(*object, &["metadata", "name"]) == Some(name))
    };
    let mut found = known.iter().copied().filter(is_it);
    if known.is_empty() || !name.is_empty() {
        return found.next().map_or_else(|| cx.map(&[]), Ok);
    }
    let items: Vec<Value<'v>> = found.collect();
    cx.charge(items.len().saturating_mul(size_of::<Value<'_>>()))?;
    let kind = cx.text(&format!("{kind}List"))?;
    let metadata = cx.map(&[("continue", cx.text("")?), ("resourceVersion", cx.text("")?)])?;
    let items = cx.arena().list(&items);
    cx.map(&[("apiVersion", cx.text(version)?), ("items", items), ("kind", kind), ("metadata", metadata)])
}

fn base<'v>(cx: &Cx<'v>, path: &'v [u8]) -> Result<Value<'v>> {
    part(cx, paths::base(path))
}

/// Charges for the list of the parts of a path.
fn charge_parts(cx: &Cx<'_>, path: &[u8]) -> Result<()> {
    cx.charge(path.len().saturating_mul(size_of::<&[u8]>() / 2))
}

fn dir<'v>(cx: &Cx<'v>, path: &'v [u8]) -> Result<Value<'v>> {
    charge_parts(cx, path)?;
    cx.string(&paths::folder(path))
}

fn clean<'v>(cx: &Cx<'v>, path: &'v [u8]) -> Result<Value<'v>> {
    charge_parts(cx, path)?;
    cx.string(&paths::cleaned(path))
}

fn ext<'v>(cx: &Cx<'v>, path: &'v [u8]) -> Result<Value<'v>> {
    part(cx, paths::extension(path))
}
