//! Writes indicators and scalars, and knows where it is in the line.

use super::analysis::Style;
use super::chars::{is_break, is_printable};

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

/// A scalar is folded at a space with these neighbors.
struct Space {
    after_space: bool,
    next: Option<char>,
    inside: bool,
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
            Style::Single => self.single(text, indent, !is_simple_key),
            Style::Double => self.double(text, indent, !is_simple_key),
            Style::Literal => self.literal(text, indent),
        }
    }

    /// Writes a value that needs no style: a number, a word.
    pub fn word(&mut self, text: &str) {
        self.indicator(text, true, false);
    }

    fn folds(&self, may_fold: bool, space: &Space) -> bool {
        may_fold && !space.after_space && self.column > self.width && space.inside && space.next != Some(' ')
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
                match self.folds(may_fold, &Space { after_space, next, inside }) {
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
        let mut chars = text.chars().enumerate().peekable();
        while let Some((at, c)) = chars.next() {
            let next = chars.peek().map(|(_, next)| *next);
            if !is_printable(c) || is_break(c) || matches!(c, '"' | '\\') {
                self.escape(c);
                after_space = false;
                continue;
            }
            let inside = at > 0 && next.is_some();
            if c == ' ' && self.folds(may_fold, &Space { after_space, next: None, inside }) {
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
