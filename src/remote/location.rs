//! URLs of objects, prefixes and artifacts.

use std::fmt;
use std::path::PathBuf;

use super::oci::Reference;
use dropforge_base::diagnostics::{Code, Diagnostic, Result};

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
        let location = match scheme {
            Scheme::File => Location::File(file(text, rest)?),
            Scheme::Registry => Location::Registry(rest.parse::<Reference>().map_err(|why| bad(text, &why))?),
            Scheme::Bucket(kind) => Location::Bucket(bucket(text, kind, rest)?),
        };
        Ok(Some(location))
    }
}

enum Scheme {
    File,
    Registry,
    Bucket(Kind),
}

/// Splits a URL into its scheme and the rest. Returns `None` for a path.
fn scheme_of(text: &str) -> Option<(Scheme, &str)> {
    let (scheme, rest) = text.split_once("://")?;
    let scheme = match scheme.to_ascii_lowercase().as_str() {
        "file" => Scheme::File,
        "oci" => Scheme::Registry,
        "s3" => Scheme::Bucket(Kind::S3),
        "gs" => Scheme::Bucket(Kind::Google),
        "az" => Scheme::Bucket(Kind::Azure),
        _ => return None,
    };
    Some((scheme, rest))
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
}
