//! Functions that Kubernetes adds to CEL: URLs, formats of names, JSON patches, IP addresses and CIDR blocks.

pub mod quantity;

use std::convert::identity;
use std::net::IpAddr;

use crate::values::{CIDR, Content, FORMAT, IP, Parsed, URL, bad_argument, capsule, empty_optional, optional_of};
use dropforge_base::diagnostics::{Diagnostic, Result};
use dropforge_base::stdlib::cidr::{BadAddress, Block};
use dropforge_base::stdlib::kubernetes_formats::NameFormat;
use dropforge_base::stdlib::paths::escaped;
use dropforge_base::stdlib::{
    cidr,
    urls::{self, Url},
};
use dropforge_machine::function::{Arguments, Cx, FromArgument, IntoValue, Outcome};
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

functions! {
    /// The library `network`, which is also the one of Kubernetes.
    pub static NETWORK:
    "ip", "Parses an IP address, or returns the address of a CIDR block."
        ["string(ip('2001:DB8::68'))" => "'2001:db8::68'", "cidr('192.168.0.1/24').ip() == ip('192.168.0.1')" => "true", "string(ip('::ffff:a00:1'))" => "'::ffff:10.0.0.1'",
         "ip('127.0.0.01')" => "E0403", "ip('::ffff:10.0.0.1')" => "E0403"]
        | "string_to_ip" (String) -> "net.IP" = identity::<Parsed<IpAddr>>;
        | "cidr_ip" member ("net.CIDR") -> "net.IP" = |block: Parsed<Block>| Parsed(block.address);
    "isIP", "Returns `true` if a string is an IP address." ["isIP('127.0.0.1')" => "true", "isIP('127.0.0.1.0')" => "false", "isIP('::1%eth0')" => "false"]
        | "is_ip" (String) -> Bool = |text: &str| cidr::address(text).is_ok();
    "ip.isCanonical", "Returns `true` if a string is an IP address in canonical form."
        ["ip.isCanonical('2001:db8::1')" => "true", "ip.isCanonical('2001:DB8::1')" => "false", "ip.isCanonical('a')" => "E0403"]
        | "ip_is_canonical" (String) -> Bool = is_canonical;
    "family", "Returns the address family: 4 or 6." ["ip('127.0.0.1').family()" => "4", "ip('::1').family()" => "6"]
        | "ip_family" member ("net.IP") -> Int = |address: Parsed<IpAddr>| if address.is_ipv4() { 4_i64 } else { 6 };
    "isUnspecified", "Returns `true` for the unspecified address." ["ip('0.0.0.0').isUnspecified()" => "true", "ip('::1').isUnspecified()" => "false"]
        | "ip_is_unspecified" member ("net.IP") -> Bool = |address: Parsed<IpAddr>| address.is_unspecified();
    "isLoopback", "Returns `true` for a loopback address." ["ip('127.0.0.1').isLoopback()" => "true"]
        | "ip_is_loopback" member ("net.IP") -> Bool = |address: Parsed<IpAddr>| address.to_canonical().is_loopback();
    "isGlobalUnicast", "Returns `true` for a global unicast address."
        ["ip('192.168.0.1').isGlobalUnicast()" => "true", "ip('255.255.255.255').isGlobalUnicast()" => "false"]
        | "ip_is_global_unicast" member ("net.IP") -> Bool = |address: Parsed<IpAddr>| cidr::is_global_unicast(address.0);
    "isLinkLocalUnicast", "Returns `true` for a link-local unicast address." ["ip('fe80::1').isLinkLocalUnicast()" => "true"]
        | "ip_is_link_local_unicast" member ("net.IP") -> Bool = |address: Parsed<IpAddr>| cidr::is_link_local_unicast(address.0);
    "isLinkLocalMulticast", "Returns `true` for a link-local multicast address." ["ip('224.0.0.1').isLinkLocalMulticast()" => "true"]
        | "ip_is_link_local_multicast" member ("net.IP") -> Bool = |address: Parsed<IpAddr>| cidr::is_link_local_multicast(address.0);
    "cidr", "Parses a CIDR block."
        ["string(cidr('10.0.0.1/8'))" => "'10.0.0.1/8'", "cidr('10.0.0.0/33')" => "E0403"]
        | "string_to_cidr" (String) -> "net.CIDR" = identity::<Parsed<Block>>;
    "isCIDR", "Returns `true` if a string is a CIDR block." ["isCIDR('10.0.0.0/8')" => "true", "isCIDR('10.0.0.0')" => "false"]
        | "is_cidr" (String) -> Bool = |text: &str| Block::parse(text).is_ok();
    "containsIP", "Returns `true` if a block contains an address."
        ["cidr('10.0.0.0/8').containsIP(ip('10.1.2.3'))" => "true", "cidr('10.0.0.0/8').containsIP('11.0.0.0')" => "false"]
        | "cidr_contains_ip_ip" member ("net.CIDR", "net.IP") -> Bool = contains;
        | "cidr_contains_ip_string" member ("net.CIDR", String) -> Bool = contains;
    "containsCIDR", "Returns `true` if a block contains another."
        ["cidr('10.0.0.0/8').containsCIDR(cidr('10.1.0.0/16'))" => "true", "cidr('10.0.0.0/8').containsCIDR('10.0.0.0/7')" => "false"]
        | "cidr_contains_cidr" member ("net.CIDR", "net.CIDR") -> Bool = contains_block;
        | "cidr_contains_cidr_string" member ("net.CIDR", String) -> Bool = contains_block;
    "prefixLength", "Returns the prefix length of a block." ["cidr('10.0.0.0/8').prefixLength()" => "8"]
        | "cidr_prefix_length" member ("net.CIDR") -> Int = |block: Parsed<Block>| i64::from(block.prefix);
    "masked", "Returns the block with its host bits set to zero." ["cidr('192.168.0.1/24').masked() == cidr('192.168.0.0/24')" => "true"]
        | "cidr_masked" member ("net.CIDR") -> "net.CIDR" = |block: Parsed<Block>| Parsed(block.masked());
    "isMask", "Returns `true` if the host bits of a block are zero."
        ["cidr('2001:db8::/32').isMask()" => "true", "cidr('2001:db8::1/32').isMask()" => "false"]
        | "cidr_is_mask" member ("net.CIDR") -> Bool = |block: Parsed<Block>| block.0 == block.masked();
    "string", "Converts an address or a block to a string." ["string(ip('::1'))" => "'::1'"]
        | "ip_to_string" ("net.IP") -> String = Content::text;
        | "cidr_to_string" ("net.CIDR") -> String = Content::text;
}

