//! Reads and writes YAML.
//!
//! [`read`] parses a source into documents of [`Node`]s by the YAML 1.2 core schema (`yes`, `no`, `on` and `off` are
//! text, `012` is twelve, dates are text). A node has a span, so that diagnostics can point at it; [`Node::to_data`]
//! returns the plain value. Duplicate keys, unknown tags and non-scalar keys are errors. Aliases and merge keys are
//! copies, counted and bounded.
//!
//! [`to_string`] and [`write()`] print a [`Data`](super::Data) so that no YAML 1.1 or 1.2 parser misreads a text:
//! whatever is not safe unquoted is quoted. They and [`write_documents`](super::write_documents) share one notation of
//! scalars.
//!
//! ```
//! use dropforge::limits::Limits;
//! use dropforge::text::Source;
//! use dropforge::value::yaml;
//! let source = Source::new("in.yaml", "a: [1, no, 0x10]\nb: {c: ~}\n");
//! let data = yaml::read_data(&source, &Limits::default()).unwrap();
//! assert_eq!(yaml::to_string(&data), "a:\n  - 1\n  - \"no\"\n  - 16\nb:\n  c: null\n");
//! ```

#[cfg_attr(not(feature = "yaml"), allow(dead_code))]
mod core_schema;
mod kyaml;
#[doc(hidden)]
pub mod libyaml;
mod node;
mod places;
mod quoted;
#[cfg(feature = "yaml")]
mod reader;
mod scalar;
mod write;

pub use node::{Entry, Kind, Node, Style};
pub use places::Places;
#[cfg(feature = "yaml")]
pub use reader::*;
pub use scalar::keeps_spelling;
pub use write::{to_string, write};

pub(super) use core_schema::is_own_name;
pub(super) use kyaml::Kyaml;
pub(super) use quoted::quoted;
pub(super) use scalar::{is_tag, is_word};
pub(super) use write::Yaml;
