//! URLs.

use crate::diagnostics::Result;
use crate::dialect::cel::builtins::capsules::{URL, content, make};
use crate::dialect::cel::builtins::{arguments, text};
use crate::dialect::cel::values::errors::bad_argument;
use crate::function::Cx;
use crate::overloads;
use crate::stdlib::urls::{self, Url};
use crate::value::Value;

overloads! {
    /// The library `kubernetes.urls`.
    pub static TABLE:
    "url": "The URL that a text says: an absolute one, or an absolute path."
        ["url('https://example.com:80/').getHost()" => "'example.com:80'", "url('../a')" => "E0403", "url('https://a:b:c/')" => "E0403"] {
        "string_to_url" (String) -> "kubernetes.URL" = url;
    }
    "isURL": "Whether a text says a URL." ["isURL('/absolute')" => "true", "isURL('../relative')" => "false"] {
        "is_url_string" (String) -> Bool = is_url;
    }
    "getScheme": "The scheme; empty where there is none." ["url('HTTPS://example.com/').getScheme()" => "'https'", "url('/a').getScheme()" => "''"] {
        "url_get_scheme" member ("kubernetes.URL") -> String = scheme;
    }
    "getHost": "The host with its port." ["url('https://[::1]:80/').getHost()" => "'[::1]:80'"] {
        "url_get_host" member ("kubernetes.URL") -> String = host;
    }
    "getHostname": "The host without port and brackets." ["url('https://[::1]:80/').getHostname()" => "'::1'"] {
        "url_get_hostname" member ("kubernetes.URL") -> String = hostname;
    }
    "getPort": "The port; empty where there is none." ["url('https://example.com:80/').getPort()" => "'80'", "url('/a').getPort()" => "''"] {
        "url_get_port" member ("kubernetes.URL") -> String = port;
    }
    "getEscapedPath": "The path with what is needed escaped." ["url('https://example.com/a b').getEscapedPath()" => "'/a%20b'"] {
        "url_get_escaped_path" member ("kubernetes.URL") -> String = escaped_path;
    }
    "getQuery": "The values of each name in the query."
        ["url('https://example.com/?k1=a&k2=b&k2=c').getQuery()" => "{'k1': ['a'], 'k2': ['b', 'c']}", "url('/a').getQuery()" => "{}"] {
        "url_get_query" member ("kubernetes.URL") -> (map String (list String)) = query;
    }
}

/// How much longer than itself a part of a text may become.
const GROWTH: usize = 3;

fn parsed<'v>(cx: &Cx<'v>, text: &'v str) -> Result<Url<'v>> {
    cx.charge(text.len())?;
    urls::parse(text).map_err(|why| bad_argument(format!("URL parse error during conversion from string: {why}")))
}

/// The URL that is the only argument.
fn given_url<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Url<'v>> {
    let [value] = arguments(cx, given)?;
    parsed(cx, content(value))
}

fn url<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [value] = arguments(cx, given)?.map(text);
    let url = parsed(cx, value)?;
    cx.charge(value.len() * GROWTH)?;
    make(cx, URL, &url.to_text())
}

fn is_url<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [value] = arguments(cx, given)?.map(text);
    cx.spend(value.len() as u64 / 64)?;
    Ok(Value::Bool(urls::check(value).is_ok()))
}

fn scheme<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    cx.text(&given_url(cx, given)?.scheme)
}

fn host<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    cx.text(&given_url(cx, given)?.host)
}

fn hostname<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    cx.text(given_url(cx, given)?.hostname())
}

fn port<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    cx.text(given_url(cx, given)?.port())
}

fn escaped_path<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [value] = arguments(cx, given)?;
    cx.charge(content(value).len() * GROWTH)?;
    cx.text(&given_url(cx, given)?.escaped_path())
}

fn query<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [value] = arguments(cx, given)?;
    let parts = content(value).matches('&').count() + 1;
    cx.charge(content(value).len() * GROWTH + parts * 2 * size_of::<Value>())?;
    let mut entries = Vec::new();
    for (name, values) in given_url(cx, given)?.query() {
        let values = values.iter().map(|value| cx.text(value)).collect::<Result<Vec<_>>>()?;
        entries.push((cx.arena().copy_str(&name), cx.list(&values)?));
    }
    cx.map(&entries)
}
