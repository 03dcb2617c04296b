//! Compiled schemas, the memory that they take, and bounds of their size once references are followed: validation recurses
//! along these.

use hashbrown::{DefaultHashBuilder, HashMap};
use indexmap::{IndexMap, IndexSet};
use regex::Regex;

use super::{Draft, Number, Types};
use crate::SchemaError;
use crate::formats::Format;
use dropforge_base::diagnostics::nearest;
use dropforge_value::Data;

/// Maximum number of names and values to search for a suggestion.
pub(super) const SEARCHED: usize = 1000;

/// The id of a [`Node`] of a [`Schema`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub(super) u32);

impl NodeId {
    pub(super) fn of(index: usize) -> Self {
        Self(u32::try_from(index).unwrap_or(u32::MAX))
    }
}

/// A bound of numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    /// The number as written: an integer stays an integer.
    pub number: Number,
    /// `true` if the number itself is out of bounds.
    pub exclusive: bool,
}

/// The schema of properties that are not declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Additional {
    /// Unspecified: any value is allowed.
    #[default]
    Unsaid,
    /// Any value is explicitly allowed.
    Any,
    /// Undeclared properties are not allowed.
    None,
    /// Values that fit this schema are allowed.
    Schema(NodeId),
}

/// Bounds of a length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sizes {
    /// The minimum.
    pub least: Option<u64>,
    /// The maximum.
    pub most: Option<u64>,
}

impl Sizes {
    /// Returns the bound that `count` violates, and `true` if it is the minimum.
    pub(super) fn violated(self, count: u64) -> Option<(bool, u64)> {
        let few = self.least.filter(|least| count < *least).map(|least| (true, least));
        few.or(self.most.filter(|most| count > *most).map(|most| (false, most)))
    }
}

/// The schema of one value.
#[derive(Debug, Clone, Default)]
pub struct Node {
    /// The JSON pointer of the schema in its document.
    pub pointer: String,
    /// The allowed types.
    pub types: Types,
    /// The allowed values, if they are enumerated.
    pub values: Option<Vec<Data>>,
    /// The declared properties of an object, in schema order.
    pub properties: IndexMap<String, NodeId, DefaultHashBuilder>,
    /// The required properties.
    pub required: IndexSet<String>,
    /// The schema of undeclared properties.
    pub additional: Additional,
    /// The schema of the elements of an array.
    pub items: Option<NodeId>,
    /// Bounds of the number of elements.
    pub elements: Sizes,
    /// Bounds of the number of characters.
    pub characters: Sizes,
    /// A pattern that a string must contain.
    pub pattern: Option<Pattern>,
    /// The minimum of a number.
    pub minimum: Option<Bound>,
    /// The maximum of a number.
    pub maximum: Option<Bound>,
    /// The default value.
    pub default: Option<Data>,
    /// `required: true`: the value itself is required.
    pub must: bool,
    /// The part of the document with a URL of its own that the schema belongs to.
    pub(super) resource: usize,
    /// The keywords outside [`Draft::Template`].
    pub(super) rest: Option<Box<Rest>>,
}

/// Keywords outside [`Draft::Template`].
#[derive(Debug, Clone, Default)]
pub(super) struct Rest {
    /// The schema `false`.
    pub never: bool,
    pub reference: Option<NodeId>,
    /// The name under which the schemas on the way here may give the reference another target.
    pub dynamic: Option<String>,
    pub all_of: Vec<NodeId>,
    pub any_of: Vec<NodeId>,
    pub one_of: Vec<NodeId>,
    pub not: Option<NodeId>,
    pub condition: Option<NodeId>,
    pub then: Option<NodeId>,
    pub otherwise: Option<NodeId>,
    pub constant: Option<Data>,
    pub multiple_of: Option<Number>,
    pub format: Option<Format>,
    pub encoding: Option<String>,
    pub media_type: Option<String>,
    pub unique: bool,
    /// Schemas of the first elements.
    pub prefix: Vec<NodeId>,
    pub additional_items: Option<NodeId>,
    pub contains: Option<NodeId>,
    pub matching: Sizes,
    pub unevaluated_items: Option<NodeId>,
    pub size: Sizes,
    pub patterns: Vec<(Pattern, NodeId)>,
    pub names: Option<NodeId>,
    pub dependent_names: Vec<(String, Vec<String>)>,
    pub dependent_schemas: Vec<(String, NodeId)>,
    pub unevaluated_properties: Option<NodeId>,
}

impl Node {
    /// Returns the declared property that `name` is most likely a misspelling of.
    pub fn nearest_property(&self, name: &str) -> Option<&str> {
        nearest(name, self.properties.keys().take(SEARCHED).map(String::as_str))
    }

