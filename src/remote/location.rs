//! URLs of objects, prefixes and artifacts, and references to artifacts: `registry/name:tag` and
//! `registry/name@sha256:…`.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_base::stdlib::strings::is_hex;

/// Maximum length of a URL in bytes. Keys of S3 have at most 1,024 bytes.
const MAX_URL: usize = 2_048;

/// A place that a URL names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// A file or directory: `file:///srv/out`.
    File(PathBuf),
    /// An object or a prefix of an object store: `s3://bucket/prefix`.
    Bucket(Bucket),
    /// An artifact of a registry: `oci://registry/name:tag`.
    Registry(Reference),
}

/// A kind of object store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Amazon S3 and stores with its interface: `s3://bucket/prefix`.
    S3,
    /// Google Cloud Storage: `gs://bucket/prefix`.
    Google,
    /// Azure Blob Storage: `az://container/prefix`.
    Azure,
}

/// An object or a prefix of an object store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bucket {
    /// The kind of store.
    pub kind: Kind,
    /// The bucket, or container.
    pub name: String,
    /// The object's key or the prefix, without slashes at its ends. Empty for the whole bucket.
    pub key: String,
}

impl Kind {
    /// Returns the scheme of URLs: `s3`, `gs` or `az`.
    pub fn scheme(self) -> &'static str {
        match self {
            Kind::S3 => "s3",
            Kind::Google => "gs",
            Kind::Azure => "az",
        }
    }
}

impl fmt::Display for Bucket {
    /// Formats the URL.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let slash = if self.key.is_empty() { "" } else { "/" };
        write!(f, "{}://{}{slash}{}", self.kind.scheme(), self.name, self.key)
    }
}

impl fmt::Display for Location {
    /// Formats the URL.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Location::File(path) => write!(f, "file://{}", path.display()),
            Location::Bucket(bucket) => bucket.fmt(f),
            Location::Registry(reference) => write!(f, "oci://{reference}"),
        }
    }
}

impl Location {
    /// Returns `true` if `text` begins with a scheme of this module and `://`. Everything else is a path: `s3:/x`,
    /// `./s3://x`, `dir/s3://x`.
    ///
    /// ```
    /// use dropforge::remote::Location;
    /// assert!(Location::is_url("s3://bucket/prefix"));
    /// assert!(!Location::is_url("./s3://bucket/prefix"));
    /// assert!(!Location::is_url("templates/s3"));
    /// ```
    pub fn is_url(text: &str) -> bool {
        scheme_of(text).is_some()
    }

    /// Parses a URL. Returns `None` for a path. Keys are taken literally, without percent escapes.
    ///
    /// ```
    /// use dropforge::remote::Location;
    /// let location = Location::parse("s3://fleet/prod/").unwrap().unwrap();
    /// assert_eq!(location.to_string(), "s3://fleet/prod");
    /// assert!(Location::parse("prod/values.yaml").unwrap().is_none());
    /// ```
    ///
    /// # Errors
    /// `store.bad_url`.
    pub fn parse(text: &str) -> Result<Option<Self>> {
        let Some((scheme, rest)) = scheme_of(text) else { return Ok(None) };
        if text.len() > MAX_URL {
            return Err(bad(text, "it has more than 2,048 bytes"));
        }
        if text.chars().any(char::is_control) {
            return Err(bad(text, "it has a control character"));
        }
        Ok(Some(match scheme.as_str() {
            "file" => Location::File(file(text, rest)?),
            "oci" => Location::Registry(rest.parse::<Reference>().map_err(|why| bad(text, &why))?),
            "s3" => Location::Bucket(bucket(text, Kind::S3, rest)?),
            "gs" => Location::Bucket(bucket(text, Kind::Google, rest)?),
            _ => Location::Bucket(bucket(text, Kind::Azure, rest)?),
        }))
    }
}

/// The schemes of URLs.
const SCHEMES: [&str; 5] = ["file", "oci", "s3", "gs", "az"];

/// Splits a URL into its scheme, in lower case, and the rest. Returns `None` for a path.
fn scheme_of(text: &str) -> Option<(String, &str)> {
    let (scheme, rest) = text.split_once("://")?;
    let scheme = scheme.to_ascii_lowercase();
    SCHEMES.contains(&scheme.as_str()).then_some((scheme, rest))
}

