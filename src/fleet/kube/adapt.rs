//! Converts schemas of OpenAPI documents and CustomResourceDefinitions to JSON Schemas.
//!
//! Like a server with strict validation, an object has no properties but the declared ones, unless its schema says
//! otherwise. A quantity may be a number.

use dropforge_base::stdlib::paths;
use dropforge_value::{Data, DataMap};

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
            false => Adapter { references: &mut open }.schema(definition, true),
        };
        needed.insert(name, adapted);
    }
    map([("$ref", Data::Str(reference(name))), ("definitions", Data::Map(needed))])
}

/// Returns the JSON Schema of a version of a custom resource.
pub(super) fn of_custom_resource(schema: &Data) -> Data {
    let mut adapted = Adapter { references: &mut Vec::new() }.schema(schema, true);
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

struct Adapter<'a> {
    /// The names of definitions that are referred to.
    references: &'a mut Vec<String>,
}

impl Adapter<'_> {
    /// Converts a schema. A structural one declares all properties; others, such as those in `anyOf`, only restrict them.
    fn schema(&mut self, schema: &Data, structural: bool) -> Data {
        let Data::Map(schema) = schema else { return schema.clone() };
        let mut adapted = DataMap::default();
        for (keyword, value) in schema {
            if let Some(value) = self.keyword(keyword, value, structural) {
                adapted.insert(keyword.clone(), value);
            }
        }
        if let Some(Data::List(required)) = adapted.get_mut("required") {
            // A null is removed from a resource before it is validated.
            let nullable = |name: &str| schema.get("properties")?.get(name)?.get("nullable").cloned();
            required.retain(|name| name.as_str().and_then(nullable) != Some(Data::Bool(true)));
        }
        let is = |mark: &str| schema.get(mark) == Some(&Data::Bool(true));
        if is("x-kubernetes-int-or-string") || schema.get("format") == Some(&Data::Str("int-or-string".to_owned())) {
            adapted.insert("type".to_owned(), strings(&["integer", "string"]));
        }
        if let (true, Some(Data::Str(kind))) = (is("nullable"), adapted.get("type")) {
            adapted.insert("type".to_owned(), strings(&[kind.clone().as_str(), "null"]));
        }
        if is("x-kubernetes-embedded-resource") {
            resource(&mut adapted);
        }
        let is_open = is("x-kubernetes-preserve-unknown-fields") || !structural || schema.contains_key("allOf");
        if adapted.contains_key("properties") && !is_open {
            adapted.entry("additionalProperties".to_owned()).or_insert(Data::Bool(false));
        }
        Data::Map(adapted)
    }

    fn keyword(&mut self, keyword: &str, value: &Data, structural: bool) -> Option<Data> {
        Some(match (keyword, value) {
            ("$ref", Data::Str(target)) => Data::Str(self.reference(target)),
            ("properties", Data::Map(properties)) => {
                let adapted = properties.iter().map(|(name, one)| (name.clone(), self.schema(one, structural)));
                Data::Map(adapted.collect())
            }
            ("items" | "additionalProperties", _) => self.schema(value, structural),
            ("not", _) => self.schema(value, false),
            ("allOf" | "anyOf" | "oneOf", Data::List(schemas)) => {
                Data::List(schemas.iter().map(|one| self.schema(one, false)).collect())
            }
            ("description" | "default" | "example" | "nullable" | "title", _) => return None,
            _ if keyword.starts_with("x-") => return None,
            _ => value.clone(),
        })
    }

    /// Converts a reference to a definition of the same document.
    fn reference(&mut self, target: &str) -> String {
        let local = ["#/definitions/", "#/components/schemas/"].into_iter().find_map(|of| target.strip_prefix(of));
        let Some(name) = local else { return target.to_owned() };
        let name = paths::unescaped(name).into_owned();
        self.references.push(name.clone());
        reference(&name)
    }
}

#[cfg(test)]
mod tests {
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
