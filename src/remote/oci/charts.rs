//! Charts of Helm in registries.

use http::StatusCode;
use serde::Deserialize;

use super::login::{Config, find_credentials};
use super::registry::{Call, Registry};
use super::{MANIFEST_TYPE, MAX_MANIFEST, Manifest, call, check_digest, digest, expect};
use crate::http::StoreOptions;
use crate::location::{Reference, is_digest};
use dropforge_base::diagnostics::{Code, Diagnostic, Result, thousands};

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
    let pulled = pull(&mut registry, reference, max);
    pulled.map_err(|error| registry.without_credentials(error))
}

fn pull(registry: &mut Registry<'_>, reference: &Reference, max: u64) -> Result<PulledChart> {
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
