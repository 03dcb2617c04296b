//! Types of JSON Schemas.

use std::collections::BTreeMap;

use super::types::{Kind, Object, TypeId, Types};
use crate::value::Data;

/// The maximum schema depth to inspect. Deeper levels accept any value.
const DEPTH: usize = 64;

impl Types {
    /// Returns the type of the values that a schema allows. It considers `type` (one, or one and `null`), `items`,
    /// `properties`, `additionalProperties`, `enum`, `const` and `nullable`; a string is the `type`. The type is `dyn` if the
    /// schema allows values of several types. Requirements beyond the type (`required`, `format`, ranges) are left to
    /// validation.
    ///
    /// * `string` is a string whatever its `format`: values are not converted.
    /// * `number` is `dyn`, because an integer of the input is an `int`.
    /// * A map with `properties` has no others unless `additionalProperties` allows them.
    ///
    /// ```
    /// use dropforge::dialect::cel::check::Types;
    /// use dropforge::value::Data;
    /// let mut types = Types::default();
    /// let mut text = |schema: &str| {
    ///     let schema: Data = serde_json::from_str(schema).unwrap();
    ///     let ty = types.of_schema(&schema);
    ///     types.text(ty)
    /// };
    /// assert_eq!(text(r#"{"type": "array", "items": {"type": "integer"}}"#), "list(int)");
    /// assert_eq!(text(r#"{"type": "object", "additionalProperties": "string"}"#), "map(string, string)");
    /// assert_eq!(text(r#"{"type": ["string", "null"]}"#), "wrapper(string)");
    /// assert_eq!(text(r#"{"enum": ["a", "b"]}"#), "string");
    /// ```
    pub fn of_schema(&mut self, schema: &Data) -> TypeId {
        self.schema(schema, 0)
    }

    fn schema(&mut self, schema: &Data, depth: usize) -> TypeId {
        if depth > DEPTH {
            return Self::DYN;
        }
        if let Data::Str(name) = schema {
            return self.named(name, schema, depth);
        }
        let of = match schema.get("type") {
            Some(Data::Str(name)) => self.named(name, schema, depth),
            Some(Data::List(names)) => self.one_of(names, schema, depth),
            _ => self.implied(schema, depth),
        };
        match schema.get("nullable") {
            Some(Data::Bool(true)) => self.nullable(of),
            _ => of,
        }
    }

    fn nullable(&mut self, of: TypeId) -> TypeId {
        match self.kind(of) {
            Kind::Dyn | Kind::Null | Kind::Nullable(_) => of,
            _ => self.add(Kind::Nullable(of)),
        }
    }

    /// Returns the type of a list of types: a single type, or a single type and null.
    fn one_of(&mut self, names: &[Data], schema: &Data, depth: usize) -> TypeId {
        let null = Data::Str("null".into());
        let others: Vec<_> = names.iter().filter(|&name| *name != null).collect();
        match (others.as_slice(), others.len() < names.len()) {
            ([], true) => Self::NULL,
            (&[Data::Str(name)], has_null) => {
                let of = self.named(name, schema, depth);
                if has_null { self.nullable(of) } else { of }
            }
            _ => Self::DYN,
        }
    }

    fn named(&mut self, name: &str, schema: &Data, depth: usize) -> TypeId {
        match name {
            "string" => Self::STRING,
            "boolean" => Self::BOOL,
            "integer" => Self::INT,
            "null" => Self::NULL,
            "array" => {
                let element = schema.get("items").map_or(Self::DYN, |items| self.schema(items, depth + 1));
                self.list(element)
            }
            "object" => self.object_of(schema, depth),
            _ => Self::DYN,
        }
    }

    /// Returns the type of a schema without `type`.
    fn implied(&mut self, schema: &Data, depth: usize) -> TypeId {
        if schema.get("properties").is_some() {
            return self.object_of(schema, depth);
        }
        match (schema.get("enum"), schema.get("const")) {
            (Some(Data::List(values)), _) => self.common(values),
            (_, Some(value)) => self.common(std::slice::from_ref(value)),
            _ => Self::DYN,
        }
    }

    /// Returns the common type of values.
    fn common(&mut self, values: &[Data]) -> TypeId {
        let of = |value: &Data| match value {
            Data::Null => Self::NULL,
            Data::Bool(_) => Self::BOOL,
            Data::Int(_) => Self::INT,
            Data::Str(_) => Self::STRING,
            _ => Self::DYN,
        };
        let mut all = values.iter().map(of);
        match all.next() {
            Some(first) if all.all(|other| other == first) => first,
            _ => Self::DYN,
        }
    }

    fn object_of(&mut self, schema: &Data, depth: usize) -> TypeId {
        let properties = schema.get("properties").and_then(Data::as_map);
        let rest = match schema.get("additionalProperties") {
            Some(Data::Bool(false)) => None,
            Some(Data::Bool(true)) => Some(Self::DYN),
            Some(of) => Some(self.schema(of, depth + 1)),
            None => properties.is_none().then_some(Self::DYN),
        };
        let Some(properties) = properties else {
            let value = rest.unwrap_or(Self::DYN);
            return self.map(Self::STRING, value);
        };
        let fields: BTreeMap<_, _> =
            properties.iter().map(|(name, schema)| (name.clone(), self.schema(schema, depth + 1))).collect();
        self.add_object(Object { fields, rest })
    }
}
