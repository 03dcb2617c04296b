//! Hazards of shell quoting.
//!
//! In shell mode a value becomes `'…'`, which is one token only where the shell reads words. The quotes do not protect
//! it inside the author's own quotes, after a backslash, or in backticks, here-documents, comments and arithmetic. This
//! scanner follows the quoting of POSIX shells and bash closely enough to detect these cases. Where it cannot be sure
//! (a `case` pattern inside `$(…)`), it reports a hazard. It scans the text in one pass with a stack on the heap.

use dropforge_base::diagnostics::Code;
use dropforge_base::text::Span;

/// A position where single quotes do not protect a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Hazard {
    /// `"… ${x} …"`
    DoubleQuotes,
    /// `'… ${x} …'`
    SingleQuotes,
    /// `\${x}`
    AfterBackslash,
    /// `` `… ${x} …` ``
    Backticks,
    /// Between `<<EOF` and `EOF`, or in the word after `<<`.
    Heredoc,
    /// After `#`.
    Comment,
    /// `$(( ${x} ))`
    Arithmetic,
    /// `sh -c ${x}`, `eval ${x}`, `ssh host ${x}`
    Code,
}

impl Hazard {
    /// Returns the code of the lint. Its name is the `reason` of the error in strict mode.
    pub fn code(self) -> Code {
        match self {
            Hazard::DoubleQuotes => Code::ShellExpressionInDoubleQuotes,
            Hazard::SingleQuotes => Code::ShellExpressionInSingleQuotes,
            Hazard::AfterBackslash => Code::ShellExpressionAfterBackslash,
            Hazard::Backticks => Code::ShellExpressionInBackticks,
            Hazard::Heredoc => Code::ShellExpressionInHeredoc,
            Hazard::Comment => Code::ShellExpressionInComment,
            Hazard::Arithmetic => Code::ShellExpressionInArithmetic,
            Hazard::Code => Code::ShellExpressionRunAsCode,
        }
    }

    /// Returns the fix.
    pub fn help(self) -> &'static str {
        match self {
            Hazard::DoubleQuotes | Hazard::SingleQuotes => "end your own quotes before the expression: \"text \"${…}",
            Hazard::AfterBackslash => "remove the backslash; the value is quoted anyway",
            Hazard::Backticks => "use $(…) instead of backticks",
            Hazard::Heredoc => "pipe the value in: printf '%s\\n' ${…} | command",
            Hazard::Comment => "remove the expression from the comment; a line break in the value would end it",
            Hazard::Code => {
                "write the command out and pass the value as an argument, sh -c 'command \"$1\"' - ${…}, or on its \
                 standard input, printf '%s\\n' ${…} | ssh HOST command"
            }
            Hazard::Arithmetic => "assign the value to a shell variable first and check that it is a number",
        }
    }
}

/// Returns the hazard of each of `expressions`, which are ordered spans of `text` that do not overlap.
///
/// ```
/// use dropforge::dialect::tower::check::{Hazard, hazards};
/// use dropforge::text::Span;
/// let text = "cp ${a} \"${b}\"";
/// let found = hazards(text, &[Span::new(3, 7), Span::new(9, 13)]);
/// assert_eq!(found, [None, Some(Hazard::DoubleQuotes)]);
/// ```
pub fn hazards(text: &str, expressions: &[Span]) -> Vec<Option<Hazard>> {
    let mut scanner = Scanner {
        bytes: text.as_bytes(),
        at: 0,
        expressions,
        found: Vec::with_capacity(expressions.len()),
        frames: Vec::new(),
        backticks: None,
        word_start: true,
        heredocs: Vec::new(),
    };
    while scanner.at < scanner.bytes.len() {
        scanner.step();
    }
    let Scanner { mut found, .. } = scanner;
    found.resize(expressions.len(), None);
    found
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Frame {
    /// `$(…)` with the parentheses open inside.
    Substitution(usize),
    Backticks,
    DoubleQuotes,
    SingleQuotes,
    /// `$'…'`: a backslash escapes.
    AnsiQuotes,
    /// `$((…))` or `((…))` with the parentheses open inside.
    Arithmetic(usize),
}

/// A here-document whose body begins after the next line break.
struct Heredoc {
    delimiter: Vec<u8>,
    strip_tabs: bool,
}

struct Scanner<'t> {
    bytes: &'t [u8],
    at: usize,
    expressions: &'t [Span],
    found: Vec<Option<Hazard>>,
    frames: Vec<Frame>,
    /// Index of the frame of open backticks, which do not nest.
    backticks: Option<usize>,
    word_start: bool,
    heredocs: Vec<Heredoc>,
}

