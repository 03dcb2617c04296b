//! Checks an expression before it runs: what its names mean, which overloads its calls may be, and the type of
//! everything in it.
//!
//! An [`Environment`] says what there is; [`check`] walks the expanded tree once and reports everything that is wrong.
//! Types that cannot be known are `dyn`, and what is `dyn` fits everywhere: its type shows when the expression runs.

mod aggregates;
mod calls;
mod checker;
pub mod cost;

mod environment;
mod literals;
mod report;
mod schema;
#[cfg(test)]
mod tests;
mod text;
mod types;
mod unify;

use std::sync::Arc;

pub(super) use checker::check_one_of_many;
pub use checker::{Options, check, check_with};
pub use environment::{Declared, Environment};
pub use report::excerpts;
pub use types::{Kind, Object, TypeId, Types};

use crate::dialect::cel::syntax::tree::ExprId;

/// What a name in an expression stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reference {
    /// A variable of a loop or a binding around it.
    Local,
    /// A declared variable, by its whole name.
    Variable(Arc<str>),
    /// A type as a value.
    Type(TypeId),
    /// A call of a function.
    Function {
        /// The whole name of the function.
        name: Arc<str>,
        /// The overloads that the call may be, by what is known of its arguments; none where the function takes any.
        overloads: Vec<Arc<str>>,
        /// Whether it is called on a receiver. Where it is not, what stands before the dot is a part of the name.
        member: bool,
    },
}

/// What is known of an expression.
#[derive(Debug, Clone)]
pub struct Checked {
    types: Types,
    of: Vec<TypeId>,
    references: Vec<Option<Reference>>,
    root: ExprId,
}

impl Checked {
    /// The types that are named in it.
    pub fn types(&self) -> &Types {
        &self.types
    }

    /// The type of an expression; any where it was not looked at, such as the name of a namespace.
    pub fn type_of(&self, id: ExprId) -> TypeId {
        self.of.get(id.index()).copied().unwrap_or(Types::DYN)
    }

    /// What kind of type an expression has.
    pub fn kind_of(&self, id: ExprId) -> &Kind {
        self.types.kind(self.type_of(id))
    }

    /// What the name that an expression is, or the call, stands for.
    pub fn reference(&self, id: ExprId) -> Option<&Reference> {
        self.references.get(id.index())?.as_ref()
    }

    /// The overloads that a call may be.
    pub fn overloads(&self, id: ExprId) -> &[Arc<str>] {
        match self.reference(id) {
            Some(Reference::Function { overloads, .. }) => overloads,
            _ => &[],
        }
    }

    /// The type of the whole.
    pub fn result(&self) -> TypeId {
        self.type_of(self.root)
    }

    /// The type of the whole as text.
    pub fn result_text(&self) -> String {
        self.types.text(self.result())
    }
}
