//! Files of schemas: OpenAPI documents, CustomResourceDefinitions, and JSON Schemas that are named after a kind.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Kind;
use super::adapt::{of_custom_resource, of_definition};
use crate::input::{self, Format};
use crate::shards::PlanDigest;
use dropforge_base::diagnostics::{Code, Diagnostic, Result, thousands};
use dropforge_base::text::Source;
use dropforge_value::{Data, DataMap};

/// Maximum size of a file in bytes.
const FILE: u64 = 64 << 20;

/// All schemas, as far as they are known without reading files that are named after a kind.
#[derive(Debug, Default)]
pub(super) struct Sources {
    /// The definitions of each OpenAPI document.
    documents: Vec<DataMap>,
    kinds: HashMap<Kind, Place>,
    /// JSON Schemas, by their names in small letters: `deployment-apps-v1`, `cert-manager.io/certificate_v1`.
    files: BTreeMap<String, PathBuf>,
    /// Hashes of the other files.
    hashes: Vec<blake3::Hash>,
}

#[derive(Debug)]
enum Place {
    /// A definition of an OpenAPI document.
    Definition(usize, String),
    /// A converted schema of a custom resource.
    Converted(Data),
}

/// A schema and its file.
pub(super) struct Found {
    pub data: Data,
    pub file: Option<PathBuf>,
}

impl Sources {
    /// Adds a file. JSON Schemas that are named after a kind are read when they are needed.
    pub(super) fn add(&mut self, path: &Path) -> Result<()> {
        if let Some(name) = name_of_kind(path) {
            self.files.entry(name).or_insert_with(|| path.to_owned());
            return Ok(());
        }
        let source = read(path)?;
        for document in documents(&source)? {
            self.document(document);
        }
        self.hashes.push(blake3::hash(source.text().as_bytes()));
        Ok(())
    }

    /// Adds the contents of all files to the digest of a plan.
    pub(super) fn add_to_digest(&self, digest: &mut PlanDigest) -> Result<()> {
        self.hashes.iter().for_each(|hash| digest.bytes(hash.as_bytes()));
        for (name, path) in &self.files {
            digest.text(name);
            digest.text(read(path)?.text());
        }
        Ok(())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.kinds.is_empty() && self.files.is_empty()
    }

    fn document(&mut self, mut document: Data) {
        if let Some(Data::List(items)) = document.get("items") {
            items.iter().for_each(|item| self.custom_resources(item));
        }
        self.custom_resources(&document);
        let definitions = take(&mut document, "definitions")
            .or_else(|| take(&mut document, "components").and_then(|mut components| take(&mut components, "schemas")));
        let Some(definitions) = definitions.and_then(Data::into_map) else { return };
        let at = self.documents.len();
        for (name, definition) in &definitions {
            let kinds = definition.get("x-kubernetes-group-version-kind");
            let Some(Data::List(kinds)) = kinds else { continue };
            for kind in kinds.iter().filter_map(Kind::of_mark) {
                self.kinds.entry(kind).or_insert_with(|| Place::Definition(at, name.clone()));
            }
        }
        self.documents.push(definitions);
    }

    /// Adds the versions of a CustomResourceDefinition.
    fn custom_resources(&mut self, definition: &Data) {
        let text = |data: &Data, path: &str| data.at_path(path).and_then(Data::as_str).map(str::to_owned);
        if text(definition, "kind").as_deref() != Some("CustomResourceDefinition") {
            return;
        }
        let (Some(group), Some(kind)) = (text(definition, "spec.group"), text(definition, "spec.names.kind")) else {
            return;
        };
        let Some(Data::List(versions)) = definition.at_path("spec.versions") else { return };
        for version in versions {
            let schema = version.at_path("schema.openAPIV3Schema");
            if let (Some(version), Some(schema)) = (text(version, "name"), schema) {
                let kind = Kind { group: group.clone(), version, kind: kind.clone() };
                self.kinds.entry(kind).or_insert_with(|| Place::Converted(of_custom_resource(schema)));
            }
        }
    }

