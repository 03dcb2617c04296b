//! Searches for bytes. Texts of templates are short, so near bytes are looked at a word at a time, without a call.

/// Bytes of a word.
pub const WORD: usize = size_of::<u64>();

/// Bytes that are compared at a time.
const CHUNK: usize = size_of::<u128>();

/// Words without a match after which a search expects none in the next ones either.
const NEAR: usize = 4;

/// Bytes up to which matches are counted, and a first one is searched, a word at a time.
const SHORT: usize = 64;

/// A word whose bytes are all 1.
const ONES: u64 = u64::from_le_bytes([1; WORD]);

/// The high bits of the bytes of a word.
const HIGH: u64 = ONES << 7;

/// Returns a word whose bytes are all `byte`.
#[inline(always)]
pub const fn all(byte: u8) -> u64 {
    ONES * byte as u64
}

/// Returns the high bit of each byte of `word` below `least`, which is at most 128. Bits above the lowest may be wrong.
#[inline(always)]
pub(crate) const fn first_below(word: u64, least: u8) -> u64 {
    word.wrapping_sub(all(least)) & !word & HIGH
}

/// Returns the high bit of each byte of `word` that is `a`, `b` or a control character. Bits above the lowest may be wrong.
#[inline(always)]
pub const fn first_special(word: u64, a: u8, b: u8) -> u64 {
    first_below(word, 0x20) | first_below(word ^ all(a), 1) | first_below(word ^ all(b), 1)
}

/// Returns the place of the first byte of a word with its high bit set, [`WORD`] if there is none.
#[inline(always)]
pub const fn first_place(bits: u64) -> usize {
    bits.trailing_zeros() as usize / WORD
}

/// Returns the bytes from `start` on, fewer than a word has, with zeros after them.
#[inline]
pub fn last_word(bytes: &[u8], start: usize) -> u64 {
    let rest = bytes.get(start..).unwrap_or(&[]);
    match bytes.last_chunk() {
        // The bytes before the rest are shifted out.
        Some(last) => u64::from_le_bytes(*last).checked_shr(u64::BITS - 8 * rest.len() as u32).unwrap_or(0),
        None => rest.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
    }
}

/// Returns the high bit of each byte of `word` that is `byte`.
#[inline(always)]
const fn matches(word: u64, byte: u8) -> u64 {
    let others = word ^ all(byte);
    !(((others & !HIGH) + !HIGH) | others | !HIGH)
}

/// The places of a byte.
struct Places<'b> {
    bytes: &'b [u8],
    byte: u8,
    /// The matches of the current word that are left.
    found: u64,
    /// The place of the current word.
    at: usize,
    /// The place of the next byte to look at.
    next: usize,
}

impl Places<'_> {
    /// Looks at the next word. Returns `false` at the end.
    #[inline]
    fn advance(&mut self) -> bool {
        let rest = self.bytes.get(self.next..).unwrap_or(&[]);
        if let Some(word) = rest.first_chunk() {
            self.found = matches(u64::from_le_bytes(*word), self.byte);
            self.at = self.next;
            self.next += WORD;
            return true;
        }
        let inside = (1_u64 << (8 * rest.len())) - 1;
        self.found = matches(last_word(self.bytes, self.next), self.byte) & inside;
        (self.at, self.next) = (self.next, self.bytes.len());
        !rest.is_empty()
    }

    /// Goes to the next match, which is expected to be far.
    #[inline(never)]
    fn skip(&mut self) {
        let rest = self.bytes.get(self.next..).unwrap_or(&[]);
        self.next += memchr::memchr(self.byte, rest).unwrap_or(rest.len());
    }
}

impl Iterator for Places<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        let mut words = 0;
        while self.found == 0 {
            if words == NEAR {
                self.skip();
            }
            words += 1;
            if !self.advance() {
                return None;
            }
        }
        let place = self.at + first_place(self.found);
        self.found &= self.found - 1;
        Some(place)
    }
}

/// Returns the places of `byte` in order.
#[inline]
pub fn places(bytes: &[u8], byte: u8) -> impl Iterator<Item = usize> {
    Places { bytes, byte, found: 0, at: 0, next: 0 }
}

