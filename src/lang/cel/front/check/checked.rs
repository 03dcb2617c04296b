//! The result of a check.

use std::sync::Arc;

use super::types::{Kind, TypeId, Types};
use crate::syntax::tree::ExprId;

/// The meaning of a name or a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reference {
    /// A variable of a comprehension.
    Local,
    /// A declared variable, by its full name.
    Variable(Arc<str>),
    /// A type as a value.
    Type(TypeId),
    /// A call of a function.
    Function {
        /// The full name of the function.
        name: Arc<str>,
        /// The overloads that the arguments may match. Empty for a function that takes any arguments.
        overloads: Vec<Arc<str>>,
        /// Set for a member function. Otherwise the expression before the dot is a part of the name.
        member: bool,
    },
}

/// The types and references of an expression.
#[derive(Debug, Clone)]
pub struct Checked {
    pub(super) types: Types,
    pub(super) of: Vec<TypeId>,
    pub(super) references: Vec<Option<Reference>>,
    pub(super) root: ExprId,
}

impl Checked {
    /// Returns the types.
    pub fn types(&self) -> &Types {
        &self.types
    }

    /// Returns the type of an expression; `dyn` for one that was not checked, such as the name of a namespace.
    pub fn type_of(&self, id: ExprId) -> TypeId {
        self.of.get(id.index()).copied().unwrap_or(Types::DYN)
    }

    /// Returns the kind of an expression's type.
    pub fn kind_of(&self, id: ExprId) -> &Kind {
        self.types.kind(self.type_of(id))
    }

    /// Returns the meaning of a name or a call.
    pub fn reference(&self, id: ExprId) -> Option<&Reference> {
        self.references.get(id.index())?.as_ref()
    }

    /// Returns the overloads that a call may dispatch to.
    pub fn overloads(&self, id: ExprId) -> &[Arc<str>] {
        match self.reference(id) {
            Some(Reference::Function { overloads, .. }) => overloads,
            _ => &[],
        }
    }

    /// Returns the type of the whole expression.
    pub fn result(&self) -> TypeId {
        self.type_of(self.root)
    }

    /// Returns the type of the whole expression as text.
    pub fn result_text(&self) -> String {
        self.types.text(self.result())
    }
}