    /// Schemas that apply, or may apply, to the same value.
    pub(super) fn in_place(&self) -> impl Iterator<Item = NodeId> {
        self.rest.iter().flat_map(|rest| {
            let ones = [rest.reference, rest.not, rest.condition, rest.then, rest.otherwise];
            let lists = [&rest.all_of, &rest.any_of, &rest.one_of];
            let dependent = rest.dependent_schemas.iter().map(|(_, id)| *id);
            ones.into_iter().flatten().chain(lists.into_iter().flatten().copied()).chain(dependent)
        })
    }

    /// Schemas that always apply to the same value: the target of `$ref`, and those in `allOf`.
    pub(super) fn always(&self) -> impl Iterator<Item = NodeId> {
        self.rest.iter().flat_map(|rest| rest.reference.into_iter().chain(rest.all_of.iter().copied()))
    }

    /// Schemas that apply to nested values.
    pub(super) fn below(&self) -> impl Iterator<Item = NodeId> {
        let additional = if let Additional::Schema(id) = self.additional { Some(id) } else { None };
        let rest = self.rest.iter().flat_map(|rest| {
            let ones = [rest.contains, rest.names, rest.unevaluated_items, rest.unevaluated_properties];
            let patterns = rest.patterns.iter().map(|(_, id)| *id);
            ones.into_iter().flatten().chain(rest.prefix.iter().copied()).chain(patterns)
        });
        self.properties.values().copied().chain(additional).chain(self.items).chain(rest)
    }
}

/// A regular expression.
#[derive(Debug, Clone)]
pub struct Pattern {
    /// The source text.
    pub text: String,
    pub(super) regex: Regex,
    /// Maximum bytes of the regular expression.
    pub(super) bytes: usize,
}

/// A compiled schema: the nodes of its tree, the root first.
///
/// * `integer` accepts a float without a fraction (except in draft 4). A value without a JSON type, such as bytes or a
///   timestamp, has no type.
/// * `pattern` searches: to match a whole text, use `^` and `$`.
/// * If a type is specified, null must be allowed explicitly.
/// * Bounds of numbers, strings, arrays and objects do not apply to other values.
/// * An absent value is valid, unless its own schema says `required: true` or the enclosing schema requires its name.
#[derive(Debug, Clone)]
pub struct Schema {
    pub(super) nodes: Vec<Node>,
    pub(super) draft: Draft,
    /// `true` if the schema is read as Go's tools do.
    pub(super) of_go: bool,
    /// What dynamic references with these names lead to, by the resource.
    pub(super) dynamic: HashMap<String, HashMap<usize, NodeId>>,
}

impl Schema {
    /// The schema of the value itself.
    pub const ROOT: NodeId = NodeId(0);

    /// Returns the memory that the schema takes, in bytes. It is an estimate, and rather too high.
    pub fn bytes(&self) -> usize {
        self.nodes.iter().map(Node::bytes).sum()
    }

    /// Returns a schema of the tree.
    pub fn node(&self, id: NodeId) -> Option<&Node> {
        self.nodes.get(id.0 as usize)
    }

    /// Returns the default value.
    pub fn default_value(&self) -> Option<&Data> {
        self.node(Self::ROOT)?.default.as_ref()
    }

    /// Returns `true` if a value or a part of it is declared as a number.
    pub fn has_numbers(&self) -> bool {
        self.nodes.iter().any(|node| node.types.has(Types::INTEGER.or(Types::NUMBER)))
    }

    /// Returns `true` if a value is required and there is no default.
    pub fn is_required(&self) -> bool {
        self.node(Self::ROOT).is_some_and(|root| root.must && root.default.is_none())
    }
}

/// Maximum nesting with references followed.
const LEVELS: usize = 300;
/// Maximum nesting of schemas that apply to one value.
const IN_PLACE: usize = 40;
/// Maximum number of schemas that apply to one value, counting each reference.
const WEIGHT: u64 = 10_000;
/// Maximum number of schemas if they are recursive.
const RECURSIVE: usize = 2000;

/// Checks the size of a schema.
///
/// # Errors
/// The bound that it exceeds.
pub(super) fn check(schema: &Schema) -> Result<(), SchemaError> {
    let mut measure =
        Measure { schema, known: vec![MeasureState::New; schema.nodes.len()], visited: 0, recursive: false };
    let checked = measure.visit(Schema::ROOT, 0).and_then(|_| match measure.recursive && measure.visited > RECURSIVE {
        true => Err(format!("the schema is recursive and has more than {RECURSIVE} parts")),
        false => Ok(()),
    });
    checked.map_err(|message| SchemaError::new("", message))
}

