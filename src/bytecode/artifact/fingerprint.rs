//! A number for the instruction set and the tables, computed by the compiler that builds the engine.

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
        let (kind, pops) = match info.pops {
            Pops::Fixed(n) => (0, n),
            Pops::Count => (1, 0),
            Pops::PathIndexes => (2, 0),
            Pops::Arguments => (3, 0),
            Pops::Parameters => (4, 0),
            Pops::Keys => (5, 0),
        };
        hash = byte(byte(byte(byte(hash, kind), pops), info.pushes), info.dialects.bits());
        at += 1;
    }
    let mut section = 0;
    while section < Section::ROW_WORDS.len() {
        hash = byte(hash, Section::ROW_WORDS[section] as u8);
        section += 1;
    }
    hash
};

/// FNV-1a.
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

/// The fingerprint of this engine's instruction set: names, numbers, operands and stack effects of the
/// instructions, the languages that may use them, and the widths of the tables beside the code. Artifacts with
/// another one are refused.
pub const fn fingerprint() -> u64 {
    FINGERPRINT
}
