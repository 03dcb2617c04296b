//! Where a program's top-level inputs are found.

use std::cell::RefCell;

use hashbrown::HashMap;
use smallvec::SmallVec;

use crate::bytecode::Program;
use crate::value::{Inputs, Map, Value};

/// The ids of the shapes of both layers, the one that wins first; [`NO_LAYER`] where there is no such layer.
type ShapeIds = (u32, u32);

/// No shape has this id.
const NO_LAYER: u32 = u32::MAX;

/// The id of shapes that have none of their own.
const ANONYMOUS: u32 = 0;

/// A layer, counted from 1 (0 for none), and an index in it.
type Place = (u32, u32);

/// How many bindings are kept beside the last one of each program.
const KEPT: usize = 8192;

/// Where the inputs of a program are; expressions have few of them.
type Places = SmallVec<[Place; 4]>;

/// For programs, and the shapes of the layers of inputs they were given, where each of their inputs was found.
/// Of a fleet's clusters few have shapes of their own.
pub(super) type Bindings = HashMap<(u64, ShapeIds), Places>;

/// Where the inputs of one program were found when it was rendered last.
#[derive(Debug)]
pub(super) struct Bound {
    ids: ShapeIds,
    places: Places,
}

impl Default for Bound {
    fn default() -> Self {
        Self { ids: (ANONYMOUS, ANONYMOUS), places: Places::new() }
    }
}

impl Bound {
    /// Puts the values of the program's top-level inputs in front of `values`.
    #[inline]
    pub(super) fn bind<'r>(
        &mut self,
        known: &RefCell<Bindings>,
        program: &Program,
        inputs: Inputs<'r>,
        values: &mut [Value<'r>],
    ) {
        let layers = inputs.layers();
        let [over, base] = layers.map(|layer| layer.map_or(NO_LAYER, Map::shape_id));
        let ids = (over, base);
        if ids != self.ids || over == ANONYMOUS || base == ANONYMOUS {
            self.find(known, program, layers, ids);
        }
        for (&(layer, at), value) in self.places.iter().zip(values) {
            let layer = layers.get(layer.wrapping_sub(1) as usize).copied().flatten();
            *value = layer.and_then(|map| map.values().get(at as usize)).copied().unwrap_or_default();
        }
    }

    #[inline(never)]
    fn find(&mut self, known: &RefCell<Bindings>, program: &Program, layers: [Option<&Map<'_>>; 2], ids: ShapeIds) {
        let code = program.code();
        let places = || code.globals().iter().map(|&name| find(layers, code.str(name))).collect();
        // Most programs only ever see the shapes they see first: those are not worth keeping.
        let first = self.ids == (ANONYMOUS, ANONYMOUS);
        self.ids = ids;
        if first || ids.0 == ANONYMOUS || ids.1 == ANONYMOUS {
            self.places = places();
            return;
        }
        let mut known = known.borrow_mut();
        if known.len() >= KEPT {
            known.clear();
        }
        self.places.clone_from(known.entry((code.id(), ids)).or_insert_with(places));
    }
}

/// The layer that has `name`, and its index there.
fn find(layers: [Option<&Map<'_>>; 2], name: &str) -> Place {
    let found = (1..).zip(layers).find_map(|(layer, map)| Some((layer, map?.shape().find(name)?)));
    found.and_then(|(layer, at)| Some((layer, u32::try_from(at).ok()?))).unwrap_or((0, 0))
}
