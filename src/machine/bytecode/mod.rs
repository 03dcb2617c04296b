//! Bytecode: one instruction set for every language, and the programs that use it.
//!
//! Code consists of words: an opcode in the low 8 bits and the first operand in the high 24. Each further operand is a
//! word of its own. Names, numbers, paths, call sites and spans are in flat tables next to the code. Spans are only
//! read to report an error. `vm` and `compiler` meet only here.

pub mod analysis;
mod artifact;
mod code;
mod columns;
mod disasm;
mod header;
mod isa;
mod operands;
mod places;
mod pool;
mod program;
mod records;
mod rows;
mod sections;
pub(crate) mod verify;

pub use artifact::{
    ARTIFACT_FORMAT, Bundle, BundleEntry, Bytes, Entry, FileEntry, FileSet, HEAD, ResourceFile, Resources, StoredValue,
    encode, encode_specialised, encode_with_files, fingerprint, is_artifact, owner,
};
pub use code::{CodeView, Instruction};
pub use disasm::{disassemble, disassemble_with_lines, instruction_text};
pub use header::{Dialect, Dialects};
pub use isa::{Control, ISA, Jumps, Op, OpInfo, Pops, Probe, Provenance, isa_table};
pub use operands::{BinaryOp, Claim, Delivery, EscapeMode, Literal, LoopField, Operand, Role, Test};
pub use places::{Fails, Place, Places};
pub use program::Program;
pub(crate) use records::{
    CallSite, QUICK_GLOBAL, QUICK_MOST, QUICK_ROOT, QUICK_STEPS, looping, pack_path, pack_place, pack_root,
    pack_segment,
};
pub use records::{Failure, Gate, Path, QUICK, Root, Scope, Segment};
pub(crate) use rows::{COMPARISON, inline_row, piece_part, span_row};
pub use rows::{ChunkInfo, Handler, Import, ImportKind, Number, PieceKind, Region, Signature, Spanned, TextPiece};
pub use sections::Parts;
pub(crate) use sections::{POOL_SLACK, StringRow};
