//! The inputs of a render: one layer shared by all clusters, and a cluster's own keys over it.

use super::{Map, Value};

/// Top-level names in two layers; a name in `over` hides the one in `base` whole.
#[derive(Debug, Clone, Copy, Default)]
pub struct Inputs<'v> {
    base: Option<&'v Map<'v>>,
    over: Option<&'v Map<'v>>,
}

impl<'v> Inputs<'v> {
    /// Inputs of one layer. Anything but a map has no names.
    pub fn new(value: Value<'v>) -> Self {
        Self { base: value.as_map(), over: None }
    }

    /// Inputs of two layers.
    pub fn layered(base: Value<'v>, over: Value<'v>) -> Self {
        Self { base: base.as_map(), over: over.as_map() }
    }

    /// The layers, the one that wins first.
    pub(crate) fn layers(&self) -> [Option<&'v Map<'v>>; 2] {
        [self.over, self.base]
    }

    /// Whether these are the same layers, not only equal ones.
    pub(crate) fn is(&self, other: &Self) -> bool {
        let same = |(a, b): (Option<&'v Map<'v>>, Option<&'v Map<'v>>)| match (a, b) {
            (Some(a), Some(b)) => std::ptr::eq(a, b),
            (a, b) => a.is_none() && b.is_none(),
        };
        same((self.base, other.base)) && same((self.over, other.over))
    }

    /// The value of `name`.
    pub fn get(&self, name: &str) -> Option<Value<'v>> {
        self.layers().into_iter().flatten().find_map(|layer| layer.get(name))
    }

    /// Every name with its value, each once, the layer that wins first.
    pub fn iter(&self) -> impl Iterator<Item = (&'v str, Value<'v>)> + use<'v> {
        let over = self.over;
        let hidden = move |key: &str| over.is_some_and(|over| over.get(key).is_some());
        let below = self.base.into_iter().flat_map(Map::iter).filter(move |(key, _)| !hidden(key));
        over.into_iter().flat_map(Map::iter).chain(below)
    }
}
