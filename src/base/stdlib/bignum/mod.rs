//! Binary floating-point numbers of up to 512 bits with the semantics of Go's `big.Float`: sign, significand, exponent,
//! and a precision that a result inherits from its operands (the larger one). Rounding is to nearest, ties to even.
//! No number is NaN. Operations whose result is undefined return `None`.
//!
//! This is our own implementation because no crate rounds like `big.Float`, whose last digits are visible in output.

mod arithmetic;
mod digits;
mod limbs;
mod number;
mod parse;
#[cfg(test)]
mod tests;
mod text;

pub use number::{BigNum, FULL, MACHINE};
use number::{Form, LIMBS};
pub use text::Layout;
