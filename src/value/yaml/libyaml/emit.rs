//! Finds out which styles can hold a text. Writes indicators and scalars, and knows where it is in the line.

use super::{is_blank, is_break, is_printable};
use crate::yaml::Style;

/// The output and the position in it.
pub(super) struct Emitter<'o> {
    pub out: &'o mut String,
    column: usize,
    /// `true` after white space, or at the start.
    whitespace: bool,
    /// `true` if the line holds only indentation and indicators so far.
    pub indention: bool,
    /// The column from which text is folded.
    width: usize,
}

impl<'o> Emitter<'o> {
    pub const fn new(out: &'o mut String, width: usize) -> Self {
        Self { out, column: 0, whitespace: true, indention: true, width }
    }

    fn put(&mut self, c: char) {
        self.out.push(c);
        self.column += 1;
    }

    fn put_break(&mut self) {
        self.out.push('\n');
        self.column = 0;
    }

    /// Writes a line break of a text.
    fn write_break(&mut self, c: char) {
        self.out.push(c);
        self.column = 0;
    }

    /// Moves to `indent` in a new line, unless the line is still empty up to there.
    pub fn indent(&mut self, indent: usize) {
        if !self.indention || self.column > indent || (self.column == indent && !self.whitespace) {
            self.put_break();
        }
        while self.column < indent {
            self.put(' ');
        }
        self.whitespace = true;
        self.indention = true;
    }

    /// Writes an indicator. `apart` asks for a space before it; `indents` for one that nested collections may follow.
    pub fn indicator(&mut self, text: &str, apart: bool, indents: bool) {
        if apart && !self.whitespace {
            self.put(' ');
        }
        text.chars().for_each(|c| self.put(c));
        self.whitespace = false;
        self.indention &= indents;
    }

    /// Writes a scalar whose further lines are indented by `indent`.
    pub fn scalar(&mut self, text: &str, style: Style, indent: usize, is_simple_key: bool) {
        match style {
            Style::Plain => self.plain(text, indent, !is_simple_key),
            Style::SingleQuoted => self.single(text, indent, !is_simple_key),
            Style::DoubleQuoted => self.double(text, indent, !is_simple_key),
            Style::Literal | Style::Folded => self.literal(text, indent),
        }
    }

    /// Writes a value that needs no style: a number, a word.
    pub fn word(&mut self, text: &str) {
        self.indicator(text, true, false);
    }

    fn is_full(&self) -> bool {
        self.column > self.width
    }

    fn plain(&mut self, text: &str, indent: usize, may_fold: bool) {
        if !self.whitespace {
            self.put(' ');
        }
        self.flow(text, indent, may_fold, false);
        self.whitespace = false;
        self.indention = false;
    }

    fn single(&mut self, text: &str, indent: usize, may_fold: bool) {
        self.indicator("'", true, false);
        self.flow(text, indent, may_fold, true);
        self.indicator("'", false, false);
    }

    /// Writes the characters of a plain or single-quoted scalar.
    fn flow(&mut self, text: &str, indent: usize, may_fold: bool, quoted: bool) {
        if text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\'') {
            self.out.push_str(text);
            self.column += text.len();
            self.indention &= text.is_empty();
            return;
        }
        let (mut after_space, mut after_break) = (false, false);
        let mut chars = text.chars().enumerate().peekable();
        while let Some((at, c)) = chars.next() {
            let next = chars.peek().map(|(_, next)| *next);
            let inside = !quoted || (at > 0 && next.is_some());
            if c == ' ' {
                match may_fold && self.is_full() && !after_space && inside && next != Some(' ') {
                    true => self.indent(indent),
                    false => self.put(c),
                }
                after_space = true;
                continue;
            }
            after_space = false;
            if is_break(c) {
                if !after_break && c == '\n' {
                    self.put_break();
                }
                self.write_break(c);
                self.indention = true;
                after_break = true;
                continue;
            }
            if after_break {
                self.indent(indent);
            }
            if quoted && c == '\'' {
                self.put('\'');
            }
            self.put(c);
            self.indention = false;
            after_break = false;
        }
    }

    fn double(&mut self, text: &str, indent: usize, may_fold: bool) {
        self.indicator("\"", true, false);
        let mut after_space = false;
        // Like the reference, takes every character after a byte order mark for one.
        let is_marked = text.starts_with('\u{feff}');
        let mut chars = text.chars().enumerate().peekable();
        while let Some((at, c)) = chars.next() {
            let next = chars.peek().map(|(_, next)| *next);
            if is_marked || !is_printable(c) || is_break(c) || matches!(c, '"' | '\\') {
                self.escape(c);
                after_space = false;
                continue;
            }
            let inside = at > 0 && next.is_some();
            if c == ' ' && may_fold && self.is_full() && !after_space && inside {
                self.indent(indent);
                if next == Some(' ') {
                    self.put('\\');
                }
            } else {
                self.put(c);
            }
            after_space = c == ' ';
        }
        self.indicator("\"", false, false);
    }

    fn escape(&mut self, c: char) {
        let short = match c {
            '\0' => '0',
            '\u{7}' => 'a',
            '\u{8}' => 'b',
            '\t' => 't',
            '\n' => 'n',
            '\u{b}' => 'v',
            '\u{c}' => 'f',
            '\r' => 'r',
            '\u{1b}' => 'e',
            '"' | '\\' => c,
            '\u{85}' => 'N',
            '\u{a0}' => '_',
            '\u{2028}' => 'L',
            '\u{2029}' => 'P',
            c => {
                let text = match u32::from(c) {
                    code @ ..=0xff => format!("\\x{code:02X}"),
                    code @ ..=0xffff => format!("\\u{code:04X}"),
                    code => format!("\\U{code:08X}"),
                };
                return text.chars().for_each(|c| self.put(c));
            }
        };
        self.put('\\');
        self.put(short);
    }

    fn literal(&mut self, text: &str, indent: usize) {
        let mut header = String::from("|");
        if text.starts_with(|c| c == ' ' || is_break(c)) {
            header.push('2');
        }
        let mut end = text.chars().rev();
        match (end.next().is_some_and(is_break), end.next()) {
            (false, _) => header.push('-'),
            (true, before) if before.is_none_or(is_break) => header.push('+'),
            _ => {}
        }
        self.indicator(&header, true, false);
        self.put_break();
        self.indention = true;
        self.whitespace = true;
        let mut after_break = true;
        for c in text.chars() {
            if is_break(c) {
                self.write_break(c);
                self.indention = true;
                after_break = true;
                continue;
            }
            if after_break {
                self.indent(indent);
            }
            self.put(c);
            self.indention = false;
            after_break = false;
        }
    }
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
            style = Style::SingleQuoted;
        }
        if style == Style::SingleQuoted && !self.single {
            style = Style::DoubleQuoted;
        }
        if style == Style::Literal && (!self.literal || is_simple_key) {
            style = Style::DoubleQuoted;
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
