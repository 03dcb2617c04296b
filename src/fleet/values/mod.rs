//! Values from the command line: the grammar of Helm's `--set` options, and the deep merge of `-f` files.
//!
//! An expression is parsed once into [`Assignment`]s, which then apply to any number of maps: a `--set` changes the
//! shared inputs and those of every cluster that overrides the same top-level key.
//!
//! The grammar is Helm's: `a.b=1,c={x,y}`, `a[0].b=2`, `\,` for a literal comma. Paths have at most 30 steps and
//! indexes at most 65,536; all indexes together skip at most 262,144 list items. `null` deletes a key.

mod column;
mod environment;

pub(super) use column::{Column, conflicts};
pub use environment::from_environment;

pub use dropforge_value::assign::{
    Assignment, Gaps, MAX_GAPS, MAX_INDEX, MAX_NESTING, SetKind, Step, merge, parse_set,
};
pub(super) use dropforge_value::assign::{typed, value_at};

#[cfg(test)]
mod tests;
