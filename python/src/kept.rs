//! Converted inputs that any number of threads read.
#![allow(unsafe_code)]

use dropforge::value::{Arena, InputBuilder, Inputs, Shapes};
use pyo3::prelude::*;
use self_cell::self_cell;

use crate::mapping::{Object, Unread};

self_cell!(
    struct OwnShapes {
        owner: Arena,
        #[not_covariant]
        dependent: Shapes,
    }
);

/// The memory of converted inputs.
struct Memory {
    values: Arena,
    shapes: OwnShapes,
}

self_cell!(
    struct Converted {
        owner: Memory,
        #[covariant]
        dependent: Inputs,
    }
);

/// Inputs that were converted once and never change.
pub struct Kept(Converted);

// SAFETY: The fields that are not `Send` and `Sync` by themselves are the arenas and the interner of shapes. They are
// written only by `Kept::new`, before a value of this type exists, and dropped with it. In between no method gives access
// to them: `Kept::get` returns the dependent alone, and `is_shared` shows that it may be read by any thread. Neither an
// arena nor an interner depends on the thread that drops it: they own memory of the global allocator and nothing else.
unsafe impl Send for Kept {}
// SAFETY: As above.
unsafe impl Sync for Kept {}

const fn is_shared<T: Send + Sync>() {}
const _: () = is_shared::<Inputs<'static>>();

impl Kept {
    /// Converts a mapping.
    pub fn new(mapping: &Bound<'_, PyAny>) -> Result<Self, Unread> {
        let memory = Memory { values: Arena::new(), shapes: OwnShapes::new(Arena::new(), |arena| Shapes::new(arena)) };
        let converted = Converted::try_new(memory, |memory| {
            memory.shapes.with_dependent(|_, shapes| {
                let builder = InputBuilder::new(&memory.values, shapes);
                builder.deserialize(Object::new(mapping)).map(Inputs::new)
            })
        });
        converted.map(Self)
    }

    /// Returns the inputs.
    pub fn get(&self) -> Inputs<'_> {
        *self.0.borrow_dependent()
    }
}
