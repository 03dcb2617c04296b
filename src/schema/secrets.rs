//! The values that a schema marks secret: `"writeOnly": true`, as in OpenAPI, `"format": "password"`, and `"x-secret": true`.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;

use dropforge_base::stdlib::paths::names;
use dropforge_value::{Data, DataMap, Step};

/// Maximum number of subschemas that are looked at for a value.
const STEPS: usize = 20_000;
/// Keywords with lists of subschemas that apply to the same value.
const SAME: [&str; 3] = ["allOf", "anyOf", "oneOf"];
/// Keywords with subschemas that apply to the same value.
const SAME_ONE: [&str; 4] = ["if", "then", "else", "not"];
/// Keywords with maps of subschemas that apply to the same value.
const SAME_NAMED: [&str; 2] = ["dependentSchemas", "dependencies"];
/// Keywords with maps of subschemas of members.
const MEMBERS: [&str; 2] = ["properties", "patternProperties"];
/// Keywords with subschemas of any other member.
const OTHERS: [&str; 2] = ["additionalProperties", "unevaluatedProperties"];
/// Keywords with lists of subschemas of items.
const LISTED: [&str; 2] = ["prefixItems", "items"];
/// Keywords with subschemas of any item.
const ITEMS: [&str; 4] = ["items", "additionalItems", "unevaluatedItems", "contains"];

/// Returns `true` for a keyword that marks a value secret. `holds` tells that its value is `true`, and `text` is that value if
/// it is a string.
pub fn marks_secret(keyword: &str, holds: bool, text: Option<&str>) -> bool {
    match keyword {
        "writeOnly" | "x-secret" => holds,
        "format" => text == Some("password"),
        _ => false,
    }
}

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
        match same(schema, node) {
            Some(same) => open.extend(same.into_iter().map(|node| (node, path))),
            None => return true,
        }
        match path.split_first() {
            Some((step, rest)) => open.extend(members(node, step).into_iter().map(|node| (node, rest))),
            None => open.extend(below(node).map(|node| (node, path))),
        }
    }
    // Too much to look at: it may be.
    true
}

/// Calls `each` with the text of every scalar of `values` that a schema marks secret, and with the keys of maps in secrets.
///
/// ```
/// use dropforge::{schema::each_secret, value::{Data, DataMap}};
/// let schema: Data = serde_json::from_str(r#"{"properties": {"keys": {"items": {"writeOnly": true}}}}"#)?;
/// let values: DataMap = serde_json::from_str(r#"{"keys": ["a", 7, {"b": null}], "other": "c"}"#)?;
/// let mut found = Vec::new();
/// each_secret(&schema, &values, &mut |text| found.push(text.into_owned()));
/// assert_eq!(found, ["a", "7", "b"]);
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn each_secret<'d>(schema: &Data, values: &'d DataMap, each: &mut dyn FnMut(Cow<'d, str>)) {
    if has_secrets(schema) {
        let root = Root { schema, hiding: RefCell::default() };
        visit_map(&root, unmarked(schema, vec![schema]).as_deref(), values, each);
    }
}

/// A schema, and what is known of its subschemas.
struct Root<'s> {
    schema: &'s Data,
    /// The subschemas with types that may hold secrets, by address.
    hiding: RefCell<HashMap<*const Data, bool>>,
}

impl Root<'_> {
    /// Returns `true` if a schema of maps or lists with secrets does not allow a value of this kind: `db: PASSWORD` in place
    /// of `db: {password: PASSWORD}`.
    fn hides_misfit(&self, node: &Data, value: &Data) -> bool {
        let Some(kind) = node.get("type") else { return false };
        let kinds = kind.as_list().unwrap_or(std::slice::from_ref(kind)).iter().filter_map(Data::as_str);
        let may_hide = || has_secrets(node) || has_reference(node);
        !allows_kind(kinds, [value.as_map().is_some(), value.as_list().is_some(), *value == Data::Null])
            && *self.hiding.borrow_mut().entry(std::ptr::from_ref(node)).or_insert_with(may_hide)
    }
}

/// Visits a map to which these subschemas apply, or which is secret without them. The nesting of values is bounded where they
/// are read.
fn visit_map<'d>(root: &Root<'_>, nodes: Option<&[&Data]>, map: &'d DataMap, each: &mut dyn FnMut(Cow<'d, str>)) {
    for (key, value) in map {
        match nodes {
            Some(nodes) => visit(root, members_of(nodes, &Step::Key(key.clone())), value, each),
            None => {
                each(key.into());
                texts(value, each);
            }
        }
    }
}

