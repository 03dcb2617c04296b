//! The properties that a schema declares, and the schemas of a part of an object.

use super::node::{Additional, Node, NodeId, Rest};
use super::{Draft, Schema};
use dropforge_base::stdlib::small_sort::SmallSort as _;

/// Maximum length of a path. Everything below is declared.
const STEPS: usize = 16;
/// Maximum number of paths.
const PATHS: usize = 10_000;
/// Maximum number of schemas that always apply to one value.
const TOGETHER: usize = 40;

impl Schema {
    /// Returns the paths of the declared properties that declare no properties themselves. Recursive schemas are followed up
    /// to a bound.
    ///
    /// ```
    /// use dropforge::schema::{Draft, Schema};
    /// let schema = r#"{"properties": {"image": {"properties": {"tag": {}}}, "labels": {"type": "object"}}}"#;
    /// let schema = Schema::read(&serde_json::from_str(schema).unwrap(), Draft::Draft7).unwrap();
    /// assert_eq!(schema.declared(), [vec!["image", "tag"], vec!["labels"]]);
    /// ```
    pub fn declared(&self) -> Vec<Vec<&str>> {
        let (mut paths, mut open) = (Vec::new(), vec![(Self::ROOT, Vec::new())]);
        while let Some((id, path)) = open.pop() {
            let properties = if path.len() < STEPS { self.properties(id) } else { Vec::new() };
            if properties.is_empty() && !path.is_empty() {
                paths.push(path);
            } else if open.len() + paths.len() < PATHS {
                let below = |(name, id)| (id, path.iter().copied().chain([name]).collect());
                open.extend(properties.into_iter().rev().map(below));
            }
        }
        paths
    }

    /// Returns the properties of a schema and of those that always apply with it.
    fn properties(&self, id: NodeId) -> Vec<(&str, NodeId)> {
        let (mut found, mut together, mut at) = (Vec::new(), vec![id], 0);
        while let Some(node) = together.get(at).and_then(|id| self.node(*id)) {
            found.extend(node.properties.iter().map(|(name, id)| (name.as_str(), *id)));
            let more: Vec<NodeId> = node.always().filter(|id| !together.contains(id)).collect();
            together.extend(more);
            together.truncate(TOGETHER);
            at += 1;
        }
        found
    }
}

/// Maximum number of schemas that apply to one value.
const SCHEMAS: usize = 64;

impl Schema {
    /// Returns the schemas of the value at a path of keys, if that value matters to no others. So if an object fits the
    /// schema, it still does with another value in this place that fits these. `None` if it may matter elsewhere.
    pub fn at_path(&self, path: &[&str]) -> Option<Vec<NodeId>> {
        let mut schemas = vec![Self::ROOT];
        for key in path {
            schemas = self.below(schemas, key)?;
        }
        Some(schemas)
    }

    /// Returns the properties that are declared by a schema and by those that may apply to the same object.
    pub fn properties_at(&self, id: NodeId) -> Vec<&str> {
        let (mut ids, mut at) = (vec![id], 0);
        while let Some(node) = ids.get(at).and_then(|id| self.node(*id)).filter(|_| ids.len() <= SCHEMAS) {
            at += 1;
            let new: Vec<NodeId> = node.in_place().filter(|id| !ids.contains(id)).collect();
            ids.extend(new);
        }
        let nodes = ids.into_iter().filter_map(|id| self.node(id));
        nodes.flat_map(|node| node.properties.keys().map(String::as_str)).collect()
    }

    /// Returns the schemas of the value under a key of an object with these schemas.
    fn below(&self, mut schemas: Vec<NodeId>, key: &str) -> Option<Vec<NodeId>> {
        let (mut found, mut at) = (Vec::new(), 0);
        while let Some(id) = schemas.get(at).copied() {
            at += 1;
            let node = self.node(id)?;
            if !is_by_key(node) || self.draft == Draft::Template {
                return None;
            }
            // These apply to the object, too.
            let rest = node.rest.as_deref();
            for other in rest.into_iter().flat_map(|rest| rest.all_of.iter().copied().chain(rest.reference)) {
                if !schemas.contains(&other) {
                    schemas.push(other);
                }
            }
            if schemas.len() > SCHEMAS {
                return None;
            }
            found.extend(members(node, key));
        }
        found.small_sort_by_key(|id: &NodeId| id.0);
        found.dedup();
        Some(found)
    }
}

/// Returns `true` if a schema says nothing of an object that depends on more than its keys and on its values one by one.
fn is_by_key(node: &Node) -> bool {
    let plain = |rest: &Rest| {
        let subschemas = [rest.not, rest.condition, rest.unevaluated_properties];
        rest.any_of.is_empty()
            && rest.one_of.is_empty()
            && rest.constant.is_none()
            && rest.dependent_schemas.is_empty()
            && subschemas.iter().all(Option::is_none)
    };
    node.values.is_none() && node.rest.as_deref().is_none_or(plain)
}

/// Returns the schemas of the value under a key.
fn members(node: &Node, key: &str) -> Vec<NodeId> {
    let patterns = node.rest.as_deref().map_or(&[][..], |rest| &rest.patterns);
    let matching = patterns.iter().filter(|(pattern, _)| pattern.regex.is_match(key)).map(|(_, id)| *id);
    let mut found: Vec<NodeId> = node.properties.get(key).copied().into_iter().chain(matching).collect();
    if let (true, Additional::Schema(id)) = (found.is_empty(), node.additional) {
        found.push(id);
    }
    found
}
