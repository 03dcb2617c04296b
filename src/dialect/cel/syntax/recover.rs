//! How reading goes on behind an error: the smallest part around it that can be left out is replaced by a token that
//! stands for an operand, and the expression is read again.
//!
//! Parts are what is between two commas, colons, `?`, `&&` or `||` in one pair of brackets; where that does not help, the
//! contents of the brackets, then the brackets with them.

use lalrpop_util::ParseError;

use super::fault::Fault;
use super::token::{Symbol, Token};
use crate::diagnostics::Code;
use crate::text::Span;

/// A token that the grammar does not take.
pub(super) struct Refused {
    /// Its place; the end of the source where nothing more stands.
    pub span: Span,
    /// Whether that is the end.
    pub at_end: bool,
    /// Whether it stands for something that was reported.
    pub known: bool,
    /// What the grammar would take.
    expected: Vec<String>,
}

impl Refused {
    /// What the grammar says about it; `end` is the end of the source.
    pub fn new(error: ParseError<u32, Symbol, ()>, end: u32) -> Self {
        let at_end = |expected| Self { span: Span::new(end, end), at_end: true, known: false, expected };
        match error {
            ParseError::UnrecognizedToken { token: (start, symbol, stop), expected } => {
                Self { span: Span::new(start, stop), at_end: false, known: symbol == Symbol::Invalid, expected }
            }
            ParseError::ExtraToken { token: (start, symbol, stop) } => {
                let expected = Vec::new();
                Self { span: Span::new(start, stop), at_end: false, known: symbol == Symbol::Invalid, expected }
            }
            ParseError::UnrecognizedEof { expected, .. } => at_end(expected),
            ParseError::InvalidToken { .. } | ParseError::User { .. } => at_end(Vec::new()),
        }
    }

    /// The error for it.
    pub fn fault(&self, text: &str) -> Fault {
        let expected = expectation(&self.expected);
        if self.at_end {
            return Fault::new(Code::Unterminated, self.span, format!("the expression ends here, expected {expected}"));
        }
        let found = text.get(self.span.range()).unwrap_or("");
        let message = format!("unexpected `{}`, expected {expected}", shortened(found));
        let fault = Fault::new(Code::UnexpectedToken, self.span, message);
        match found {
            "and" | "AND" => fault.with_help("did you mean `&&`?"),
            "or" | "OR" => fault.with_help("did you mean `||`?"),
            _ => fault,
        }
    }
}

/// A text that an error shows, of a moderate length.
fn shortened(text: &str) -> String {
    const CHARACTERS: usize = 30;
    let printable = |c: char| if c.is_control() { c.escape_default().collect() } else { String::from(c) };
    let mut shown: String = text.chars().take(CHARACTERS).map(printable).collect();
    if text.chars().nth(CHARACTERS).is_some() {
        shown.push('…');
    }
    shown
}

/// Symbols that only ever stand between operands.
const OPERATORS: &[&str] = &["||", "&&", "==", "!=", "<", "<=", ">", ">=", "in", "+", "*", "/", "%"];

/// What was expected, in words.
fn expectation(expected: &[String]) -> String {
    let symbols: Vec<&str> = expected.iter().map(|symbol| symbol.trim_matches('"')).collect();
    let value = symbols.contains(&"int");
    let operator = symbols.contains(&"+");
    let mut wanted: Vec<String> = Vec::new();
    wanted.extend(value.then(|| "a value".to_owned()));
    wanted.extend(operator.then(|| "an operator".to_owned()));
    for symbol in symbols {
        let one = match symbol {
            ")" | "]" | "}" | "," | ":" => format!("`{symbol}`"),
            "(" | "[" | "{" | "." | "?" | "!" | "-" if value || operator => continue,
            "name" | "escaped" if value => continue,
            "name" => "a name".to_owned(),
            _ if OPERATORS.contains(&symbol) || value => continue,
            "escaped" | "bad" | "invalid" => continue,
            _ => format!("`{symbol}`"),
        };
        wanted.push(one);
    }
    match wanted.as_slice() {
        [] => "the end".to_owned(),
        [one] => one.clone(),
        [rest @ .., last] => format!("{} or {last}", rest.join(", ")),
    }
}

/// The tokens of an expression, while what is wrong is taken out.
pub(super) struct Stream {
    tokens: Vec<Token>,
    end: u32,
}

/// A pair of brackets around a token, or the whole expression.
struct Around {
    /// The opening bracket, or nothing.
    open: Option<usize>,
    /// The closing bracket, or behind the last token.
    close: usize,
}

impl Stream {
    /// The tokens of a source of `length` bytes.
    pub fn new(tokens: Vec<Token>, length: usize) -> Self {
        Self { tokens, end: Span::of(0..length).end }
    }

