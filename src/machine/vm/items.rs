//! The items of a loop, and the state of a running loop.

use crate::bytecode::LoopField;
use dropforge_value::{Map, Value};

/// The items of a loop.
#[derive(Debug, Clone, Copy)]
pub enum Items<'v> {
    /// The items of a list.
    List(&'v [Value<'v>]),
    /// The entries of a map in the byte order of its keys.
    Sorted(&'v Map<'v>),
    /// The items of a list, each with its index.
    Indexed(&'v [Value<'v>]),
    /// The entries of a map in insertion order.
    Entries(&'v Map<'v>),
    /// Keys and values.
    Pairs(&'v [[Value<'v>; 2]]),
    /// The integers from 0 up to a number, each with itself as its index.
    Numbers(usize),
}

impl Items<'_> {
    pub(super) fn len(&self) -> usize {
        match self {
            Items::List(items) | Items::Indexed(items) => items.len(),
            Items::Sorted(map) | Items::Entries(map) => map.len(),
            Items::Pairs(pairs) => pairs.len(),
            Items::Numbers(count) => *count,
        }
    }
}

/// A running loop.
#[derive(Debug, Clone, Copy)]
pub(super) struct Loop<'v> {
    pub items: Items<'v>,
    /// The number of items started.
    pub begun: usize,
    pub len: usize,
}

impl<'v> Loop<'v> {
    #[inline]
    pub fn field(&self, field: LoopField) -> Value<'v> {
        match field {
            LoopField::Index => Value::uint(self.begun as u64),
            LoopField::Index0 => Value::uint(self.begun.saturating_sub(1) as u64),
            LoopField::First => Value::Bool(self.begun == 1),
            LoopField::Last => Value::Bool(self.begun == self.len),
        }
    }
}
