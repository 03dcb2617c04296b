//! Functions that Kubernetes adds to CEL: URLs, formats of names, JSON patches.

pub mod quantity;

use crate::values::capsules::{Content, FORMAT, Parsed, URL, capsule};
use crate::values::errors::bad_argument;
use crate::values::{empty_optional, optional_of};
use dropforge_base::diagnostics::Result;
use dropforge_base::stdlib::kubernetes_formats::NameFormat;
use dropforge_base::stdlib::paths::escaped;
use dropforge_base::stdlib::urls::{self, Url};
use dropforge_machine::function::{Arguments, Cx, FromArgument, Outcome};
use dropforge_machine::functions;
use dropforge_value::Value;

functions! {
    /// Conversions that Kubernetes lacks, and that templates need.
    pub static CONVERSIONS:
    "string", "Converts a quantity, a version or a URL to a string." ["string(quantity('1024Ki'))" => "'1Mi'", "string(semver('v1', true))" => "'1.0.0'"]
        | "quantity_to_string" ("kubernetes.Quantity") -> String = Content::text;
        | "semver_to_string" ("kubernetes.Semver") -> String = Content::text;
        | "url_to_string" ("kubernetes.URL") -> String = Content::text;
}

functions! {
    /// The library `kubernetes.urls`.
    pub static URLS:
    "url", "Parses a URL: an absolute URL or an absolute path."
        ["url('https://example.com:80/').getHost()" => "'example.com:80'", "url('../a')" => "E0403", "url('https://a:b:c/')" => "E0403"]
        | "string_to_url" (String) -> "kubernetes.URL" = url;
    "isURL", "Returns `true` if a string is a URL." ["isURL('/absolute')" => "true", "isURL('../relative')" => "false"]
        | "is_url_string" (String) -> Bool = is_url;
    "getScheme", "Returns the scheme, empty if there is none." ["url('HTTPS://example.com/').getScheme()" => "'https'", "url('/a').getScheme()" => "''"]
        | "url_get_scheme" member ("kubernetes.URL") -> String = |url: Parsed<Url<'_>>| url.0.scheme;
    "getHost", "Returns the host with its port." ["url('https://[::1]:80/').getHost()" => "'[::1]:80'"]
        | "url_get_host" member ("kubernetes.URL") -> String = |url: Parsed<Url<'_>>| url.0.host.into_owned();
    "getHostname", "Returns the host without port and brackets." ["url('https://[::1]:80/').getHostname()" => "'::1'"]
        | "url_get_hostname" member ("kubernetes.URL") -> String = |url: Parsed<Url<'_>>| url.hostname().to_owned();
    "getPort", "Returns the port, empty if there is none." ["url('https://example.com:80/').getPort()" => "'80'", "url('/a').getPort()" => "''"]
        | "url_get_port" member ("kubernetes.URL") -> String = |url: Parsed<Url<'_>>| url.port().to_owned();
    "getEscapedPath", "Returns the path with percent-encoding." ["url('https://example.com/a b').getEscapedPath()" => "'/a%20b'"]
        | "url_get_escaped_path" member ("kubernetes.URL") -> String = escaped_path;
    "getQuery", "Returns the values of each query parameter."
        ["url('https://example.com/?k1=a&k2=b&k2=c').getQuery()" => "{'k1': ['a'], 'k2': ['b', 'c']}", "url('/a').getQuery()" => "{}"]
        | "url_get_query" member ("kubernetes.URL") -> (map String (list String)) = query;
}

/// Factor by which percent-encoding can lengthen a text.
const GROWTH: usize = 3;

fn parse<'v>(cx: &Cx<'v>, text: &'v str) -> Result<Url<'v>> {
    cx.charge(text.len())?;
    urls::parse(text).map_err(|why| bad_argument(format!("URL parse error during conversion from string: {why}")))
}