fn visit<'d>(root: &Root<'_>, nodes: Vec<&Data>, value: &'d Data, each: &mut dyn FnMut(Cow<'d, str>)) {
    if nodes.is_empty() {
        return;
    }
    let nodes = unmarked(root.schema, nodes).filter(|nodes| !nodes.iter().any(|node| root.hides_misfit(node, value)));
    match (value, nodes) {
        (Data::Map(map), nodes) => visit_map(root, nodes.as_deref(), map, each),
        (value, Some(nodes)) => {
            let items = (0..).zip(value.as_list().unwrap_or(&[]));
            items.for_each(|(at, item)| visit(root, members_of(&nodes, &Step::Index(at)), item, each));
        }
        (value, None) => texts(value, each),
    }
}

/// Returns `true` if the keyword `type` with these kinds allows a value that is a map, a list or null, or none of these.
pub fn allows_kind<'k>(mut kinds: impl Iterator<Item = &'k str>, [is_map, is_list, is_null]: [bool; 3]) -> bool {
    kinds.any(|kind| match kind {
        "object" => is_map,
        "array" => is_list,
        "null" => is_null,
        _ => !is_map && !is_list && !is_null,
    })
}

/// Returns `true` if a schema refers to another one, which may mark a secret.
fn has_reference(node: &Data) -> bool {
    match node {
        Data::Map(map) => map.contains_key("$ref") || map.values().any(has_reference),
        list => list.as_list().is_some_and(|items| items.iter().any(has_reference)),
    }
}

/// Returns the subschemas that apply to the same value as these. `None` if one of them marks it, or may do so.
fn unmarked<'s>(schema: &'s Data, nodes: Vec<&'s Data>) -> Option<Vec<&'s Data>> {
    all_same(schema, nodes).filter(|nodes| !nodes.iter().any(|node| is_marked(node)))
}

fn members_of<'s>(nodes: &[&'s Data], step: &Step) -> Vec<&'s Data> {
    nodes.iter().flat_map(|node| members(node, step)).collect()
}

/// Calls `each` with the text of every scalar of a value. Null and booleans are left out.
pub fn each_text<'d>(value: &'d Data, each: &mut dyn FnMut(Cow<'d, str>)) {
    match value {
        Data::Map(map) => map.values().for_each(|value| each_text(value, each)),
        scalar_or_list => match scalar_or_list.as_list() {
            Some(items) => items.iter().for_each(|item| each_text(item, each)),
            None => texts(scalar_or_list, each),
        },
    }
}

/// Calls `each` with the text of every scalar of a value, and with its keys.
fn texts<'d>(value: &'d Data, each: &mut dyn FnMut(Cow<'d, str>)) {
    match value {
        Data::Str(text) => each(text.into()),
        Data::Map(map) => map.iter().for_each(|(key, value)| {
            each(key.into());
            texts(value, each);
        }),
        Data::Null | Data::Bool(_) => {}
        other => match other.as_list() {
            Some(items) => items.iter().for_each(|item| texts(item, each)),
            None => each(serde_json::to_string(other).unwrap_or_default().into()),
        },
    }
}

/// Returns these subschemas and all that apply to the same value. `None` if there are too many, or some are not known.
fn all_same<'s>(schema: &'s Data, nodes: Vec<&'s Data>) -> Option<Vec<&'s Data>> {
    let (mut open, mut all): (Vec<&Data>, Vec<&Data>) = (nodes, Vec::new());
    while let Some(node) = open.pop() {
        if all.iter().any(|known| std::ptr::eq(*known, node)) {
            continue;
        }
        if all.len() >= STEPS {
            return None;
        }
        all.push(node);
        open.extend(same(schema, node)?);
    }
    Some(all)
}

/// Returns `true` if a schema marks any value secret.
pub fn has_secrets(node: &Data) -> bool {
    is_marked(node)
        || match node {
            Data::Map(map) => map.values().any(has_secrets),
            list => list.as_list().is_some_and(|items| items.iter().any(has_secrets)),
        }
}

