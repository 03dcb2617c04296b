//! Values from the command line: the grammar of Helm's `--set` options, and the deep merge of `-f` files.
//!
//! An expression is parsed once into [`Assignment`]s, which then apply to any number of maps: a `--set` changes the
//! shared inputs and those of every cluster that overrides the same top-level key.
//!
//! The grammar is Helm's: `a.b=1,c={x,y}`, `a[0].b=2`, `\,` for a literal comma. Paths have at most 30 steps and
//! indexes at most 65,536; all indexes together skip at most 262,144 list items. `null` deletes a key.

mod apply;
mod assignment;
mod column;
mod environment;
mod parse;

pub(super) use apply::value_at;
pub use assignment::{Assignment, Gaps, MAX_GAPS, MAX_INDEX, MAX_NESTING, SetKind, Step, merge};
pub(super) use column::{Column, conflicts};
pub use environment::from_environment;
pub use parse::parse_set;
pub(super) use parse::typed;

#[cfg(test)]
mod tests;
