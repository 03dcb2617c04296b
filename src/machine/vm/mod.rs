//! The machine that runs programs: a stack VM over borrowed values, with one loop for every language.
//!
//! The loop is monomorphised over a language's [`Semantics`] and over [`Hooks`], and polls no flag. It reads words and
//! borrowed data and appends to one output buffer. Every error leaves the loop through `unwind`, where a handler absorbs
//! it or it gets its position in the source.

mod access;
mod calls;
#[cfg(feature = "checked")]
mod checked;
mod dispatch;
mod gather;
mod hooks;
mod machine;
mod made;
mod memory;
mod output;
mod paths;
mod probing;
mod run;
mod semantics;
mod units;
mod unwind;

pub use calls::{call_builtin, refused_calls};
#[cfg(feature = "checked")]
pub use checked::{Audit, Transition, answer_checked, run_checked};
pub use hooks::{Beginning, Contents, Heights, Hooks, Moment, NoHooks, Observer};
pub use memory::Space;
pub use output::Output;
pub(crate) use probing::Probing;
pub(crate) use run::ended;
pub use run::{Evaluation, Evaluator, Run, Session, answer, evaluate, run, value};
pub use semantics::{Form, Items, Logic, Missing, Semantics};
pub(crate) use unwind::note_of_name;

#[cfg(test)]
mod named_tests;
#[cfg(test)]
mod tests;