/// Calls `each` with the names of all properties that a schema marks secret, or whose items or members it marks.
///
/// ```
/// use dropforge::{schema::each_secret_name, value::Data};
/// let schema = r#"{"properties": {"db": {"properties": {"host": {}, "key": {"writeOnly": true}}}}}"#;
/// let mut found = Vec::new();
/// each_secret_name(&serde_json::from_str::<Data>(schema)?, &mut |name| found.push(name.to_owned()));
/// assert_eq!(found, ["key"]);
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn each_secret_name(schema: &Data, each: &mut dyn FnMut(&str)) {
    let mut open = vec![schema];
    while let Some(node) = open.pop() {
        let properties = node.get("properties").and_then(Data::as_map).into_iter().flatten();
        properties.filter(|(_, property)| marks_all(schema, property)).for_each(|(name, _)| each(name));
        match node {
            Data::Map(map) => open.extend(map.values()),
            list => open.extend(list.as_list().into_iter().flatten()),
        }
    }
}

/// Returns `true` if a schema marks a value, its items or its members whatever their names.
fn marks_all(schema: &Data, node: &Data) -> bool {
    let (mut open, mut looked_at) = (vec![node], 0);
    while let Some(node) = open.pop() {
        looked_at += 1;
        let Some(same) = all_same(schema, vec![node]).filter(|_| looked_at < STEPS) else { return true };
        if same.iter().any(|node| is_marked(node)) {
            return true;
        }
        let inner = same.iter().flat_map(|node| below_unnamed(node));
        // A schema that refers to itself has nothing new.
        let inner = inner.filter(|node| node.as_map().is_some_and(|map| !map.is_empty()) && has_secrets(node));
        open.extend(inner);
    }
    false
}

/// Returns the subschemas of items and of members without names.
fn below_unnamed(node: &Data) -> impl Iterator<Item = &Data> {
    let listed = LISTED.iter().filter_map(|key| node.get(key)?.as_list()).flatten();
    let patterns = node.get("patternProperties").and_then(Data::as_map).into_iter().flat_map(|map| map.values());
    listed.chain(patterns).chain(OTHERS.iter().chain(&ITEMS).filter_map(|key| node.get(key)))
}

fn is_marked(node: &Data) -> bool {
    let map = node.as_map().into_iter().flatten();
    map.into_iter().any(|(key, value)| marks_secret(key, *value == Data::Bool(true), value.as_str()))
}

/// Returns the subschemas that apply to the same value. `None` if one of them is not known.
fn same<'s>(schema: &'s Data, node: &'s Data) -> Option<Vec<&'s Data>> {
    let mut found: Vec<&Data> = SAME.iter().filter_map(|key| node.get(key)?.as_list()).flatten().collect();
    found.extend(SAME_ONE.iter().filter_map(|key| node.get(key)));
    found.extend(SAME_NAMED.iter().filter_map(|key| node.get(key)?.as_map()).flat_map(|map| map.values()));
    for key in ["$ref", "$dynamicRef", "$recursiveRef"] {
        if let Some(reference) = node.get(key).and_then(Data::as_str) {
            match target(schema, reference) {
                Some(target) => found.push(target),
                // What is unknown may be marked where anything is.
                None if has_secrets(schema) => return None,
                None => {}
            }
        }
    }
    Some(found)
}

/// Returns the subschema that a reference within the document leads to: by a pointer or an anchor, or by its identifier.
fn target<'s>(schema: &'s Data, reference: &str) -> Option<&'s Data> {
    let (document, fragment) = reference.split_once('#').unwrap_or((reference, ""));
    let schema = if document.is_empty() { schema } else { named(schema, "$id", document)? };
    if !fragment.is_empty() && !fragment.starts_with('/') {
        let anchors = ["$anchor", "$dynamicAnchor"].iter().find_map(|key| named(schema, key, fragment));
        return anchors.or_else(|| named(schema, "$id", reference));
    }
    names(fragment).try_fold(schema, |node, name| match name.parse() {
        Ok(at) if node.as_list().is_some() => node.index(at),
        _ => node.get(&name),
    })
}

/// Returns the subschema with this text at a keyword.
fn named<'s>(node: &'s Data, keyword: &str, text: &str) -> Option<&'s Data> {
    match node {
        node if node.get(keyword).and_then(Data::as_str) == Some(text) => Some(node),
        Data::Map(map) => map.values().find_map(|below| named(below, keyword, text)),
        list => list.as_list()?.iter().find_map(|below| named(below, keyword, text)),
    }
}

