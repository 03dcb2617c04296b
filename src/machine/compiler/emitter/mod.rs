//! The emitter of a program under construction.
//!
//! Text and constants stay pending until another instruction is emitted, so that adjacent text becomes one instruction
//! and operators on constants are folded. A label ends this: nothing is joined or folded across a jump target.

mod chunks;
mod code;
mod labels;
mod loops;
mod named;
mod paths;
mod pending;
mod positions;
mod state;
mod values;

pub use labels::Label;
pub use loops::{LoopMark, ProtectMark};
pub use paths::{KnownFailure, KnownPath};
pub use state::Emitter;
pub use values::KnownFunction;
