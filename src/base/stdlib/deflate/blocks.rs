//! Blocks of DEFLATE: the smallest of the three kinds is written.

use super::prefix_codes::PrefixCode;

/// A byte, or a copy of earlier bytes.
#[derive(Debug, Clone, Copy)]
pub(super) enum Token {
    Literal(u8),
    /// The length less 3 and the distance less 1.
    Match {
        length: u8,
        distance: u16,
    },
}

/// Symbol of the end of a block. The symbols of lengths follow.
const END: usize = 256;
const LITERALS: usize = 286;
const DISTANCES: usize = 30;
/// Order in which the lengths of the code for code lengths are written.
const ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/// A symbol with bits that follow it.
#[derive(Debug, Clone, Copy)]
struct Symbol {
    symbol: usize,
    extra: u16,
    extra_bits: u8,
}

impl Symbol {
    const fn new(symbol: usize, extra: usize, extra_bits: u8) -> Self {
        Self { symbol, extra: extra as u16, extra_bits }
    }

    /// Returns the range of a number. Ranges double in size after `1 << steps` of each size.
    fn of_range(number: u16, steps: u8) -> Self {
        let bits = (number.checked_ilog2().unwrap_or(0) as u8).saturating_sub(steps);
        let range = (usize::from(bits) << steps) + usize::from(number >> bits);
        Self::new(range, usize::from(number & ((1 << bits) - 1)), bits)
    }

    fn of_length(length: u8) -> Self {
        let range = if length == u8::MAX { Self::new(28, 0, 0) } else { Self::of_range(length.into(), 2) };
        Self { symbol: END + 1 + range.symbol, ..range }
    }

    fn of_distance(distance: u16) -> Self {
        Self::of_range(distance, 1)
    }
}

/// The codes of literals with lengths, and of distances.
struct Codes {
    literals: PrefixCode,
    distances: PrefixCode,
}

impl Codes {
    fn fixed() -> Self {
        let lengths = [(8, 144), (9, 112), (7, 24), (8, 8)];
        let literals = lengths.iter().flat_map(|(length, count)| std::iter::repeat_n(*length, *count)).collect();
        Self { literals: PrefixCode::of_lengths(literals), distances: PrefixCode::of_lengths(vec![5; DISTANCES]) }
    }
}

/// Numbers of the symbols of a block.
struct Counts {
    literals: [u32; LITERALS],
    distances: [u32; DISTANCES],
    extra_bits: usize,
}

impl Counts {
    fn new(tokens: &[Token]) -> Self {
        let mut counts = Self { literals: [0; LITERALS], distances: [0; DISTANCES], extra_bits: 0 };
        counts.literals[END] = 1;
        for token in tokens {
            counts.add(*token);
        }
        if counts.distances == [0; DISTANCES] {
            // A code has at least one word.
            counts.distances[0] = 1;
        }
        counts
    }

    fn add(&mut self, token: Token) {
        match token {
            Token::Literal(byte) => self.literals[usize::from(byte)] += 1,
            Token::Match { length, distance } => {
                let (length, distance) = (Symbol::of_length(length), Symbol::of_distance(distance));
                self.literals[length.symbol] += 1;
                self.distances[distance.symbol] += 1;
                self.extra_bits += usize::from(length.extra_bits + distance.extra_bits);
            }
        }
    }

    /// Returns the size in bits of the tokens and the end.
    fn size(&self, codes: &Codes) -> usize {
        codes.literals.size(&self.literals) + codes.distances.size(&self.distances) + self.extra_bits
    }
}

/// The codes of one block, and how they are written before it.
struct Dynamic {
    codes: Codes,
    /// The lengths of both codes, with runs.
    runs: Vec<Symbol>,
    run_code: PrefixCode,
    /// Number of lengths of `run_code` that are written.
    run_lengths: usize,
    header_bits: usize,
}

impl Dynamic {
    fn new(counts: &Counts) -> Self {
        let literals = PrefixCode::of_counts(without_zeros(&counts.literals), 15);
        let distances = PrefixCode::of_counts(without_zeros(&counts.distances), 15);
        let runs = runs(&[&literals.lengths[..], &distances.lengths].concat());
        let mut run_counts = [0; ORDER.len()];
        runs.iter().for_each(|run| run_counts[run.symbol] += 1);
        let run_code = PrefixCode::of_counts(&run_counts, 7);
        let run_lengths = ORDER.iter().rposition(|symbol| run_counts[*symbol] > 0).map_or(4, |last| 4.max(last + 1));
        let extra_bits: usize = runs.iter().map(|run| usize::from(run.extra_bits)).sum();
        let header_bits = 14 + 3 * run_lengths + run_code.size(&run_counts) + extra_bits;
        Self { codes: Codes { literals, distances }, runs, run_code, run_lengths, header_bits }
    }
}

