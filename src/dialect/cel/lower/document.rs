//! Names that the document around an expression defines.

use crate::bytecode::Failure;

/// The document that contains an expression.
pub(in crate::dialect::cel) trait Document {
    /// Returns the meaning of a name that the expression does not bind.
    fn outside(&self, name: &str) -> Outside;
}

/// The meaning of a name in a document.
pub(in crate::dialect::cel) enum Outside {
    /// The value of a slot.
    Slot(u32),
    /// Whatever the names of the expression say.
    Input,
    /// No variable; possibly a type or a namespace.
    Nowhere(Box<Failure>),
}
