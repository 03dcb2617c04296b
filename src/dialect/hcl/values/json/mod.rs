//! Values and types as JSON.

mod decode;
mod document;
mod encode;
mod escape;
#[cfg(test)]
mod tests;
mod types;

pub use decode::{decode, decode_implied};
pub use document::Json;
pub(crate) use encode::write_string;
pub use encode::{encode, encode_plain};
pub(crate) use escape::unescape;
pub use types::{decode_type, encode_type};
