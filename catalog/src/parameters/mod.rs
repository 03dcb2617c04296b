//! Parameters and the JSON Schema that describes them.
//!
//! A schema without `$schema` is read as draft 7, and formats are asserted. A `$ref` stays within the document: nothing
//! is read from files or the network. Patterns run in linear time, so look-around and back-references are not
//! supported. Schemas and validation are limited in size, depth and steps.

mod defaults;
mod json;
mod markers;
mod messages;
mod schema;
mod secrets;
pub(super) mod subschemas;
#[cfg(test)]
mod tests;
mod validate;
mod violation;

pub use json::{PARAMETERS_BYTES, read};
pub use schema::Schema;
pub use secrets::REDACTED;
pub(crate) use secrets::{Secrets, member};
pub use violation::{Violation, Violations};
