//! URLs, parsed like request URIs by Go's `net/url`: an absolute URL or an absolute path. `reference` reads relative
//! ones as well.

pub mod reference;

use std::borrow::Cow;
use std::fmt::Write;

use super::encodings::invalid_escape;

/// The parts of a URL as written, except where noted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Url<'t> {
    /// The scheme in lower case; empty if absent.
    pub scheme: String,
    /// User information with the `@`.
    user: &'t str,
    /// Host and port, unescaped.
    pub host: Cow<'t, str>,
    /// `true` if there is a host, even an empty one.
    has_host: bool,
    path: &'t str,
    /// The opaque part after the scheme, instead of a path.
    opaque: Option<&'t str>,
    query: Option<&'t str>,
    fragment: Option<&'t str>,
}

/// Parses a URL.
///
/// # Errors
/// The message of the reference.
pub fn parse(text: &str) -> Result<Url<'_>, String> {
    // A request URI has no fragment: the text is also checked with `#` as a part of the path or query.
    read(text, UrlSyntax::Request)?;
    let (rest, fragment) = text.split_once('#').map_or((text, None), |(rest, fragment)| (rest, Some(fragment)));
    let url = Url { fragment, ..read(rest, UrlSyntax::Unfragmented)? };
    fragment.map_or(Ok(()), check_escapes)?;
    Ok(url)
}

/// Checks that a text is a URL with any fragment.
///
/// # Errors
/// The message of the reference.
pub fn check(text: &str) -> Result<(), String> {
    read(text, UrlSyntax::Request).map(|_| ())
}

/// The texts that are URLs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum UrlSyntax {
    /// An absolute URL or an absolute path. A host follows only a scheme.
    Request,
    /// The same without the fragment. A host may come first.
    Unfragmented,
    /// Also an empty text or a relative path.
    Reference,
}

/// Reads a URL without a fragment.
fn read(text: &str, form: UrlSyntax) -> Result<Url<'_>, String> {
    let request = form == UrlSyntax::Request;
    let relative = form == UrlSyntax::Reference;
    if text.bytes().any(|byte| byte < b' ' || byte == 0x7F) {
        return Err("net/url: invalid control character in URL".to_owned());
    }
    if text.is_empty() && !relative {
        return Err("empty url".to_owned());
    }
    let (scheme, rest) = split_scheme(text)?;
    let (rest, query) = rest.split_once('?').map_or((rest, None), |(rest, query)| (rest, Some(query)));
    let empty = Cow::Borrowed("");
    let mut url = Url {
        scheme: scheme.to_ascii_lowercase(),
        user: "",
        host: empty,
        has_host: false,
        path: rest,
        opaque: None,
        query,
        fragment: None,
    };
    if text == "*" {
        return Ok(url);
    }
    if !rest.starts_with('/') {
        return match scheme {
            "" if relative => relative_path(rest).map(|()| url),
            "" => Err("invalid URI for request".to_owned()),
            _ => Ok(Url { path: "", opaque: Some(rest), ..url }),
        };
    }
    let has_host = !scheme.is_empty() || !request && !rest.starts_with("///");
    if let Some(behind) = rest.strip_prefix("//").filter(|_| has_host) {
        let (authority, path) =
            behind.split_at_checked(behind.find('/').unwrap_or(behind.len())).unwrap_or((behind, ""));
        let (user, host) = authority.split_at_checked(authority.rfind('@').map_or(0, |at| at + 1)).unwrap_or(("", ""));
        check_user(user)?;
        url = Url { user, host: read_host(host)?, has_host: true, path, ..url };
    }
    check_escapes(url.path)?;
    Ok(url)
}

/// Checks a path that does not start at the root. A colon in its first part would end a scheme.
fn relative_path(path: &str) -> Result<(), String> {
    if path.split('/').next().is_some_and(|first| first.contains(':')) {
        return Err("first path segment in URL cannot contain colon".to_owned());
    }
    check_escapes(path)
}

/// Splits off the scheme.
fn split_scheme(text: &str) -> Result<(&str, &str), String> {
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if at > 0 => {}
            b':' if at == 0 => return Err("missing protocol scheme".to_owned()),
            b':' => return Ok(text.split_once(':').unwrap_or(("", text))),
            _ => break,
        }
    }
    Ok(("", text))
}

fn check_user(user: &str) -> Result<(), String> {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(&byte);
    if !user.bytes().all(is_allowed) {
        return Err("net/url: invalid userinfo".to_owned());
    }
    check_escapes(user)
}

