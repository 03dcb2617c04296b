//! Defaults for missing properties.

use super::{Node, NodeId, Schema, SchemaError};
use dropforge_base::limits::Limits;
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
