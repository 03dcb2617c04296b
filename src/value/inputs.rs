//! The inputs of a render: a layer shared by all clusters, overlaid with the keys of one cluster.

use super::{Map, Value};

/// Top-level names in two layers. A name in `over` hides the same name in `base` completely.
#[derive(Debug, Clone, Copy, Default)]
pub struct Inputs<'v> {
    base: Option<&'v Map<'v>>,
    over: Option<&'v Map<'v>>,
}

impl<'v> Inputs<'v> {
    /// Inputs with one layer. Anything but a map has no names.
    pub fn new(value: Value<'v>) -> Self {
        Self { base: value.as_map(), over: None }
    }

    /// Inputs with two layers.
    pub fn layered(base: Value<'v>, over: Value<'v>) -> Self {
        Self { base: base.as_map(), over: over.as_map() }
    }

    /// Returns the layers in order of precedence.
    pub fn layers(&self) -> [Option<&'v Map<'v>>; 2] {
        [self.over, self.base]
    }

    /// Returns `true` if both consist of identical layers, not merely equal ones.
    pub fn is(&self, other: &Self) -> bool {
        let identities = |inputs: &Self| inputs.layers().map(|layer| layer.map(std::ptr::from_ref));
        identities(self) == identities(other)
    }

    /// Returns the value of `name`.
    pub fn get(&self, name: &str) -> Option<Value<'v>> {
        self.layers().into_iter().flatten().find_map(|layer| layer.get(name))
    }

    /// All names with their values, without duplicates, in order of precedence.
    pub fn iter(&self) -> impl Iterator<Item = (&'v str, Value<'v>)> + use<'v> {
        let over = self.over;
        let hidden = move |key: &str| over.is_some_and(|over| over.get(key).is_some());
        let below = self.base.into_iter().flat_map(Map::iter).filter(move |(key, _)| !hidden(key));
        over.into_iter().flat_map(Map::iter).chain(below)
    }
}
