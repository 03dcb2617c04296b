//! Converted inputs that any number of threads read.
#![allow(unsafe_code)]

use std::sync::{Arc, Mutex};

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

/// An interner of the keys of inputs. Inputs share it, so that programs find the values of the next ones where they found
/// those of the last.
struct Interner(OwnShapes);

/// The memory of converted inputs.
struct Memory {
    values: Arena,
    interner: Arc<Interner>,
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

// SAFETY: An interner is written only by `convert`, and only by whoever holds the lock of `CURRENT` or has just created it:
// see `Kept::new`. What it has returned before are shapes, which never change or move, and other threads only read these.
// It is dropped with its last user. It owns memory of the global allocator and nothing else, so any thread may drop it.
unsafe impl Send for Interner {}
// SAFETY: As above.
unsafe impl Sync for Interner {}

// SAFETY: The arena of the values is the only other field that is not `Sync` by itself. It is written only by `convert`,
// before a value of this type exists, and dropped with it. In between no method gives access to it: `Kept::get` returns
// the dependent alone, and `is_shared` shows that any thread may read that.
unsafe impl Send for Kept {}
// SAFETY: As above.
unsafe impl Sync for Kept {}

const fn is_shared<T: Send + Sync>() {}
const _: () = is_shared::<Inputs<'static>>();

/// The interner of new inputs.
static CURRENT: Mutex<Option<Arc<Interner>>> = Mutex::new(None);

/// The memory of an interner after which another one takes its place. Its table is not yet full then.
const INTERNED: usize = 400 << 10;

impl Kept {
    /// Converts a mapping.
    pub fn new(mapping: &Bound<'_, PyAny>) -> Result<Self, Unread> {
        // The mapping may have code of its own, which converts another one or lets another thread run. Nobody waits here
        // for the lock.
        let Ok(mut current) = CURRENT.try_lock() else { return convert(mapping, Arc::new(Interner::new())) };
        let interner = match current.take() {
            Some(interner) if interner.bytes() < INTERNED => interner,
            _ => Arc::new(Interner::new()),
        };
        *current = Some(interner.clone());
        convert(mapping, interner)
    }

    /// Returns the inputs.
    pub fn get(&self) -> Inputs<'_> {
        *self.0.borrow_dependent()
    }
}

impl Interner {
    fn new() -> Self {
        Self(OwnShapes::new(Arena::new(), |arena| Shapes::new(arena)))
    }

    fn bytes(&self) -> usize {
        self.0.borrow_owner().allocated_bytes()
    }
}

/// Converts a mapping. Nobody else may convert with this interner meanwhile.
fn convert(mapping: &Bound<'_, PyAny>, interner: Arc<Interner>) -> Result<Kept, Unread> {
    let converted = Converted::try_new(Memory { values: Arena::new(), interner }, |memory| {
        memory.interner.0.with_dependent(|_, shapes| {
            let builder = InputBuilder::new(&memory.values, shapes);
            builder.deserialize(Object::new(mapping)).map(Inputs::new)
        })
    });
    converted.map(Kept)
}