#[cold]
fn invalid(text: &str, why: BadAddress, form: &str, zone: &str) -> Box<Diagnostic> {
    let text: String = text.chars().take(60).collect();
    bad_argument(match why {
        BadAddress::Form => format!("{form} {text:?} parse error during conversion from string"),
        BadAddress::Zone => format!("{zone} {text:?} with zone value is not allowed"),
        BadAddress::Mapped => format!("IPv4-mapped IPv6 address {text:?} is not allowed"),
    })
}

/// Converts an address, or a string that is parsed as one.
impl<'v> FromArgument<'_, 'v> for Parsed<IpAddr> {
    fn take(arguments: &mut Arguments<'_, 'v>) -> Outcome<Self> {
        let value = arguments.value()?;
        match cidr::canonical(Content::of(value).0) {
            Some(address) => Ok(Self(address)),
            None => Ok(Self(address(value.as_str().unwrap_or(""))?)),
        }
    }
}

fn address(text: &str) -> Result<IpAddr> {
    cidr::address(text).map_err(|why| invalid(text, why, "IP Address", "IP address"))
}

impl<'v> IntoValue<'v> for Parsed<IpAddr> {
    fn into_value(self, cx: &Cx<'v>) -> Result<Value<'v>> {
        capsule(cx, IP, &self.0.to_string())
    }
}

/// Converts a block, or a string that is parsed as one.
impl<'v> FromArgument<'_, 'v> for Parsed<Block> {
    fn take(arguments: &mut Arguments<'_, 'v>) -> Outcome<Self> {
        let value = arguments.value()?;
        if let Some(block) = Block::canonical(Content::of(value).0) {
            return Ok(Self(block));
        }
        let text = value.as_str().unwrap_or("");
        Ok(Block::parse(text).map(Self).map_err(|why| invalid(text, why, "network address", "CIDR"))?)
    }
}

impl<'v> IntoValue<'v> for Parsed<Block> {
    fn into_value(self, cx: &Cx<'v>) -> Result<Value<'v>> {
        capsule(cx, CIDR, &self.0.to_string())
    }
}

fn is_canonical(text: &str) -> Result<bool> {
    Ok(text == address(text)?.to_string())
}

fn contains(block: Parsed<Block>, address: Parsed<IpAddr>) -> bool {
    block.contains(address.0)
}

fn contains_block(block: Parsed<Block>, other: Parsed<Block>) -> bool {
    block.contains_block(other.0)
}
