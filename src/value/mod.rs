//! Values.
//!
//! A running program works on [`Value`]: `Copy`, 16 bytes, borrowing from the inputs, the program's pools or the
//! render's [`Arena`]. There are no reference counts and no drop glue, so a render in its steady state allocates
//! nothing. [`Data`] is the owned form, read from input files and returned to callers.
//!
//! Invariants:
//! * An integer that fits `i64` is a [`Value::Int`], except in a language with an unsigned integer type.
//! * No list or map is deeper than the depth limit it was built under, so recursion over values is bounded.
//! * Maps keep insertion order; their [`Shape`] also holds the sorted permutation.

mod arena;
mod borrowed;
mod data;
mod entries;
mod equal;
mod extended;
mod input_builder;
mod inputs;
mod json;
mod map;
mod output;
mod serializer;
mod text;
mod typed;
mod types;
pub mod yaml;

pub use arena::Arena;
pub use borrowed::{List, Value};
#[cfg(feature = "cel")]
pub(crate) use data::visit_scalars;
pub use data::{Data, DataMap};
pub(crate) use entries::EntryKey;
pub use entries::{BadKey, Entries};
pub use equal::equal;
pub use extended::{Capsule, CapsuleContent, Extended, Extension, Refinement, Unknown, Writing};
pub use input_builder::InputBuilder;
pub use inputs::Inputs;
pub use json::{JsonStyle, write_json};
pub use map::{Map, Shape, Shapes};
pub use output::{Key, MapEntries, Node, OutputFormat, Sorted, Tree, write_documents};
pub use text::Text;
pub(crate) use text::{BLOCK, Block, PADDING};
pub use typed::from_value;
pub(crate) use typed::{Coerce, Misfit, Path, Step, ValueDeserializer, add_name};
pub use types::{Attribute, Type};

pub use crate::stdlib::bignum::{BigNum, Layout};
