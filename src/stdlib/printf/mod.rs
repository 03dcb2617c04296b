//! Formats operands by a format with verbs: `%d`, `%-8s`, `%[2]*.[1]f`.
//!
//! Nothing is an error: a verb that does not fit its operand, a missing operand and an operand left over are told in the
//! result.
//!
//! | module | content |
//! |---|---|
//! | `format` | splits formats into literal text, flags, numbers and verbs |
//! | `flags` | flags, padding |
//! | `integers`, `floats`, `texts` | operands of one kind |
//! | `operands` | operands of any kind, and what they contain |

mod flags;
mod floats;
mod format;
mod integers;
mod operands;
mod texts;

#[cfg(test)]
mod tests;

use std::borrow::Cow;

pub use format::printf;

/// An operand.
pub trait Operand<'a>: Copy {
    /// Returns the content.
    fn content(self) -> Content<'a, Self>;

    /// Returns the name of the type.
    fn type_name(self) -> Cow<'a, str>;
}

/// The content of an operand.
#[derive(Debug, Clone)]
pub enum Content<'a, N> {
    /// Nothing.
    Nil,
    /// A boolean.
    Bool(bool),
    /// A signed integer.
    Signed(i64),
    /// An unsigned integer.
    Unsigned(u64),
    /// A float.
    Float(f64),
    /// Text, maybe not UTF-8.
    Text(Cow<'a, [u8]>),
    /// A list of octets.
    Octets(Cow<'a, [u8]>),
    /// A list.
    List(Vec<N>),
    /// A map, in output order.
    Map(Vec<(Cow<'a, str>, N)>),
    /// A value that formats itself as text.
    Shown(String),
}

/// The output. `grow` receives the number of bytes about to be written and may stop the formatting.
pub(super) struct Output<'o, G> {
    pub bytes: &'o mut Vec<u8>,
    pub grow: &'o mut G,
}

impl<E, G: FnMut(usize) -> Result<(), E>> Output<'_, G> {
    pub fn push(&mut self, text: &[u8]) -> Result<(), E> {
        (self.grow)(text.len())?;
        self.bytes.extend_from_slice(text);
        Ok(())
    }
}
