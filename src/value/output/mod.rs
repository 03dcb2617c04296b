//! Writes values in the supported output formats.
//!
//! Writers work on any [`Tree`]: values of a render, owned data, and documents that keep source spellings and tags.

mod buffer;
mod documents;
mod entries;
mod tree;

#[cfg(all(test, feature = "yaml"))]
mod tests;

pub(super) use buffer::Buffer;
pub use documents::{OutputFormat, QUOTED, write_documents, write_quoted, write_yaml};
pub use entries::MapEntries;
pub use tree::{Common, Key, Node, Sorted, Tree};
pub(super) use tree::{duplicate, non_finite};
