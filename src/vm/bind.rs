//! Where a program's top-level inputs are found.

use hashbrown::HashMap;

use crate::bytecode::CodeView;
use crate::value::{Inputs, Map, Value};

/// The id of a layer's shape; `None` where there is no such layer.
type Shape = Option<u32>;

/// A layer, counted from 1 (0 for none), and an index in it.
type Place = (u32, u32);

/// How many bindings are kept.
const KEPT: usize = 8192;

/// For programs, and the shapes of the layers of inputs they were given, where each of their inputs was found.
/// Of a fleet's clusters few have shapes of their own.
#[derive(Debug, Default)]
pub(super) struct Bindings {
    known: HashMap<(u64, Shape, Shape), Box<[Place]>>,
}

impl Bindings {
    /// Puts the values of the program's top-level inputs in front of `values`.
    pub(super) fn bind<'r>(&mut self, code: &CodeView<'_>, inputs: Inputs<'r>, values: &mut [Value<'r>]) {
        let layers = inputs.layers();
        let [over, base] = layers.map(|layer| layer.map(Map::shape_id));
        let places = || code.globals.iter().map(|&name| find(layers, code.str(name)));
        if over == Some(0) || base == Some(0) {
            return fill(values, layers, places());
        }
        if self.known.len() >= KEPT {
            self.known.clear();
        }
        let places = self.known.entry((code.id(), over, base)).or_insert_with(|| places().collect());
        fill(values, layers, places.iter().copied());
    }
}

fn fill<'r>(values: &mut [Value<'r>], layers: [Option<&'r Map<'r>>; 2], places: impl Iterator<Item = Place>) {
    for ((layer, at), value) in places.zip(values) {
        let layer = layers.get(layer.wrapping_sub(1) as usize).copied().flatten();
        *value = layer.and_then(|map| map.values().get(at as usize)).copied().unwrap_or_default();
    }
}

/// The layer that has `name`, and its index there.
fn find(layers: [Option<&Map<'_>>; 2], name: &str) -> Place {
    let found = (1..).zip(layers).find_map(|(layer, map)| Some((layer, map?.shape().find(name)?)));
    found.and_then(|(layer, at)| Some((layer, u32::try_from(at).ok()?))).unwrap_or((0, 0))
}
