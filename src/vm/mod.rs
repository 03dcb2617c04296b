//! The machine that runs programs: a stack VM over borrowed values, one loop for every language.
//!
//! The loop is monomorphised over a language's [`Semantics`] and over [`Hooks`]; it polls no flag. Rendering
//! looks at words, reads borrowed data and appends to one output buffer. Errors leave the loop through one
//! door, where a handler absorbs them or they are placed in the source.

mod access;
mod bind;
mod calls;
mod dispatch;
mod evaluate;
mod gather;
mod kept;
mod loops;
mod machine;
mod output;
mod paths;
mod semantics;
mod session;
mod unwind;

#[cfg(all(test, feature = "compile"))]
mod tests;

pub use dispatch::{Hooks, NoHooks};
pub use evaluate::{Answer, Evaluator, Space, evaluate, value};
pub use loops::Items;
pub use output::Output;
pub use semantics::{Form, Logic, Missing, Semantics};
pub use session::{Run, Session, answer, answer_checked, run, run_checked};