impl<'v> FromArgument<'_, 'v> for Parsed<Url<'v>> {
    fn take(arguments: &mut Arguments<'_, 'v>) -> Outcome<Self> {
        let text = Content::take(arguments)?.0;
        Ok(Self(parse(arguments.cx(), text)?))
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

/// Declares the table with a function for each format.
macro_rules! table {
    ($($function:literal $name:literal: $doc:literal $examples:tt;)*) => {
        functions! {
            /// The library `format`.
            pub static FORMATS:
            "format.named", "Returns an optional of the named format."
                ["format.named('dns1123Label').value().validate('a').hasValue()" => "false", "format.named('x').hasValue()" => "false"]
                | "format-named" (String) -> (optional "kubernetes.NamedFormat") = named;
            "validate", "Returns an optional of the errors in a string; without a value if there are none."
                ["format.dns1123Label().validate('my-name').hasValue()" => "false",
                 "format.dns1123Label().validate('a.b').value()" => "['must not contain dots']"]
                | "format-validate" member ("kubernetes.NamedFormat", String) -> (optional (list String)) = validate;
            $($function, $doc $examples
                | $function () -> "kubernetes.NamedFormat" = format_named($name);
            )*
        }
    };
}

table! {
    "format.dns1123Label" "dns1123Label": "DNS labels: at most 63 lowercase letters, digits and hyphens."
        ["format.dns1123Label().validate('A').hasValue()" => "true"];
    "format.dns1123LabelPrefix" "dns1123LabelPrefix": "Prefixes of DNS labels." ["format.dns1123LabelPrefix().validate('a-').hasValue()" => "false"];
    "format.dns1123Subdomain" "dns1123Subdomain": "DNS subdomains: labels separated by dots."
        ["format.dns1123Subdomain().validate('apps.k8s.io').hasValue()" => "false"];
    "format.dns1123SubdomainPrefix" "dns1123SubdomainPrefix": "Prefixes of DNS subdomains."
        ["format.dns1123SubdomainPrefix().validate('a.b-').hasValue()" => "false"];
    "format.dns1035Label" "dns1035Label": "DNS labels that begin with a letter." ["format.dns1035Label().validate('1a').hasValue()" => "true"];
    "format.dns1035LabelPrefix" "dns1035LabelPrefix": "Prefixes of DNS labels that begin with a letter."
        ["format.dns1035LabelPrefix().validate('a-').hasValue()" => "false"];
    "format.qualifiedName" "qualifiedName": "Names of labels and annotations."
        ["format.qualifiedName().validate('example.com/MyName').hasValue()" => "false"];
    "format.labelValue" "labelValue": "Values of labels." ["format.labelValue().validate('').hasValue()" => "false"];
    "format.uri" "uri": "URLs: absolute ones, and absolute paths." ["format.uri().validate('../a').hasValue()" => "true"];
    "format.uuid" "uuid": "UUIDs." ["format.uuid().validate('123e4567-e89b-12d3-a456-426614174000').hasValue()" => "false"];
    "format.byte" "byte": "Base64." ["format.byte().validate('aGVsbG8=').hasValue()" => "false"];
    "format.date" "date": "Dates." ["format.date().validate('2021-02-30').value()" => "['invalid date']"];
    "format.datetime" "datetime": "Dates with times." ["format.datetime().validate('2021-01-01T00:00:00Z').hasValue()" => "false"];
}

fn format_named<'v>(name: &'static str) -> impl Fn(&Cx<'v>) -> Result<Value<'v>> {
    move |cx| capsule(cx, FORMAT, name)
}

fn named<'v>(cx: &Cx<'v>, name: &'v str) -> Result<Value<'v>> {
    match NameFormat::named(name) {
        Some(_) => optional_of(cx, capsule(cx, FORMAT, name)?),
        None => empty_optional(cx),
    }
}

fn validate<'v>(cx: &Cx<'v>, format: Content<'v>, text: &'v str) -> Result<Value<'v>> {
    let Some(format) = NameFormat::named(format.0) else { return Err(bad_argument("there is no such format")) };
    // Messages may quote the text.
    cx.charge(text.len() * 2)?;
    let errors = format.validate(text);
    if errors.is_empty() {
        return empty_optional(cx);
    }
    let errors = errors.iter().map(|error| cx.text(error)).collect::<Result<Vec<_>>>()?;
    optional_of(cx, cx.list(&errors)?)
}

functions! {
    /// The library `kubernetes.jsonpatch`.
    pub static JSON_PATCH:
    "jsonpatch.escapeKey", "Escapes a key for the path of a JSON patch."
        ["jsonpatch.escapeKey('k8s.io/my~label')" => "'k8s.io~1my~0label'"]
        | "string_jsonpatch_escapeKey_string" (String) -> String = escape_key;
}

fn escape_key<'v>(cx: &Cx<'v>, key: &'v str) -> Result<String> {
    cx.charge(key.len() * 2)?;
    Ok(escaped(key))
}
