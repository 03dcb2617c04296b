//! The parser of expressions, and the recovery from errors: the smallest part around an error that can be left out is replaced
//! by a token for an invalid operand, and the expression is parsed again.
//!
//! A part is the text between two commas, colons, `?`, `&&` or `||` within one pair of brackets. If replacing it does not
//! help, the contents of the brackets are replaced, then the brackets too.

use std::collections::HashSet;
use std::sync::Arc;

use super::build::Build;
use super::token::{Symbol, Token};
use super::tree::{DEPTH, Tree};
use super::{SyntaxError, lexer, macros};
use dropforge_base::diagnostics::{Code, Diagnostic, Diagnostics};
use dropforge_base::limits::Limits;
use dropforge_base::stdlib::small_sort::SmallSort as _;
use dropforge_base::text::{Source, Span};
use lalrpop_util::ParseError;

/// The maximum number of characters.
const CHARACTERS: usize = 100_000;

/// The maximum number of errors. Parsing stops after it.
const ERRORS: usize = 30;

/// The maximum number of tokens to parse again after errors.
const PARSED_AGAIN: usize = 1 << 20;

/// Parser options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Expand macros. Otherwise they are ordinary calls. On by default.
    pub macros: bool,
    /// The macros that are errors, because the implementation that the expression is written for lacks them. None by default.
    pub refused_macros: &'static [&'static str],
}

impl Default for Options {
    fn default() -> Self {
        Self { macros: true, refused_macros: &[] }
    }
}

/// Parses an expression.
///
/// # Errors
/// All syntax errors in source order, at most 30; or an expression that is too long (100,000 characters) or nests too deep
/// (250 levels).
///
/// ```
/// use dropforge::{dialect::cel::syntax::{Options, parse}, text::Source};
/// let tree = parse(&Source::new("e", "[1, 2].exists(x, x > 1)"), &Options::default()).unwrap();
/// assert!(tree.macro_call(tree.root).is_some());
///
/// let errors = parse(&Source::new("e", "f(1 +, [2 3]) && a # b"), &Options::default()).unwrap_err();
/// let positions: Vec<_> = errors.iter().filter_map(|error| error.position()).map(|at| at.to_string()).collect();
/// assert_eq!(positions, ["1:6", "1:11", "1:20"]);
/// ```
pub fn parse(source: &Arc<Source>, options: &Options) -> Result<Tree, Diagnostics> {
    parse_within(source, options, &Limits::default())
}

/// Parses an expression like [`parse`]. Its brackets nest no deeper than [`Limits::nesting`].
///
/// # Errors
/// The errors of [`parse`].
pub(crate) fn parse_within(source: &Arc<Source>, options: &Options, limits: &Limits) -> Result<Tree, Diagnostics> {
    let text = source.text();
    if text.chars().count() > CHARACTERS {
        let message = format!("the expression is too long: the limit is {CHARACTERS} characters");
        return Err(Diagnostic::new(Code::LimitSourceBytes, message).at(source, Span::new(0, 0), "").into());
    }
    let lexed = lexer::lex(text, limits.nesting_of(DEPTH));
    if let Some(too_deep) = lexed.too_deep {
        return Err(too_deep.into_diagnostic(source).into());
    }
    let mut parser = Parser { source, options, errors: lexed.errors, tree: Tree::new(source) };
    match parser.parse(TokenStream::new(lexed.tokens, text.len())) {
        Some(excess) => Err(excess.into_diagnostic(source).into()),
        None => parser.finish(),
    }
}

struct Parser<'s> {
    source: &'s Arc<Source>,
    options: &'s Options,
    errors: Vec<SyntaxError>,
    tree: Tree,
}

impl Parser<'_> {
    /// Parses the tokens, and parses them again without the part around each error. Returns the error of a limit.
    fn parse(&mut self, mut stream: TokenStream) -> Option<SyntaxError> {
        let (mut seen, mut left) = (HashSet::new(), PARSED_AGAIN);
        loop {
            let (result, mut errors, excess) = self.parse_once(&stream);
            let Err(unexpected) = result else {
                self.errors.append(&mut errors);
                return excess;
            };
            let repeated = unexpected.reported || !seen.insert(unexpected.span.start);
            let reported = repeated || self.errors.iter().any(|error| error.span == unexpected.span);
            if !reported || self.errors.is_empty() {
                self.errors.push(unexpected.error(self.source.text()));
            }
            left = left.saturating_sub(stream.len());
            let again = !unexpected.at_end && left > 0 && self.errors.len() < ERRORS;
            if !again || !stream.repair(unexpected.span, repeated) {
                self.errors.append(&mut errors);
                return None;
            }
        }
    }

    /// Parses the tokens into a new tree.
    fn parse_once(&mut self, stream: &TokenStream) -> (Result<(), Unexpected>, Vec<SyntaxError>, Option<SyntaxError>) {
        let mut tree = Tree::new(self.source);
        let expander = self.options.macros.then_some(macros::expand as _);
        let mut build = Build::new(&mut tree, self.source.text(), expander);
        build.refused_macros = self.options.refused_macros;
        let result = grammar::RootParser::new().parse(&mut build, stream.feed());
        let (errors, excess) = (std::mem::take(&mut build.errors), build.excess.take());
        let result = result.map(|root| tree.root = root).map_err(|error| Unexpected::new(error, stream.end()));
        self.tree = tree;
        (result, errors, excess)
    }

    fn finish(mut self) -> Result<Tree, Diagnostics> {
        if self.errors.is_empty() {
            return Ok(self.tree);
        }
        self.errors.small_sort_by_key(|error| error.span);
        // The first error at a position is the cause of later ones.
        self.errors.dedup_by_key(|error| error.span);
        self.errors.truncate(ERRORS);
        let source = self.source;
        Err(self.errors.into_iter().map(|error| error.into_diagnostic(source)).collect::<Vec<_>>().into())
    }
}