    /// How many tokens there are.
    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    /// The end of the source.
    pub fn end(&self) -> u32 {
        self.end
    }

    /// The tokens for the grammar.
    pub fn feed(&self) -> impl Iterator<Item = (u32, Symbol, u32)> + '_ {
        self.tokens.iter().map(|token| (token.span.start, token.symbol, token.span.end))
    }

    fn symbol(&self, at: usize) -> Option<Symbol> {
        self.tokens.get(at).map(|token| token.symbol)
    }

    /// Takes out what is wrong at the token at `place`; more of it where that was tried before. Whether anything could
    /// be taken out.
    pub fn repair(&mut self, place: Span, repeated: bool) -> bool {
        let Some(at) = self.tokens.iter().position(|token| token.span == place) else { return false };
        let around = self.around(at);
        if let Some(symbol) = self.symbol(at).filter(|symbol| symbol.closes()) {
            let wanted = around.open.and_then(|open| self.symbol(open)).and_then(Symbol::closer);
            match (wanted, self.tokens.get_mut(at)) {
                (Some(wanted), Some(token)) if wanted != symbol => token.symbol = wanted,
                (None, _) => drop(self.tokens.remove(at)),
                _ => return self.replace_part(at, &around, repeated),
            }
            return true;
        }
        self.replace_part(at, &around, repeated)
    }

    fn replace_part(&mut self, at: usize, around: &Around, repeated: bool) -> bool {
        let from = around.open.map_or(0, |open| open + 1);
        if !repeated {
            let (start, end) = self.part(at, from, around.close);
            self.replace(start, end, at, true);
            return true;
        }
        // An operand can stand in parentheses; list and map constructors, arguments and fields may also be empty.
        let paren = around.open.is_none_or(|open| self.symbol(open) == Some(Symbol::OpenParen));
        let least = usize::from(paren);
        if around.close - from > least {
            self.replace(from, around.close, from, paren);
            return true;
        }
        match around.open {
            Some(open) => self.replace(open, (around.close + 1).min(self.tokens.len()), open, true),
            None => return false,
        }
        true
    }

    /// Puts one token in the place of `start..end`, or none.
    fn replace(&mut self, start: usize, end: usize, at: usize, operand: bool) {
        let span_at = |at: usize| self.tokens.get(at).map_or(Span::new(self.end, self.end), |token| token.span);
        let span = match end.checked_sub(1).filter(|&last| last >= start) {
            Some(last) => span_at(start).to(span_at(last)),
            None => Span::new(span_at(at).start, span_at(at).start),
        };
        let token = operand.then_some(Token { symbol: Symbol::Invalid, span });
        self.tokens.splice(start..end, token);
    }

    /// The part of `from..to` that holds the token `at`.
    fn part(&self, at: usize, from: usize, to: usize) -> (usize, usize) {
        let (mut start, mut depth) = (at, 0_usize);
        while start > from {
            match self.symbol(start - 1) {
                Some(symbol) if symbol.closes() => depth += 1,
                Some(symbol) if symbol.closer().is_some() => depth = depth.saturating_sub(1),
                Some(symbol) if depth == 0 && separates(symbol) => break,
                _ => {}
            }
            start -= 1;
        }
        let (mut end, mut depth) = (at, 0_usize);
        while end < to {
            match self.symbol(end) {
                Some(symbol) if symbol.closer().is_some() => depth += 1,
                Some(symbol) if symbol.closes() => depth = depth.saturating_sub(1),
                Some(symbol) if depth == 0 && separates(symbol) => break,
                _ => {}
            }
            end += 1;
        }
        (start, end)
    }

    /// The brackets around a token; a closing bracket is in the pair that it closes.
    fn around(&self, at: usize) -> Around {
        let (mut open, mut depth) = (None, 0_usize);
        for before in (0..at).rev() {
            match self.symbol(before) {
                Some(symbol) if symbol.closes() => depth += 1,
                Some(symbol) if symbol.closer().is_some() && depth == 0 => {
                    open = Some(before);
                    break;
                }
                Some(symbol) if symbol.closer().is_some() => depth -= 1,
                _ => {}
            }
        }
        let mut depth = 0_usize;
        for behind in at..self.tokens.len() {
            match self.symbol(behind) {
                Some(symbol) if symbol.closer().is_some() => depth += 1,
                Some(symbol) if symbol.closes() && depth == 0 => return Around { open, close: behind },
                Some(symbol) if symbol.closes() => depth -= 1,
                _ => {}
            }
        }
        Around { open, close: self.tokens.len() }
    }
}

/// Whether a symbol separates parts.
fn separates(symbol: Symbol) -> bool {
    matches!(symbol, Symbol::Comma | Symbol::Colon | Symbol::Question | Symbol::And | Symbol::Or)
}
