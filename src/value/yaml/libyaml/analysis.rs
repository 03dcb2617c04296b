//! Finds out which styles can hold a text.

use super::chars::{is_blank, is_break, is_printable};

/// A style of scalars.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    Single,
    Double,
    Literal,
}

/// The styles that can hold a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Analysis {
    pub multiline: bool,
    plain: bool,
    single: bool,
    literal: bool,
    empty: bool,
}

/// What was seen of a text.
#[derive(Default)]
struct Seen {
    indicators: bool,
    breaks: bool,
    special: bool,
    tabs: bool,
    break_space: bool,
    space_break: bool,
}

impl Analysis {
    /// Analyses a text. With `tabs_in_blocks` literal blocks may hold tabs.
    pub fn of(text: &str, tabs_in_blocks: bool) -> Self {
        if text.is_empty() {
            return Self { multiline: false, plain: true, single: true, literal: false, empty: true };
        }
        if is_word(text) {
            return Self { multiline: false, plain: true, single: true, literal: true, empty: false };
        }
        let seen = Seen::of(text, tabs_in_blocks);
        let edge = |c: Option<char>| c.is_some_and(|c| c == ' ' || is_break(c));
        let bounded = edge(text.chars().next()) || edge(text.chars().next_back());
        let odd = seen.space_break || seen.special;
        Self {
            multiline: seen.breaks,
            plain: !(bounded || seen.break_space || odd || seen.tabs || seen.breaks || seen.indicators),
            single: !(seen.break_space || odd || seen.tabs),
            literal: !(odd || text.ends_with(' ')),
            empty: false,
        }
    }

    /// Returns the style of a text for which `wanted` is preferred.
    pub fn style(self, wanted: Style, is_simple_key: bool) -> Style {
        let mut style = wanted;
        if style == Style::Plain && (!self.plain || (is_simple_key && (self.multiline || self.empty))) {
            style = Style::Single;
        }
        if style == Style::Single && !self.single {
            style = Style::Double;
        }
        if style == Style::Literal && (!self.literal || is_simple_key) {
            style = Style::Double;
        }
        style
    }
}

/// Returns `true` if every style can hold a text, because none of its characters may mean anything.
fn is_word(text: &str) -> bool {
    let plain =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'/' | b'-' | b'@' | b'+' | b'=');
    text.starts_with(|first: char| first.is_ascii_alphanumeric()) && text.bytes().all(plain)
}

impl Seen {
    fn of(text: &str, tabs_in_blocks: bool) -> Self {
        let mut seen = Self { indicators: text.starts_with("---") || text.starts_with("..."), ..Self::default() };
        let (mut before, mut chars) = (None, text.chars().peekable());
        while let Some(c) = chars.next() {
            let after = chars.peek().copied();
            let followed = after.is_none_or(|after| is_blank(after) || is_break(after) || after == '\0');
            seen.indicators |= is_indicator(c, before, followed);
            match c {
                '\t' if tabs_in_blocks => seen.tabs = true,
                c => seen.special |= !is_printable(c),
            }
            seen.breaks |= is_break(c);
            seen.break_space |= c == ' ' && before.is_some_and(is_break);
            seen.space_break |= is_break(c) && before == Some(' ');
            before = Some(c);
        }
        seen
    }
}

/// Returns `true` if `c` means something between `before` and what follows it.
fn is_indicator(c: char, before: Option<char>, followed: bool) -> bool {
    let opens = before.is_none();
    match c {
        '#' => before.is_none_or(|before| is_blank(before) || is_break(before) || before == '\0'),
        ':' => followed,
        '?' | '-' => opens && followed,
        ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%' | '@' | '`' => opens,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_analysed_like_any_text() {
        let parts =
            ["a", "Z", "0", "_", ".", "/", "-", "@", "+", "=", "---", "...", " ", ":", "#", "\t", "\n", "é", "*"];
        let texts = parts.iter().flat_map(|a| parts.iter().flat_map(move |b| parts.map(|c| format!("{a}{b}{c}"))));
        let mut words = 0;
        for text in texts.filter(|text| is_word(text)) {
            let Seen { indicators, breaks, special, tabs, break_space, space_break } = Seen::of(&text, false);
            assert!(!(indicators || breaks || special || tabs || break_space || space_break), "{text}");
            words += 1;
        }
        assert!(words > 100, "{words}");
    }
}
