//! What schemas say about a value.

use dropforge::bulk::values::Step;
use dropforge::value::Data;

use super::values::json;

/// Maximum number of schemas that are looked at for one value.
const SCHEMAS: usize = 200;
/// Maximum number of values of an `enum` that are named.
const NAMED: usize = 12;

/// Returns the subschemas for the value at a path.
pub(super) fn at<'s>(root: &'s Data, path: &[Step]) -> Vec<&'s Data> {
    path.iter().fold(with_others(root, vec![root]), |schemas, step| {
        let below = schemas.into_iter().flat_map(|schema| members(schema, step)).collect();
        with_others(root, below)
    })
}

/// Returns the names of the properties that schemas declare for members.
pub(super) fn properties<'s>(schemas: &[&'s Data]) -> Vec<&'s str> {
    let of = |schema: &&'s Data| schema.get("properties").and_then(Data::as_map);
    schemas.iter().filter_map(of).flat_map(|map| map.keys().map(String::as_str)).collect()
}

/// Returns what schemas say about a value: its type, and a description.
pub(super) fn described(schemas: &[&Data]) -> (Option<String>, Option<String>) {
    let text = |key: &str| schemas.iter().find_map(|schema| schema.get(key)?.as_str()).map(str::to_owned);
    let kind = schemas.iter().find_map(|schema| {
        let kind = schema.get("type")?;
        let several =
            kind.as_list().map(|kinds| kinds.iter().filter_map(Data::as_str).collect::<Vec<_>>().join(" or "));
        kind.as_str().map(str::to_owned).or(several)
    });
    let list = schemas.iter().find_map(|schema| schema.get("enum")?.as_list());
    let list =
        list.map(|values| format!("one of {}", values.iter().take(NAMED).map(json).collect::<Vec<_>>().join(", ")));
    let kind = match (kind, list) {
        (Some(kind), Some(list)) => Some(format!("{kind}, {list}")),
        (kind, list) => kind.or(list),
    };
    (kind, text("description").or_else(|| text("title")))
}

fn members<'s>(schema: &'s Data, step: &Step) -> Vec<&'s Data> {
    let found = match step {
        Step::Key(key) => {
            let named = schema.get("properties").and_then(|properties| properties.get(key));
            named.or_else(|| schema.get("additionalProperties").filter(|other| other.as_map().is_some()))
        }
        Step::Index(at) => {
            let items = schema.get("items");
            schema.get("prefixItems").or(items).and_then(|list| list.index(*at)).or(items)
        }
    };
    found.into_iter().collect()
}

/// Adds the schemas that others refer to.
fn with_others<'s>(root: &'s Data, mut schemas: Vec<&'s Data>) -> Vec<&'s Data> {
    let mut at = 0;
    while let Some(schema) = schemas.get(at).copied().filter(|_| schemas.len() < SCHEMAS) {
        at += 1;
        let target = schema.get("$ref").and_then(Data::as_str).and_then(|target| resolve(root, target));
        let lists = ["allOf", "anyOf", "oneOf"].into_iter().filter_map(|key| schema.get(key)?.as_list());
        let more: Vec<&Data> = target.into_iter().chain(lists.flatten()).collect();
        schemas.extend(more.into_iter().filter(|one| one.as_map().is_some()));
    }
    schemas
}

/// Returns the schema that a pointer within the file names.
fn resolve<'s>(root: &'s Data, target: &str) -> Option<&'s Data> {
    let pointer = target.strip_prefix('#')?;
    // The schemas of a chart's values are below the name of its values.
    let root = root.get("properties").and_then(|own| own.get("Values")).unwrap_or(root);
    let mut names = pointer.split('/').skip(1).map(|name| name.replace("~1", "/").replace("~0", "~"));
    names.try_fold(root, |schema, name| schema.get(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemas_are_followed_through_references_and_lists() {
        let schema = r##"{
            "$defs": {"port": {"type": "integer", "description": "A port"}},
            "properties": {
                "ports": {"items": {"properties": {"number": {"$ref": "#/$defs/port"}}}},
                "mode": {"allOf": [{"enum": ["a", "b"]}, {"type": ["string", "null"]}]}
            }
        }"##;
        let schema: Data = serde_json::from_str(schema).unwrap();
        let key = |name: &str| Step::Key(name.to_owned());
        let number = at(&schema, &[key("ports"), Step::Index(3), key("number")]);
        assert_eq!(described(&number), (Some("integer".to_owned()), Some("A port".to_owned())));
        assert_eq!(properties(&at(&schema, &[key("ports"), Step::Index(0)])), ["number"]);
        let mode = described(&at(&schema, &[key("mode")])).0;
        assert_eq!(mode.as_deref(), Some("string or null, one of \"a\", \"b\""));
        assert!(at(&schema, &[key("none"), key("x")]).is_empty());
    }
}
