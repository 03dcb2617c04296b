//! The syntax of expressions: lexer, parser, tree, macros, unparser, and expressions within text, `${ … }`. The lexer
//! finds the closing brace, so braces in strings and comments do not count. `$${` is the text `${`; any other `$` is itself.

mod build;
mod lexer;
mod macros;
mod nodes;
mod parser;
mod token;
pub mod tree;
mod unparse;

use std::sync::Arc;

use dropforge_base::diagnostics::{Code, Diagnostic};
use dropforge_base::text::{Source, Span};

pub use build::{balanced, is_reserved};
pub use lexer::Tokens;
pub(crate) use macros::ACCUMULATOR;
pub(crate) use macros::QUANTIFIERS;
pub use macros::UNUSED;
pub use macros::expanded;
pub(crate) use parser::parse_within;
pub use parser::{Options, parse};
pub use token::{Symbol, is_identifier};
pub use unparse::quoted;
pub use unparse::unparse;

/// A part of a text, by its span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScannedPart {
    /// Literal text. After an escape it starts at the second `$`.
    Text(Span),
    /// An expression.
    Expression {
        /// The span from `$` to the closing brace.
        whole: Span,
        /// The span between the braces.
        inner: Span,
    },
}

/// An invalid interpolation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScanError {
    /// The kind of error.
    pub kind: ScanErrorKind,
    /// The span of `${`, `${}`, or the unterminated string.
    pub span: Span,
}

/// The kind of an invalid interpolation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScanErrorKind {
    /// The closing `}` is missing.
    Unterminated,
    /// There is no expression.
    Empty,
    /// A string is unterminated.
    UnterminatedString,
}

impl ScanErrorKind {
    /// Makes the diagnostic.
    pub fn diagnostic(self) -> Box<Diagnostic> {
        let (code, message, help) = match self {
            Self::Unterminated => {
                (Code::Unterminated, "`${` is not closed", "close it with `}`, or write `$${` for the text `${`")
            }
            Self::Empty => (
                Code::UnexpectedToken,
                "`${}` has no expression",
                "write an expression between the braces, or `$${}` for the text `${}`",
            ),
            Self::UnterminatedString => {
                (Code::Unterminated, "a string does not end", "close the string before its line ends")
            }
        };
        Diagnostic::new(code, message).with_help(help)
    }
}

/// Splits a text into parts. A text without expressions and escapes is one part; the empty text has none.
///
/// # Errors
/// The first expression that is unterminated or empty.
///
/// ```
/// use dropforge::{dialect::cel::syntax::{ScannedPart, scan}, text::Span};
/// let parts = scan("$${x} ${ {'}': 1}[y] }!").unwrap();
/// assert_eq!(parts, [
///     ScannedPart::Text(Span::new(1, 6)),
///     ScannedPart::Expression { whole: Span::new(6, 22), inner: Span::new(8, 21) },
///     ScannedPart::Text(Span::new(22, 23)),
/// ]);
/// ```
pub fn scan(text: &str) -> Result<Vec<ScannedPart>, ScanError> {
    let mut parts = Vec::new();
    // The start of the next part, and the position of the search.
    let (mut from, mut at) = (0, 0);
    while let Some(dollar) = memchr::memchr(b'$', rest(text, at)).map(|found| at + found) {
        match rest(text, dollar) {
            [b'$', b'$', b'{', ..] => {
                push_text(&mut parts, from, dollar);
                from = dollar + 1;
                at = dollar + 3;
            }
            [b'$', b'{', ..] => {
                let close = end(text, dollar)?;
                push_text(&mut parts, from, dollar);
                let (whole, inner) = (Span::of(dollar..close + 1), Span::of(dollar + 2..close));
                parts.push(ScannedPart::Expression { whole, inner });
                from = close + 1;
                at = from;
            }
            _ => at = dollar + 1,
        }
    }
    push_text(&mut parts, from, text.len());
    Ok(parts)
}

fn rest(text: &str, at: usize) -> &[u8] {
    text.as_bytes().get(at..).unwrap_or(&[])
}

fn push_text(parts: &mut Vec<ScannedPart>, from: usize, to: usize) {
    if from < to {
        parts.push(ScannedPart::Text(Span::of(from..to)));
    }
}

/// Finds the brace that closes the `${` at `dollar`.
fn end(text: &str, dollar: usize) -> Result<usize, ScanError> {
    if let Some(close) = simple_end(text, dollar + 2) {
        return Ok(close);
    }
    let (mut depth, mut empty) = (0_usize, true);
    for token in Tokens::new(text, dollar + 2) {
        match token.symbol {
            Symbol::CloseBrace if depth == 0 => {
                let close = token.span.range().start;
                let whole = Span::of(dollar..close + 1);
                return if empty { Err(ScanError { kind: ScanErrorKind::Empty, span: whole }) } else { Ok(close) };
            }
            Symbol::OpenBrace => depth += 1,
            Symbol::CloseBrace => depth -= 1,
            Symbol::Invalid => return Err(ScanError { kind: ScanErrorKind::UnterminatedString, span: token.span }),
            _ => {}
        }
        empty = false;
    }
    Err(ScanError { kind: ScanErrorKind::Unterminated, span: Span::of(dollar..dollar + 2) })
}