/// Parses host and port: a name, an IPv4 address, or an IPv6 address in brackets with an optional zone after `%25`.
fn read_host(text: &str) -> Result<Cow<'_, str>, String> {
    if text.starts_with('[') {
        let end = text.rfind(']').ok_or("missing ']' in host")?;
        let (inside, behind) = text.split_at_checked(end).unwrap_or((text, ""));
        check_port(behind.strip_prefix(']').unwrap_or(behind))?;
        if let Some(zone) = inside.find("%25") {
            let (name, zone) = inside.split_at_checked(zone).unwrap_or((inside, ""));
            let parts = [unescape_host(name, false)?, unescape_host(zone, true)?, unescape_host(behind, false)?];
            return Ok(Cow::Owned(parts.concat()));
        }
    } else if let Some(colon) = text.rfind(':') {
        check_port(text.get(colon..).unwrap_or(""))?;
    }
    unescape_host(text, false)
}

fn check_port(text: &str) -> Result<(), String> {
    let shown = || text.chars().take(60).collect::<String>();
    if is_port(text) { Ok(()) } else { Err(format!("invalid port {:?} after host", shown())) }
}

/// Returns `true` for an empty text, or a colon and digits.
fn is_port(text: &str) -> bool {
    text.is_empty() || text.strip_prefix(':').is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Returns `true` for bytes that need no escape in a host.
fn is_host_byte(byte: u8) -> bool {
    byte >= 0x80 || byte.is_ascii_alphanumeric() || b"-_.~!$&'()*+,;=:[]<>\"".contains(&byte)
}

/// Unescapes a host. Only non-ASCII bytes may be escaped, and in a zone also valid bytes of a host.
fn unescape_host(text: &str, zone: bool) -> Result<Cow<'_, str>, String> {
    check_escapes(text)?;
    if let Some(bad) = text.chars().find(|c| c.is_ascii() && *c != '%' && !is_host_byte(*c as u8)) {
        return Err(format!("invalid character {:?} in host name", bad.to_string()));
    }
    for escape in text.match_indices('%').filter_map(|(at, _)| text.get(at..at + 3)) {
        let byte = escape.get(1..).and_then(|hex| u8::from_str_radix(hex, 16).ok()).unwrap_or(0);
        let allowed = if zone { byte == b' ' || is_host_byte(byte) } else { byte >= 0x80 };
        if escape != "%25" && !allowed {
            return Err(format!("invalid URL escape {escape:?}"));
        }
    }
    Ok(unescape(text))
}

/// Checks that each `%` starts an escape.
fn check_escapes(text: &str) -> Result<(), String> {
    match invalid_escape(text) {
        Some(at) => {
            let shown: String = text.get(at..).unwrap_or("").chars().take(3).collect();
            Err(format!("invalid URL escape {shown:?}"))
        }
        None => Ok(()),
    }
}

/// Unescapes a text with valid escapes, replacing invalid UTF-8.
fn unescape(text: &str) -> Cow<'_, str> {
    percent_encoding::percent_decode_str(text).decode_utf8_lossy()
}

/// Unescapes a part of a query, with `+` as a space. `None` if an escape is malformed.
fn unescape_query(text: &str) -> Option<String> {
    check_escapes(text).ok()?;
    Some(unescape(&text.replace('+', " ")).into_owned())
}

impl Url<'_> {
    /// Returns the host without port and brackets.
    pub fn hostname(&self) -> &str {
        let name = self.host.strip_suffix(self.port_with_colon()).unwrap_or(&self.host);
        name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name)
    }

    /// Returns the port; empty if absent.
    pub fn port(&self) -> &str {
        self.port_with_colon().trim_start_matches(':')
    }

    fn port_with_colon(&self) -> &str {
        let port = self.host.rfind(':').and_then(|colon| self.host.get(colon..)).unwrap_or("");
        if is_port(port) { port } else { "" }
    }

    /// Returns the escaped path: as written if that is a valid escaping.
    pub fn escaped_path(&self) -> String {
        let written = |byte: u8| is_path_byte(byte) || b"!'()*[]%".contains(&byte);
        if self.path == "*" || self.path.bytes().all(written) {
            return self.path.to_owned();
        }
        let mut escaped = String::with_capacity(self.path.len());
        for byte in percent_encoding::percent_decode_str(self.path) {
            if is_path_byte(byte) {
                escaped.push(byte as char);
            } else {
                let _ = write!(escaped, "%{byte:02X}");
            }
        }
        escaped
    }

    /// Returns the names in the query in order of appearance, with their values. Malformed parts are skipped.
    pub fn query(&self) -> Vec<(String, Vec<String>)> {
        let mut found: indexmap::IndexMap<String, Vec<String>> = indexmap::IndexMap::new();
        for part in self.query.unwrap_or("").split('&') {
            if part.is_empty() || part.contains(';') {
                continue;
            }
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            if let (Some(name), Some(value)) = (unescape_query(name), unescape_query(value)) {
                found.entry(name).or_default().push(value);
            }
        }
        found.into_iter().collect()
    }

    /// Returns the whole URL, with a lower-case scheme and an escaped host and path.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        let mut push = |parts: &[&str]| text.extend(parts.iter().copied());
        if !self.scheme.is_empty() {
            push(&[&self.scheme, ":"]);
        }
        match self.opaque {
            Some(opaque) => push(&[opaque]),
            None if self.has_host => push(&["//", self.user, &escaped_host(&self.host), &self.escaped_path()]),
            None => push(&[&self.escaped_path()]),
        }
        for (sign, part) in [("?", self.query), ("#", self.fragment)] {
            if let Some(part) = part {
                push(&[sign, part]);
            }
        }
        text
    }
}

