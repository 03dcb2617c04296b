//! Files of schemas: OpenAPI documents, CustomResourceDefinitions, and JSON Schemas that are named after a kind.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::input;
use crate::input::Format;
use crate::plan_digest::PlanDigest;
use dropforge_base::diagnostics::{Code, Diagnostic, Result, thousands};
use dropforge_base::files;
use dropforge_base::stdlib::paths;
use dropforge_base::text::Source;
use dropforge_value::yaml::Node;
use dropforge_value::{Data, DataMap};

/// Maximum size of a file in bytes.
const FILE: u64 = 64 << 20;

/// A kind of resources, such as `apps/v1` `Deployment`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Kind {
    group: String,
    version: String,
    pub(super) kind: String,
}

impl Kind {
    /// Returns the kind of a resource.
    pub(super) fn of(resource: &Node) -> Option<Self> {
        let text = |name| resource.get(name).and_then(Node::as_str).filter(|text| !text.is_empty());
        let (api, kind) = (text("apiVersion")?, text("kind")?);
        let (group, version) = api.split_once('/').unwrap_or(("", api));
        Some(Self { group: group.to_owned(), version: version.to_owned(), kind: kind.to_owned() })
    }

    /// Reads an item of `x-kubernetes-group-version-kind`.
    fn of_mark(mark: &Data) -> Option<Self> {
        let text = |name| mark.get(name).and_then(Data::as_str).map(str::to_owned);
        Some(Self { group: text("group")?, version: text("version")?, kind: text("kind")? })
    }

    /// Returns the names that a JSON Schema of this kind may have.
    fn file_names(&self) -> Vec<String> {
        let Self { group, version, kind } = self;
        let short = group.split('.').next().unwrap_or(group);
        let names = match group.is_empty() {
            true => vec![format!("{kind}-{version}")],
            false => vec![
                format!("{kind}-{short}-{version}"),
                format!("{kind}-{group}-{version}"),
                format!("{group}/{kind}_{version}"),
            ],
        };
        names.into_iter().map(|name| name.to_lowercase()).collect()
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let slash = if self.group.is_empty() { "" } else { "/" };
        write!(f, "`{}{slash}{}` `{}`", self.group, self.version, self.kind)
    }
}

/// All schemas, as far as they are known without reading files that are named after a kind.
#[derive(Debug, Default)]
pub(super) struct Sources {
    /// The definitions of each OpenAPI document.
    documents: Vec<DataMap>,
    kinds: HashMap<Kind, KindSchema>,
    /// JSON Schemas, by their names in small letters: `deployment-apps-v1`, `cert-manager.io/certificate_v1`.
    files: BTreeMap<String, PathBuf>,
    /// Hashes of the other files.
    hashes: Vec<blake3::Hash>,
}

#[derive(Debug)]
enum KindSchema {
    /// A definition of an OpenAPI document.
    Definition(usize, String),
    /// A converted schema of a custom resource.
    Converted(Data),
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
                self.kinds.entry(kind).or_insert_with(|| KindSchema::Definition(at, name.clone()));
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
                self.kinds.entry(kind).or_insert_with(|| KindSchema::Converted(of_custom_resource(schema)));
            }
        }
    }

    /// Returns the schema of `kind`.
    pub(super) fn find(&self, kind: &Kind) -> Result<Option<(Data, Option<PathBuf>)>> {
        match self.kinds.get(kind) {
            Some(KindSchema::Converted(data)) => return Ok(Some((data.clone(), None))),
            Some(KindSchema::Definition(at, name)) => {
                let definitions = self.documents.get(*at);
                let data = definitions.map(|definitions| of_definition(name, definitions));
                return Ok(data.map(|data| (data, None)));
            }
            None => {}
        }
        let Some(path) = kind.file_names().iter().find_map(|name| self.files.get(name)) else { return Ok(None) };
        let data = documents(&read(path)?)?.into_iter().next().unwrap_or_default();
        Ok(Some((data, Some(path.clone()))))
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
    let unreadable = |error| files::unreadable(path, error);
    let mut text = String::new();
    let file = files::open_input(path).map_err(unreadable)?;
    file.take(FILE + 1).read_to_string(&mut text).map_err(unreadable)?;
    if text.len() as u64 > FILE {
        let limit = thousands(usize::try_from(FILE).unwrap_or(usize::MAX));
        let message = format!("`{name}` is too long: the limit is {limit} bytes");
        return Err(Diagnostic::new(Code::LimitSourceBytes, message));
    }
    Ok(Source::new(name.as_str(), text))
}

/// The end of the name of quantities in OpenAPI documents.
const QUANTITY: &str = ".api.resource.Quantity";

/// Returns the JSON Schema of the definition `name` among `definitions`, with all definitions that it needs.
pub(super) fn of_definition(name: &str, definitions: &DataMap) -> Data {
    let (mut needed, mut open) = (DataMap::default(), vec![name.to_owned()]);
    while let Some(name) = open.pop() {
        if needed.contains_key(&name) {
            continue;
        }
        let Some(definition) = definitions.get(&name) else { continue };
        let adapted = match name.ends_with(QUANTITY) {
            true => map([("type", strings(&["string", "number"]))]),
            false => adapted(definition, true, &mut open),
        };
        needed.insert(name, adapted);
    }
    map([("$ref", Data::Str(reference(name))), ("definitions", Data::Map(needed))])
}

/// Returns the JSON Schema of a version of a custom resource.
pub(super) fn of_custom_resource(schema: &Data) -> Data {
    let mut adapted = self::adapted(schema, true, &mut Vec::new());
    if let Data::Map(root) = &mut adapted {
        resource(root);
    }
    adapted
}

