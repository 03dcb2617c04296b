//! Schemas as text that a program can carry, and compiled from it.

use super::{Additional, Bound, Node, NodeId, Schema, Types, Violation};
use crate::value::{Data, DataMap, Value};

/// The schemas of several values, each with its name, compiled from the text that a program carries of them.
///
/// ```
/// use dropforge::schema::{Schema, Schemas};
/// use dropforge::value::{Data, Value};
/// let port = Schema::read(&serde_json::from_str(r#"{"type": "integer", "minimum": 1}"#).unwrap()).unwrap();
/// let name = Schema::read(&Data::Str("string".into())).unwrap();
/// let schemas = Schemas::read(&Schemas::text([("port", &port), ("name", &name)])).unwrap();
/// // A value that is not there fits, unless its schema says that it must be.
/// let found = schemas.validate(&[Value::Int(0), Value::Undefined], 10, &mut |_| Ok::<(), ()>(())).unwrap();
/// assert_eq!(found[0].to_string(), "`port`: at least 1 is wanted (minimum), not the integer 0");
/// ```
#[derive(Debug, Clone)]
pub struct Schemas {
    of: Vec<(String, Schema)>,
}

impl Schemas {
    /// The text of these schemas: one line of JSON, without what does not matter to values.
    pub fn text<'s>(of: impl IntoIterator<Item = (&'s str, &'s Schema)>) -> String {
        let all: DataMap = of.into_iter().map(|(name, schema)| (name.to_owned(), schema.to_data())).collect();
        // Data as it is here can always be written.
        serde_json::to_string(&shielded(Data::Map(all))).unwrap_or_default()
    }

    /// Compiles the text again; `None` where no such text is like it.
    pub fn read(text: &str) -> Option<Schemas> {
        let Ok(Data::Map(all)) = serde_json::from_str(text) else { return None };
        let schema = |(name, data)| Some((name, Schema::compile(&unshielded(data)?).ok()?));
        Some(Schemas { of: all.into_iter().map(schema).collect::<Option<_>>()? })
    }

    /// The names and their schemas.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Schema)> {
        self.of.iter().map(|(name, schema)| (name.as_str(), schema))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.of.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    /// Holds values against the schemas, each against the one at its place. See [`Schema::validate`].
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

/// JSON readers may take another float for one: floats are texts that begin with `~`, and texts that begin so have `~'`.
fn shielded(data: Data) -> Data {
    match data {
        Data::Float(n) => Data::Str(format!("~{n:?}")),
        Data::Str(text) if text.starts_with('~') => Data::Str(format!("~'{text}")),
        Data::List(items) => Data::List(items.into_iter().map(shielded).collect()),
        Data::Map(map) => Data::Map(map.into_iter().map(|(name, of)| (name, shielded(of))).collect()),
        plain => plain,
    }
}

fn unshielded(data: Data) -> Option<Data> {
    Some(match data {
        Data::Str(text) => match text.strip_prefix('~') {
            Some(rest) => match rest.strip_prefix('\'') {
                Some(text) => Data::Str(text.to_owned()),
                None => Data::Float(rest.parse().ok()?),
            },
            None => Data::Str(text),
        },
        Data::List(items) => Data::List(items.into_iter().map(unshielded).collect::<Option<_>>()?),
        Data::Map(map) => {
            Data::Map(map.into_iter().map(|(name, of)| Some((name, unshielded(of)?))).collect::<Option<_>>()?)
        }
        plain => plain,
    })
}

impl Schema {
    /// The schema as data: what it says of values, each in one way.
    pub fn to_data(&self) -> Data {
        self.node_data(Schema::ROOT)
    }

    fn node_data(&self, id: NodeId) -> Data {
        let Some(node) = self.node(id) else { return Data::Bool(true) };
        let mut words = Words::default();
        words.add("type", types(node.types));
        words.add("enum", node.values.clone().map(Data::List));
        words.add("pattern", node.pattern.as_ref().map(|pattern| Data::Str(pattern.text.clone())));
        words.bound(["minimum", "exclusiveMinimum"], node.minimum);
        words.bound(["maximum", "exclusiveMaximum"], node.maximum);
        for (word, size) in [
            ("minLength", node.characters.least),
            ("maxLength", node.characters.most),
            ("minItems", node.elements.least),
            ("maxItems", node.elements.most),
        ] {
            words.add(word, size.map(Data::uint));
        }
        words.add("items", node.items.map(|items| self.node_data(items)));
        let must = if id == Schema::ROOT { self.is_required() } else { node.must };
        self.object_data(node, must, &mut words);
        Data::Map(words.0)
    }

    fn object_data(&self, node: &Node, must: bool, words: &mut Words) {
        let property = |(name, id): (&String, &NodeId)| (name.clone(), self.node_data(*id));
        let properties: DataMap = node.properties.iter().map(property).collect();
        words.add("properties", Some(properties).filter(|all| !all.is_empty()).map(Data::Map));
        words.add(
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
        // A schema that says `true` has its properties say so themselves.
        words.add("required", required.or(Some(Data::List(names)).filter(|_| !node.required.is_empty())));
    }
}

/// Values of an `enum` that what its word says is cut to.
const LISTED: usize = 60;

impl Node {
    /// What a word of the schema says; of the words for what there must be and may not be, whether they do.
    pub(super) fn limit(&self, keyword: &str) -> Option<Data> {
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
            _ => None,
        }
    }
}

#[derive(Default)]
struct Words(DataMap);

impl Words {
    fn add(&mut self, word: &str, value: Option<Data>) {
        if let Some(value) = value {
            self.0.insert(word.to_owned(), value);
        }
    }

    fn bound(&mut self, [inclusive, exclusive]: [&str; 2], bound: Option<Bound>) {
        let word = if bound.is_some_and(|bound| bound.exclusive) { exclusive } else { inclusive };
        self.add(word, bound.map(|bound| bound.number.to_data()));
    }
}

fn types(types: Types) -> Option<Data> {
    let mut names: Vec<_> = types.names().map(|name| Data::Str(name.to_owned())).collect();
    if names.len() > 1 { Some(Data::List(names)) } else { names.pop() }
}
