//! YAML as the readers and writers of the libyaml family process it: YAML 1.1 with their own resolution of scalars,
//! their line folding, and their messages.
//!
//! [`write()`] writes values in one of two forms ([`Form`]); [`read()`] reads the first document of a text, [`read_all`]
//! all of them.
//!
//! | module | content |
//! |---|---|
//! | `resolve` | which plain scalars are numbers, booleans, null, dates |
//! | `analysis` | which styles can hold a text |
//! | `emit` | columns, indentation, indicators, scalars in each style |
//! | `order` | the order of keys, in which numbers count as numbers |
//! | `write` | values as documents |
//! | `chars`, `scan`, `scan_text`, `parse` | characters, tokens, scalars, events |
//! | `read` | events as values |

mod emit;
mod parse;
mod read;
mod resolve;
mod scan;
mod scan_text;
mod write;

pub use read::{problem, read, read_all};
pub use resolve::{Resolved, resolve, word};
pub use scan::NO_TOKEN;
pub use write::{Form, write};

/// Returns `true` for the end of a line.
#[inline]
const fn is_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Returns `true` for a space or tab.
#[inline]
const fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t')
}

/// Returns `true` for characters that are written as they are.
const fn is_printable(c: char) -> bool {
    matches!(c, '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}')
}

/// Returns `true` for characters that may occur in a document.
const fn is_allowed(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='~' | '\u{85}' | '\u{a0}'..='\u{fffd}' | '\u{10000}'..)
}

#[cfg(test)]
mod tests;