fn map<const N: usize>(pairs: [(&str, Data); N]) -> Data {
    Data::Map(pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

fn strings(texts: &[&str]) -> Data {
    Data::List(texts.iter().map(|text| Data::Str((*text).to_owned())).collect())
}

fn reference(name: &str) -> String {
    format!("#/definitions/{}", paths::escaped(name))
}

/// Declares the properties of every resource.
fn resource(schema: &mut DataMap) {
    if let Some(Data::Map(properties)) = schema.get_mut("properties") {
        for (name, kind) in [("apiVersion", "string"), ("kind", "string"), ("metadata", "object")] {
            properties.entry(name.to_owned()).or_insert_with(|| map([("type", Data::Str(kind.to_owned()))]));
        }
    }
}

/// Converts a schema, and adds the names of definitions that it refers to. A structural one declares all properties; others,
/// such as those in `anyOf`, only restrict them.
fn adapted(schema: &Data, structural: bool, references: &mut Vec<String>) -> Data {
    let Data::Map(schema) = schema else { return schema.clone() };
    let mut all = DataMap::default();
    for (keyword, value) in schema {
        if let Some(value) = adapted_keyword(keyword, value, structural, references) {
            all.insert(keyword.clone(), value);
        }
    }
    if let Some(Data::List(required)) = all.get_mut("required") {
        // A null is removed from a resource before it is validated.
        let nullable = |name: &str| schema.get("properties")?.get(name)?.get("nullable").cloned();
        required.retain(|name| name.as_str().and_then(nullable) != Some(Data::Bool(true)));
    }
    let is = |mark: &str| schema.get(mark) == Some(&Data::Bool(true));
    if is("x-kubernetes-int-or-string") || schema.get("format") == Some(&Data::Str("int-or-string".to_owned())) {
        all.insert("type".to_owned(), strings(&["integer", "string"]));
    }
    if let (true, Some(Data::Str(kind))) = (is("nullable"), all.get("type")) {
        all.insert("type".to_owned(), strings(&[kind.clone().as_str(), "null"]));
    }
    if is("x-kubernetes-embedded-resource") {
        resource(&mut all);
    }
    let is_open = is("x-kubernetes-preserve-unknown-fields") || !structural || schema.contains_key("allOf");
    if all.contains_key("properties") && !is_open {
        all.entry("additionalProperties".to_owned()).or_insert(Data::Bool(false));
    }
    Data::Map(all)
}

fn adapted_keyword(keyword: &str, value: &Data, structural: bool, references: &mut Vec<String>) -> Option<Data> {
    Some(match (keyword, value) {
        ("$ref", Data::Str(target)) => Data::Str(adapted_reference(target, references)),
        ("properties", Data::Map(properties)) => {
            let all = properties.iter().map(|(name, one)| (name.clone(), adapted(one, structural, references)));
            Data::Map(all.collect())
        }
        ("items" | "additionalProperties", _) => adapted(value, structural, references),
        ("not", _) => adapted(value, false, references),
        ("allOf" | "anyOf" | "oneOf", Data::List(schemas)) => {
            Data::List(schemas.iter().map(|one| adapted(one, false, references)).collect())
        }
        ("description" | "default" | "example" | "nullable" | "title", _) => return None,
        _ if keyword.starts_with("x-") => return None,
        _ => value.clone(),
    })
}

/// Converts a reference to a definition of the same document.
fn adapted_reference(target: &str, references: &mut Vec<String>) -> String {
    let local = ["#/definitions/", "#/components/schemas/"].into_iter().find_map(|of| target.strip_prefix(of));
    let Some(name) = local else { return target.to_owned() };
    let name = paths::unescaped(name).into_owned();
    references.push(name.clone());
    reference(&name)
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

#[cfg(test)]
mod adapt_tests {
    use super::*;

    fn adapted(schema: &str) -> String {
        let schema: Data = serde_json::from_str(schema).unwrap();
        serde_json::to_string(&of_custom_resource(&schema)).unwrap()
    }

    #[test]
    fn structural_objects_are_closed_and_restrictions_are_not() {
        let schema = r#"{"type":"object","properties":{"spec":{"type":"object","properties":{"a":{"type":"string"}},
            "anyOf":[{"properties":{"a":{"enum":["x"]}}}]},"any":{"properties":{},"x-kubernetes-preserve-unknown-fields":true}}}"#;
        let text = adapted(schema);
        assert_eq!(text.matches(r#""additionalProperties":false"#).count(), 2, "{text}");
        assert!(text.contains(r#""metadata":{"type":"object"}"#), "{text}");
    }

    #[test]
    fn only_needed_definitions_are_kept_and_cycles_end() {
        let definitions = r##"{"a":{"properties":{"b":{"$ref":"#/components/schemas/b"},"a":{"$ref":"#/definitions/a"}}},
            "b":{"type":"string","nullable":true},"c":{},"x.api.resource.Quantity":{"type":"string"}}"##;
        let definitions = serde_json::from_str::<Data>(definitions).unwrap().into_map().unwrap();
        let text = serde_json::to_string(&of_definition("a", &definitions)).unwrap();
        assert!(text.contains(r#""b":{"type":["string","null"]}"#) && !text.contains("\"c\""), "{text}");
        assert!(text.starts_with(r##"{"$ref":"#/definitions/a""##), "{text}");
        let text = serde_json::to_string(&of_definition("x.api.resource.Quantity", &definitions)).unwrap();
        assert!(text.contains(r#"["string","number"]"#), "{text}");
    }
}
