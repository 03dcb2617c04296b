//! Access to the machine's tables and stacks without bounds checks.
//!
//! Every program has passed the verifier (`bytecode::verify`): operands are in range, the stack stays between its frame
//! and the height that the chunk declares, slots stay in their frame, and entering a frame makes room for it. So reads
//! need no checks of their own, and [`Trusting`] omits them. The checking machine (feature `checked`) panics if a check
//! fails, and a property test compares the two on generated programs. The gain is measured in `benches/`.
//!
//! This is the only module with `unsafe` code. Builds with debug assertions check every precondition.
#![allow(unsafe_code)]

use crate::bytecode::{ISA, Op};
use dropforge_value::{BLOCK, Block};

/// Reads and writes at indexes that the verifier guarantees.
///
/// Contract of every function: the index or range is in range. For [`Access::text`] the range lies on character boundaries of the
/// pool. For [`Access::op`] the low byte of the word is an opcode.
pub(super) trait Access: 'static {
    /// Returns the element at `at`.
    fn at<T: Copy>(slice: &[T], at: usize) -> T;

    /// Returns the element at `at` for changing.
    fn place<T>(slice: &mut [T], at: usize) -> &mut T;

    /// Returns the element at `at`, borrowed.
    fn borrow<T>(slice: &[T], at: usize) -> &T;

    /// Returns the elements from `start` to `end`.
    fn slice<T>(slice: &[T], start: usize, end: usize) -> &[T];

    /// Returns the text from `start` to `end` of the pool.
    fn text(pool: &str, start: usize, end: usize) -> &str;

    /// Returns the opcode of a word.
    fn op(word: u32) -> Op;

    /// Asserts another fact that the verifier guarantees.
    fn require(fact: impl FnOnce() -> bool);
}

/// Trusts the verifier and checks nothing.
#[derive(Debug, Clone, Copy)]
pub(super) struct Trusting;

impl Access for Trusting {
    #[inline(always)]
    fn at<T: Copy>(slice: &[T], at: usize) -> T {
        // SAFETY: the trait's contract.
        unsafe { *slice.get_unchecked(at) }
    }

    #[inline(always)]
    fn place<T>(slice: &mut [T], at: usize) -> &mut T {
        // SAFETY: the trait's contract.
        unsafe { slice.get_unchecked_mut(at) }
    }

    #[inline(always)]
    fn borrow<T>(slice: &[T], at: usize) -> &T {
        // SAFETY: the trait's contract.
        unsafe { slice.get_unchecked(at) }
    }

    #[inline(always)]
    fn slice<T>(slice: &[T], start: usize, end: usize) -> &[T] {
        // SAFETY: the trait's contract.
        unsafe { slice.get_unchecked(start..end) }
    }

    #[inline(always)]
    fn text(pool: &str, start: usize, end: usize) -> &str {
        // SAFETY: the trait's contract.
        unsafe { pool.get_unchecked(start..end) }
    }

    #[inline(always)]
    fn op(word: u32) -> Op {
        debug_assert!(((word & 0xFF) as usize) < ISA.len());
        // SAFETY: the trait's contract; opcodes are the numbers from 0 without a gap (`isa!`), a byte each.
        unsafe { std::mem::transmute::<u8, Op>((word & 0xFF) as u8) }
    }

    #[inline(always)]
    fn require(fact: impl FnOnce() -> bool) {
        debug_assert!(fact());
    }
}

/// Appends `text` to `out`, which must have room for it.
#[inline(always)]
pub(super) fn append(out: &mut String, text: &str) {
    let (len, n) = (out.len(), text.len());
    debug_assert!(n <= out.capacity() - len);
    // SAFETY: the caller made room, so `len + n` is at most the capacity. The two do not overlap, because one is borrowed
    // uniquely. The appended bytes are text.
    unsafe {
        let bytes = out.as_mut_vec();
        std::ptr::copy_nonoverlapping(text.as_ptr(), bytes.as_mut_ptr().add(len), n);
        bytes.set_len(len + n);
    }
}

/// Appends the first `n` bytes of `block`, which must be text, to `out`, which must have room for the whole block. Moving
/// the whole block costs less than a branch on `n`.
#[inline(always)]
pub(super) fn append_block(out: &mut String, block: &Block, n: usize) {
    let len = out.len();
    debug_assert!(n <= BLOCK && BLOCK <= out.capacity() - len && std::str::from_utf8(&block[..n]).is_ok());
    // SAFETY: the caller made room for a block after `len`. The two do not overlap, because one is borrowed uniquely.
    // The first `n` bytes are text, and no more become part of `out`.
    unsafe {
        let bytes = out.as_mut_vec();
        bytes.as_mut_ptr().add(len).cast::<Block>().write_unaligned(*block);
        bytes.set_len(len + n);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_every_length_are_appended_whole() {
        let text: String = ('a'..='z').cycle().take(100).collect();
        for n in 0..=text.len() {
            let mut out = String::with_capacity(n + 1);
            out.push('>');
            append(&mut out, &text[..n]);
            assert_eq!(out, format!(">{}", &text[..n]));
        }
    }
}
