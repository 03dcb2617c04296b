//! Where the tables of a program lie: one block of words, cut into sections.

use std::ops::Range;

use super::header::Dialect;
use super::rows::{ChunkRow, DetailRow, HandlerRow, InlineRow, NumberRow, RegionRow, SpanRow};

/// A string's first byte in the pool, and the byte behind its last.
pub(crate) type StringRow = [u32; 2];

/// An import: kind, string id of the name, signature.
pub(crate) type ImportRow = [u32; 3];

/// A source: string id of its name, its text's first byte in the pool, the byte behind its last. A program
/// that still has the sources it was compiled from keeps no text in its pool, and the bytes count from 0.
pub(crate) type SourceRow = [u32; 3];

/// What stands behind the last string of a pool, so that a short one may be read as a block. Without it a program
/// runs as well, but slower.
pub(crate) const POOL_SLACK: &str = crate::value::ROOM;

/// What a program needs while it runs beside its tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Counts {
    /// How many read sites have an inline cache.
    pub caches: u32,
    /// How many answers are kept for a whole render.
    pub memos: u32,
}

/// A row of a table: one word, or a few.
pub(crate) trait Row: Sized {
    const WORDS: usize;

    /// Words as rows; what is left over at the end is left out.
    fn rows(words: &[u32]) -> &[Self];

    /// Rows as words.
    fn words(rows: &[Self]) -> &[u32];
}

impl Row for u32 {
    const WORDS: usize = 1;

    #[inline(always)]
    fn rows(words: &[u32]) -> &[u32] {
        words
    }

    fn words(rows: &[u32]) -> &[u32] {
        rows
    }
}

impl<const N: usize> Row for [u32; N] {
    const WORDS: usize = N;

    #[inline(always)]
    fn rows(words: &[u32]) -> &[[u32; N]] {
        words.as_chunks().0
    }

    fn words(rows: &[[u32; N]]) -> &[u32] {
        rows.as_flattened()
    }
}

macro_rules! sections {
    ($($variant:ident $field:ident $row:ty, $doc:literal;)*) => {
        /// A section of a program's block, in the order in which they lie there.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Section { $(#[doc = $doc] $variant,)* }

        impl Section {
            /// How many words a row of each section has.
            pub(crate) const ROW_WORDS: &[usize] = &[$(<$row as Row>::WORDS,)*];
        }

        /// The tables of a program as slices.
        #[derive(Debug, Clone, Copy)]
        pub(crate) struct Tables<'p> {
            pub dialect: Dialect,
            pub counts: Counts,
            /// All text; the sources' only where the program was loaded.
            pub pool: &'p str,
            $(#[doc = $doc] pub $field: &'p [$row],)*
        }

        impl<'p> Tables<'p> {
            pub(super) fn of(dialect: Dialect, counts: Counts, pool: &'p str, block: &'p [u32], layout: &Layout) -> Self {
                Self { dialect, counts, pool, $($field: Row::rows(layout.section(block, Section::$variant)),)* }
            }

            /// One block that holds every table, and where each lies.
            pub(crate) fn block(&self) -> (Vec<u32>, Layout) {
                let mut block = Vec::with_capacity(0 $(+ self.$field.len() * <$row as Row>::WORDS)*);
                let mut layout = Layout::default();
                $(
                    block.extend_from_slice(Row::words(self.$field));
                    layout.ends[Section::$variant as usize] = block.len();
                )*
                (block, layout)
            }
        }

        /// The tables of a program while they are made.
        #[derive(Debug, Clone)]
        pub(crate) struct Parts {
            pub dialect: Dialect,
            pub counts: Counts,
            pub pool: String,
            $(#[doc = $doc] pub $field: Vec<$row>,)*
        }

        impl Parts {
            /// The tables as slices.
            pub(crate) fn tables(&self) -> Tables<'_> {
                Tables { dialect: self.dialect, counts: self.counts, pool: &self.pool, $($field: &self.$field,)* }
            }
        }
    };
}

sections! {
    Words words u32, "The code.";
    Paths paths u32, "Records of paths.";
    Sites sites u32, "Records of call sites.";
    Keys keys u32, "Records of the keys of maps.";
    Scopes scopes u32, "Records of scopes, behind a word that is offset 0: no scope.";
    Strings strings StringRow, "Strings as ranges of the pool.";
    Numbers numbers NumberRow, "Number constants.";
    Chunks chunks ChunkRow, "Chunks of code; the first one is where a render begins.";
    Globals globals u32, "String ids of the top-level inputs that are read.";
    Imports imports ImportRow, "Functions that are called.";
    Failures failures u32, "Records of failures.";
    Handlers handlers HandlerRow, "Handlers, the outer before the inner, by their first words.";
    Spans spans SpanRow, "Places in the sources, by the words they begin at.";
    Details details DetailRow, "Places of operands and arguments, by the words of their instructions.";
    Inlined inlined InlineRow, "Code in the place of calls, by the words it ends at.";
    Regions regions RegionRow, "What code makes, and the names it sees, by the words it ends at.";
    Sources sources SourceRow, "Sources, the entry template's first.";
}

/// How many sections there are.
pub(crate) const SECTIONS: usize = Section::ROW_WORDS.len();

/// Where the sections of one program lie in a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Layout {
    start: usize,
    ends: [usize; SECTIONS],
}

impl Layout {
    /// The layout of sections with these numbers of words that lie one behind the other from word `start` on;
    /// `None` where a section does not consist of whole rows or the numbers do not add up.
    pub(crate) fn of_lengths(start: usize, lengths: [usize; SECTIONS]) -> Option<Layout> {
        let (mut end, mut ends) = (start, [0; SECTIONS]);
        for ((place, length), row) in ends.iter_mut().zip(lengths).zip(Section::ROW_WORDS) {
            end = end.checked_add(length)?;
            *place = end;
            if length % row != 0 {
                return None;
            }
        }
        Some(Layout { start, ends })
    }

    /// How many words each section has.
    pub(crate) fn lengths(&self) -> [usize; SECTIONS] {
        let mut from = self.start;
        self.ends.map(|end| end - std::mem::replace(&mut from, end))
    }

    /// The words of all sections.
    pub(crate) fn range(&self) -> Range<usize> {
        self.start..self.ends[SECTIONS - 1]
    }

    /// The words from offset `at` of a section on, and those of the sections behind it: what a record is read from.
    #[inline(always)]
    pub(super) fn behind<'p>(&self, block: &'p [u32], section: Section, at: usize) -> &'p [u32] {
        let nth = section as usize;
        let from = if nth == 0 { self.start } else { self.ends[nth - 1] };
        block.get(from.wrapping_add(at)..).unwrap_or(&[])
    }

    /// The words of a section.
    #[inline(always)]
    pub(super) fn section<'p>(&self, block: &'p [u32], section: Section) -> &'p [u32] {
        let at = section as usize;
        let from = if at == 0 { self.start } else { self.ends[at - 1] };
        block.get(from..self.ends[at]).unwrap_or(&[])
    }
}
