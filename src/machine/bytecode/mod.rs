//! Bytecode: one instruction set for every language, and the programs that use it.
//!
//! Code consists of words: an opcode in the low 8 bits and the first operand in the high 24. Each further operand is a
//! word of its own. Names, numbers, paths, call sites and spans are in flat tables next to the code. Spans are only
//! read to report an error. `vm` and `compiler` meet only here.

pub mod analysis;
mod artifact;
mod code;
mod columns;
mod constants;
mod disasm;
mod header;
mod isa;
mod operands;
mod operators;
mod places;
mod pool;
mod positions;
mod program;
mod records;
mod rows;
mod sections;
pub(crate) mod verify;

pub use artifact::{
    ARTIFACT_FORMAT, Bundle, BundleEntry, Bytes, HEAD, ResourceFile, Resources, StoredValue, fingerprint, is_artifact,
    owner,
};
pub use artifact::{Entry, FileEntry, Files, encode, encode_specialised, encode_with_files};
pub use code::CodeView;
pub use code::Instruction;
pub use disasm::{disassemble, disassemble_with_lines, instruction_text};
pub use header::Dialect;
pub use header::Dialects;
pub use isa::{Control, ISA, Jumps, Op, OpInfo, Pops, Probe, Provenance, isa_table};
pub use operands::{Claim, Delivery, EscapeMode, Literal, LoopField, Operand, Role, Test};
pub use operators::BinaryOp;
pub use places::{Fails, Place, Places};
pub(crate) use positions::{COMPARISON, piece_part};
pub use positions::{PieceKind, TextPiece};
pub use program::Program;
pub(crate) use records::CallSite;
pub use records::QUICK;
pub use records::{Failure, Gate, Path, Root, Scope, Segment};
pub(crate) use records::{QUICK_GLOBAL, QUICK_MOST, QUICK_ROOT, QUICK_STEPS, looping};
pub(crate) use records::{pack_path, pack_place, pack_root, pack_segment};
pub use rows::Handler;
pub use rows::{ChunkInfo, Import, ImportKind, Number, Region, Signature, Spanned};
pub(crate) use rows::{inline_row, span_row};
pub use sections::Parts;
pub(crate) use sections::{POOL_SLACK, StringRow};
