//! JSON Schemas, compiled once.
//!
//! [`Schema::read`] compiles a schema in a [`Draft`] of JSON Schema, or in the subset for template values, and reports
//! every [`SchemaError`] with its JSON pointer. [`Schema::validate`] returns every [`Violation`] of a value. Work is
//! counted: the caller's `spend` receives each step and may stop the validation. [`Schemas`] are the schemas of several
//! values, which a program can carry as text.
//!
//! ```
//! use dropforge::schema::{Draft, Schema};
//! use dropforge::value::{Arena, Data, Value};
//! let schema: Data = serde_json::from_str(r#"{"type": "array", "items": {"type": "string"}}"#).unwrap();
//! let schema = Schema::read(&schema, Draft::Template).unwrap();
//! let arena = Arena::new();
//! let value = arena.list(&[arena.text("a"), Value::Int(1)]);
//! let found = schema.validate(value, 10, &mut |_| Ok::<(), ()>(())).unwrap();
//! assert_eq!(found[0].pointer, "/1");
//! assert_eq!(found[0].to_string(), "`[1]`: expected a string, found the integer 1 (type)");
//! ```

#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo, clippy::unimplemented)
)]

mod applicators;
mod compile;
mod defaults;
mod encoded;
mod formats;
mod keywords;
mod node;
mod references;
mod secrets;
mod types;
mod validate;
mod violation;

pub use encoded::Schemas;
pub use keywords::Draft;
pub use node::{Additional, Bound, Node, NodeId, Pattern, Schema, Sizes};
pub use references::{Documents, meta_schema};
pub use secrets::{allows_kind, each_secret, each_secret_name, each_text, has_secrets, is_secret, marks_secret};
pub use types::{Number, Types};
pub use validate::Findings;
pub use violation::{Detail, SchemaError, Violation};

#[cfg(test)]
mod tests;
