//! The machine that runs programs: a stack VM over borrowed values, with one loop for every language.
//!
//! The loop is monomorphised over a language's [`Semantics`] and over [`Hooks`], and polls no flag. It reads words and
//! borrowed data and appends to one output buffer. Every error leaves the loop through `unwind`, where a handler absorbs
//! it or it gets its position in the source.

mod access;
#[cfg(feature = "checked")]
mod audit;
mod calls;
mod changes;
#[cfg(feature = "checked")]
mod checked;
mod dispatch;
mod evaluate;
mod gather;
mod hooks;
mod inputs;
mod items;
mod loops;
mod machine;
mod made;
mod memory;
mod named;
mod output;
mod paths;
mod probing;
mod run;
mod semantics;
mod session;
mod space;
mod units;
mod unwind;

#[cfg(test)]
mod named_tests;
#[cfg(test)]
mod tests;

#[cfg(feature = "checked")]
pub use audit::{Audit, Transition};
pub use calls::call_builtin;
#[cfg(feature = "checked")]
pub use checked::{answer_checked, run_checked};
pub use evaluate::{Evaluation, Evaluator, evaluate, value};
pub use hooks::{Beginning, Contents, Heights, Hooks, Moment, NoHooks, Observer};
pub use items::Items;
pub use output::Output;
pub use probing::Probing;
pub use run::Run;
pub use semantics::{Form, Logic, Missing, Semantics};
pub use session::{Session, answer, ended, run};
pub use space::Space;
pub(crate) use unwind::note_of_name;
