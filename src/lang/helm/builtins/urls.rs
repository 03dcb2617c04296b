//! URLs, file paths, and questions to a cluster or the network.

use super::arguments::{nil_pointer, part};
use crate::error::failed;
use crate::objects;
use crate::values::{GoKind, kind, map_of, text_bytes, type_name};
use dropforge_base::diagnostics::Result;
use dropforge_base::stdlib::paths;
use dropforge_base::stdlib::urls::reference::{Parts, parse, user_of};
use dropforge_machine::function::{Cx, Rest};
use dropforge_machine::functions;
use dropforge_value::Value;

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