fn without_zeros(counts: &[u32]) -> &[u32] {
    counts.iter().rposition(|count| *count > 0).map_or(&[], |last| &counts[..=last])
}

/// Shortens runs of code lengths. A length other than zero stands once before its repetitions.
fn runs(lengths: &[u8]) -> Vec<Symbol> {
    let mut symbols = Vec::new();
    for run in lengths.chunk_by(|a, b| a == b) {
        let (length, mut left) = (usize::from(run[0]), run.len());
        if length > 0 {
            symbols.push(Symbol::new(length, 0, 0));
            left -= 1;
        }
        while left >= 3 {
            let (symbol, least, most, bits) = match (length, left) {
                (1.., _) => (16, 3, 6, 2),
                (0, ..11) => (17, 3, 10, 3),
                (0, _) => (18, 11, 138, 7),
            };
            let count = left.min(most);
            symbols.push(Symbol::new(symbol, count - least, bits));
            left -= count;
        }
        symbols.extend(std::iter::repeat_n(Symbol::new(length, 0, 0), left));
    }
    symbols
}

/// Writes blocks, none of which is the last.
pub(super) struct Blocks<'a> {
    bits: Bits<'a>,
    fixed: Codes,
}

impl<'a> Blocks<'a> {
    pub(super) fn new(out: &'a mut Vec<u8>) -> Self {
        Self { bits: Bits { out, bits: 0, count: 0 }, fixed: Codes::fixed() }
    }

    /// Writes a block. `stored` are the bytes of the tokens, if they may be written as they are.
    pub(super) fn write(&mut self, tokens: &[Token], stored: Option<&[u8]>) {
        let counts = Counts::new(tokens);
        let dynamic = Dynamic::new(&counts);
        let fixed_size = 3 + counts.size(&self.fixed);
        let dynamic_size = 3 + dynamic.header_bits + counts.size(&dynamic.codes);
        let size = fixed_size.min(dynamic_size);
        match stored.filter(|bytes| bytes.len() <= usize::from(u16::MAX) && (bytes.len() + 5) * 8 < size) {
            Some(bytes) => self.write_stored(bytes),
            None if dynamic_size < fixed_size => {
                self.bits.push_header(&dynamic);
                self.bits.push_tokens(tokens, &dynamic.codes);
            }
            None => {
                self.bits.push(0b010, 3);
                self.bits.push_tokens(tokens, &self.fixed);
            }
        }
    }

    /// Writes bytes as they are, of which there are at most 65,535.
    pub(super) fn write_stored(&mut self, bytes: &[u8]) {
        self.bits.push(0b000, 3);
        self.bits.push(0, (8 - self.bits.count) % 8);
        let length = bytes.len() as u16;
        self.bits.push(length, 16);
        self.bits.push(!length, 16);
        self.bits.out.extend(bytes);
    }
}

/// Writes bits, the lowest one of a number first.
struct Bits<'a> {
    out: &'a mut Vec<u8>,
    /// Up to seven bits that do not fill a byte yet.
    bits: u32,
    count: u32,
}

impl Bits<'_> {
    fn push_header(&mut self, dynamic: &Dynamic) {
        self.push(0b100, 3);
        self.push((dynamic.codes.literals.lengths.len() - 257) as u16, 5);
        self.push((dynamic.codes.distances.lengths.len() - 1) as u16, 5);
        self.push((dynamic.run_lengths - 4) as u16, 4);
        for symbol in &ORDER[..dynamic.run_lengths] {
            self.push(dynamic.run_code.lengths[*symbol].into(), 3);
        }
        for run in &dynamic.runs {
            self.push_symbol(*run, &dynamic.run_code);
        }
    }

    fn push_tokens(&mut self, tokens: &[Token], codes: &Codes) {
        for token in tokens {
            match *token {
                Token::Literal(byte) => self.push_symbol(Symbol::new(byte.into(), 0, 0), &codes.literals),
                Token::Match { length, distance } => {
                    self.push_symbol(Symbol::of_length(length), &codes.literals);
                    self.push_symbol(Symbol::of_distance(distance), &codes.distances);
                }
            }
        }
        self.push_symbol(Symbol::new(END, 0, 0), &codes.literals);
    }

    fn push_symbol(&mut self, Symbol { symbol, extra, extra_bits }: Symbol, code: &PrefixCode) {
        let (word, length) = code.word(symbol);
        self.push(word, length.into());
        self.push(extra, extra_bits.into());
    }

    /// Appends up to 16 bits. The others are zero.
    fn push(&mut self, bits: u16, count: u32) {
        self.bits |= u32::from(bits) << self.count;
        self.count += count;
        while self.count >= 8 {
            self.out.push(self.bits as u8);
            self.bits >>= 8;
            self.count -= 8;
        }
    }
}
