//! The actions of the grammar. They allocate nodes in the arena and check rules that involve more than one token.
//!
//! | file | content |
//! |---|---|
//! | `state` | the arena and the lists under construction |
//! | `nodes` | statements and blocks |
//! | `operands` | expressions under construction and their level of the language |
//! | `expressions` | operands, calls, conditions |
//! | `chain` | chains of operands: concatenation and arithmetic |
//! | `path` | the steps of a path |
//! | `lists` | lists during parsing |

mod chain;
mod expressions;
mod lists;
mod nodes;
mod operands;
mod path;
mod state;

pub use operands::{Item, Link, Truth};
pub use state::Build;
