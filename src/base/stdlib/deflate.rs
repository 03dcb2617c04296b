//! DEFLATE (RFC 1951) byte for byte as `compress/flate` of Go writes it at its default level, up to Go 1.26. No crate
//! does: other encoders find other matches and end their blocks elsewhere, as that of Go 1.27 does.
//!
//! The encoder looks for matches through chains of earlier positions with the same hash, and takes a match only if the
//! next position has no longer one. Every limit below is visible in the output.

mod blocks;
mod prefix_codes;

use super::byte_search::common_length;
use blocks::{Blocks, Token};

/// Farthest distance of a match. The window has twice the size and moves by this size.
const WINDOW: usize = 1 << 15;
const SHORTEST: usize = 4;
const LONGEST: usize = 258;
/// A match of this length is taken without a look at the next position.
const LAZY: usize = 16;
/// The search stops at a match of this length.
const NICE: usize = 128;
/// Number of positions tried for a match.
const CHAIN: usize = 128;
/// Farthest distance of a match of the shortest length.
const NEAR: usize = 4096;
const HASH_BITS: u32 = 17;
const BLOCK_TOKENS: usize = 1 << 14;

/// Bytes of memory that [`Deflate`] needs besides its output.
pub const MEMORY: usize =
    (WINDOW + (1 << HASH_BITS)) * size_of::<u32>() + BLOCK_TOKENS * size_of::<Token>() + (64 << 10);

/// Returns the maximum size of the output of [`Deflate`].
pub const fn deflate_len(bytes: usize) -> usize {
    bytes.saturating_add(bytes / 8 + 16)
}

/// A match of a length at a distance.
#[derive(Debug, Clone, Copy)]
struct Match {
    length: usize,
    distance: usize,
}

impl Match {
    /// No match. It is shorter than any.
    const NONE: Self = Self { length: SHORTEST - 1, distance: 0 };
}

/// Appends bytes in compressed blocks, then an empty stored block that ends at a byte. None of the blocks is the last.
///
/// Each item writes a block. The item is the number of steps that were taken for it.
pub struct Deflate<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Start of the window.
    base: usize,
    /// Start of the tokens' bytes.
    block_start: usize,
    /// For each hash its last position, plus one.
    heads: Vec<u32>,
    /// For each position, modulo the size of the window, the previous one with the same hash, plus one.
    previous: Vec<u32>,
    /// The match at the position before `at`.
    found: Match,
    /// `true` if the byte before `at` is in no token.
    has_literal: bool,
    tokens: Vec<Token>,
    blocks: Blocks<'a>,
    steps: u64,
    is_finished: bool,
}

impl Iterator for Deflate<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        if self.is_finished {
            return None;
        }
        while self.at < self.bytes.len() && self.tokens.len() < BLOCK_TOKENS {
            self.step();
        }
        self.is_finished = self.tokens.len() < BLOCK_TOKENS;
        if self.is_finished {
            self.take_literal();
        }
        if !self.tokens.is_empty() {
            self.write_block();
        }
        if self.is_finished {
            self.blocks.write_stored(&[]);
        }
        Some(std::mem::take(&mut self.steps))
    }
}

impl<'a> Deflate<'a> {
    /// Compresses `bytes` to the end of `out`.
    pub fn new(bytes: &'a [u8], out: &'a mut Vec<u8>) -> Self {
        Self {
            bytes,
            at: 0,
            base: 0,
            block_start: 0,
            heads: vec![0; 1 << HASH_BITS],
            previous: vec![0; WINDOW],
            found: Match::NONE,
            has_literal: false,
            tokens: Vec::with_capacity(BLOCK_TOKENS.min(bytes.len())),
            blocks: Blocks::new(out),
            steps: 0,
            is_finished: false,
        }
    }

    /// Moves one byte on, or to the end of the match before.
    fn step(&mut self) {
        self.slide();
        let last = std::mem::replace(&mut self.found, Match::NONE);
        let candidate = self.insert(self.at);
        if last.length < LAZY && last.length < self.bytes.len() - self.at {
            self.found = self.longest_match(candidate);
        }
        if last.length >= SHORTEST && self.found.length <= last.length {
            self.take_match(last);
        } else {
            self.take_literal();
            self.has_literal = true;
            self.at += 1;
        }
        self.steps += 2;
    }

    /// Moves the window when too little of it is left, if there are bytes beyond its end.
    fn slide(&mut self) {
        let end = self.base + 2 * WINDOW;
        if end < self.bytes.len() && end - self.at < SHORTEST + LONGEST {
            self.base += WINDOW;
        }
    }

    /// Adds a position to the chain of its hash and returns the head of the chain before. The last three are never added.
    fn insert(&mut self, at: usize) -> u32 {
        let Some(start) = self.bytes.get(at..).and_then(<[u8]>::first_chunk) else { return 0 };
        let hash = u32::from_be_bytes(*start).wrapping_mul(0x1e35_a7bd) >> (u32::BITS - HASH_BITS);
        let head = std::mem::replace(&mut self.heads[hash as usize], (at + 1) as u32);
        self.previous[at % WINDOW] = head;
        head
    }

    /// Returns the longest match at `at` along a chain. The nearest of several is taken.
    fn longest_match(&mut self, mut candidate: u32) -> Match {
        let here = &self.bytes[self.at..self.bytes.len().min(self.at + LONGEST)];
        let first = self.base.max(self.at.saturating_sub(WINDOW));
        let mut best = Match::NONE;
        for _ in 0..CHAIN {
            let Some(start) = (candidate as usize).checked_sub(1).filter(|start| *start >= first) else { break };
            let distance = self.at - start;
            self.steps += 1;
            if self.bytes[start + best.length] == here[best.length] {
                let length = common_length(&self.bytes[start..], here);
                self.steps += length as u64 / 16;
                if length > best.length && (length > SHORTEST || distance <= NEAR) {
                    best = Match { length, distance };
                }
                if best.length >= NICE.min(here.len()) {
                    break;
                }
            }
            if distance == WINDOW {
                // The link of this position was overwritten by that of `at`.
                break;
            }
            candidate = self.previous[start % WINDOW];
        }
        best
    }

    fn take_match(&mut self, Match { length, distance }: Match) {
        self.tokens.push(Token::Match { length: (length - 3) as u8, distance: (distance - 1) as u16 });
        let end = self.at - 1 + length;
        self.steps += length as u64 / 4;
        for at in self.at + 1..end {
            self.insert(at);
        }
        self.at = end;
        self.found = Match::NONE;
        self.has_literal = false;
    }

    fn take_literal(&mut self) {
        if std::mem::take(&mut self.has_literal) {
            self.tokens.push(Token::Literal(self.bytes[self.at - 1]));
        }
    }

    /// Writes the tokens. Bytes that have left the window cannot be stored.
    fn write_block(&mut self) {
        let end = self.at - usize::from(self.has_literal);
        let stored = (self.block_start >= self.base).then(|| &self.bytes[self.block_start..end]);
        self.blocks.write(&self.tokens, stored);
        self.tokens.clear();
        self.block_start = end;
    }
}
