//! Classes of characters.

/// Returns `true` for the end of a line.
#[inline]
pub(super) const fn is_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Returns `true` for a space or tab.
#[inline]
pub(super) const fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t')
}

/// Returns `true` for characters that are written as they are.
pub(super) const fn is_printable(c: char) -> bool {
    matches!(c, '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}')
}

/// Returns `true` for characters that may occur in a document.
pub(super) const fn is_allowed(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='~' | '\u{85}' | '\u{a0}'..='\u{fffd}' | '\u{10000}'..)
}
