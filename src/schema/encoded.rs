//! Encodes schemas as text that a program can carry.

use super::{Additional, Bound, Draft, Node, NodeId, Schema, Types, Violation};
use dropforge_value::{Data, DataMap, Value};

/// The named schemas of several values, compiled from the text that a program carries.
///
/// ```
/// use dropforge::schema::{Draft, Schema, Schemas};
/// use dropforge::value::{Data, Value};
/// let read = |data: Data| Schema::read(&data, Draft::Template).unwrap();
/// let port = read(serde_json::from_str(r#"{"type": "integer", "minimum": 1}"#).unwrap());
/// let name = read(Data::Str("string".into()));
/// let schemas = Schemas::read(&Schemas::text([("port", &port), ("name", &name)])).unwrap();
/// // An absent value fits, unless its schema requires it.
/// let found = schemas.validate(&[Value::Int(0), Value::Undefined], 10, &mut |_| Ok::<(), ()>(())).unwrap();
/// assert_eq!(found[0].to_string(), "`port`: expected at least 1, found the integer 0 (minimum)");
/// ```
#[derive(Debug, Clone)]
pub struct Schemas {
    of: Vec<(String, Schema)>,
}

impl Schemas {
    /// Encodes schemas as one line of JSON, without annotations.
    pub fn text<'s>(of: impl IntoIterator<Item = (&'s str, &'s Schema)>) -> String {
        let all: DataMap = of.into_iter().map(|(name, schema)| (name.to_owned(), schema.to_data())).collect();
        Self::key(&Data::Map(all))
    }

    /// Returns a text that only equal data share.
    ///
    /// ```
    /// use dropforge::schema::Schemas;
    /// use dropforge::value::Data;
    /// assert_ne!(Schemas::key(&Data::Float(f64::NAN)), Schemas::key(&Data::Null));
    /// assert_ne!(Schemas::key(&Data::Float(1.0)), Schemas::key(&Data::Str("~1.0".into())));
    /// ```
    pub fn key(data: &Data) -> String {
        serde_json::to_string(&escaped(data)).unwrap_or_default()
    }

    /// Compiles the schemas from their text. `None` for any other text.
    pub fn read(text: &str) -> Option<Schemas> {
        let all = serde_json::from_str::<Data>(text).ok()?.into_map()?;
        let schema = |(name, data)| Some((name, Schema::read_checked(&unescaped(&data)?, Draft::Template).ok()?));
        Some(Schemas { of: all.into_iter().map(schema).collect::<Option<_>>()? })
    }

    /// Returns the names and their schemas.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Schema)> {
        self.of.iter().map(|(name, schema)| (name.as_str(), schema))
    }

    /// Returns the number of schemas.
    pub fn len(&self) -> usize {
        self.of.len()
    }

    /// Returns `true` if there are no schemas.
    pub fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    /// Validates each value against the schema at the same index. See [`Schema::validate`].
    ///
    /// # Errors
    /// Those of `spend`.
    pub fn validate<E>(
        &self,
        values: &[Value<'_>],
        most: usize,
        spend: &mut impl FnMut(u64) -> Result<(), E>,
    ) -> Result<Vec<Violation>, E> {
        let mut found = Vec::new();
        for (nth, ((name, schema), value)) in self.of.iter().zip(values).enumerate() {
            let of = schema.validate_named(Some(name), *value, most.saturating_sub(found.len()), spend)?;
            found.extend(of.into_iter().map(|violation| Violation { nth, ..violation }));
        }
        Ok(found)
    }
}

/// Escapes numbers that JSON parsers may change as strings with the prefix `~`: floats, and with `~#` longer ones. Strings with this prefix become `~'…`.
fn escaped(data: &Data) -> Data {
    match data {
        Data::Float(n) => Data::Str(format!("~{n:?}")),
        Data::Number(text) => Data::Str(format!("~#{text}")),
        Data::Str(text) if text.starts_with('~') => Data::Str(format!("~'{text}")),
        Data::List(items) => Data::List(items.iter().map(escaped).collect()),
        Data::Map(map) => Data::Map(map.iter().map(|(name, of)| (name.clone(), escaped(of))).collect()),
        plain => plain.clone(),
    }
}

fn unescaped(data: &Data) -> Option<Data> {
    Some(match data {
        Data::Str(text) => match text.strip_prefix('~') {
            Some(rest) => match rest.strip_prefix('\'') {
                Some(text) => Data::Str(text.to_owned()),
                None => match rest.strip_prefix('#') {
                    Some(number) => Data::number(number)?,
                    None => Data::Float(rest.parse().ok()?),
                },
            },
            None => Data::Str(text.clone()),
        },
        Data::List(items) => Data::List(items.iter().map(unescaped).collect::<Option<_>>()?),
        Data::Map(map) => {
            Data::Map(map.iter().map(|(name, of)| Some((name.clone(), unescaped(of)?))).collect::<Option<_>>()?)
        }
        plain => plain.clone(),
    })
}

