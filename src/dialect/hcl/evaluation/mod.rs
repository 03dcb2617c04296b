//! Evaluation steps whose errors are notes.
//!
//! The functions of [`values`](super::values) fail with a fault. Those here note a fault as a diagnostic and continue
//! with a recovery value. The machine calls them through [`Rules`](super::Rules), and lowering through intrinsics.

mod iteration;
mod logic;
mod notes;
mod operators;
mod text;

pub(super) use iteration::{condition, is_iterable, items, loop_value};
pub(super) use logic::logic;
pub(super) use notes::{
    contains_faulty, drop_errors, has_errors, is_faulty, mark_union, note_error, note_index, note_unanswered,
    ok_or_note,
};
pub(super) use operators::{binary, unary};
pub(super) use text::{interpolated, join, literal_number};
