//! Prefix codes: the optimal lengths for counts of symbols, and the canonical code of lengths.

/// A prefix code. A symbol that is not used has length zero.
#[derive(Debug, Clone)]
pub(super) struct PrefixCode {
    pub(super) lengths: Vec<u8>,
    /// Bits of each symbol. The first one is the lowest.
    words: Vec<u16>,
}

impl PrefixCode {
    /// Returns the code with the smallest output for `counts` whose words have up to `most` bits.
    pub(super) fn of_counts(counts: &[u32], most: usize) -> Self {
        Self::of_lengths(optimal_lengths(counts, most))
    }

    /// Returns the canonical code of `lengths`, which are at most 15: shorter words first, then in the order of symbols.
    pub(super) fn of_lengths(lengths: Vec<u8>) -> Self {
        let mut words = vec![0; lengths.len()];
        let mut word: u16 = 0;
        for bits in 1..=15 {
            word <<= 1;
            for symbol in (0..lengths.len()).filter(|symbol| lengths[*symbol] == bits) {
                words[symbol] = word.reverse_bits() >> (16 - bits);
                word += 1;
            }
        }
        Self { lengths, words }
    }

    /// Returns the bits of a symbol and their number.
    pub(super) fn word(&self, symbol: usize) -> (u16, u8) {
        (self.words[symbol], self.lengths[symbol])
    }

    /// Returns the size in bits of symbols that occur as often as `counts` says.
    pub(super) fn size(&self, counts: &[u32]) -> usize {
        counts.iter().zip(&self.lengths).map(|(count, length)| *count as usize * usize::from(*length)).sum()
    }
}

/// Returns the lengths by merging packages. Each level has the symbols and the pairs of the level below, lightest first;
/// a symbol's length is the number of levels whose cheapest items include it.
fn optimal_lengths(counts: &[u32], most: usize) -> Vec<u8> {
    let mut lengths = vec![0; counts.len()];
    let mut symbols: Vec<usize> = (0..counts.len()).filter(|symbol| counts[*symbol] > 0).collect();
    symbols.sort_by_key(|symbol| counts[*symbol]);
    if symbols.len() <= 2 {
        symbols.iter().for_each(|symbol| lengths[*symbol] = 1);
        return lengths;
    }
    let weights: Vec<u32> = symbols.iter().map(|symbol| counts[*symbol]).collect();
    let mut levels = vec![level(&weights, &[])];
    for _ in 1..most.min(symbols.len() - 1) {
        levels.extend(levels.last().map(|below| level(&weights, below)));
    }
    let mut taken = 2 * symbols.len() - 2;
    for level in levels.iter().rev() {
        let leaves = level.iter().take(taken).filter(|(_, is_symbol)| *is_symbol).count();
        symbols[..leaves].iter().for_each(|symbol| lengths[*symbol] += 1);
        taken = 2 * (taken - leaves);
    }
    lengths
}

/// Returns the weights of a level, each with `true` for a symbol. A pair comes before a symbol of the same weight.
fn level(weights: &[u32], below: &[(u32, bool)]) -> Vec<(u32, bool)> {
    let mut weights = weights.iter().peekable();
    let mut items = Vec::with_capacity(weights.len() + below.len() / 2);
    for pair in below.chunks_exact(2) {
        let pair = pair.iter().map(|(weight, _)| weight).sum();
        while let Some(weight) = weights.next_if(|weight| **weight < pair) {
            items.push((*weight, true));
        }
        items.push((pair, false));
    }
    items.extend(weights.map(|weight| (*weight, true)));
    items
}