impl Scanner<'_> {
    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn looking_at(&self, prefix: &[u8]) -> bool {
        self.bytes.get(self.at..).is_some_and(|rest| rest.starts_with(prefix))
    }

    /// Returns the next expression if it begins at the current position.
    fn expression_here(&self) -> Option<Span> {
        self.expressions.get(self.found.len()).copied().filter(|span| span.start as usize == self.at)
    }

    /// Records `hazard` for every expression that begins before `end`, and moves there.
    fn skip_to(&mut self, end: usize, hazard: Hazard) {
        while self.expressions.get(self.found.len()).is_some_and(|span| (span.start as usize) < end) {
            self.found.push(Some(hazard));
        }
        self.at = self.at.max(end);
    }

    /// Returns the hazard of a word at the current position.
    fn hazard(&self) -> Option<Hazard> {
        match self.frames.last() {
            Some(Frame::DoubleQuotes) => Some(Hazard::DoubleQuotes),
            Some(Frame::SingleQuotes | Frame::AnsiQuotes) => Some(Hazard::SingleQuotes),
            Some(Frame::Arithmetic(_)) => Some(Hazard::Arithmetic),
            _ if self.backticks.is_some() => Some(Hazard::Backticks),
            _ => None,
        }
    }

    fn push(&mut self, frame: Frame, length: usize) {
        if frame == Frame::Backticks {
            self.backticks = Some(self.frames.len());
        }
        self.frames.push(frame);
        self.word_start = true;
        self.at += length;
    }

    fn pop(&mut self, length: usize) {
        self.frames.pop();
        self.word_start = false;
        self.at += length;
    }

    fn step(&mut self) {
        if let Some(span) = self.expression_here() {
            let hazard = self.hazard();
            self.found.push(hazard);
            self.at = span.end as usize;
            self.word_start = false;
            return;
        }
        let Some(byte) = self.peek(0) else { return };
        match (self.frames.last().copied(), byte) {
            (Some(Frame::SingleQuotes), b'\'') => self.pop(1),
            (_, b'`') if self.backticks.is_some() || self.frames.last() != Some(&Frame::SingleQuotes) => {
                self.backtick();
            }
            (Some(Frame::SingleQuotes), _) => self.at += 1,
            (_, b'\\') => self.backslash(),
            (Some(Frame::AnsiQuotes), b'\'') => self.pop(1),
            (Some(Frame::AnsiQuotes), _) => self.at += 1,
            (Some(Frame::DoubleQuotes), b'"') => self.pop(1),
            (_, b'$') if self.looking_at(b"$((") => self.push(Frame::Arithmetic(0), 3),
            (_, b'$') if self.looking_at(b"$(") => self.push(Frame::Substitution(0), 2),
            (Some(Frame::DoubleQuotes), _) => self.at += 1,
            (_, b'"') => self.push(Frame::DoubleQuotes, 1),
            (Some(Frame::Arithmetic(open)), _) => self.arithmetic(open, byte),
            (_, b'$') if self.looking_at(b"$'") => self.push(Frame::AnsiQuotes, 2),
            (_, b'\'') => self.push(Frame::SingleQuotes, 1),
            _ => self.command(byte),
        }
    }

    /// Reads a byte of commands and words.
    fn command(&mut self, byte: u8) {
        match byte {
            b'#' if self.word_start => self.comment(),
            b'(' if self.word_start && self.looking_at(b"((") => self.push(Frame::Arithmetic(0), 2),
            b'(' | b')' => self.parenthesis(byte),
            b'<' if self.looking_at(b"<<<") => self.at += 3,
            b'<' if self.looking_at(b"<<") => self.heredoc_word(),
            b'\n' => self.line_break(),
            _ => {
                self.word_start = matches!(byte, b' ' | b'\t' | b';' | b'&' | b'|');
                self.at += 1;
            }
        }
    }

    fn parenthesis(&mut self, byte: u8) {
        match (self.frames.last_mut(), byte) {
            (Some(Frame::Substitution(open)), b'(') => *open += 1,
            (Some(Frame::Substitution(0)), _) => return self.pop(1),
            (Some(Frame::Substitution(open)), _) => *open -= 1,
            _ => {}
        }
        self.word_start = true;
        self.at += 1;
    }

    fn arithmetic(&mut self, open: usize, byte: u8) {
        match byte {
            b'(' => self.set_arithmetic(open + 1),
            b')' if open > 0 => self.set_arithmetic(open - 1),
            b')' => return self.pop(if self.looking_at(b"))") { 2 } else { 1 }),
            _ => {}
        }
        self.at += 1;
    }

    fn set_arithmetic(&mut self, open: usize) {
        if let Some(frame) = self.frames.last_mut() {
            *frame = Frame::Arithmetic(open);
        }
    }

    /// Opens or closes backticks. Closing also closes everything open inside.
    fn backtick(&mut self) {
        match self.backticks.take() {
            Some(depth) => {
                self.frames.truncate(depth);
                self.word_start = false;
                self.at += 1;
            }
            None => self.push(Frame::Backticks, 1),
        }
    }

    /// Reads a backslash and the character or expression after it.
    fn backslash(&mut self) {
        self.at += 1;
        self.word_start = false;
        if let Some(span) = self.expression_here() {
            self.found.push(Some(Hazard::AfterBackslash));
            self.at = span.end as usize;
        } else if self.at < self.bytes.len() {
            self.at += 1;
        }
    }

    fn comment(&mut self) {
        let stop = |&byte: &u8| byte == b'\n' || (byte == b'`' && self.backticks.is_some());
        let rest = self.bytes.get(self.at..).unwrap_or(&[]);
        let end = self.at + rest.iter().position(stop).unwrap_or(rest.len());
        self.skip_to(end, Hazard::Comment);
    }

    /// Reads `<<` or `<<-` and the word after it.
    fn heredoc_word(&mut self) {
        self.at += 2;
        let strip_tabs = self.peek(0) == Some(b'-');
        self.at += usize::from(strip_tabs);
        while matches!(self.peek(0), Some(b' ' | b'\t')) {
            self.at += 1;
        }
        let mut delimiter = Vec::new();
        while let Some(byte) = self.peek(0) {
            if let Some(span) = self.expression_here() {
                self.skip_to(span.end as usize, Hazard::Heredoc);
                continue;
            }
            match byte {
                b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')' | b'`' => break,
                b'\'' | b'"' | b'\\' => {}
                other => delimiter.push(other),
            }
            self.at += 1;
        }
        self.heredocs.push(Heredoc { delimiter, strip_tabs });
        self.word_start = false;
    }

    /// Reads the end of a line and the bodies of its here-documents.
    fn line_break(&mut self) {
        self.at += 1;
        self.word_start = true;
        for heredoc in std::mem::take(&mut self.heredocs) {
            while self.at < self.bytes.len() {
                let rest = self.bytes.get(self.at..).unwrap_or(&[]);
                let length = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
                let mut line = rest.get(..length).unwrap_or(&[]);
                while heredoc.strip_tabs && line.first() == Some(&b'\t') {
                    line = line.get(1..).unwrap_or(&[]);
                }
                let last = line == heredoc.delimiter;
                self.skip_to((self.at + length + 1).min(self.bytes.len()), Hazard::Heredoc);
                if last {
                    break;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the hazards of each `${…}` in a command by name, `-` for none.
    fn scan(text: &str) -> String {
        let spans: Vec<Span> = text
            .match_indices("${")
            .map(|(at, _)| Span::of(at..at + text[at..].find('}').map_or(text.len() - at, |n| n + 1)))
            .collect();
        let name = |hazard: Option<Hazard>| match hazard {
            None => '-',
            Some(Hazard::DoubleQuotes) => 'd',
            Some(Hazard::SingleQuotes) => 's',
            Some(Hazard::AfterBackslash) => 'b',
            Some(Hazard::Backticks) => 't',
            Some(Hazard::Heredoc) => 'h',
            Some(Hazard::Comment) => 'c',
            Some(Hazard::Arithmetic) => 'a',
            Some(Hazard::Code) => 'x',
        };
        hazards(text, &spans).into_iter().map(name).collect()
    }

    #[test]
    fn every_hazard_is_recognised() {
        let table = [
            ("run ${x} a${x}b --k=${x}", "---"),
            ("\"${x}\" ${x} \"a\\\"${x}\" ${x}", "d-d-"),
            ("'${x}' ${x} 'a\"${x}' \"'\" ${x}", "s-s-"),
            ("$'a\\'${x}' ${x} $\"${x}\"", "s-d"),
            ("\\${x} \\\\${x} a\\ ${x}", "b--"),
            ("`echo ${x}` ${x} \"`echo ${x}`\" ${x}", "t-t-"),
            ("`echo \"${x}` ${x}", "d-"),
            ("$(echo ${x} \"${x}\") \"$(echo ${x} '${x}')${x}\" ${x}", "-d-sd-"),
            ("$((1 + ${x})) ${x} $(( (${x}) + 1 )) ${x} (( ${x} )) ${x}", "a-a-a-"),
            ("$(( $(echo ${x}) ))", "-"),
            ("echo # ${x}\necho ${x} a#${x}", "c--"),
            ("cat <<EOF ${x}\n${x}\n EOF ${x}\nEOF\n${x}", "-hh-"),
            ("cat <<'E' <<-F\n${x}\nE\n\t${x}\n\t\tF\n${x}", "hh-"),
            ("cat <<< ${x}\n${x}", "--"),
            ("cat << ${x}\na ${x}", "hh"),
            ("a=$(cat <<E\n${x}\nE\n) ${x}", "h-"),
            ("(cd ${x}; (echo ${x})) ${x}", "---"),
            ("echo ) ${x} \" ${x}", "-d"),
            ("if [ ${x} = a ]; then echo ${x}; fi", "--"),
            ("${x}", "-"),
            ("for f in *; do echo \"$f\" ${x}; done", "-"),
            ("echo \"it's\" ${x} 'a \" b' ${x}", "--"),
        ];
        for (text, wanted) in table {
            assert_eq!(scan(text), wanted, "{text}");
        }
    }

    #[test]
    fn any_text_ends() {
        for unit in ["$(", "$((", "`", "\"$(", "<<", "<<A\n", "\\", "'", "((", ")", "#", "$'", "\"`"] {
            let text = format!("{}${{x}}", unit.repeat(50_000));
            assert_eq!(scan(&text).len(), 1, "{unit}");
        }
    }
}