impl Schema {
    /// Returns the schema as data, in a canonical form without annotations.
    pub fn to_data(&self) -> Data {
        self.node_data(Schema::ROOT)
    }

    fn node_data(&self, id: NodeId) -> Data {
        let Some(node) = self.node(id) else { return Data::Bool(true) };
        let mut words = DataMap::default();
        add(&mut words, "type", node.limit("type"));
        add(&mut words, "enum", node.values.clone().map(Data::List));
        add(&mut words, "pattern", node.limit("pattern"));
        add_bound(&mut words, ["minimum", "exclusiveMinimum"], node.minimum);
        add_bound(&mut words, ["maximum", "exclusiveMaximum"], node.maximum);
        for word in ["minLength", "maxLength", "minItems", "maxItems"] {
            add(&mut words, word, node.limit(word));
        }
        add(&mut words, "items", node.items.map(|items| self.node_data(items)));
        let must = if id == Schema::ROOT { self.is_required() } else { node.must };
        self.object_data(node, must, &mut words);
        Data::Map(words)
    }

    fn object_data(&self, node: &Node, must: bool, words: &mut DataMap) {
        let property = |(name, id): (&String, &NodeId)| (name.clone(), self.node_data(*id));
        let properties: DataMap = node.properties.iter().map(property).collect();
        add(words, "properties", Some(properties).filter(|all| !all.is_empty()).map(Data::Map));
        add(
            words,
            "additionalProperties",
            match node.additional {
                Additional::Unsaid => None,
                Additional::Any => Some(Data::Bool(true)),
                Additional::None => Some(Data::Bool(false)),
                Additional::Schema(id) => Some(self.node_data(id)),
            },
        );
        let names: Vec<_> = node.required.iter().cloned().map(Data::Str).collect();
        let required = if must { Some(Data::Bool(true)) } else { None };
        // With `required: true`, the properties say themselves that they are required.
        add(words, "required", required.or(Some(Data::List(names)).filter(|_| !node.required.is_empty())));
    }
}

/// Maximum number of values of an `enum` in a violation.
const LISTED: usize = 60;

impl Node {
    /// Returns the value of a keyword, as violations show it.
    pub fn limit(&self, keyword: &str) -> Option<Data> {
        let number = |bound: Option<Bound>| bound.map(|bound| bound.number.to_data());
        match keyword {
            "type" => types(self.types),
            "enum" => self.values.as_ref().map(|of| Data::List(of.iter().take(LISTED).cloned().collect())),
            "pattern" => self.pattern.as_ref().map(|pattern| Data::Str(pattern.text.clone())),
            "minimum" | "exclusiveMinimum" => number(self.minimum),
            "maximum" | "exclusiveMaximum" => number(self.maximum),
            "minLength" => self.characters.least.map(Data::uint),
            "maxLength" => self.characters.most.map(Data::uint),
            "minItems" => self.elements.least.map(Data::uint),
            "maxItems" => self.elements.most.map(Data::uint),
            "required" => Some(Data::Bool(true)),
            "additionalProperties" => Some(Data::Bool(false)),
            "format" => Some(Data::Str(self.rest.as_ref()?.format.as_ref()?.name.clone())),
            "const" => self.rest.as_ref().and_then(|rest| rest.constant.clone()),
            "multipleOf" => self.rest.as_ref().and_then(|rest| rest.multiple_of).map(|number| number.to_data()),
            "minProperties" => self.rest.as_ref().and_then(|rest| rest.size.least).map(Data::uint),
            "maxProperties" => self.rest.as_ref().and_then(|rest| rest.size.most).map(Data::uint),
            _ => None,
        }
    }
}

/// Adds a keyword that has a value.
fn add(words: &mut DataMap, word: &str, value: Option<Data>) {
    if let Some(value) = value {
        words.insert(word.to_owned(), value);
    }
}

/// Adds a bound under its keyword for inclusive or exclusive ones.
fn add_bound(words: &mut DataMap, [inclusive, exclusive]: [&str; 2], bound: Option<Bound>) {
    let word = if bound.is_some_and(|bound| bound.exclusive) { exclusive } else { inclusive };
    add(words, word, bound.map(|bound| bound.number.to_data()));
}

fn types(types: Types) -> Option<Data> {
    let mut names: Vec<_> = types.names().map(|name| Data::Str(name.to_owned())).collect();
    if names.len() > 1 { Some(Data::List(names)) } else { names.pop() }
}
