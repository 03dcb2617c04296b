//! Names that an expression does not bind itself.

use std::borrow::Cow;

use super::document::Outside;
use super::lowering::Lower;
use crate::resolution::Resolution;
use crate::syntax::qualified::QualifiedName;
use dropforge_base::diagnostics::Code;
use dropforge_machine::bytecode::Failure;

/// The meaning of a qualified name in an expression.
pub(super) enum Meaning<'n> {
    /// The value of a slot. The rest of the parts, so many, are fields.
    Slot(u32, usize),
    /// An input. The rest of the parts, so many, are fields.
    Input(Cow<'n, str>, usize),
    /// The input of the first part, or this type if there is no such input.
    InputOrType(&'static str),
    /// A type.
    Type(&'static str),
    /// Nothing: this is the error.
    Undeclared(Box<Failure>),
}

impl Lower<'_, '_> {
    /// Resolves a qualified name: first a local variable, then the document, then an input, then a type.
    pub(super) fn meaning<'n>(&self, name: &QualifiedName<'n>) -> Meaning<'n> {
        if let Some(slot) = name.local().and_then(|name| self.local(name)) {
            return Meaning::Slot(slot, name.fields());
        }
        let outside = match (self.document, name.parts.first()) {
            (Some(document), Some(first)) => document.outside(first),
            _ => Outside::Input,
        };
        let open = self.names.declared.is_none();
        match (outside, self.names.resolve(&name.parts, name.rooted)) {
            (Outside::Slot(slot), _) => Meaning::Slot(slot, name.fields()),
            (Outside::Nowhere(failure), Resolution::Variable(..) | Resolution::Undeclared) => {
                Meaning::Undeclared(failure)
            }
            (Outside::Input, Resolution::Type(ty)) if open => Meaning::InputOrType(ty),
            (_, Resolution::Type(ty)) => Meaning::Type(ty),
            (Outside::Input, Resolution::Variable(name, fields)) => Meaning::Input(name, fields),
            (Outside::Input, Resolution::Undeclared) => Meaning::Undeclared(Box::new(Failure {
                code: Code::UndefinedVariable,
                message: format!("undeclared reference to '{}'", name.text()),
                available: None,
                help: None,
            })),
        }
    }
}
