//! Conversion of values to types.

mod exists;
mod fits;
mod structures;
#[cfg(test)]
mod tests;
mod unknown;
mod value;

pub use exists::conversion_exists;
pub use fits::fits;
pub(super) use structures::uniform;
pub use value::convert;