/// Returns the place of the first `byte`, which is expected to be near.
#[inline]
pub fn first(bytes: &[u8], byte: u8) -> Option<usize> {
    let (words, _) = bytes.as_chunks::<WORD>();
    let near = words.get(..SHORT / WORD).unwrap_or(words);
    for (at, word) in near.iter().enumerate() {
        let found = first_below(u64::from_le_bytes(*word) ^ all(byte), 1);
        if found != 0 {
            return Some(at * WORD + first_place(found));
        }
    }
    let far = near.len() * WORD;
    memchr::memchr(byte, bytes.get(far..)?).map(|at| far + at)
}

/// Returns how often `byte` occurs.
#[inline]
pub fn count(bytes: &[u8], byte: u8) -> usize {
    if bytes.len() > SHORT {
        return memchr::memchr_iter(byte, bytes).count();
    }
    // The counts of the eight places of a word.
    let (words, rest) = bytes.as_chunks();
    let counts: u64 = words.iter().map(|word| matches(u64::from_le_bytes(*word), byte) >> 7).sum();
    let counted = counts.wrapping_mul(ONES) >> (u64::BITS - 8);
    counted as usize + rest.iter().filter(|other| **other == byte).count()
}

/// Returns the number of equal bytes at the start of two texts.
#[inline(always)]
pub fn common_length(one: &[u8], other: &[u8]) -> usize {
    let ((ones, one), (others, other)) = (one.as_chunks(), other.as_chunks());
    let mut at = 0;
    for (one, other) in ones.iter().zip(others) {
        let bits = u128::from_le_bytes(*one) ^ u128::from_le_bytes(*other);
        if bits != 0 {
            return at + bits.trailing_zeros() as usize / 8;
        }
        at += CHUNK;
    }
    // One of them ends in the next bytes.
    let one = ones.get(at / CHUNK).map_or(one, <[u8; CHUNK]>::as_slice);
    let other = others.get(at / CHUNK).map_or(other, <[u8; CHUNK]>::as_slice);
    at + one.iter().zip(other).take_while(|(one, other)| one == other).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_is_found_anywhere() {
        for (length, other) in (0..40).flat_map(|length| (0..40).map(move |other| (length, other))) {
            let (one, two) = (vec![b'a'; length], vec![b'a'; other]);
            let most = length.min(other);
            assert_eq!(common_length(&one, &two), most);
            for place in 0..most {
                let mut two = two.clone();
                two[place] ^= 1 << (place % 8);
                assert_eq!(common_length(&one, &two), place, "{length} {other}");
            }
        }
    }

    /// Bytes near and far from each other, and those that differ from the byte in one bit.
    #[test]
    fn every_place_is_found_in_order() {
        let mut random = fastrand::Rng::with_seed(3);
        for length in (0..200).chain([1000]) {
            for rate in [2, 9, 70, 600] {
                let byte = |random: &mut fastrand::Rng| match random.u32(0..rate) {
                    0 => b'-',
                    1 => b'-' ^ (1 << random.u32(0..8)),
                    _ => random.u8(..),
                };
                let bytes: Vec<u8> = (0..length).map(|_| byte(&mut random)).collect();
                let wanted: Vec<usize> = (0..length).filter(|at| bytes[*at] == b'-').collect();
                assert_eq!(places(&bytes, b'-').collect::<Vec<_>>(), wanted, "{bytes:?}");
                assert_eq!(count(&bytes, b'-'), wanted.len(), "{bytes:?}");
                assert_eq!(first(&bytes, b'-'), wanted.first().copied(), "{bytes:?}");
            }
        }
    }

    #[test]
    fn the_first_byte_below_a_limit() {
        for place in 0..WORD {
            for (byte, behind) in [(0, 0xff), (0x1f, 0x20), (0x1f, 0), (0x20, 0x20), (0x80, 0xa0)] {
                let mut bytes = [b'a'; WORD];
                bytes[place..].fill(behind);
                bytes[place] = byte;
                let wanted = bytes.iter().position(|byte| *byte < 0x20).unwrap_or(WORD);
                assert_eq!(first_place(first_below(u64::from_le_bytes(bytes), 0x20)), wanted, "{bytes:?}");
            }
        }
    }
}
