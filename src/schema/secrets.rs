//! The values that a schema marks secret: `"writeOnly": true`, as in OpenAPI, and `"format": "password"`.

use dropforge_base::stdlib::paths::names;
use dropforge_value::{Data, Step};

/// Maximum number of subschemas that are looked at.
const STEPS: usize = 20_000;
/// Keywords with lists of subschemas that apply to the same value.
const SAME: [&str; 3] = ["allOf", "anyOf", "oneOf"];
/// Keywords with subschemas that apply to the same value.
const SAME_ONE: [&str; 3] = ["if", "then", "else"];
/// Keywords with maps of subschemas of members.
const MEMBERS: [&str; 2] = ["properties", "patternProperties"];

/// Returns `true` if a schema marks the value at a path secret, something that it is in, or something in it.
///
/// ```
/// use dropforge::{bulk::values::Step, schema::is_secret, value::Data};
/// let schema = r#"{"properties": {"db": {"properties": {"password": {"writeOnly": true}, "host": {}}}}}"#;
/// let schema: Data = serde_json::from_str(schema)?;
/// let secret = |path: &[&str]| is_secret(&schema, &path.iter().map(|key| Step::Key((*key).into())).collect::<Vec<_>>());
/// assert!(secret(&["db", "password"]) && secret(&["db"]));
/// assert!(!secret(&["db", "host"]) && !secret(&["other"]));
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn is_secret(schema: &Data, path: &[Step]) -> bool {
    let mut open = vec![(schema, path)];
    for _ in 0..STEPS {
        let Some((node, path)) = open.pop() else { return false };
        if is_marked(node) {
            return true;
        }
        let target = node.get("$ref").and_then(Data::as_str).and_then(|pointer| target(schema, pointer));
        open.extend(target.map(|target| (target, path)));
        let same = SAME.iter().filter_map(|key| node.get(key)?.as_list()).flatten();
        open.extend(same.chain(SAME_ONE.iter().filter_map(|key| node.get(key))).map(|node| (node, path)));
        match path.split_first() {
            Some((step, rest)) => open.extend(members(node, step).into_iter().map(|node| (node, rest))),
            None => open.extend(below(node).map(|node| (node, path))),
        }
    }
    // Too much to look at: it may be.
    true
}

fn is_marked(node: &Data) -> bool {
    matches!(node.get("writeOnly"), Some(Data::Bool(true)))
        || node.get("format").and_then(Data::as_str) == Some("password")
}

/// Returns the subschema at a pointer within the document.
fn target<'s>(schema: &'s Data, pointer: &str) -> Option<&'s Data> {
    names(pointer.strip_prefix('#')?).try_fold(schema, |node, name| match name.parse() {
        Ok(at) if node.as_list().is_some() => node.index(at),
        _ => node.get(&name),
    })
}

/// Returns the subschemas of a member. Patterns may match any key.
fn members<'s>(node: &'s Data, step: &Step) -> Vec<&'s Data> {
    let mut found = Vec::new();
    match step {
        Step::Key(key) => {
            found.extend(node.get("properties").and_then(|properties| properties.get(key)));
            found.extend(node.get("patternProperties").and_then(Data::as_map).into_iter().flat_map(|map| map.values()));
            found.extend(node.get("additionalProperties"));
        }
        Step::Index(at) => {
            let items = node.get("items");
            let listed = [node.get("prefixItems"), items].into_iter().flatten().filter_map(|list| list.index(*at));
            found.extend(listed.chain(items.filter(|items| items.as_map().is_some())));
        }
    }
    found
}

/// Returns the subschemas of all members.
fn below(node: &Data) -> impl Iterator<Item = &Data> {
    let named = MEMBERS.iter().filter_map(|key| node.get(key)?.as_map()).flat_map(|map| map.values());
    let listed = ["prefixItems", "items"].into_iter().filter_map(|key| node.get(key)?.as_list()).flatten();
    let others = ["additionalProperties", "items"].into_iter().filter_map(|key| node.get(key));
    named.chain(listed).chain(others.filter(|node| node.as_map().is_some()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_found_through_references_lists_and_alternatives() {
        let schema = r##"{
            "definitions": {"secret": {"format": "password"}, "loop": {"$ref": "#/definitions/loop"}},
            "properties": {
                "a": {"$ref": "#/definitions/secret"},
                "b": {"items": {"properties": {"token": {"writeOnly": true}, "name": {}}}},
                "c": {"anyOf": [{"type": "null"}, {"properties": {"key": {"writeOnly": true}}}]},
                "d": {"additionalProperties": {"writeOnly": true}},
                "e": {"$ref": "#/definitions/loop"},
                "f": {"type": "string"}
            }
        }"##;
        let schema: Data = serde_json::from_str(schema).unwrap();
        let step = |text: &str| text.parse().map_or_else(|_| Step::Key(text.to_owned()), Step::Index);
        let secret = |path: &str| is_secret(&schema, &path.split('.').map(step).collect::<Vec<_>>());
        for path in ["a", "a.b", "b", "b.0", "b.3.token", "c", "c.key", "d", "d.x"] {
            assert!(secret(path), "{path}");
        }
        for path in ["b.0.name", "c.other", "f", "g"] {
            assert!(!secret(path), "{path}");
        }
        // A schema without end may hide one.
        assert!(secret("e"));
    }
}
