//! The memory of a compiled schema, as an estimate that is rather too high.

use super::node::{Node, Pattern, Rest};
use dropforge_value::Data;

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
