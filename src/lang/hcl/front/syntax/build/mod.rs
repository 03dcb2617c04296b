//! The actions of the grammar. They add complete nodes to the tree. Elements of open lists wait on stacks that all lists
//! of a kind share, the inner lists above the outer ones.

mod actions;
mod body;
mod chain;
mod template;

pub(super) use actions::Origin;
pub use actions::{Build, Callee, ForNames, ForParts, MISSING_NAME, MISSING_PAREN};
pub use body::{Argument, Header};
pub use chain::Chain;
pub(crate) use chain::MISSING_ATTRIBUTE;
pub use template::PartKind;
pub(super) use template::is_number;
