//! Bounds the size of a schema once its references are followed. Validation recurses along these references.
//! Estimates the memory of a compiled schema.

use super::node::{Node, Pattern, Rest};
use super::{NodeId, Schema, SchemaError};
use dropforge_value::Data;

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
