//! Artifacts and charts of Helm in OCI registries.
//!
//! An artifact is a manifest with one layer, the bytes of the `.mpk` file. Other tools, such as `oras`, can copy it.
//! Requests are few, so they are made here with the HTTP client of the stores.

mod login;
mod registry;

use std::collections::BTreeMap;
use std::fmt::Write;

use bytes::Bytes;
use http::{Method, StatusCode};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use self::registry::{Call, Registry, Reply};
use super::http::StoreOptions;
use crate::location::is_digest;
use dropforge_base::diagnostics::{Code, Diagnostic, Result, thousands};
use login::{Config, find_credentials};

pub use crate::location::Reference;
pub(crate) use login::basic;

/// The type of artifacts.
pub const ARTIFACT_TYPE: &str = "application/vnd.dropforge.artifact.v1";
/// The type of the layer: the bytes of a `.mpk` file.
pub const LAYER_TYPE: &str = "application/vnd.dropforge.artifact.layer.v1.mpk";
/// The annotation with the digests of the templates, as JSON: `{"svc.yaml.tera":"1f…"}`.
pub const TEMPLATES: &str = "io.dropforge.templates";
/// The annotation with the digest that the artifact has in `dropforge inspect`.
pub const DIGEST: &str = "io.dropforge.digest";

const MANIFEST_TYPE: &str = "application/vnd.oci.image.manifest.v1+json";
const EMPTY_TYPE: &str = "application/vnd.oci.empty.v1+json";
const EMPTY: &[u8] = b"{}";
const BYTES_TYPE: &str = "application/octet-stream";
/// Maximum number of uploads of one blob.
const UPLOADS: u32 = 5;
/// Maximum length of a manifest. Registries take at most 4 MiB.
const MAX_MANIFEST: u64 = 4 << 20;

