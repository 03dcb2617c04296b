//! Names that the document around an expression defines.

use dropforge_machine::bytecode::Failure;

/// The document that contains an expression.
pub trait Document {
    /// Returns the meaning of a name that the expression does not bind.
    fn outside(&self, name: &str) -> Outside;
}

/// The meaning of a name in a document.
pub enum Outside {
    /// The value of a slot.
    Slot(u32),
    /// Whatever the names of the expression say.
    Input,
    /// No variable; possibly a type or a namespace.
    Nowhere(Box<Failure>),
}
