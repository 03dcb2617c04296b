//! Traversal of schemas for uses other than validation: defaults, secrets, declared names.

use serde_json::{Map, Value as Json};

/// Follows the `$ref` of a schema within the same document.
pub(crate) fn resolve_ref<'s>(root: &'s Json, schema: &'s Json) -> Option<&'s Json> {
    let target = ["$ref", "$dynamicRef", "$recursiveRef"].into_iter().find_map(|key| schema.get(key)?.as_str())?;
    let pointer = target.strip_prefix('#')?;
    if pointer.is_empty() {
        return Some(root);
    }
    root.pointer(&percent_encoding::percent_decode_str(pointer).decode_utf8().ok()?)
}

/// The schemas that always apply together with `schema`: its `$ref` target and those in `allOf`.
fn applied<'s>(root: &'s Json, schema: &'s Json) -> Vec<&'s Json> {
    let all = schema.get("allOf").and_then(Json::as_array);
    resolve_ref(root, schema).into_iter().chain(all.into_iter().flatten()).collect()
}

/// The schemas that may apply to the same value.
pub(crate) fn possible<'s>(root: &'s Json, schema: &'s Json) -> Vec<&'s Json> {
    let lists = ["anyOf", "oneOf"].into_iter().filter_map(|key| schema.get(key)?.as_array()).flatten();
    let ones = ["if", "then", "else", "not"].into_iter().filter_map(|key| schema.get(key));
    let maps = ["dependentSchemas", "dependencies"].into_iter().filter_map(|key| schema.get(key)?.as_object());
    let dependent = maps.flat_map(Map::values);
    applied(root, schema).into_iter().chain(lists).chain(ones).chain(dependent).collect()
}

/// The schemas for list elements: those by position, and the one for the rest.
pub(crate) fn elements(schema: &Json) -> (&[Json], Option<&Json>) {
    let list = |key: &str| schema.get(key).and_then(Json::as_array).map(Vec::as_slice);
    match (list("prefixItems"), list("items")) {
        (Some(first), _) => (first, schema.get("items")),
        (None, Some(first)) => (first, schema.get("additionalItems")),
        (None, None) => (&[], schema.get("items")),
    }
}