/// An artifact that was pulled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pulled {
    /// The bytes of the artifact.
    pub bytes: Vec<u8>,
    /// The digest of its manifest: `sha256:…`.
    pub digest: String,
    /// The annotations of the manifest.
    pub annotations: BTreeMap<String, String>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Manifest {
    schema_version: u32,
    #[serde(default)]
    media_type: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    artifact_type: Option<String>,
    config: Descriptor,
    layers: Vec<Descriptor>,
    #[serde(default)]
    annotations: BTreeMap<String, String>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Descriptor {
    media_type: String,
    digest: String,
    size: u64,
}

impl Descriptor {
    fn new(media_type: &str, bytes: &[u8]) -> Self {
        Self { media_type: media_type.to_owned(), digest: digest(bytes), size: bytes.len() as u64 }
    }
}

/// Returns the digest of `bytes`: `sha256:` and hexadecimal digits.
///
/// ```
/// use dropforge::remote::oci::digest;
/// assert!(digest(b"{}").starts_with("sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"));
/// ```
pub fn digest(bytes: &[u8]) -> String {
    let mut text = "sha256:".to_owned();
    for byte in Sha256::digest(bytes) {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Pushes an artifact under the tag of `reference`, or `latest`. Returns the digest of its manifest. The same bytes and
/// annotations have the same digest.
///
/// # Errors
/// `store.bad_url` for a reference with a digest; `store.denied`, `store.unreachable`, `store.failed`.
pub fn push(reference: &Reference, bytes: Bytes, annotations: BTreeMap<String, String>) -> Result<String> {
    push_with(reference, bytes, annotations, &StoreOptions::default())
}

/// Works like [`push`], with other attempts and another timeout.
///
/// # Errors
/// Same as [`push`].
pub fn push_with(
    reference: &Reference,
    bytes: Bytes,
    annotations: BTreeMap<String, String>,
    options: &StoreOptions,
) -> Result<String> {
    if reference.digest().is_some() {
        let message = format!("cannot push to `oci://{reference}`: the digest follows from the content");
        return Err(Diagnostic::new(Code::BadUrl, message).with_help("push to a tag"));
    }
    let manifest = Manifest {
        schema_version: 2,
        media_type: MANIFEST_TYPE.to_owned(),
        artifact_type: Some(ARTIFACT_TYPE.to_owned()),
        config: Descriptor::new(EMPTY_TYPE, EMPTY),
        layers: vec![Descriptor::new(LAYER_TYPE, &bytes)],
        annotations,
    };
    let json = serde_json::to_vec(&manifest).unwrap_or_default();
    if json.len() as u64 > MAX_MANIFEST {
        let message = format!("cannot push `oci://{reference}`: the annotations have {} bytes", thousands(json.len()));
        return Err(Diagnostic::new(Code::StoreFailed, message).with_help("push fewer templates in one artifact"));
    }
    let mut registry = Registry::new(reference, options)?;
    let pushed = push_all(&mut registry, reference, bytes, json);
    pushed.map_err(|error| registry.without_credentials(error))
}

/// Pushes an artifact and its manifest.
fn push_all(registry: &mut Registry<'_>, reference: &Reference, bytes: Bytes, json: Vec<u8>) -> Result<String> {
    push_blob(registry, reference, Bytes::from_static(EMPTY))?;
    push_blob(registry, reference, bytes)?;
    let target = format!("/v2/{}/manifests/{}", reference.name(), reference.version());
    let digest = digest(&json);
    let call = Call { content_type: MANIFEST_TYPE, body: json.into(), ..call(Method::PUT, &target) };
    let reply = registry.call("push", &call)?;
    expect(&reply, StatusCode::CREATED, "push", reference)?;
    Ok(digest)
}

fn push_blob(registry: &mut Registry<'_>, reference: &Reference, bytes: Bytes) -> Result<()> {
    let (name, digest) = (reference.name(), digest(&bytes));
    for attempt in 1.. {
        let there = registry.call("push", &call(Method::HEAD, &format!("/v2/{name}/blobs/{digest}")))?;
        if there.status == StatusCode::OK {
            return Ok(());
        }
        let reply = registry.call("push", &call(Method::POST, &format!("/v2/{name}/blobs/uploads/")))?;
        expect(&reply, StatusCode::ACCEPTED, "push", reference)?;
        let location = reply.location.unwrap_or_default();
        let separator = if location.contains('?') { '&' } else { '?' };
        let target = format!("{location}{separator}digest={digest}");
        let call = Call { content_type: BYTES_TYPE, body: bytes.clone(), ..call(Method::PUT, &target) };
        let reply = registry.call("push", &call)?;
        // If the response to an upload is lost, there is no such upload any more. The content may be there.
        if reply.status != StatusCode::NOT_FOUND || attempt == UPLOADS {
            return expect(&reply, StatusCode::CREATED, "push", reference);
        }
    }
    Ok(())
}

/// Pulls an artifact of at most `max` bytes. If the reference has a digest, the manifest must have it. The artifact must
/// have the digest in the manifest.
///
/// # Errors
/// `store.missing`; `store.wrong_digest`; `artifact.not_one` for content of another type; `limit.source_bytes`;
/// `store.denied`, `store.unreachable`, `store.failed`.
pub fn pull(reference: &Reference, max: u64) -> Result<Pulled> {
    pull_with(reference, max, &StoreOptions::default())
}

/// Works like [`pull`], with other attempts and another timeout.
///
/// # Errors
/// Same as [`pull`].
pub fn pull_with(reference: &Reference, max: u64, options: &StoreOptions) -> Result<Pulled> {
    let mut registry = Registry::new(reference, options)?;
    let pulled = pull_all(&mut registry, reference, max);
    pulled.map_err(|error| registry.without_credentials(error))
}

/// Pulls a manifest and its artifact.
fn pull_all(registry: &mut Registry<'_>, reference: &Reference, max: u64) -> Result<Pulled> {
    let target = format!("/v2/{}/manifests/{}", reference.name(), reference.version());
    let call_manifest = Call { accept: MANIFEST_TYPE, max: MAX_MANIFEST, ..call(Method::GET, &target) };
    let reply = registry.call("pull", &call_manifest)?;
    expect(&reply, StatusCode::OK, "pull", reference)?;
    let found = digest(&reply.body);
    check_digest(reference, "the manifest", reference.digest().unwrap_or(&found), &found)?;
    let manifest: Option<Manifest> = serde_json::from_slice(&reply.body).ok();
    let manifest = manifest.ok_or_else(|| no_artifact(reference))?;
    let [layer] = manifest.layers.as_slice() else { return Err(no_artifact(reference)) };
    if layer.media_type != LAYER_TYPE || !is_digest(&layer.digest) {
        return Err(no_artifact(reference));
    }
    if layer.size > max {
        let number = |bytes| thousands(usize::try_from(bytes).unwrap_or(usize::MAX));
        let (size, max) = (number(layer.size), number(max));
        let message = format!("`oci://{reference}` is too long: it has {size} bytes, the limit is {max}");
        return Err(Diagnostic::new(Code::LimitSourceBytes, message));
    }
    let target = format!("/v2/{}/blobs/{}", reference.name(), layer.digest);
    let reply = registry.call("pull", &Call { max: layer.size, ..call(Method::GET, &target) })?;
    expect(&reply, StatusCode::OK, "pull", reference)?;
    check_digest(reference, "the artifact", &layer.digest, &digest(&reply.body))?;
    Ok(Pulled { bytes: reply.body, digest: found, annotations: manifest.annotations })
}

fn call(method: Method, target: &str) -> Call<'_> {
    Call { method, target, accept: "", content_type: "", body: Bytes::new(), max: 1 << 20 }
}

fn expect(reply: &Reply, status: StatusCode, what: &str, reference: &Reference) -> Result<()> {
    if reply.status == status {
        return Ok(());
    }
    if reply.status == StatusCode::NOT_FOUND {
        let message = format!("cannot {what} `oci://{reference}`: it does not exist");
        return Err(Diagnostic::new(Code::StoreMissing, message).with_help("check the name and the tag"));
    }
    // The text of the response says why, in JSON or not.
    let text = String::from_utf8_lossy(reply.body.get(..500).unwrap_or(&reply.body));
    let text: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let message = format!("cannot {what} `oci://{reference}`: the registry answers {}: {text}", reply.status);
    Err(Diagnostic::new(Code::StoreFailed, message).with_help("check the reference, and that the host is a registry"))
}

fn check_digest(reference: &Reference, what: &str, expected: &str, found: &str) -> Result<()> {
    if expected == found {
        return Ok(());
    }
    let message = format!("{what} of `oci://{reference}` has the digest `{found}` instead of `{expected}`");
    let help = "the registry or the connection is not to be trusted: do not use this artifact";
    Err(Diagnostic::new(Code::WrongDigest, message).with_help(help))
}

fn no_artifact(reference: &Reference) -> Box<Diagnostic> {
    let message = format!("`oci://{reference}` is not an artifact of dropforge");
    Diagnostic::new(Code::NotAnArtifact, message).with_help("push one with `dropforge push`")
}

/// The types of the layer with the packed chart. The second one is of old versions of Helm.
const CHART_TYPES: [&str; 2] = ["application/vnd.cncf.helm.chart.content.v1.tar+gzip", "application/tar+gzip"];
/// Maximum length of a page of tags.
const MAX_TAGS: u64 = 8 << 20;
/// Maximum number of tags.
const MOST_TAGS: usize = 200_000;

/// A chart that was pulled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PulledChart {
    /// The bytes of the packed chart.
    pub bytes: Vec<u8>,
    /// The digest of its manifest: `sha256:…`.
    pub digest: String,
}

#[derive(Deserialize)]
struct Tags {
    tags: Option<Vec<String>>,
}

/// Returns the registry of a chart, with credentials of Helm's or else Docker's configuration.
fn registry<'r>(reference: &'r Reference, options: &StoreOptions) -> Result<Registry<'r>> {
    Registry::with(reference, options, find_credentials(reference.registry(), &[Config::Helm, Config::Docker]))
}

