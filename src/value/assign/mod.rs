//! Assignments of the command line: `a.b=1,c={x,y}`, `a[0].b=2`, `\,` for a literal comma.
//!
//! An expression is parsed once into [`Assignment`]s, which then apply to any number of maps. Paths have at most 30 steps
//! and indexes at most 65,536; all indexes together skip at most 262,144 list items. [`Rules`] has the rules that
//! differ between users of the grammar.

mod apply;
mod assignment;
mod parse;

pub use apply::value_at;
pub use assignment::Action;
pub use assignment::{Assignment, Gaps, InputValue, MAX_GAPS, MAX_INDEX, MAX_NESTING, SetKind, Step, merge};
pub use parse::parse_set;
pub use parse::{Rules, parse_path, parse_set_in, set_to, typed};
