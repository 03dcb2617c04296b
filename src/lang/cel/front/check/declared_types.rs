//! Declared types: their text, such as `map(string, list(int))`, and the types of JSON Schemas.

use std::sync::Arc;

use super::types::{Kind, Object, PLAIN, TypeId, Types};
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_base::stdlib::small_sort::tree_map;
use dropforge_base::text::{Source, Span};
use dropforge_schema::{Additional, Node, NodeId, Schema, Types as Allowed};
use dropforge_value::Data;

/// The maximum nesting depth.
const DEPTH: usize = 32;

impl Types {
    /// Parses a type: a plain one (`dyn`, `null`, `bool`, `int`, `uint`, `double`, `string`, `bytes`, `timestamp`,
    /// `duration`, `type`, `any`), `list(T)`, `map(K, V)`, `optional_type(T)`, `wrapper(T)`, `type(T)`, or the name of
    /// an opaque type with or without parameters.
    ///
    /// # Errors
    /// [`Code::UnexpectedToken`] for text that is not a type, [`Code::LimitDepth`] for nesting beyond 32 levels.
    ///
    /// ```
    /// use dropforge::dialect::cel::check::Types;
    /// let mut types = Types::default();
    /// let id = types.read("map( string,list(net.IP))").unwrap();
    /// assert_eq!(types.text(id), "map(string, list(net.IP))");
    /// assert!(types.read("list(int").is_err());
    /// ```
    pub fn read(&mut self, text: &str) -> Result<TypeId> {
        self.read_signature(text, None)
    }

    /// Parses a type. A single capital letter is a type parameter, if `params` of a signature are given.
    pub(super) fn read_signature(&mut self, text: &str, params: Option<&mut Vec<String>>) -> Result<TypeId> {
        let mut parser = TypeParser { text, at: 0, types: self, params };
        let ty = parser.ty(0)?;
        match parser.rest().trim_start() {
            "" => Ok(ty),
            _ => Err(parser.error("expected the end of the type")),
        }
    }
}

struct TypeParser<'r> {
    text: &'r str,
    at: usize,
    types: &'r mut Types,
    params: Option<&'r mut Vec<String>>,
}

impl<'r> TypeParser<'r> {
    fn rest(&self) -> &'r str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn error(&self, message: &str) -> Box<Diagnostic> {
        let source = Source::new("<type>", self.text);
        Diagnostic::new(Code::UnexpectedToken, message).at(&source, Span::of(self.at..self.at), "")
    }

    fn skip_spaces(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    /// Skips a character if it is next, and returns `true` if so.
    fn take(&mut self, wanted: char) -> bool {
        self.skip_spaces();
        let found = self.rest().starts_with(wanted);
        self.at += if found { wanted.len_utf8() } else { 0 };
        found
    }

    fn name(&mut self) -> Result<&'r str> {
        self.skip_spaces();
        let rest = self.rest();
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '/');
        let len = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let name = rest.get(..len).filter(|name| !name.is_empty()).ok_or_else(|| self.error("expected a type"))?;
        self.at += len;
        Ok(name)
    }

    fn ty(&mut self, depth: usize) -> Result<TypeId> {
        if depth > DEPTH {
            let mut error = self.error("the type nests too deep: the limit is 32 levels");
            error.code = Code::LimitDepth;
            return Err(error);
        }
        let name = self.name()?;
        let mut params = Vec::new();
        if self.take('(') {
            params.push(self.ty(depth + 1)?);
            while self.take(',') {
                params.push(self.ty(depth + 1)?);
            }
            if !self.take(')') {
                return Err(self.error("expected `)` or `,`"));
            }
        }
        self.named(name, &params)
    }

    fn named(&mut self, name: &str, params: &[TypeId]) -> Result<TypeId> {
        let plain = PLAIN.iter().find(|(kind, plain)| *plain == name && !matches!(kind, Kind::Error | Kind::Number));
        let kind = match (name, params) {
            (_, []) if let Some((plain, _)) = plain => plain.clone(),
            ("any" | "google.protobuf.Any" | "google.protobuf.Value", []) => Kind::Dyn,
            ("null_type", []) => Kind::Null,
            ("google.protobuf.Timestamp", []) => Kind::Timestamp,
            ("google.protobuf.Duration", []) => Kind::Duration,
            ("type", []) => Kind::Type(Types::DYN),
            ("list", []) => Kind::List(Types::DYN),
            ("map", []) => Kind::Map(Types::DYN, Types::DYN),
            ("type", &[of]) => Kind::Type(of),
            ("list", &[of]) => Kind::List(of),
            ("map", &[key, value]) => Kind::Map(key, value),
            ("optional_type", &[of]) => Kind::Optional(of),
            ("wrapper", &[of]) => Kind::Nullable(of),
            ("type" | "list" | "map" | "optional_type" | "wrapper", _) => {
                return Err(self.error(&format!("`{name}` has another number of parameters")));
            }
            (name, []) if name.len() == 1 && name.starts_with(|c: char| c.is_ascii_uppercase()) => {
                if let Some(params) = &mut self.params {
                    return Ok(self.types.param(name, params));
                }
                Kind::Opaque(name.into(), Arc::default())
            }
            (name, params) => Kind::Opaque(name.into(), params.into()),
        };
        Ok(self.types.add(kind))
    }
}

/// The maximum schema depth to inspect. Deeper levels accept any value.
const SCHEMA_DEPTH: usize = 64;

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
        let Some(node) = schema.node(id).filter(|_| depth <= SCHEMA_DEPTH) else { return Self::DYN };
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
