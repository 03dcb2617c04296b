//! The back end of the compiler: an [`Emitter`] that languages lower to.
//!
//! It has methods for constructs (text, paths, loops, calls, protected expressions), patches jumps, tracks the height
//! of the stack, coalesces text, folds constants and records spans. Each language supplies a [`Fold`] for its
//! constants.

mod emitter;
mod fold;
mod marks;
mod memo;
mod paths;
mod tables;
mod unit;

pub use emitter::{Emitter, KnownFailure, KnownFunction, KnownPath, Label, LoopMark, ProtectMark};
pub use fold::{Constant, Fold};
pub use marks::{Given, Key, Mark, MarkList, Named};
pub use memo::Memo;
pub use paths::{PathSpec, RootSpec, SegmentSpec};
pub use unit::{Compilation, Compiled, Loader, MissingKey, NoLoader, Unit, compile_all};
