//! Binding of a program's top-level inputs.

use std::cell::RefCell;

use hashbrown::HashMap;
use smallvec::SmallVec;

use crate::bytecode::Program;
use dropforge_value::{Inputs, Map, Value};

/// The shape ids of both layers, the overriding one first; [`NO_LAYER`] for a missing layer.
type ShapeIds = (u32, u32);

/// No shape has this id.
const NO_LAYER: u32 = u32::MAX;

/// The id shared by shapes without one of their own.
const ANONYMOUS: u32 = 0;

/// The position of an input: a layer, counted from 1 (0 for none), and an index in it.
type Position = (u32, u32);

/// Maximum number of bindings kept besides the last one of each program.
const BINDINGS: usize = 8192;

/// The positions of a program's inputs. Expressions have few of them.
type Positions = SmallVec<[Position; 4]>;

/// The positions of inputs, by program and layer shapes. Few clusters of a fleet have shapes of their own.
pub(super) type Bindings = HashMap<(u64, ShapeIds), Positions>;

/// The positions of one program's inputs in its last run.
#[derive(Debug)]
pub(super) struct Bound {
    ids: ShapeIds,
    positions: Positions,
}

impl Default for Bound {
    fn default() -> Self {
        Self { ids: (ANONYMOUS, ANONYMOUS), positions: Positions::new() }
    }
}

impl Bound {
    /// Copies the program's top-level inputs to the front of `values`.
    #[inline]
    pub(super) fn bind<'r>(
        &mut self,
        bindings: &RefCell<Bindings>,
        program: &Program,
        inputs: Inputs<'r>,
        values: &mut [Value<'r>],
    ) {
        let layers = inputs.layers();
        let id = |layer: Option<&Map<'_>>| layer.map_or(NO_LAYER, Map::shape_id);
        let (over, base) = (id(layers[0]), id(layers[1]));
        let ids = (over, base);
        if ids != self.ids || over == ANONYMOUS || base == ANONYMOUS {
            self.find(bindings, program, layers, ids);
        }
        let positions = self.positions.as_slice();
        let Some(values) = values.get_mut(..positions.len()) else { return };
        for nth in 0..positions.len() {
            let (layer, at) = positions[nth];
            let layer = layers.get(layer.wrapping_sub(1) as usize).copied().flatten();
            values[nth] = layer.and_then(|map| map.values().get(at as usize)).copied().unwrap_or_default();
        }
    }

    #[inline(never)]
    fn find(&mut self, bindings: &RefCell<Bindings>, program: &Program, layers: [Option<&Map<'_>>; 2], ids: ShapeIds) {
        let code = program.code();
        let positions = || code.globals().iter().map(|&name| find(layers, code.str(name))).collect();
        // Most programs only see the shapes of their first run. Those are not worth keeping.
        let first = self.ids == (ANONYMOUS, ANONYMOUS);
        self.ids = ids;
        if first || ids.0 == ANONYMOUS || ids.1 == ANONYMOUS {
            self.positions = positions();
            return;
        }
        let mut bindings = bindings.borrow_mut();
        if bindings.len() >= BINDINGS {
            bindings.clear();
        }
        self.positions.clone_from(bindings.entry((code.id(), ids)).or_insert_with(positions));
    }
}

/// Finds the first layer with `name`.
fn find(layers: [Option<&Map<'_>>; 2], name: &str) -> Position {
    let found = (1..).zip(layers).find_map(|(layer, map)| Some((layer, map?.shape().find(name)?)));
    found.and_then(|(layer, at)| Some((layer, u32::try_from(at).ok()?))).unwrap_or((0, 0))
}
