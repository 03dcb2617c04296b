//! Values and types as JSON.

mod decode;
mod encode;
mod escape;
mod parser;
#[cfg(test)]
mod tests;
mod types;

pub use decode::{decode, decode_implied};
pub use encode::{encode, encode_plain, write_string};
pub(crate) use escape::unescape;
pub use parser::Json;
pub use types::{decode_type, encode_type};