/// Escapes a host: its non-ASCII bytes, and the percent sign before a zone.
fn escaped_host(host: &str) -> String {
    let mut escaped = String::with_capacity(host.len());
    for byte in host.bytes() {
        if byte.is_ascii() && is_host_byte(byte) {
            escaped.push(byte as char);
        } else {
            let _ = write!(escaped, "%{byte:02X}");
        }
    }
    escaped
}

/// Returns `true` for bytes that need no escape in a path.
fn is_path_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.~$&+,/:;=@".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts() {
        for (text, scheme, host, hostname, port, path) in [
            (
                "https://user:pass@example.com:80/path?query=val#fragment",
                "https",
                "example.com:80",
                "example.com",
                "80",
                "/path",
            ),
            ("HTTPS://[::1]:80/", "https", "[::1]:80", "::1", "80", "/"),
            ("https://[::1]/", "https", "[::1]", "::1", "", "/"),
            ("https://[fe80::1%25eth0]:1/", "https", "[fe80::1%eth0]:1", "fe80::1%eth0", "1", "/"),
            ("/path", "", "", "", "", "/path"),
            ("//host/path", "", "host", "host", "", "/path"),
            ("//u@host:8/", "", "host:8", "host", "8", "/"),
            ("//", "", "", "", "", ""),
            ("///path", "", "", "", "", "///path"),
            ("https://example.com", "https", "example.com", "example.com", "", ""),
            (
                "https://example.com/path with spaces/",
                "https",
                "example.com",
                "example.com",
                "",
                "/path%20with%20spaces/",
            ),
            ("https://example.com/a%20b/ä", "https", "example.com", "example.com", "", "/a%20b/%C3%A4"),
            ("https://example.com/a%2fb(1)", "https", "example.com", "example.com", "", "/a%2fb(1)"),
            ("mailto:a@b", "mailto", "", "", "", ""),
            ("https://h:/", "https", "h:", "h", "", "/"),
            ("file:///etc", "file", "", "", "", "/etc"),
            ("*", "", "", "", "", "*"),
        ] {
            let url = parse(text).unwrap_or_else(|why| panic!("{text}: {why}"));
            let parts = (url.scheme.as_str(), &*url.host, url.hostname(), url.port(), url.escaped_path());
            assert_eq!(parts, (scheme, host, hostname, port, path.to_owned()), "{text}");
        }
    }

    #[test]
    fn invalid_urls() {
        for text in [
            "",
            "../relative-path",
            "path",
            "https://a:b:c/",
            "https://a:b/",
            ":a",
            "https://[::1/",
            "https://a b/",
            "https://a%20b/",
            "/%zz",
            "/%4",
            "/%",
            "https://us er@host/",
            "/a\nb",
            "1http://a",
            "https://[::1]x/",
            "https://\u{7f}/",
        ] {
            assert!(parse(text).is_err() && check(text).is_err(), "{text}");
        }
    }

    #[test]
    fn queries() {
        let query = |text: &str| parse(text).unwrap().query();
        let pair = |name: &str, values: &[&str]| (name.to_owned(), values.iter().map(|v| (*v).to_owned()).collect());
        assert_eq!(query("https://e/p?k2=b&k1=a&k2=c%20d+e"), [pair("k2", &["b", "c d e"]), pair("k1", &["a"])]);
        assert_eq!(
            query("https://e/p?key with spaces=v&x;y=1&%zz=1&=&a"),
            [pair("key with spaces", &["v"]), pair("", &[""]), pair("a", &[""])]
        );
        assert_eq!(query("https://e/p?"), []);
        assert_eq!(query("https://e/p#?a=b"), []);
    }

    #[test]
    fn texts() {
        for (text, whole) in [
            ("HTTP://u@H:1/a b?q r#f", "http://u@H:1/a%20b?q r#f"),
            ("/p?", "/p?"),
            ("mailto:a@b?x", "mailto:a@b?x"),
            ("file:///x", "file:///x"),
            ("//h/p", "//h/p"),
            ("http://[fe80::1%25eth0]:1/", "http://[fe80::1%25eth0]:1/"),
            ("http://ä/", "http://%C3%A4/"),
        ] {
            let url = parse(text).unwrap();
            assert_eq!(url.to_text(), whole, "{text}");
            assert_eq!(parse(whole).unwrap().host, url.host, "{text}");
        }
    }
}
