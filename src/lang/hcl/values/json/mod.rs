//! Values and types as JSON.

mod decode;
mod encode;
mod parser;
#[cfg(test)]
mod tests;

pub use decode::{decode, decode_implied, decode_type, encode_type};
pub use encode::push_quoted;
pub use encode::{encode, encode_plain, write_string};
pub use parser::Json;
pub use parser::unescape;
