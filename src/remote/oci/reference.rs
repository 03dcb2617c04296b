//! References to artifacts: `registry/name:tag` and `registry/name@sha256:…`.

use std::fmt;
use std::str::FromStr;

/// A reference to an artifact in a registry.
///
/// ```
/// use dropforge::remote::oci::Reference;
/// let reference: Reference = "ghcr.io/acme/fleet:v3".parse().unwrap();
/// assert_eq!((reference.registry(), reference.name(), reference.tag()), ("ghcr.io", "acme/fleet", Some("v3")));
/// assert!("fleet:v3".parse::<Reference>().is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    registry: String,
    name: String,
    tag: Option<String>,
    digest: Option<String>,
}

impl Reference {
    /// Returns the host of the registry, with its port if the reference has one.
    pub fn registry(&self) -> &str {
        &self.registry
    }

    /// Returns the name of the repository.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the tag.
    pub fn tag(&self) -> Option<&str> {
        self.tag.as_deref()
    }

    /// Returns the digest of the manifest: `sha256:` and 64 hexadecimal digits.
    pub fn digest(&self) -> Option<&str> {
        self.digest.as_deref()
    }

    /// Returns the digest, or else the tag, or else `latest`: the last part of the manifest's path.
    pub(super) fn version(&self) -> &str {
        self.digest().or(self.tag()).unwrap_or("latest")
    }

    /// Returns the reference with another digest.
    pub fn with_digest(&self, digest: impl Into<String>) -> Self {
        Self { digest: Some(digest.into()), ..self.clone() }
    }

    /// Returns `true` if the registry is on this machine: `localhost` or a loopback address. Only such registries are
    /// reached without TLS.
    pub fn is_loopback(&self) -> bool {
        let host = match self.registry.strip_prefix('[') {
            Some(rest) => rest.split(']').next().unwrap_or(""),
            None => self.registry.split(':').next().unwrap_or(""),
        };
        host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.registry, self.name)?;
        if let Some(tag) = &self.tag {
            write!(f, ":{tag}")?;
        }
        match &self.digest {
            Some(digest) => write!(f, "@{digest}"),
            None => Ok(()),
        }
    }
}

impl FromStr for Reference {
    type Err = String;

    /// Parses the part of a URL behind `oci://`. The error is a reason.
    fn from_str(text: &str) -> Result<Self, String> {
        let (rest, digest) = match text.split_once('@') {
            Some((rest, digest)) => (rest, Some(digest)),
            None => (text, None),
        };
        let (registry, path) = rest.split_once('/').ok_or("it names no registry: write `oci://REGISTRY/NAME:TAG`")?;
        let (name, tag) = match path.split_once(':') {
            Some((name, tag)) => (name, Some(tag)),
            None => (path, None),
        };
        check(registry, is_registry, "a registry")?;
        check(name, is_name, "the name of a repository, which is lower-case")?;
        tag.map_or(Ok(()), |tag| check(tag, is_tag, "a tag"))?;
        digest.map_or(Ok(()), |digest| check(digest, is_digest, "a digest: `sha256:` and 64 hexadecimal digits"))?;
        let owned = |text: &str| text.to_owned();
        Ok(Self { registry: owned(registry), name: owned(name), tag: tag.map(owned), digest: digest.map(owned) })
    }
}

fn check(text: &str, is: fn(&str) -> bool, what: &str) -> Result<(), String> {
    if is(text) { Ok(()) } else { Err(format!("`{text}` is not {what}")) }
}

fn is_registry(text: &str) -> bool {
    let (host, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, port)) if host.parse::<std::net::Ipv6Addr>().is_ok() => ("v6", port.strip_prefix(':')),
        _ => match text.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (text, None),
        },
    };
    let is_host = |c: char| c.is_ascii_alphanumeric() || "-.".contains(c);
    let is_port = |port: &str| port.parse::<u16>().is_ok() && port.bytes().all(|b| b.is_ascii_digit());
    !host.is_empty() && host.len() < 256 && host.chars().all(is_host) && port.is_none_or(is_port)
}

fn is_name(text: &str) -> bool {
    let is_part = |part: &str| {
        let edge = |c: Option<char>| c.is_some_and(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
        let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "._-".contains(c);
        edge(part.chars().next()) && edge(part.chars().last()) && part.chars().all(inner)
    };
    text.len() < 256 && text.split('/').all(is_part)
}

fn is_tag(text: &str) -> bool {
    let inner = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    (1..=128).contains(&text.len()) && text.chars().all(inner) && !text.starts_with(['.', '-'])
}

/// Returns `true` for `sha256:` and 64 lower-case hexadecimal digits.
pub(super) fn is_digest(text: &str) -> bool {
    let is_hex = |b: u8| matches!(b, b'0'..=b'9' | b'a'..=b'f');
    text.strip_prefix("sha256:").is_some_and(|hex| hex.len() == 64 && hex.bytes().all(is_hex))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_printed_as_they_are_read() {
        let digest = format!("sha256:{}", "0f".repeat(32));
        for text in [
            "r.io/a",
            "localhost:5000/a/b-c:v1.2_3",
            "[::1]:5000/a:x",
            &format!("r/a@{digest}"),
            &format!("r/a:t@{digest}"),
        ] {
            let reference: Reference = text.parse().expect(text);
            assert_eq!(reference.to_string(), text);
        }
        let reference: Reference = format!("r/a:t@{digest}").parse().expect("a reference");
        assert_eq!((reference.tag(), reference.digest(), reference.version()), (Some("t"), Some(&*digest), &*digest));
        assert_eq!("r/a".parse::<Reference>().expect("a reference").version(), "latest");
    }

    #[test]
    fn bad_references_are_refused() {
        let long = format!("r/{}", "a".repeat(1 << 16));
        for text in [
            "",
            "/",
            "a",
            "r/",
            "/a",
            "r/A",
            "r/a:",
            "r/a:-x",
            "r/a:b:c",
            "r/a@",
            "r/a@sha256:0f",
            "r/../a",
            "r/a//b",
            "u@r/a",
            "r:x/a",
            "r:99999/a",
            "r:/a",
            "[::1/a",
            "r/a?x",
            "r/a b",
            &long,
        ] {
            assert!(text.parse::<Reference>().is_err(), "{text}");
        }
    }

    #[test]
    fn loopback_registries() {
        for (registry, is) in [
            ("localhost", true),
            ("localhost:5000", true),
            ("127.0.0.1:5000", true),
            ("127.8.9.1", true),
            ("[::1]:5000", true),
            ("localhost.example.com", false),
            ("127.0.0.1.example.com", false),
            ("10.0.0.1", false),
            ("ghcr.io", false),
        ] {
            assert_eq!(format!("{registry}/a").parse::<Reference>().expect(registry).is_loopback(), is, "{registry}");
        }
    }
}
