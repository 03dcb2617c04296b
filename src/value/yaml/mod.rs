//! YAML in and out.
//!
//! In: [`read`] turns a source into documents of [`Node`]s by the YAML 1.2 core schema (`yes`, `no`, `on` and
//! `off` are text, `012` is twelve, dates are text). A node knows its place in the file, so that whoever
//! finds a fault in a value can point at it; [`Node::to_data`] gives the plain value. Duplicate keys, unknown
//! tags and keys that are not scalars are errors; aliases and merge keys are copies, counted and bounded.
//!
//! Out: [`to_string`] and [`write()`] print a [`Data`](super::Data) so that no reader of YAML 1.1 or 1.2 takes
//! a text for something else: whatever is not safe without quotes is quoted. They and the formats of
//! [`write_documents`](super::write_documents) share one way of writing scalars.
//!
//! ```
//! # #[cfg(feature = "yaml")] {
//! use dropforge::limits::Limits;
//! use dropforge::text::Source;
//! use dropforge::value::yaml;
//! let source = Source::new("in.yaml", "a: [1, no, 0x10]\nb: {c: ~}\n");
//! let data = yaml::read_data(&source, &Limits::default()).unwrap();
//! assert_eq!(yaml::to_string(&data), "a:\n  - 1\n  - \"no\"\n  - 16\nb:\n  c: null\n");
//! # }
//! ```

mod kyaml;
#[cfg(feature = "yaml")]
mod merge;
#[cfg(feature = "yaml")]
mod node;
#[cfg(feature = "yaml")]
mod places;
mod quoted;
#[cfg(feature = "yaml")]
mod read;
mod scalar;
#[cfg(feature = "yaml")]
mod schema;
mod write;

#[cfg(all(test, feature = "yaml"))]
mod tests;

#[cfg(feature = "yaml")]
pub use node::{Entry, Kind, Node, Style};
#[cfg(feature = "yaml")]
pub use places::Places;
#[cfg(feature = "yaml")]
pub use read::{Tags, read, read_data, read_one, read_with};
pub use scalar::keeps_spelling;
pub use write::{to_string, write};

pub(super) use kyaml::Kyaml;
pub(super) use scalar::{is_tag, is_word};
pub(super) use write::Yaml;
