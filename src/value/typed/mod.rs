//! Deserializes values into Rust types through serde, for all languages.
//!
//! | value | Rust type |
//! |---|---|
//! | null, boolean, number, text, list, map | the same; text is borrowed |
//! | number of any precision | the first of `i64`, `u64` and `f64` that fits |
//! | optional | an `Option`, or the value itself; `None` if it is absent |
//! | bytes | bytes, or a sequence of `u8` |
//! | timestamp | its RFC 3339 text, or a [`SystemTime`](std::time::SystemTime) |
//! | duration | its text in seconds (`"90s"`), or a [`Duration`](std::time::Duration) |
//! | type, capsule of the engine | its text |
//! | map with keys other than text | the keys, or their texts if text is requested |
//!
//! Marks are removed, and marked values do not appear in errors. Values are converted only if their language does so
//! implicitly.

mod access;
mod coerce;
mod de;
mod error;
#[cfg(test)]
mod tests;

pub use coerce::from_value;
pub use coerce::{Coerce, Misfit};
pub use de::ValueDeserializer;
pub use error::{Path, Step, add_name};