/// Returns the tags of a repository.
///
/// # Errors
/// `store.missing`, `store.denied`, `store.unreachable`, `store.failed`.
pub fn tags(reference: &Reference, options: &StoreOptions) -> Result<Vec<String>> {
    let mut registry = registry(reference, options)?;
    let found = all_tags(&mut registry, reference);
    found.map_err(|error| registry.without_credentials(error))
}

fn all_tags(registry: &mut Registry<'_>, reference: &Reference) -> Result<Vec<String>> {
    let (mut found, mut next) = (Vec::new(), Some(format!("/v2/{}/tags/list", reference.name())));
    while let Some(target) = next.take() {
        let reply = registry.call("list the tags of", &Call { max: MAX_TAGS, ..call(http::Method::GET, &target) })?;
        expect(&reply, StatusCode::OK, "list the tags of", reference)?;
        let page: Tags = serde_json::from_slice(&reply.body).map_err(|error| no_list(reference, &error.to_string()))?;
        let page = page.tags.unwrap_or_default();
        let is_last = page.is_empty();
        found.extend(page);
        if found.len() > MOST_TAGS {
            return Err(no_list(reference, &format!("it has more than {} tags", thousands(MOST_TAGS))));
        }
        next = reply.next.filter(|_| !is_last);
    }
    Ok(found)
}