/// Returns the subschemas of a member. Patterns may match any key, and a key may be a number.
fn members<'s>(node: &'s Data, step: &Step) -> Vec<&'s Data> {
    let (key, at) = match step {
        Step::Key(key) => (Cow::from(key), key.parse().ok()),
        Step::Index(at) => (at.to_string().into(), Some(*at)),
    };
    let mut found: Vec<&Data> = node.get("properties").and_then(|all| all.get(&key)).into_iter().collect();
    found.extend(node.get("patternProperties").and_then(Data::as_map).into_iter().flat_map(|map| map.values()));
    found.extend(OTHERS.iter().filter_map(|key| node.get(key)));
    if let Some(at) = at {
        found.extend(LISTED.iter().filter_map(|key| node.get(key)?.index(at)));
        found.extend(ITEMS.iter().filter_map(|key| node.get(key)).filter(|items| items.as_map().is_some()));
    }
    found
}

/// Returns the subschemas of all members.
fn below(node: &Data) -> impl Iterator<Item = &Data> {
    let named = MEMBERS.iter().filter_map(|key| node.get(key)?.as_map()).flat_map(|map| map.values());
    let listed = LISTED.iter().filter_map(|key| node.get(key)?.as_list()).flatten();
    let others = OTHERS.iter().chain(&ITEMS).filter_map(|key| node.get(key));
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

    #[test]
    fn a_value_of_another_kind_than_a_map_or_list_of_secrets_is_secret() {
        let schema = r##"{
            "$defs": {"db": {"type": "object", "properties": {"password": {"writeOnly": true}, "host": {}}}},
            "properties": {
                "db": {"$ref": "#/$defs/db"},
                "list": {"type": ["array", "null"], "items": {"x-secret": true}},
                "either": {"type": ["object", "string"], "properties": {"key": {"writeOnly": true}}},
                "open": {"type": "object", "properties": {"host": {}}},
                "far": {"type": "array", "items": {"$ref": "#/$defs/db"}}
            }
        }"##;
        let schema: Data = serde_json::from_str(schema).unwrap();
        let found = |values: &str| {
            let values = serde_json::from_str::<Data>(values).unwrap().into_map().unwrap();
            let mut found = Vec::new();
            each_secret(&schema, &values, &mut |text| found.push(text.into_owned()));
            found
        };
        assert_eq!(found(r#"{"db": "a", "list": "b", "either": "c", "open": "d", "far": "e"}"#), ["a", "b", "e"]);
        assert_eq!(found(r#"{"db": ["a", {"b": "c"}], "list": {"d": "e"}, "open": ["f"]}"#), ["a", "b", "c", "d", "e"]);
        assert_eq!(
            found(r#"{"db": {"host": "a", "password": "b"}, "list": null, "either": {"key": 1234}}"#),
            ["b", "1234"]
        );
    }

    #[test]
    fn marks_are_found_by_anchors_and_identifiers_and_for_items_by_key() {
        let schema = r##"{
            "$defs": {
                "a": {"$anchor": "pin", "x-secret": true},
                "b": {"$id": "https://x/b", "properties": {"c": {"writeOnly": true}}}
            },
            "properties": {
                "pin": {"$ref": "#pin"}, "other": {"$ref": "https://x/b"}, "elsewhere": {"$ref": "https://x/z"},
                "list": {"type": "array", "items": {"format": "password"}},
                "more": {"prefixItems": [{}, {"writeOnly": true}], "unevaluatedItems": {"writeOnly": true}}
            },
            "dependentSchemas": {"x": {"properties": {"dependent": {"writeOnly": true}}}}
        }"##;
        let schema: Data = serde_json::from_str(schema).unwrap();
        let secret = |path: &[Step]| is_secret(&schema, path);
        let key = |key: &str| Step::Key(key.to_owned());
        for path in [&[key("pin")][..], &[key("other"), key("c")], &[key("elsewhere")], &[key("dependent")]] {
            assert!(secret(path), "{path:?}");
        }
        for item in [Step::Index(1), key("1")] {
            assert!(secret(&[key("list"), item.clone()]) && secret(&[key("more"), item]));
        }
        assert!(!secret(&[key("other"), key("d")]) && !secret(&[key("none")]));
        let values = r#"{"pin": 1234, "other": {"c": "s", "d": "t"}, "list": ["u", "v"], "more": ["w", "x", "y"]}"#;
        let values = serde_json::from_str::<dropforge_value::Data>(values).unwrap().into_map().unwrap();
        let mut found = Vec::new();
        each_secret(&schema, &values, &mut |text| found.push(text.into_owned()));
        assert_eq!(found, ["1234", "s", "u", "v", "w", "x", "y"]);
    }
}
