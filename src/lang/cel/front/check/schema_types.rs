//! Types of JSON Schemas.

use super::types::{Kind, Object, TypeId, Types};
use dropforge_base::stdlib::small_sort::tree_map;
use dropforge_schema::{Additional, Node, NodeId, Schema, Types as Allowed};
use dropforge_value::Data;

/// The maximum schema depth to inspect. Deeper levels accept any value.
const DEPTH: usize = 64;

impl Types {
    /// Returns the type of the values that a schema allows. It considers `type` (one, or one and `null`), `items`,
    /// `properties`, `additionalProperties` and `enum`. The type is `dyn` if the schema allows values of several types.
    /// Requirements beyond the type (`required`, `format`, ranges) are left to validation.
    ///
    /// * `string` is a string whatever its `format`: values are not converted.
    /// * `number` is an `int` or a `double`: arithmetic mixes it with both.
    /// * A map with `properties` has no others unless `additionalProperties` allows them.
    ///
    /// ```
    /// use dropforge::dialect::cel::check::Types;
    /// use dropforge::schema::{Draft, Schema};
    /// let mut types = Types::default();
    /// let mut text = |schema: &str| {
    ///     let schema = Schema::read(&serde_json::from_str(schema).unwrap(), Draft::Template).unwrap();
    ///     let ty = types.of_schema(&schema);
    ///     types.text(ty)
    /// };
    /// assert_eq!(text(r#"{"type": "array", "items": {"type": "integer"}}"#), "list(int)");
    /// assert_eq!(text(r#"{"type": "object", "additionalProperties": "string"}"#), "map(string, string)");
    /// assert_eq!(text(r#"{"type": ["string", "null"]}"#), "wrapper(string)");
    /// assert_eq!(text(r#"{"enum": ["a", "b"]}"#), "string");
    /// ```
    pub fn of_schema(&mut self, schema: &Schema) -> TypeId {
        self.of_node(schema, Schema::ROOT, 0)
    }

    fn of_node(&mut self, schema: &Schema, id: NodeId, depth: usize) -> TypeId {
        let Some(node) = schema.node(id).filter(|_| depth <= DEPTH) else { return Self::DYN };
        let is = |ty: Allowed| node.types == ty || node.types == ty.or(Allowed::NULL);
        let ty = match node.types {
            types if types.is_any() => return self.implied(schema, node, depth),
            Allowed::NULL => return Self::NULL,
            _ if is(Allowed::STRING) => Self::STRING,
            _ if is(Allowed::BOOLEAN) => Self::BOOL,
            _ if is(Allowed::INTEGER) => Self::INT,
            _ if is(Allowed::NUMBER) || is(Allowed::NUMBER.or(Allowed::INTEGER)) => Self::NUMBER,
            _ if is(Allowed::ARRAY) => {
                let element = node.items.map_or(Self::DYN, |items| self.of_node(schema, items, depth + 1));
                self.list(element)
            }
            _ if is(Allowed::OBJECT) => self.of_object(schema, node, depth),
            _ => return Self::DYN,
        };
        if node.types.has(Allowed::NULL) { self.add(Kind::Nullable(ty)) } else { ty }
    }

    /// Returns the type of a schema without `type`: an object, or the common type of the values of `enum`.
    fn implied(&mut self, schema: &Schema, node: &Node, depth: usize) -> TypeId {
        if !node.properties.is_empty() {
            return self.of_object(schema, node, depth);
        }
        Self::common(node.values.iter().flatten().map(|value| match value {
            Data::Null => Self::NULL,
            Data::Bool(_) => Self::BOOL,
            Data::Int(_) => Self::INT,
            Data::Str(_) => Self::STRING,
            _ => Self::DYN,
        }))
    }

    fn of_object(&mut self, schema: &Schema, node: &Node, depth: usize) -> TypeId {
        let rest = match node.additional {
            Additional::None => None,
            Additional::Any => Some(Self::DYN),
            Additional::Schema(id) => Some(self.of_node(schema, id, depth + 1)),
            Additional::Unsaid => node.properties.is_empty().then_some(Self::DYN),
        };
        if node.properties.is_empty() {
            return self.map(Self::STRING, rest.unwrap_or(Self::DYN));
        }
        let properties = node.properties.iter();
        let fields = tree_map(properties.map(|(name, id)| (name.clone(), self.of_node(schema, *id, depth + 1))));
        self.add_object(Object { fields, rest })
    }
}