#[allow(missing_docs, clippy::all, clippy::pedantic, clippy::restriction, unused)]
#[rustfmt::skip]
mod grammar {
    include!("parser.generated");
}

/// A token that the grammar does not accept.
pub(super) struct Unexpected {
    /// Its span; the end of the source if a token is missing.
    pub span: Span,
    /// Set at the end of the source.
    pub at_end: bool,
    /// Set for a token in place of an error that was reported.
    pub reported: bool,
    /// The tokens that the grammar accepts.
    expected: Vec<String>,
}

impl Unexpected {
    /// Converts an error of the grammar. The source ends at `end`.
    pub fn new(error: ParseError<u32, Symbol, ()>, end: u32) -> Self {
        let (token, expected) = match error {
            ParseError::UnrecognizedToken { token, expected } => (Some(token), expected),
            ParseError::ExtraToken { token } => (Some(token), Vec::new()),
            ParseError::UnrecognizedEof { expected, .. } => (None, expected),
            ParseError::InvalidToken { .. } | ParseError::User { .. } => (None, Vec::new()),
        };
        match token {
            Some((start, symbol, stop)) => {
                Self { span: Span::new(start, stop), at_end: false, reported: symbol == Symbol::Invalid, expected }
            }
            None => Self { span: Span::new(end, end), at_end: true, reported: false, expected },
        }
    }

    /// Makes the error message.
    pub fn error(&self, text: &str) -> SyntaxError {
        let expected = expectation(&self.expected);
        if self.at_end {
            let message = format!("the expression ends here, expected {expected}");
            return SyntaxError::new(Code::Unterminated, self.span, message);
        }
        let found = text.get(self.span.range()).unwrap_or("");
        let message = format!("unexpected `{}`, expected {expected}", shortened(found));
        let error = SyntaxError::new(Code::UnexpectedToken, self.span, message);
        match found {
            "and" | "AND" => error.with_help("did you mean `&&`?"),
            "or" | "OR" => error.with_help("did you mean `||`?"),
            _ => error,
        }
    }
}

/// Shortens a text for a message.
fn shortened(text: &str) -> String {
    const CHARACTERS: usize = 30;
    let printable = |c: char| if c.is_control() { c.escape_default().collect() } else { String::from(c) };
    let mut shown: String = text.chars().take(CHARACTERS).map(printable).collect();
    if text.chars().nth(CHARACTERS).is_some() {
        shown.push('…');
    }
    shown
}

/// Symbols that only occur between operands.
const OPERATORS: &[&str] = &["||", "&&", "==", "!=", "<", "<=", ">", ">=", "in", "+", "*", "/", "%"];

/// Describes the expected tokens.
fn expectation(expected: &[String]) -> String {
    let symbols: Vec<&str> = expected.iter().map(|symbol| symbol.trim_matches('"')).collect();
    let value = symbols.contains(&"int");
    let operator = symbols.contains(&"+");
    let mut parts: Vec<String> = Vec::new();
    parts.extend(value.then(|| "a value".to_owned()));
    parts.extend(operator.then(|| "an operator".to_owned()));
    for symbol in symbols {
        let part = match symbol {
            ")" | "]" | "}" | "," | ":" => format!("`{symbol}`"),
            "(" | "[" | "{" | "." | "?" | "!" | "-" if value || operator => continue,
            "name" | "escaped" if value => continue,
            "name" => "a name".to_owned(),
            _ if OPERATORS.contains(&symbol) || value => continue,
            "escaped" | "bad" | "invalid" => continue,
            _ => format!("`{symbol}`"),
        };
        parts.push(part);
    }
    match parts.as_slice() {
        [] => "the end".to_owned(),
        [one] => one.clone(),
        [rest @ .., last] => format!("{} or {last}", rest.join(", ")),
    }
}