fn file(text: &str, rest: &str) -> Result<PathBuf> {
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    match path.starts_with('/') {
        true => Ok(PathBuf::from(path)),
        false => Err(bad(text, "the path is not absolute").with_help("write `file:///DIR`, or the path alone")),
    }
}

fn bucket(text: &str, kind: Kind, rest: &str) -> Result<Bucket> {
    let (name, key) = rest.split_once('/').unwrap_or((rest, ""));
    let is_name = |c: char| c.is_ascii_alphanumeric() || "-_.$".contains(c);
    if name.is_empty() {
        return Err(bad(text, "it names no bucket").with_help(format!("write `{}://BUCKET/PREFIX`", kind.scheme())));
    }
    if !name.chars().all(is_name) || name.starts_with('.') {
        return Err(bad(text, &format!("`{name}` is not the name of a bucket")));
    }
    let key = key.trim_matches('/');
    if let Some(part) = key.split('/').find(|part| matches!(*part, "." | "..")) {
        return Err(bad(text, &format!("a key has no `{part}`")));
    }
    if !key.is_empty() && key.split('/').any(str::is_empty) {
        return Err(bad(text, "a key has no empty part between slashes"));
    }
    Ok(Bucket { kind, name: name.to_owned(), key: key.to_owned() })
}

fn bad(text: &str, why: &str) -> Box<Diagnostic> {
    Diagnostic::new(Code::BadUrl, format!("cannot read the URL `{text}`: {why}"))
}

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
    pub(crate) fn version(&self) -> &str {
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

    /// Parses the part of a URL after `oci://`. The error is a reason.
    fn from_str(text: &str) -> std::result::Result<Self, String> {
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

fn check(text: &str, is: fn(&str) -> bool, what: &str) -> std::result::Result<(), String> {
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
pub(crate) fn is_digest(text: &str) -> bool {
    text.strip_prefix("sha256:").is_some_and(|hex| hex.len() == 64 && is_hex(hex))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> String {
        match Location::parse(text) {
            Ok(Some(location)) => format!("{location}"),
            Ok(None) => "path".to_owned(),
            Err(error) => error.message,
        }
    }

    #[test]
    fn paths_are_not_urls() {
        for path in
            ["a", "./s3://b", "d/s3://b", "s3:/b", "s3", "-", "http://x", "C:\\x", "ss3://b", "", "://", "s3 ://b"]
        {
            assert_eq!(parsed(path), "path", "{path}");
        }
    }

    #[test]
    fn buckets_and_keys() {
        assert_eq!(parsed("s3://b"), "s3://b");
        assert_eq!(parsed("S3://b/"), "s3://b");
        assert_eq!(parsed("gs://b/a b/c%20d/"), "gs://b/a b/c%20d");
        assert_eq!(parsed("az://c/p"), "az://c/p");
        let Ok(Some(Location::Bucket(bucket))) = Location::parse("s3://b/x/y") else { panic!("a bucket") };
        assert_eq!(bucket, Bucket { kind: Kind::S3, name: "b".into(), key: "x/y".into() });
    }

    #[test]
    fn bad_urls_are_refused_with_the_reason() {
        for (url, why) in [
            ("s3://", "no bucket"),
            ("s3:///a", "no bucket"),
            ("s3://user@b/a", "`user@b` is not the name"),
            ("s3://b?x=1", "not the name"),
            ("s3://../a", "not the name"),
            ("s3://b/a/../c", "no `..`"),
            ("s3://b/./c", "no `.`"),
            ("s3://b/a//c", "no empty part"),
            ("s3://b/a\nc", "control character"),
            ("file://host/x", "not absolute"),
            ("file://x", "not absolute"),
        ] {
            assert!(parsed(url).contains(why), "{url}: {}", parsed(url));
        }
        assert!(parsed(&format!("s3://b/{}", "x".repeat(1 << 20))).contains("2,048 bytes"));
    }

    #[test]
    fn files() {
        assert_eq!(parsed("file:///srv/out"), "file:///srv/out");
        assert_eq!(parsed("file://localhost/srv"), "file:///srv");
    }

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