    /// Returns the schema of `kind`.
    pub(super) fn find(&self, kind: &Kind) -> Result<Option<Found>> {
        match self.kinds.get(kind) {
            Some(Place::Converted(data)) => return Ok(Some(Found { data: data.clone(), file: None })),
            Some(Place::Definition(at, name)) => {
                let definitions = self.documents.get(*at);
                let data = definitions.map(|definitions| of_definition(name, definitions));
                return Ok(data.map(|data| Found { data, file: None }));
            }
            None => {}
        }
        let Some(path) = kind.file_names().iter().find_map(|name| self.files.get(name)) else { return Ok(None) };
        let data = documents(&read(path)?)?.into_iter().next().unwrap_or_default();
        Ok(Some(Found { data, file: Some(path.clone()) }))
    }
}

fn take(data: &mut Data, key: &str) -> Option<Data> {
    match data {
        Data::Map(map) => map.get_mut(key).map(std::mem::take),
        _ => None,
    }
}

/// Returns the name of a JSON Schema that is named after a kind: `deployment-apps-v1.json`, or
/// `cert-manager.io/certificate_v1.json`.
fn name_of_kind(path: &Path) -> Option<String> {
    let stem = path.file_stem()?.to_str()?.to_lowercase();
    let version = stem.rsplit(['-', '_']).next().filter(|version| version.len() < stem.len())?;
    let digits = version.strip_prefix('v')?.trim_start_matches(|c: char| c.is_ascii_digit());
    let release = digits.trim_start_matches("alpha").trim_start_matches("beta");
    let is_version =
        version.as_bytes().get(1).is_some_and(u8::is_ascii_digit) && release.bytes().all(|byte| byte.is_ascii_digit());
    if !is_version || path.extension()? != "json" {
        return None;
    }
    if stem.contains('-') && !stem.contains('_') {
        return Some(stem);
    }
    let group = path.parent()?.file_name()?.to_str()?.to_lowercase();
    Some(format!("{group}/{stem}"))
}

/// Reads the documents of a JSON or YAML file.
fn documents(source: &Arc<Source>) -> Result<Vec<Data>> {
    input::documents(source, Format::of_name(source.name()).unwrap_or(Format::Yaml))
}

/// Reads a file, which may be a pipe.
fn read(path: &Path) -> Result<Arc<Source>> {
    let name = path.display().to_string();
    let unreadable = |error: std::io::Error| {
        Diagnostic::new(Code::ReadFailed, format!("cannot read `{name}`: {error}")).caused_by(error)
    };
    let mut text = String::new();
    let file = File::open(path).map_err(unreadable)?;
    file.take(FILE + 1).read_to_string(&mut text).map_err(unreadable)?;
    if text.len() as u64 > FILE {
        let limit = thousands(usize::try_from(FILE).unwrap_or(usize::MAX));
        let message = format!("`{name}` is too long: the limit is {limit} bytes");
        return Err(Diagnostic::new(Code::LimitSourceBytes, message));
    }
    Ok(Source::new(name.as_str(), text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemas_are_found_by_their_names() {
        let name = |path: &str| name_of_kind(Path::new(path));
        assert_eq!(name("a/deployment-apps-v1.json").as_deref(), Some("deployment-apps-v1"));
        assert_eq!(name("a/Service-v1.json").as_deref(), Some("service-v1"));
        assert_eq!(
            name("crds/cert-manager.io/certificate_v1beta1.json").as_deref(),
            Some("cert-manager.io/certificate_v1beta1")
        );
        for other in ["swagger.json", "api__v1_openapi.json", "crd-v1.yaml", "v1.json", "a-version.json", "a-v.json"] {
            assert_eq!(name(other), None, "{other}");
        }
    }
}
