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

#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo, clippy::unimplemented)
)]

#[cfg(feature = "arrow-rows")]
mod arrow;
pub mod assign;
mod borrowed;
mod context;
mod data;
mod entries;
mod extended;
mod input_builder;
mod inputs;
mod json;
mod json_items;
mod json_lexer;
mod json_mistakes;
mod long_numbers;
mod map;
#[doc(hidden)]
pub mod marshal;
mod mistake;
mod numbers;
mod outline;
mod output;
mod path;
mod read_json;
pub mod read_paths;
mod scan;
mod serialize_key;
mod serializer;
mod typed;
mod types;
pub mod yaml;

#[cfg(feature = "arrow-rows")]
pub use arrow::ArrowRows;
#[doc(hidden)]
pub use borrowed::equal;
pub use borrowed::{BLOCK, Block, PADDING};
pub use borrowed::{List, Text, Value};
pub use context::{InputEntries, InputEntry, NoInputs};
pub use data::{Data, DataMap};
pub use entries::EntryKey;
#[doc(hidden)]
pub use entries::{BadKey, Entries};
#[doc(hidden)]
pub use extended::{Capsule, CapsuleContent, Extended, Extension, Refinement, Sized, Unknown, Width, Writing};
pub use input_builder::InputBuilder;
pub use inputs::{Arena, InputSpace, Inputs};
pub use json::{JsonStyle, write_json};
pub use json_items::JsonItems;
pub use json_lexer::{JsonPart, json_entries, json_maps, json_parts};
#[doc(hidden)]
pub use long_numbers::narrowed_number;
pub use map::{Map, Shape, Shapes};
#[doc(hidden)]
pub use mistake::Mistake;
#[doc(hidden)]
pub use numbers::Numbers;
pub use output::OutputFormat;
#[doc(hidden)]
pub use output::{ByKey, Key, MapEntries, Tree, TreeNode, View, Viewed, write_documents};
pub use output::{QUOTED, write_quoted, write_yaml};
pub use path::{Step, add_name, node_at, value_at};
pub use read_json::check_json;
#[doc(hidden)]
pub use read_json::{json_failure, json_mistake};
pub use read_paths::{ReadPaths, ReadPosition};
pub use scan::{Mark, Scanner, find_word, word_at, word_of_entry};
pub use typed::{Coerce, Misfit, ValueDeserializer, from_argument, from_value};
#[doc(hidden)]
pub use types::{Attribute, Type};

#[doc(hidden)]
pub use dropforge_base::stdlib::bignum::{BigNum, Layout};
