//! The bytecode: one instruction set for every language, and the program that holds it.
//!
//! Code is words: an opcode in the low 8 bits of a word and its first operand in the high 24; further operands
//! are words of their own. Names, numbers, paths, call sites and spans stand beside the code in flat tables;
//! spans are read only when an error has to be placed. `vm` and `compiler` meet only here.

mod artifact;
mod constants;
mod disasm;
mod header;
mod instructions;
mod isa;
mod program;
mod rows;
mod sections;
pub mod verify;
mod views;
mod whole;

pub use artifact::{Bundle, BundleEntry, Bytes, fingerprint, is_artifact};
#[cfg(feature = "compile")]
pub use artifact::{Entry, encode};
pub use disasm::{disassemble, disassemble_with_lines};
pub use header::{Dialect, Dialects};
pub use instructions::Instruction;
pub use isa::{BinaryOp, Claim, EscapeMode, ISA, Literal, LoopField, Op, OpInfo, Operand, Pops, Role, Test, isa_table};
pub use program::Program;
pub use rows::{ChunkInfo, Failure, Handler, Import, ImportKind, Number, Region, Root, Segment, Signature, Spanned};
pub(crate) use rows::{inline_row, pack_place, pack_root, pack_segment, span_row};
pub(crate) use sections::{Counts, POOL_SLACK, Parts, SourceRow, StringRow};
pub use views::{CallSite, CodeView, Path, Scope};
pub(crate) use views::{QUICK, QUICK_GLOBAL, QUICK_MOST, QUICK_ROOT, QUICK_STEPS, pack_path};
pub use whole::Whole;
