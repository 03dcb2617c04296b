//! The bytecode: one instruction set for every language, and the program that holds it.
//!
//! Code is words: an opcode in the low 8 bits of a word and its first operand in the high 24; further operands
//! are words of their own. Names, numbers, paths, call sites and spans stand beside the code in flat tables;
//! spans are read only when an error has to be placed. `vm` and `compiler` meet only here.

mod disasm;
mod header;
mod isa;
mod program;

pub use disasm::disassemble;
pub use header::{Dialect, Dialects};
pub use isa::{BinaryOp, EscapeMode, ISA, Literal, LoopField, Op, OpInfo, Operand, Pops, Role, Test, isa_table};
pub use program::{
    CallSite, ChunkInfo, Failure, Handler, Import, ImportKind, InlineRange, Number, Path, Program, Root, Scope,
    Segment, SpanRun, Spanned,
};
pub(crate) use program::{
    QUICK, QUICK_GLOBAL, QUICK_MOST, QUICK_ROOT, QUICK_STEPS, fresh_program_id, pack_path, pack_root, pack_segment,
};
