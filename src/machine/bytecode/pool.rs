//! The string pool: all text of a program.

use std::ops::Range;
use std::sync::Arc;

use super::sections::StringRow;
use dropforge_base::text::Text;

/// Text embedded in the binary or shared by programs.
#[derive(Clone)]
pub enum Pool {
    Static(&'static str),
    Shared(Arc<String>),
}

impl Pool {
    #[inline(always)]
    pub(super) fn text(&self) -> &str {
        match self {
            Pool::Static(text) => text,
            Pool::Shared(text) => text,
        }
    }

    /// Returns a part of the text without copying it.
    pub(super) fn part(&self, [start, end]: [u32; 2]) -> Text {
        self.range(start as usize..end as usize)
    }

    /// Returns a range of the text without copying it.
    pub(super) fn range(&self, range: Range<usize>) -> Text {
        match self {
            Pool::Static(text) => Text::Static(text.get(range).unwrap_or("")),
            Pool::Shared(text) => Text::Shared(text.clone(), range),
        }
    }
}

/// Returns the string with index `id`, or the empty string.
#[inline(always)]
pub(super) fn string<'p>(strings: &[StringRow], pool: &'p str, id: u32) -> &'p str {
    let [start, end] = strings.get(id as usize).copied().unwrap_or([0, 0]);
    pool.get(start as usize..end as usize).unwrap_or("")
}
