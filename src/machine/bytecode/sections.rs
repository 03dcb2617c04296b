//! The layout of a program's tables: one block of words, cut into sections.

use std::ops::Range;

use super::header::Dialect;
use super::rows::{ChunkRow, DetailRow, HandlerRow, InlineRow, NumberRow, RegionRow, SpanRow};

/// A string as a range of the pool.
pub(crate) type StringRow = [u32; 2];

/// An import: kind, string id of the name, signature.
type ImportRow = [u32; 3];

/// A source: string id of its name, and its text as a range of the pool. The sources of a freshly compiled program are
/// outside the pool, and their ranges start at 0.
type SourceRow = [u32; 3];

/// A chunk with a name by which it can be called: string id of the name, index of the chunk.
pub(crate) type NameRow = [u32; 2];

/// Padding after the last string of a pool, so that a short string can be read as a block. Without it a program runs
/// slower.
pub(crate) const POOL_SLACK: &str = dropforge_value::PADDING;

/// Properties of a program besides its tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Properties {
    /// The number of inline caches.
    pub caches: u32,
    /// The number of results kept during a render.
    pub memos: u32,
    /// `true` if a presence test finds nothing in a value without members. Otherwise it is an error.
    pub lenient: bool,
    /// `true` if runs may change maps, so that nothing read through one stays known.
    pub mutable: bool,
}

/// A row of a table: one or more words.
pub trait Row: Sized {
    const WORDS: usize;

    /// Reads words as rows, ignoring an incomplete last row.
    fn rows(words: &[u32]) -> &[Self];

    /// Reads rows as words.
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
        /// A section of a program's block, in their order.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Section { $(#[doc = $doc] $variant,)* }

        impl Section {
            /// The number of words of a row in each section.
            pub(crate) const ROW_WORDS: &[usize] = &[$(<$row as Row>::WORDS,)*];
        }

        /// The tables of a program as slices.
        #[derive(Debug, Clone, Copy)]
        pub struct Tables<'p> {
            pub dialect: Dialect,
            pub properties: Properties,
            /// All text, including that of the sources if the program was loaded.
            pub pool: &'p str,
            $(#[doc = $doc] pub $field: &'p [$row],)*
        }

        impl<'p> Tables<'p> {
            pub(super) fn of(dialect: Dialect, properties: Properties, pool: &'p str, block: &'p [u32], layout: &Layout) -> Self {
                Self { dialect, properties, pool, $($field: Row::rows(layout.section(block, Section::$variant)),)* }
            }

            /// Copies all tables into one block.
            pub fn block(&self) -> (Vec<u32>, Layout) {
                let mut block = Vec::with_capacity(0 $(+ self.$field.len() * <$row as Row>::WORDS)*);
                let mut layout = Layout::default();
                $(
                    block.extend_from_slice(Row::words(self.$field));
                    layout.ends[Section::$variant as usize] = block.len();
                )*
                (block, layout)
            }
        }

        /// The tables of a program under construction.
        #[derive(Debug, Clone)]
        pub struct Parts {
            /// The language.
            pub dialect: Dialect,
            /// The properties.
            pub properties: Properties,
            /// The text of all strings.
            pub pool: String,
            $(#[doc = $doc] pub $field: Vec<$row>,)*
        }

        impl Parts {
            /// Creates empty tables.
            pub fn new(dialect: Dialect) -> Self {
                Self { dialect, properties: Properties::default(), pool: String::new(), $($field: Vec::new(),)* }
            }

            /// Copies the tables of a program.
            pub fn of(tables: &Tables<'_>) -> Self {
                let Tables { dialect, properties, .. } = *tables;
                Self { dialect, properties, pool: tables.pool.to_owned(), $($field: tables.$field.to_vec(),)* }
            }

            /// Empties the tables but keeps their memory.
            pub fn clear(&mut self) {
                self.properties = Properties::default();
                self.pool.clear();
                $(self.$field.clear();)*
            }

            /// Returns the tables as slices.
            pub fn tables(&self) -> Tables<'_> {
                Tables { dialect: self.dialect, properties: self.properties, pool: &self.pool, $($field: &self.$field,)* }
            }
        }
    };
}

sections! {
    Words words u32, "The code.";
    Paths paths u32, "Records of paths.";
    Sites sites u32, "Records of call sites.";
    Keys keys u32, "Records of the keys of maps.";
    Scopes scopes u32, "Records of scopes, after a word for offset 0: no scope.";
    Strings strings StringRow, "Strings as ranges of the pool.";
    Numbers numbers NumberRow, "Number constants.";
    Chunks chunks ChunkRow, "Chunks of code. A render begins with the first.";
    Globals globals u32, "String ids of the top-level inputs.";
    Imports imports ImportRow, "Imported functions.";
    Failures failures u32, "Records of failures.";
    Handlers handlers HandlerRow, "Handlers by their first words, the outer before the inner.";
    Spans spans SpanRow, "Spans by the words they begin at.";
    Details details DetailRow, "Spans of operands and arguments by the words of their instructions.";
    Inlined inlined InlineRow, "Inlined code by the words it ends at.";
    Regions regions RegionRow, "Subjects of code by the words it ends at.";
    Sources sources SourceRow, "Sources, the entry template's first.";
    Names names NameRow, "Chunks that can be called by name, sorted by their names.";
}

/// The number of sections.
pub const SECTIONS: usize = Section::ROW_WORDS.len();

/// The positions of one program's sections in a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Layout {
    start: usize,
    ends: [usize; SECTIONS],
}

impl Layout {
    /// Lays out sections of these lengths in words one after another, starting at word `start`. `None` if a section
    /// does not consist of whole rows or the total overflows.
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

    /// Returns the number of words of each section.
    pub fn lengths(&self) -> [usize; SECTIONS] {
        let mut from = self.start;
        self.ends.map(|end| end - std::mem::replace(&mut from, end))
    }

    /// Returns the words of all sections.
    pub fn range(&self) -> Range<usize> {
        self.start..self.ends[SECTIONS - 1]
    }

    /// Returns the words of a section from offset `at` on, and those of the following sections. A record is read from
    /// its front.
    #[inline(always)]
    pub(super) fn behind<'p>(&self, block: &'p [u32], section: Section, at: usize) -> &'p [u32] {
        let nth = section as usize;
        let from = if nth == 0 { self.start } else { self.ends[nth - 1] };
        block.get(from.wrapping_add(at)..).unwrap_or(&[])
    }

    /// Returns the words of a section.
    #[inline(always)]
    pub(super) fn section<'p>(&self, block: &'p [u32], section: Section) -> &'p [u32] {
        let at = section as usize;
        let from = if at == 0 { self.start } else { self.ends[at - 1] };
        block.get(from..self.ends[at]).unwrap_or(&[])
    }
}
