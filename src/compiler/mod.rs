//! The compiler's back half: an [`Emitter`] that languages lower to.
//!
//! It speaks constructs (text, paths, loops, calls, protected expressions), patches jumps, tracks the height
//! of the stack, coalesces text, folds constants and keeps the span table. It knows no language: how two
//! constants combine and how a constant becomes text is asked of the [`Fold`] that the language brings.

mod emitter;
mod fold;
mod paths;
mod tables;
mod unit;

pub use emitter::{Emitter, Label, LoopMark, ProtectMark};
pub use fold::{Constant, Fold, plain_text, whole_numbers};
pub use paths::{PathSpec, RootSpec, SegmentSpec};
pub use unit::{Compiled, Loader, NoLoader, Unit};
