//! CEL values, and the operations of operators and conversions on them.
//!
//! | type | value |
//! |---|---|
//! | `null_type`, `bool`, `int`, `double`, `string`, `list` | the plain value of that kind |
//! | `uint` | [`Value::Uint`], however small |
//! | `map` | [`Value::Map`] if every key is a string, otherwise [`Extended::Entries`] |
//! | `bytes`, `type`, `optional_type` | [`Extended::Bytes`], [`Extended::Named`], [`Extended::Optional`] |
//! | `google.protobuf.Timestamp`, `google.protobuf.Duration` | [`Extended::Timestamp`], [`Extended::Duration`] |
//! | any other | [`Extended::Capsule`], by its type name |
//!
//! Operations take a [`Cx`] where their work grows with the values, and spend steps before they start. Compiled operators
//! and the function tables share them.

pub mod access;
pub(crate) mod arithmetic;
pub(crate) mod capsules;
pub mod compare;
pub mod convert;
pub(crate) mod declared;
pub(crate) mod errors;
pub mod maps;
pub(crate) mod optional;
pub mod text;
pub mod time;
mod types;
pub(crate) mod written;

pub use types::{DURATION, TIMESTAMP, as_bytes, as_optional, byte_len, type_name, type_named, type_names};

#[cfg(doc)]
use dropforge_machine::function::Cx;
#[cfg(doc)]
use dropforge_value::{Extended, Value};