fn no_list(reference: &Reference, why: &str) -> Box<Diagnostic> {
    Diagnostic::new(Code::StoreFailed, format!("cannot list the tags of `oci://{reference}`: {why}"))
        .with_help("check the reference, and that the host is a registry")
}

/// Pulls a packed chart of at most `max` bytes. It must have the digest in its manifest, and the manifest that in the
/// reference, if it has one.
///
/// # Errors
/// `store.missing`; `store.wrong_digest`; `store.failed` for an artifact that is no chart; `limit.source_bytes`;
/// `store.denied`, `store.unreachable`.
pub fn pull_chart(reference: &Reference, max: u64, options: &StoreOptions) -> Result<PulledChart> {
    let mut registry = registry(reference, options)?;
    let pulled = pull_layer(&mut registry, reference, max);
    pulled.map_err(|error| registry.without_credentials(error))
}

fn pull_layer(registry: &mut Registry<'_>, reference: &Reference, max: u64) -> Result<PulledChart> {
    let target = format!("/v2/{}/manifests/{}", reference.name(), reference.version());
    let manifest = Call { accept: MANIFEST_TYPE, max: MAX_MANIFEST, ..call(http::Method::GET, &target) };
    let reply = registry.call("pull", &manifest)?;
    expect(&reply, StatusCode::OK, "pull", reference)?;
    let found = digest(&reply.body);
    check_digest(reference, "the manifest", reference.digest().unwrap_or(&found), &found)?;
    let manifest: Option<Manifest> = serde_json::from_slice(&reply.body).ok();
    let layers = manifest.map(|manifest| manifest.layers).unwrap_or_default();
    let is_chart = |media_type: &str| CHART_TYPES.contains(&media_type);
    let Some(layer) = layers.iter().find(|one| is_chart(&one.media_type) && is_digest(&one.digest)) else {
        let message = format!("`oci://{reference}` is not a chart of Helm");
        return Err(Diagnostic::new(Code::StoreFailed, message).with_help("push one with `helm push`"));
    };
    if layer.size > max {
        let number = |bytes| thousands(usize::try_from(bytes).unwrap_or(usize::MAX));
        let message = format!("`oci://{reference}` is too long: {} bytes of {}", number(layer.size), number(max));
        return Err(Diagnostic::new(Code::LimitSourceBytes, message));
    }
    let target = format!("/v2/{}/blobs/{}", reference.name(), layer.digest);
    let reply = registry.call("pull", &Call { max: layer.size, ..call(http::Method::GET, &target) })?;
    expect(&reply, StatusCode::OK, "pull", reference)?;
    check_digest(reference, "the chart", &layer.digest, &digest(&reply.body))?;
    Ok(PulledChart { bytes: reply.body, digest: found })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_in_references_are_for_pulling() {
        let reference: Reference = format!("localhost:1/a@sha256:{}", "0".repeat(64)).parse().expect("a reference");
        let error = push(&reference, Bytes::new(), BTreeMap::new()).expect_err("refused");
        assert_eq!(error.code, Code::BadUrl);
    }

    #[test]
    fn manifests_are_the_same_each_time() {
        let annotations = || BTreeMap::from([("b".to_owned(), "2".to_owned()), ("a".to_owned(), "1".to_owned())]);
        let json = |annotations| {
            let layers = vec![Descriptor::new(LAYER_TYPE, b"x")];
            let config = Descriptor::new(EMPTY_TYPE, EMPTY);
            let (media_type, artifact_type) = (MANIFEST_TYPE.to_owned(), None);
            let manifest = Manifest { schema_version: 2, media_type, artifact_type, config, layers, annotations };
            serde_json::to_string(&manifest).expect("JSON")
        };
        assert_eq!(json(annotations()), json(annotations()));
        assert!(json(annotations()).ends_with("\"annotations\":{\"a\":\"1\",\"b\":\"2\"}}"));
    }
}
