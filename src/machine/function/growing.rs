//! Memory that a body holds for a time, and text that grows in it.

use super::context::Cx;
use dropforge_base::diagnostics::Result;
use dropforge_base::limits::Limit;

/// Memory that is charged, and given back when the guard is dropped: that of a buffer, of text under construction, of a
/// computation.
#[derive(Debug)]
pub struct Held<'c, 'v> {
    cx: &'c Cx<'v>,
    bytes: usize,
}

impl<'c, 'v> Held<'c, 'v> {
    /// Holds no memory yet.
    pub const fn new(cx: &'c Cx<'v>) -> Self {
        Self { cx, bytes: 0 }
    }

    /// Holds at least `len` bytes. The memory doubles when it grows, as the capacity of a buffer does, if there is as
    /// much.
    #[inline]
    pub fn grow(&mut self, len: usize) -> Result<()> {
        if len <= self.bytes { Ok(()) } else { self.add(len) }
    }

    /// Spends a step and grows, for writers that ask about each length of their text.
    #[inline]
    pub fn step(&mut self, len: usize) -> Result<()> {
        self.cx.spend(1)?;
        self.grow(len)
    }

    #[cold]
    #[inline(never)]
    fn add(&mut self, len: usize) -> Result<()> {
        let left = usize::try_from(self.cx.budgets().memory).unwrap_or(usize::MAX);
        let double = self.bytes.saturating_mul(2).max(LEAST);
        let all = len.max(double.min(self.bytes.saturating_add(left)));
        self.cx.charge(all - self.bytes)?;
        self.bytes = all;
        Ok(())
    }
}

impl Drop for Held<'_, '_> {
    fn drop(&mut self) {
        self.cx.give_back(self.bytes as u64);
    }
}

impl<'v> Cx<'v> {
    /// Charges for memory until the guard is dropped. The steps stay spent.
    pub fn hold(&self, bytes: usize) -> Result<Held<'_, 'v>> {
        let mut held = Held::new(self);
        self.charge(bytes)?;
        held.bytes = bytes;
        Ok(held)
    }

    /// Fails if a text of `len` bytes, made `times`, is more than the memory that is left. An error that quotes it outlives
    /// the run.
    pub fn afford(&self, len: usize, times: usize) -> Result<()> {
        if len.saturating_mul(times) as u64 <= self.budgets().memory {
            return Ok(());
        }
        Err(Limit::Memory.error(self.limits.memory))
    }
}

/// The least room of a text that grows.
const LEAST: usize = 64;

/// Text under construction, in any encoding. Its space is charged before it is taken.
#[derive(Debug)]
pub struct Growing<'c, 'v> {
    held: Held<'c, 'v>,
    bytes: Vec<u8>,
}

impl<'c, 'v> Growing<'c, 'v> {
    /// Creates an empty text.
    pub const fn new(cx: &'c Cx<'v>) -> Self {
        Self { held: Held::new(cx), bytes: Vec::new() }
    }

    /// Appends a piece.
    #[inline]
    pub fn push(&mut self, piece: &[u8]) -> Result<()> {
        self.make_room(piece.len())?;
        self.bytes.extend_from_slice(piece);
        Ok(())
    }

    /// Appends `count` times the same byte.
    pub fn fill(&mut self, byte: u8, count: usize) -> Result<()> {
        self.make_room(count)?;
        self.bytes.extend(std::iter::repeat_n(byte, count));
        Ok(())
    }

    /// Makes room for `len` more bytes.
    #[inline]
    fn make_room(&mut self, len: usize) -> Result<()> {
        if len <= self.bytes.capacity() - self.bytes.len() {
            return Ok(());
        }
        self.held.grow(self.bytes.len().saturating_add(len))?;
        self.bytes.reserve_exact(self.held.bytes - self.bytes.len());
        Ok(())
    }

    /// Returns the text so far.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Moves the text to the arena, where it stays charged.
    pub fn kept(self) -> Result<&'v [u8]> {
        let cx = self.held.cx;
        cx.charge(self.bytes.len())?;
        Ok(cx.arena().bump().alloc_slice_copy(&self.bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Caches, Capabilities};
    use super::*;
    use dropforge_base::diagnostics::Code;
    use dropforge_base::limits::Limits;
    use dropforge_value::{Arena, Inputs};

    fn with_cx(memory: u64, test: impl Fn(&Cx<'_>)) {
        let (arena, caches) = (Arena::new(), Caches::default());
        let limits = Limits { memory, ..Limits::default() };
        test(&Cx::new(&arena, Inputs::default(), &limits, Capabilities::NONE, &caches));
    }

    #[test]
    fn memory_is_given_back_with_the_guard() {
        with_cx(1_000, |cx| {
            for _ in 0..10 {
                let held = cx.hold(900).unwrap();
                assert_eq!(cx.budgets().memory, 100);
                assert_eq!(cx.hold(101).unwrap_err().code, Code::LimitMemory);
                drop(held);
                assert_eq!(cx.budgets().memory, 1_000);
            }
        });
    }

    #[test]
    fn text_fills_the_memory_and_no_more() {
        with_cx(1_000, |cx| {
            let mut text = Growing::new(cx);
            let mut len = 0;
            while text.push(b"0123456789").is_ok() {
                len += 10;
                assert!(text.bytes.capacity() <= 1_000 && text.bytes().len() == len);
            }
            assert_eq!((len, cx.budgets().memory), (1_000, 0));
            assert!(text.fill(b' ', usize::MAX).is_err());
            drop(text);
            let mut text = Growing::new(cx);
            text.fill(b' ', 400).unwrap();
            assert_eq!(text.kept().unwrap().len(), 400);
            assert_eq!(cx.budgets().memory, 600);
        });
    }
}
