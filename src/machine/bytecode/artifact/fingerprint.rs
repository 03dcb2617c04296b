//! The fingerprint of the instruction set and the tables, a constant of the build.

use super::super::isa::{ISA, Pops};
use super::super::sections::Section;

const FINGERPRINT: u64 = {
    let mut hash = 0xCBF2_9CE4_8422_2325;
    let mut at = 0;
    while at < ISA.len() {
        let info = &ISA[at];
        hash = text(hash, info.name);
        let mut nth = 0;
        while nth < info.operands.len() {
            hash = byte(hash, info.operands[nth] as u8);
            nth += 1;
        }
        let pops = match info.pops {
            Pops::Fixed(pops) => pops,
            Pops::Operand => u8::MAX,
        };
        hash = byte(byte(byte(byte(hash, pops), info.pushes), info.control as u8), info.dialects.bits());
        at += 1;
    }
    let mut section = 0;
    while section < Section::ROW_WORDS.len() {
        hash = byte(hash, Section::ROW_WORDS[section] as u8);
        section += 1;
    }
    hash
};

/// One step of FNV-1a.
const fn byte(hash: u64, byte: u8) -> u64 {
    (hash ^ byte as u64).wrapping_mul(0x0100_0000_01B3)
}

const fn text(mut hash: u64, text: &str) -> u64 {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        hash = byte(hash, bytes[at]);
        at += 1;
    }
    byte(hash, 0xFF)
}

/// Returns the fingerprint of this engine's instruction set: the columns of the instruction table that fix the form of
/// code and what the verifier accepts, and the widths of the other tables. Artifacts with another fingerprint are refused.
///
/// The other columns are facts about instructions that analyses read. An artifact stores none of them, so that a fact that
/// is put right refuses no artifact. If an instruction does something else than before, `FORMAT` increases.
pub const fn fingerprint() -> u64 {
    FINGERPRINT
}
