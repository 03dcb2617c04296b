//! How the loop reads its tables: with every index checked, or trusting the verifier.
//!
//! A program exists only after it was verified (see `bytecode::verify`): every operand names something that is
//! there, the stack never falls below its frame nor rises above what the chunk declares, slots stay in their frame.
//! The machine makes room for a frame when it enters it. So the loop's reads need no check of their own;
//! [`Trusting`] leaves them out, [`Checking`] panics where one is wrong, and a property test holds the two
//! against each other on generated programs. What leaving them out buys is measured in the README.
//!
//! This is the only module with `unsafe` code. Builds with debug assertions check every precondition here, too.
#![allow(unsafe_code)]

use crate::bytecode::{ISA, Op};
use crate::value::{BLOCK, Block};

/// Reads and writes whose indexes the verifier has vouched for.
///
/// Contract of every function: the index is in range; of [`Access::text`] the range lies on character boundaries of the
/// pool; of [`Access::op`] the low byte of the word is an opcode.
pub(super) trait Access: 'static {
    /// The element at `at`.
    fn at<T: Copy>(slice: &[T], at: usize) -> T;

    /// The place at `at`.
    fn place<T>(slice: &mut [T], at: usize) -> &mut T;

    /// The element at `at`, borrowed.
    fn borrow<T>(slice: &[T], at: usize) -> &T;

    /// The text from `start` to `end` of the pool.
    fn text(pool: &str, start: usize, end: usize) -> &str;

    /// The opcode of a word.
    fn op(word: u32) -> Op;
}

/// Checks every index and panics where one is wrong: the twin that tests run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Checking;

impl Access for Checking {
    fn at<T: Copy>(slice: &[T], at: usize) -> T {
        slice[at]
    }

    fn place<T>(slice: &mut [T], at: usize) -> &mut T {
        &mut slice[at]
    }

    fn borrow<T>(slice: &[T], at: usize) -> &T {
        &slice[at]
    }

    fn text(pool: &str, start: usize, end: usize) -> &str {
        &pool[start..end]
    }

    fn op(word: u32) -> Op {
        ISA[(word & 0xFF) as usize].op
    }
}

/// Trusts the verifier.
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
}

/// Appends `text` to `out`, which must have room for it.
#[inline(always)]
pub(super) fn append(out: &mut String, text: &str) {
    let (len, n) = (out.len(), text.len());
    debug_assert!(n <= out.capacity() - len);
    // SAFETY: the caller made room, so `len + n` is at most the capacity; the two do not overlap, since one is
    // borrowed uniquely; what is appended is text.
    unsafe {
        let bytes = out.as_mut_vec();
        std::ptr::copy_nonoverlapping(text.as_ptr(), bytes.as_mut_ptr().add(len), n);
        bytes.set_len(len + n);
    }
}

/// Appends the first `n` bytes of `block`, which must be text, to `out`, which must have room for the whole block:
/// so many bytes are moved whatever `n` is, which costs less than asking.
#[inline(always)]
pub(super) fn append_block(out: &mut String, block: &Block, n: usize) {
    let len = out.len();
    debug_assert!(n <= BLOCK && BLOCK <= out.capacity() - len && std::str::from_utf8(&block[..n]).is_ok());
    // SAFETY: the caller made room for a block behind `len`; the two do not overlap, since one is borrowed
    // uniquely; the first `n` bytes are text, and no more become part of `out`.
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

    #[test]
    fn both_ways_of_access_agree() {
        let (items, pool) = ([3_u32, 5, 7], "aéb");
        for at in 0..3 {
            assert_eq!(Trusting::at(&items, at), Checking::at(&items, at));
            assert_eq!(Trusting::borrow(&items, at), Checking::borrow(&items, at));
        }
        let mut places = items;
        *Trusting::place(&mut places, 1) = 9;
        *Checking::place(&mut places, 2) = 11;
        assert_eq!(places, [3, 9, 11]);
        assert_eq!(Trusting::text(pool, 1, 3), Checking::text(pool, 1, 3));
        for row in ISA {
            assert_eq!(Trusting::op(row.op as u32 | 0xABCD00), row.op);
            assert_eq!(Checking::op(row.op as u32 | 0xABCD00), row.op);
        }
    }
}
