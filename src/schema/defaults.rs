//! Defaults for missing properties; the properties that a schema declares.

use super::{Node, NodeId, Schema, SchemaError};
use crate::Draft;
use crate::node::{Additional, Rest};
use dropforge_base::limits::Limits;
use dropforge_base::stdlib::small_sort::SmallSort as _;
use dropforge_value::Data;

/// Maximum number of visited pairs of schema and value.
const VISITS: usize = 100_000;

/// Maximum number of references to follow to a default. A longer chain is a cycle.
const REFERENCES: usize = 16;

impl Schema {
    /// Adds the defaults of missing properties to `value`. Defaults also apply in nested objects, from `allOf` and through
    /// `$ref`. Existing values stay, also null, and no object is created only to hold the default of a property.
    ///
    /// # Errors
    /// A schema whose defaults nest too deep or take too many steps.
    ///
    /// ```
    /// use dropforge::schema::{Draft, Schema};
    /// use dropforge::value::Data;
    /// let data = |text| serde_json::from_str::<Data>(text).unwrap();
    /// let schema = data(r#"{"properties": {"n": {"default": 2}, "o": {"properties": {"m": {"default": 1}}}}}"#);
    /// let schema = Schema::read(&schema, Draft::Draft7).unwrap();
    /// let mut value = data(r#"{"o": {}}"#);
    /// schema.fill(&mut value).unwrap();
    /// assert_eq!(value, data(r#"{"o": {"m": 1}, "n": 2}"#));
    /// ```
    pub fn fill(&self, value: &mut Data) -> Result<(), SchemaError> {
        let levels = Limits::default().value_depth;
        Filling { schema: self, left: VISITS, within: Vec::new(), levels }.value(Self::ROOT, value)
    }
}

struct Filling<'s> {
    schema: &'s Schema,
    left: usize,
    /// Schemas being applied to the current value.
    within: Vec<NodeId>,
    /// The number of levels that values may nest further.
    levels: usize,
}

impl Filling<'_> {
    fn value(&mut self, id: NodeId, value: &mut Data) -> Result<(), SchemaError> {
        self.spend()?;
        let schema = self.schema;
        let Some(node) = schema.node(id).filter(|_| !self.within.contains(&id)) else { return Ok(()) };
        self.within.push(id);
        self.members(node, value)?;
        node.always().try_for_each(|other| self.value(other, value))?;
        self.within.pop();
        Ok(())
    }

    /// Fills in the members of `value` by the keywords of one schema.
    fn members(&mut self, node: &Node, value: &mut Data) -> Result<(), SchemaError> {
        match value {
            Data::Map(map) => node.properties.iter().try_for_each(|(name, id)| {
                self.spend()?;
                if !map.contains_key(name)
                    && let Some(default) = self.default(*id, 0)?
                {
                    map.insert(name.clone(), default);
                }
                map.get_mut(name).map_or(Ok(()), |member| self.below(*id, member))
            }),
            Data::List(items) => {
                let first = node.rest.as_ref().map_or(&[][..], |rest| &rest.prefix);
                let reached = if node.items.is_some() { items.len() } else { first.len() };
                let mut items = items.iter_mut().take(reached).enumerate();
                items.try_for_each(|(at, item)| {
                    let id = first.get(at).copied().or(node.items);
                    id.map_or(Ok(()), |id| self.below(id, item))
                })
            }
            _ => Ok(()),
        }
    }

    /// Fills in a nested value.
    fn below(&mut self, id: NodeId, value: &mut Data) -> Result<(), SchemaError> {
        let levels = self.levels.checked_sub(1);
        let left = levels.ok_or_else(|| SchemaError::new("", "the defaults of the schema nest too deep"))?;
        let within = std::mem::take(&mut self.within);
        let above = std::mem::replace(&mut self.levels, left);
        let filled = self.value(id, value);
        (self.within, self.levels) = (within, above);
        filled
    }

    /// Returns the default of a schema, or of one that always applies with it.
    fn default(&mut self, id: NodeId, depth: usize) -> Result<Option<Data>, SchemaError> {
        self.spend()?;
        let Some(node) = self.schema.node(id) else { return Ok(None) };
        if node.default.is_some() || depth >= REFERENCES {
            return Ok(node.default.clone());
        }
        node.always().find_map(|other| self.default(other, depth + 1).transpose()).transpose()
    }

    fn spend(&mut self) -> Result<(), SchemaError> {
        let left = self.left.checked_sub(1);
        self.left =
            left.ok_or_else(|| SchemaError::new("", "applying the defaults of the schema takes too many steps"))?;
        Ok(())
    }
}

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

#[cfg(test)]
mod tests {
    use super::super::Draft;
    use super::*;

    fn filled(schema: &str, value: &str) -> Result<String, String> {
        let data = |text: &str| serde_json::from_str::<Data>(text).unwrap();
        let schema = Schema::read(&data(schema), Draft::Draft7).map_err(|errors| errors[0].message.clone())?;
        let mut value = data(value);
        schema.fill(&mut value).map_err(|error| error.message)?;
        Ok(serde_json::to_string(&value).unwrap())
    }

    #[test]
    fn references_lists_and_nested_defaults_are_followed() {
        let schema = r##"{
            "definitions": {"port": {"properties": {"protocol": {"default": "TCP"}}}, "n": {"default": 7}},
            "allOf": [{"properties": {"a": {"default": 1}}}],
            "properties": {
                "ports": {"items": {"$ref": "#/definitions/port"}, "default": [{}]},
                "n": {"$ref": "#/definitions/n"},
                "m": {"$ref": "#/definitions/n", "default": 8}
            }
        }"##;
        let expected = r#"{"ports":[{"protocol":"TCP"}],"n":7,"m":8,"a":1}"#;
        assert_eq!(filled(schema, "{}").as_deref(), Ok(expected));
        assert_eq!(
            filled(schema, r#"{"n":null,"ports":[],"m":0,"a":[]}"#).unwrap(),
            r#"{"n":null,"ports":[],"m":0,"a":[]}"#
        );
    }

    #[test]
    fn defaults_without_end_are_errors() {
        let endless = r##"{"properties": {"a": {"$ref": "#", "default": {}}}}"##;
        assert_eq!(filled(endless, "{}").unwrap_err(), "the defaults of the schema nest too deep");
        let wide = r##"{"properties": {"a": {"$ref": "#", "default": {}}, "b": {"$ref": "#", "default": {}}}}"##;
        assert!(filled(wide, "{}").is_err());
        let cycle = r##"{"definitions": {"a": {"$ref": "#/definitions/a"}}, "properties": {"x": {"$ref": "#/definitions/a"}}}"##;
        assert_eq!(filled(cycle, "{}").as_deref(), Ok("{}"));
        let many = format!("[{}{{}}]", "{},".repeat(60_000));
        let items = r#"{"items": {"properties": {"a": {"default": 1}}}}"#;
        assert_eq!(filled(items, &many).unwrap_err(), "applying the defaults of the schema takes too many steps");
    }
}
