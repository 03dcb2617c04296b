//! Schemas: JSON Schema's words for types, structure and bounds of values, compiled once.
//!
//! [`Schema::read`] takes a schema as data and answers with a [`Schema`] or with every [`Fault`] in it, each with the JSON
//! pointer of its place, which whoever read the data turns into a line. [`Schema::validate`] answers with every
//! [`Violation`]. Which words there are says [`KEYWORDS`]; a word that is not there is a fault, because a bound that nobody
//! checks is worse than none. [`Schemas`] are those of several values, which a program can carry as text.
//!
//! ```
//! use dropforge::schema::Schema;
//! use dropforge::value::{Arena, Data, Value};
//! let schema: Data = serde_json::from_str(r#"{"type": "array", "items": {"type": "string"}}"#).unwrap();
//! let schema = Schema::read(&schema).unwrap();
//! let arena = Arena::new();
//! let value = arena.list(&[arena.text("a"), Value::Int(1)]);
//! let found = schema.validate(value, 10, &mut |_| Ok::<(), ()>(())).unwrap();
//! assert_eq!(found[0].pointer, "/1");
//! assert_eq!(found[0].to_string(), "`[1]`: a string is wanted (type), not the integer 1");
//! ```

mod number;
mod read;
mod text;
mod types;
mod validate;

#[cfg(test)]
mod tests;

use indexmap::{IndexMap, IndexSet};
use regex::Regex;

pub use number::Number;
pub use read::{Fault, KEYWORDS};
pub use text::Schemas;
pub use validate::Violation;

use crate::value::Data;

/// Names a [`Node`] of a [`Schema`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(u32);

/// Types of values: those that a value may have, or is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Types(u8);

/// A bound of numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    /// The number, as it was written: an integer stays one.
    pub number: Number,
    /// Whether the number itself is out of bounds.
    pub exclusive: bool,
}

/// What additional properties, which are not named, may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Additional {
    /// Anything, because nothing is said of them.
    #[default]
    Unsaid,
    /// Anything.
    Any,
    /// There may be none.
    None,
    /// What this schema says.
    Schema(NodeId),
}

/// How many characters or elements there may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sizes {
    /// At least.
    pub least: Option<u64>,
    /// At most.
    pub most: Option<u64>,
}

/// A schema of one value.
#[derive(Debug, Clone, Default)]
pub struct Node {
    /// The JSON pointer of the schema in the data it was read from.
    pub pointer: String,
    /// The types it may have.
    pub types: Types,
    /// The values it may be; `None` where any.
    pub values: Option<Vec<Data>>,
    /// Its properties with what each is, where it is an object, in the order of the schema.
    pub properties: IndexMap<String, NodeId>,
    /// The properties it must have.
    pub required: IndexSet<String>,
    /// Its other properties.
    pub additional: Additional,
    /// What each element is, where it is an array.
    pub items: Option<NodeId>,
    /// How many elements there may be.
    pub elements: Sizes,
    /// How many characters there may be.
    pub characters: Sizes,
    /// What a string must contain a match of.
    pub pattern: Option<Pattern>,
    /// The least number.
    pub minimum: Option<Bound>,
    /// The greatest number.
    pub maximum: Option<Bound>,
    /// What stands in where there is no value.
    pub default: Option<Data>,
    /// `required: true`: that there must be a value.
    pub must: bool,
}

/// A regular expression.
#[derive(Debug, Clone)]
pub struct Pattern {
    /// As it was written.
    pub text: String,
    regex: Regex,
}

/// A compiled schema: the nodes of its tree, the root first.
///
/// * `integer` takes a float without a fraction; a value that JSON has no type for (bytes, a moment) is of no type.
/// * `pattern` is searched for: where all of a text must match, it says `^` and `$`.
/// * `null` has to be allowed where a type is said.
/// * The bounds of numbers, texts, lists and maps say nothing of other values.
/// * What is not there fits, unless `required: true` is in its schema or its name in the `required` of the schema around.
#[derive(Debug, Clone)]
pub struct Schema {
    nodes: Vec<Node>,
}

impl Schema {
    /// The schema of the value itself.
    pub const ROOT: NodeId = NodeId(0);

    /// A schema of the tree.
    pub fn node(&self, id: NodeId) -> Option<&Node> {
        self.nodes.get(id.0 as usize)
    }

    /// What stands in where there is no value.
    pub fn default_value(&self) -> Option<&Data> {
        self.node(Self::ROOT)?.default.as_ref()
    }

    /// Whether there must be a value: it is required, and nothing stands in for it.
    pub fn is_required(&self) -> bool {
        self.node(Self::ROOT).is_some_and(|root| root.must && root.default.is_none())
    }
}