/// The tokens of an expression, without the parts around errors.
pub(super) struct TokenStream {
    tokens: Vec<Token>,
    end: u32,
}

impl TokenStream {
    /// Makes a stream of the tokens of a source of `length` bytes.
    pub fn new(tokens: Vec<Token>, length: usize) -> Self {
        Self { tokens, end: Span::of(0..length).end }
    }

    /// Returns the number of tokens.
    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    /// Returns the end of the source.
    pub fn end(&self) -> u32 {
        self.end
    }

    /// Returns the tokens in the form of the grammar.
    pub fn feed(&self) -> impl Iterator<Item = (u32, Symbol, u32)> + '_ {
        self.tokens.iter().map(|token| (token.span.start, token.symbol, token.span.end))
    }

    fn symbol(&self, at: usize) -> Option<Symbol> {
        self.tokens.get(at).map(|token| token.symbol)
    }

    /// Removes the error at the token with this span, or more tokens around it if that was tried before. Returns `false` if
    /// nothing can be removed.
    pub fn repair(&mut self, span: Span, repeated: bool) -> bool {
        let Some(at) = self.tokens.iter().position(|token| token.span == span) else { return false };
        let around @ (open, _) = self.around(at);
        if let Some(symbol) = self.symbol(at).filter(|symbol| symbol.closes()) {
            let matching = open.and_then(|open| self.symbol(open)).and_then(Symbol::closer);
            match (matching, self.tokens.get_mut(at)) {
                (Some(matching), Some(token)) if matching != symbol => token.symbol = matching,
                (None, _) => drop(self.tokens.remove(at)),
                _ => return self.replace_part(at, around, repeated),
            }
            return true;
        }
        self.replace_part(at, around, repeated)
    }

    fn replace_part(&mut self, at: usize, (open, close): (Option<usize>, usize), repeated: bool) -> bool {
        let from = open.map_or(0, |open| open + 1);
        if !repeated {
            let (start, end) = self.part(at, from, close);
            self.replace(start, end, at, true);
            return true;
        }
        // Parentheses need an operand. Lists, maps, arguments and fields can be empty.
        let paren = open.is_none_or(|open| self.symbol(open) == Some(Symbol::OpenParen));
        let least = usize::from(paren);
        if close - from > least {
            self.replace(from, close, from, paren);
            return true;
        }
        match open {
            Some(open) => self.replace(open, (close + 1).min(self.tokens.len()), open, true),
            None => return false,
        }
        true
    }

    /// Replaces the tokens `start..end` with an invalid operand, or removes them.
    fn replace(&mut self, start: usize, end: usize, at: usize, operand: bool) {
        let span_at = |at: usize| self.tokens.get(at).map_or(Span::new(self.end, self.end), |token| token.span);
        let span = match end.checked_sub(1).filter(|&last| last >= start) {
            Some(last) => span_at(start).to(span_at(last)),
            None => Span::new(span_at(at).start, span_at(at).start),
        };
        let token = operand.then_some(Token { symbol: Symbol::Invalid, span });
        self.tokens.splice(start..end, token);
    }

    /// Returns the part of `from..to` that contains the token `at`.
    fn part(&self, at: usize, from: usize, to: usize) -> (usize, usize) {
        let start = self.scan((from..at).rev(), true, separates).map_or(from, |separator| separator + 1);
        let end = self.scan(at..to, false, separates).unwrap_or(to);
        (start, end)
    }

    /// Returns the index of the bracket that opens the innermost pair around a token, if any, and the index of the bracket
    /// that closes it, or of the end. A closing bracket belongs to the pair that it closes.
    fn around(&self, at: usize) -> (Option<usize>, usize) {
        let open = self.scan((0..at).rev(), true, |symbol| symbol.closer().is_some());
        let close = self.scan(at..self.tokens.len(), false, Symbol::closes).unwrap_or(self.tokens.len());
        (open, close)
    }

    /// Returns the first token that `wanted` accepts outside nested brackets, going in one direction.
    fn scan(
        &self,
        range: impl Iterator<Item = usize>,
        backwards: bool,
        wanted: impl Fn(Symbol) -> bool,
    ) -> Option<usize> {
        let mut depth = 0_usize;
        for at in range {
            let symbol = self.symbol(at)?;
            if depth == 0 && wanted(symbol) {
                return Some(at);
            }
            let (opens, closes) = (symbol.closer().is_some(), symbol.closes());
            let (enters, leaves) = if backwards { (closes, opens) } else { (opens, closes) };
            depth = (depth + usize::from(enters)).saturating_sub(usize::from(leaves));
        }
        None
    }
}

/// Returns `true` for a symbol between two parts.
fn separates(symbol: Symbol) -> bool {
    matches!(symbol, Symbol::Comma | Symbol::Colon | Symbol::Question | Symbol::And | Symbol::Or)
}
