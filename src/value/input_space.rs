//! Memory for inputs that is kept between renders.

use self_cell::self_cell;

use super::{Arena, InputBuilder, Shapes};

/// Maximum memory kept for values, and for shapes, in bytes.
const KEPT: usize = 1 << 20;

self_cell!(
    struct OwnShapes {
        owner: Arena,
        #[not_covariant]
        dependent: Shapes,
    }
);

impl Default for OwnShapes {
    fn default() -> Self {
        Self::new(Arena::new(), |arena| Shapes::new(arena))
    }
}

/// The memory of the inputs of one render after another. It remembers their keys, so that similar inputs are converted
/// faster and read sites find their values again.
///
/// ```
/// use dropforge::value::InputSpace;
/// let mut space = InputSpace::default();
/// let lengths = [3, 5].map(|n| space.with(|builder| builder.serialize(&vec![1; n]).unwrap().as_list().unwrap().len()));
/// assert_eq!(lengths, [3, 5]);
/// ```
#[derive(Default)]
pub struct InputSpace {
    values: Arena,
    shapes: OwnShapes,
}

impl InputSpace {
    /// Drops all values and calls `work` with a builder of new ones.
    pub fn with<'s, R>(&'s mut self, work: impl for<'w> FnOnce(&InputBuilder<'s, 'w>) -> R) -> R {
        if self.values.allocated_bytes() > KEPT {
            self.values = Arena::new();
        }
        self.values.reset();
        if self.shapes.with_dependent(|arena, shapes| shapes.is_full() || arena.allocated_bytes() > KEPT) {
            self.shapes = OwnShapes::default();
        }
        let Self { values, shapes } = self;
        shapes.with_dependent(|_, shapes| work(&InputBuilder::new(values, shapes)))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn memory_is_bounded_whatever_the_keys() {
        let mut space = InputSpace::default();
        for round in 0..400 {
            let map: BTreeMap<String, u32> =
                (0..100).map(|at| (format!("{round}-{at}-{}", "k".repeat(100)), at)).collect();
            let sum: i64 = space.with(|builder| {
                let value = builder.serialize(&map).unwrap();
                let values = value.as_map().unwrap().values().iter();
                values.map(|value| if let super::super::Value::Int(n) = value { *n } else { 0 }).sum()
            });
            assert_eq!(sum, (0..100).sum::<i64>());
            let kept = space.shapes.with_dependent(|arena, _| arena.allocated_bytes());
            assert!(kept < 4 * KEPT, "{kept}");
        }
    }
}
