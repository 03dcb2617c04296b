//! References: URLs and relative paths, taken apart and put together.

use super::{UrlSyntax, check_escapes, is_host_byte, read};
use crate::stdlib::encodings::octets;

/// The parts of a reference without escapes, except where noted. Missing parts are empty.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Parts {
    /// The scheme in lower case.
    pub scheme: String,
    /// The part after the scheme if no slash starts it, as written.
    pub opaque: String,
    /// The user and the password, with escapes.
    pub user: Option<String>,
    /// The host and the port.
    pub host: String,
    /// The host without the port and brackets.
    pub hostname: String,
    /// The path.
    pub path: Vec<u8>,
    /// The query as written.
    pub query: String,
    /// The fragment.
    pub fragment: Vec<u8>,
}

/// Takes a reference apart.
///
/// # Errors
/// The message of Go's `net/url`.
pub fn parse(text: &str) -> Result<Parts, String> {
    let (rest, fragment) = text.split_once('#').unwrap_or((text, ""));
    let message = |of: &str, why: String| format!("parse {of:?}: {why}");
    let url = read(rest, UrlSyntax::Reference).map_err(|why| message(rest, why))?;
    check_escapes(fragment).map_err(|why| message(text, why))?;
    Ok(Parts {
        opaque: url.opaque.unwrap_or("").to_owned(),
        user: url.user.strip_suffix('@').map(user_text),
        hostname: url.hostname().to_owned(),
        path: octets(url.path),
        query: url.query.unwrap_or("").to_owned(),
        fragment: octets(fragment),
        host: url.host.into_owned(),
        scheme: url.scheme,
    })
}

/// Returns the user and the password with the necessary escapes only.
fn user_text(written: &str) -> String {
    let escaped_part = |part| escaped(&octets(part), is_plain_byte);
    match written.split_once(':') {
        Some((user, password)) => format!("{}:{}", escaped_part(user), escaped_part(password)),
        None => escaped_part(written),
    }
}

/// Returns the user of a text in front of a host.
///
/// # Errors
/// The message of Go's `net/url`.
pub fn user_of(text: &str) -> Result<Option<String>, String> {
    parse(&format!("proto://{text}@host")).map(|parts| parts.user)
}

impl Parts {
    /// Puts the parts together.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        if !self.scheme.is_empty() {
            text.extend([&self.scheme, ":"]);
        }
        if self.opaque.is_empty() {
            self.push_hierarchy(&mut text);
        } else {
            text.push_str(&self.opaque);
        }
        if !self.query.is_empty() {
            text.extend(["?", &self.query]);
        }
        if !self.fragment.is_empty() {
            text.extend(["#", &escaped(&self.fragment, is_fragment_byte)]);
        }
        text
    }

    /// Appends the user, the host and the path.
    fn push_hierarchy(&self, text: &mut String) {
        let has_authority = !self.host.is_empty() || self.user.is_some();
        if has_authority || !self.scheme.is_empty() && !self.path.is_empty() {
            text.push_str("//");
        }
        if let Some(user) = &self.user {
            text.extend([user, "@"]);
        }
        text.push_str(&escaped(self.host.as_bytes(), is_host_byte));
        let path = if self.path == b"*" { "*".to_owned() } else { escaped(&self.path, is_path_byte) };
        if !path.is_empty() && !path.starts_with('/') && !self.host.is_empty() {
            text.push('/');
        }
        // Otherwise the colon would end a scheme.
        if text.is_empty() && path.split('/').next().is_some_and(|first| first.contains(':')) {
            text.push_str("./");
        }
        text.push_str(&path);
    }
}

/// Escapes all bytes except those that `is_kept` accepts.
fn escaped(bytes: &[u8], is_kept: impl Fn(u8) -> bool) -> String {
    let mut out = String::with_capacity(bytes.len());
    for &byte in bytes {
        match byte.is_ascii() && is_kept(byte) {
            true => out.push(char::from(byte)),
            false => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

fn is_plain_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.~$&+,;=".contains(&byte)
}

fn is_path_byte(byte: u8) -> bool {
    is_plain_byte(byte) || b"/:@".contains(&byte)
}

fn is_fragment_byte(byte: u8) -> bool {
    is_plain_byte(byte) || b"/:?@!()*".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_taken_apart() {
        let parts = parse("http://us%65r:p%40w@host.com:80/a%20b?q=1#fr%20ag").unwrap();
        assert_eq!((parts.user.as_deref(), parts.path.as_slice()), (Some("user:p%40w"), b"/a b".as_slice()));
        assert_eq!((parts.host.as_str(), parts.hostname.as_str()), ("host.com:80", "host.com"));
        assert_eq!((parts.query.as_str(), parts.fragment.as_slice()), ("q=1", b"fr ag".as_slice()));
        assert_eq!(parse("").unwrap(), Parts::default());
        assert_eq!(parse("a b").unwrap().path, b"a b");
        assert_eq!(parse("mailto:a@b").unwrap().opaque, "a@b");
        for (bad, why) in [
            ("%zz", "parse \"%zz\": invalid URL escape \"%zz\""),
            ("a:b:c\n", "parse \"a:b:c\\n\": net/url: invalid control character in URL"),
            ("1a:b", "parse \"1a:b\": first path segment in URL cannot contain colon"),
            (":a", "parse \":a\": missing protocol scheme"),
            ("a#%z", "parse \"a#%z\": invalid URL escape \"%z\""),
        ] {
            assert_eq!(parse(bad), Err(why.to_owned()), "{bad}");
        }
    }

    #[test]
    fn references_are_put_together() {
        for (text, whole) in [
            ("http://u:p@h:80/p?q=1#f", "http://u:p@h:80/p?q=1#f"),
            ("//h", "//h"),
            ("/a b", "/a%20b"),
            ("./a:b", "./a:b"),
            ("mailto:a@b?x", "mailto:a@b?x"),
            ("http://h/é#!", "http://h/%C3%A9#!"),
            ("", ""),
        ] {
            assert_eq!(parse(text).unwrap().to_text(), whole, "{text}");
        }
        let parts = Parts { host: "h".into(), path: b"p".to_vec(), scheme: "http".into(), ..Parts::default() };
        assert_eq!(parts.to_text(), "http://h/p");
        assert_eq!(Parts { path: b"a:b".to_vec(), ..Parts::default() }.to_text(), "./a:b");
    }
}