#[derive(Clone, Copy)]
enum MeasureState {
    New,
    Open,
    Done(Size),
}

/// The size of a schema with everything below it.
#[derive(Clone, Copy)]
struct Size {
    /// Schemas that apply to one value.
    weight: u64,
    /// Nesting of these.
    in_place: usize,
    /// Nesting of all schemas.
    levels: usize,
}

struct Measure<'s> {
    schema: &'s Schema,
    known: Vec<MeasureState>,
    visited: usize,
    recursive: bool,
}

impl Measure<'_> {
    fn visit(&mut self, id: NodeId, depth: usize) -> Result<Size, String> {
        let at = id.0 as usize;
        let size = match self.known.get(at) {
            Some(MeasureState::Done(size)) => *size,
            Some(MeasureState::New) if depth <= LEVELS => {
                self.set(at, MeasureState::Open);
                let size = self.all_below(id, depth)?;
                self.visited += 1;
                self.set(at, MeasureState::Done(size));
                size
            }
            Some(MeasureState::New) => return Err(format!("references lead deeper than {LEVELS} levels")),
            Some(MeasureState::Open) | None => {
                self.recursive = true;
                return Ok(Size { weight: 1, in_place: 0, levels: 0 });
            }
        };
        match () {
            () if depth + size.levels > LEVELS => Err(format!("references lead deeper than {LEVELS} levels")),
            () if size.in_place > IN_PLACE => Err(format!("more than {IN_PLACE} levels of schemas hold for one value")),
            () if size.weight > WEIGHT => Err(format!("more than {WEIGHT} schemas hold for one value")),
            () => Ok(size),
        }
    }

    fn set(&mut self, at: usize, state: MeasureState) {
        if let Some(slot) = self.known.get_mut(at) {
            *slot = state;
        }
    }

    fn all_below(&mut self, id: NodeId, depth: usize) -> Result<Size, String> {
        let mut all = Size { weight: 1, in_place: 1, levels: 1 };
        let schema = self.schema;
        let Some(node) = schema.node(id) else { return Ok(all) };
        for other in node.in_place() {
            let size = self.visit(other, depth + 1)?;
            all.weight = all.weight.saturating_add(size.weight);
            all.in_place = all.in_place.max(size.in_place + 1);
            all.levels = all.levels.max(size.levels + 1);
        }
        for below in node.below() {
            all.levels = all.levels.max(self.visit(below, depth + 1)?.levels + 1);
        }
        Ok(all)
    }
}

/// Bytes of an entry of a hash map or an allocation, without its text.
const ENTRY: usize = 96;
/// Bytes of the memory of searches of a shared regular expression.
const SEARCHES: usize = 1 << 11;

impl Node {
    /// Returns the memory of the node, without the nodes below it.
    pub(super) fn bytes(&self) -> usize {
        let names: usize = self.properties.keys().chain(&self.required).map(|name| ENTRY + name.len()).sum();
        let values: usize = self.values.iter().flatten().chain(&self.default).map(data).sum();
        let pattern = self.pattern.as_ref().map_or(0, Pattern::bytes);
        let rest = self.rest.as_ref().map_or(0, |rest| rest.bytes());
        size_of::<Self>() + self.pointer.len() + names + values + pattern + rest
    }
}

impl Pattern {
    fn bytes(&self) -> usize {
        self.bytes + self.text.len()
    }
}

impl Rest {
    fn bytes(&self) -> usize {
        let ids = self.all_of.len() + self.any_of.len() + self.one_of.len() + self.prefix.len();
        let patterns: usize = self.patterns.iter().map(|(pattern, _)| ENTRY + pattern.bytes()).sum();
        let dependent = self.dependent_names.iter().flat_map(|(name, names)| names.iter().chain([name]));
        let dependent = dependent.chain(self.dependent_schemas.iter().map(|(name, _)| name));
        let dependent: usize = dependent.map(|name| ENTRY + name.len()).sum();
        let format = self.format.as_ref().map_or(0, |_| SEARCHES);
        size_of::<Self>() + ids * ENTRY + format + patterns + dependent + self.constant.as_ref().map_or(0, data)
    }
}

/// Returns the memory of a value. Values of a schema nest as deep as its text was allowed to.
fn data(value: &Data) -> usize {
    let below: usize = match value {
        Data::Str(text) => text.len(),
        Data::List(items) => items.iter().map(data).sum(),
        Data::Map(entries) => entries.iter().map(|(name, value)| ENTRY + name.len() + data(value)).sum(),
        _ => 0,
    };
    size_of::<Data>() + below
}
