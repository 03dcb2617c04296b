//! URLs.

use crate::values::capsules::{Content, Parsed, URL, capsule};
use crate::values::errors::bad_argument;
use dropforge_base::diagnostics::Result;
use dropforge_base::stdlib::urls::{self, Url};
use dropforge_machine::function::{Cx, FromArgument};
use dropforge_machine::overloads;
use dropforge_value::Value;

overloads! {
    /// The library `kubernetes.urls`.
    pub static TABLE:
    "url": "Parses a URL: an absolute URL or an absolute path."
        ["url('https://example.com:80/').getHost()" => "'example.com:80'", "url('../a')" => "E0403", "url('https://a:b:c/')" => "E0403"]
        fn "string_to_url" (String) -> "kubernetes.URL" = url;
    "isURL": "Returns `true` if a string is a URL." ["isURL('/absolute')" => "true", "isURL('../relative')" => "false"]
        fn "is_url_string" (String) -> Bool = is_url;
    "getScheme": "Returns the scheme, empty if there is none." ["url('HTTPS://example.com/').getScheme()" => "'https'", "url('/a').getScheme()" => "''"]
        fn "url_get_scheme" member ("kubernetes.URL") -> String = |url: Parsed<Url<'_>>| url.0.scheme;
    "getHost": "Returns the host with its port." ["url('https://[::1]:80/').getHost()" => "'[::1]:80'"]
        fn "url_get_host" member ("kubernetes.URL") -> String = |url: Parsed<Url<'_>>| url.0.host.into_owned();
    "getHostname": "Returns the host without port and brackets." ["url('https://[::1]:80/').getHostname()" => "'::1'"]
        fn "url_get_hostname" member ("kubernetes.URL") -> String = |url: Parsed<Url<'_>>| url.hostname().to_owned();
    "getPort": "Returns the port, empty if there is none." ["url('https://example.com:80/').getPort()" => "'80'", "url('/a').getPort()" => "''"]
        fn "url_get_port" member ("kubernetes.URL") -> String = |url: Parsed<Url<'_>>| url.port().to_owned();
    "getEscapedPath": "Returns the path with percent-encoding." ["url('https://example.com/a b').getEscapedPath()" => "'/a%20b'"]
        fn "url_get_escaped_path" member ("kubernetes.URL") -> String = escaped_path;
    "getQuery": "Returns the values of each query parameter."
        ["url('https://example.com/?k1=a&k2=b&k2=c').getQuery()" => "{'k1': ['a'], 'k2': ['b', 'c']}", "url('/a').getQuery()" => "{}"]
        fn "url_get_query" member ("kubernetes.URL") -> (map String (list String)) = query;
}

/// Factor by which percent-encoding can lengthen a text.
const GROWTH: usize = 3;

fn parse<'v>(cx: &Cx<'v>, text: &'v str) -> Result<Url<'v>> {
    cx.charge(text.len())?;
    urls::parse(text).map_err(|why| bad_argument(format!("URL parse error during conversion from string: {why}")))
}

impl<'v> FromArgument<'v> for Parsed<Url<'v>> {
    fn from_argument(cx: &Cx<'v>, value: Value<'v>) -> Result<Self> {
        parse(cx, Content::of(value).0).map(Self)
    }
}

fn url<'v>(cx: &Cx<'v>, text: &'v str) -> Result<Value<'v>> {
    let url = parse(cx, text)?;
    cx.charge(text.len() * GROWTH)?;
    capsule(cx, URL, &url.to_text())
}

fn is_url<'v>(cx: &Cx<'v>, text: &'v str) -> Result<bool> {
    cx.spend(text.len() as u64 / 64)?;
    Ok(urls::check(text).is_ok())
}

fn escaped_path<'v>(cx: &Cx<'v>, url: Content<'v>) -> Result<String> {
    cx.charge(url.0.len() * GROWTH)?;
    Ok(parse(cx, url.0)?.escaped_path())
}

fn query<'v>(cx: &Cx<'v>, url: Content<'v>) -> Result<Value<'v>> {
    let parts = url.0.matches('&').count() + 1;
    cx.charge(url.0.len() * GROWTH + parts * 2 * size_of::<Value>())?;
    let mut entries = Vec::new();
    for (name, values) in parse(cx, url.0)?.query() {
        let values = values.iter().map(|value| cx.text(value)).collect::<Result<Vec<_>>>()?;
        entries.push((cx.arena().copy_str(&name), cx.list(&values)?));
    }
    cx.map(&entries)
}