/// Finds the closing brace of an expression that has nothing in which a brace can stand. This saves a second run of the
/// lexer.
fn simple_end(text: &str, from: usize) -> Option<usize> {
    let inner = rest(text, from);
    let close = memchr::memchr(b'}', inner)?;
    let inner = inner.get(..close)?;
    let is_simple = !inner.iter().any(|byte| matches!(byte, b'{' | b'"' | b'\'' | b'`' | b'/'));
    (is_simple && !inner.trim_ascii().is_empty()).then_some(from + close)
}

/// A syntax error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    /// The code.
    pub code: Code,
    /// The position.
    pub span: Span,
    /// The message.
    pub message: String,
    /// The help line.
    pub help: Option<String>,
}

impl SyntaxError {
    /// Makes an error at `span`.
    pub fn new(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self { code, span, message: message.into(), help: None }
    }

    /// Makes the error of nesting beyond a limit.
    pub fn too_deep(span: Span, limit: usize) -> Self {
        let message = format!("the expression nests too deep: the limit is {limit} levels");
        Self::new(Code::LimitDepth, span, message)
    }

    /// Adds a help line.
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Converts to a diagnostic.
    pub fn into_diagnostic(self, source: &Arc<Source>) -> Box<Diagnostic> {
        let diagnostic = Diagnostic::new(self.code, self.message).at(source, self.span, "");
        match self.help {
            Some(help) => diagnostic.with_help(help),
            None => diagnostic,
        }
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod interpolation_tests {
    use super::*;

    /// The parts, separated by `|`; expressions in angle brackets.
    fn parts(text: &str) -> String {
        let slice = |span: Span| text.get(span.range()).expect("a part");
        let shown = |part: ScannedPart| match part {
            ScannedPart::Text(span) => slice(span).to_owned(),
            ScannedPart::Expression { whole, inner } => {
                assert_eq!(slice(whole), format!("${{{}}}", slice(inner)));
                format!("<{}>", slice(inner))
            }
        };
        match scan(text) {
            Ok(parts) => parts.into_iter().map(shown).collect::<Vec<_>>().join("|"),
            Err(error) => format!("{:?} {:?}", error.kind, error.span.range()),
        }
    }

    #[test]
    fn expressions_end_where_their_tokens_say() {
        for (text, wanted) in [
            ("", ""),
            ("plain", "plain"),
            ("${a}", "<a>"),
            ("a-${b}-c${d}${e}", "a-|<b>|-c|<d>|<e>"),
            ("${ a }", "< a >"),
            ("${{'a': {}}}", "<{'a': {}}>"),
            ("${'}'}", "<'}'>"),
            ("${\"}\"}", "<\"}\">"),
            (r"${'\'}'}", r"<'\'}'>"),
            (r"${r'\'}", r"<r'\'>"),
            ("${'''a'}''' + b}x", "<'''a'}''' + b>|x"),
            ("${\"\"\"}\n\"\"\"}", "<\"\"\"}\n\"\"\">"),
            ("${b'}' + rB\"}\"}", "<b'}' + rB\"}\">"),
            ("${a // }\n}", "<a // }\n>"),
            ("${a.`b/c`}", "<a.`b/c`>"),
            ("${é}", "<é>"),
            ("${a # $ b}", "<a # $ b>"),
            ("${a)}", "<a)>"),
            ("${'${x}'}", "<'${x}'>"),
            ("$${a}", "${a}"),
            ("x$${a}${b}", "x|${a}|<b>"),
            ("$$${a}", "$|${a}"),
            ("$$$${a}", "$$|${a}"),
            ("$$5 $x $( $", "$$5 $x $( $"),
            ("é${a}ü", "é|<a>|ü"),
            ("${a", "Unterminated 0..2"),
            ("xx${a // }", "Unterminated 2..4"),
            ("${{a}", "Unterminated 0..2"),
            ("${", "Unterminated 0..2"),
            ("${}", "Empty 0..3"),
            ("${ \n}", "Empty 0..5"),
            ("a ${ // nothing\n }", "Empty 2..18"),
            ("${'a}", "UnterminatedString 2..5"),
            ("${'a\n'}", "UnterminatedString 2..4"),
            ("${a + '''b}", "UnterminatedString 8..11"),
        ] {
            assert_eq!(parts(text), wanted, "{text}");
        }
    }

    #[test]
    fn long_texts_are_read_once() {
        let text = "${a}$${".repeat(50_000);
        assert_eq!(scan(&text).expect("parts").len(), 100_000);
        assert!(scan(&"${".repeat(100_000)).is_err());
        assert!(scan(&"${'".repeat(100_000)).is_err());
        assert_eq!(scan(&format!("${{{}}}", "{".repeat(50_000) + &"}".repeat(50_000))).expect("one").len(), 1);
    }
}
