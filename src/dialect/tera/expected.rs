//! From the grammar's "expected one of these tokens" to words, with the likely fix.

use lalrpop_util::ParseError;

use super::lexer::{Spanned, Token};
use super::syntax::SyntaxError;
use crate::text::Span;

/// The error of one tag, in words; `head` is its first token.
pub fn explain(error: ParseError<u32, Token<'_>, Box<SyntaxError>>, head: Option<&Spanned<'_>>) -> Box<SyntaxError> {
    let in_value = matches!(head, Some((_, Token::Emit, _)));
    let close = if in_value { "}}" } else { "%}" };
    match error {
        ParseError::User { error } => error,
        ParseError::UnrecognizedToken { token: (start, Token::End, _), expected } => early(start, &expected),
        ParseError::UnrecognizedToken { token: (start, token, end), expected } => {
            let words = describe(&expected, close);
            let message = format!("unexpected {}: expected {words}", name(token));
            SyntaxError::unexpected(Span::new(start, end), message, fix(token, &expected))
        }
        ParseError::UnrecognizedEof { location, expected } => early(location, &expected),
        ParseError::InvalidToken { location } | ParseError::ExtraToken { token: (location, ..) } => {
            SyntaxError::unexpected(Span::new(location, location), format!("expected `{close}`"), "")
        }
    }
}

fn early(end: u32, expected: &[String]) -> Box<SyntaxError> {
    let words = describe(expected, "");
    SyntaxError::unexpected(Span::new(end, end + 2), format!("the tag ends too early: expected {words}"), "")
}

fn has(expected: &[String], token: &str) -> bool {
    expected.iter().any(|one| one.trim_matches('"') == token)
}

/// The expected tokens in groups, in a fixed order.
fn describe(expected: &[String], close: &str) -> String {
    let operators = ["+", "==", "or", "and", "~"];
    let operator = operators.iter().any(|token| has(expected, token));
    let value = has(expected, "path");
    let mut words: Vec<String> = Vec::new();
    let mut add = |wanted: bool, word: &str| {
        if wanted {
            words.push(word.to_owned());
        }
    };
    add(value, "a value");
    add(value && has(expected, "["), "a list");
    add(!value && has(expected, "text"), "text in quotes");
    add(has(expected, "name"), "a name");
    add(operator, "an operator");
    add(!operator && has(expected, "in"), "`in`");
    add(has(expected, "|"), "a filter");
    for token in ["=", "(", ",", ")", "]"] {
        add(has(expected, token), &format!("`{token}`"));
    }
    let inside = has(expected, ")") || has(expected, "]") || value || has(expected, "=");
    add(!close.is_empty() && !inside, &format!("`{close}`"));
    match words.as_slice() {
        [] => "nothing more".to_owned(),
        [one] => one.clone(),
        [all @ .., last] => format!("{} or {last}", all.join(", ")),
    }
}

fn name(token: Token<'_>) -> String {
    match token {
        Token::Name(text) | Token::Path(text) | Token::Int(text) | Token::Float(text) => format!("`{text}`"),
        Token::Str(_) => "text".to_owned(),
        Token::Bool(true) => "`true`".to_owned(),
        Token::Bool(false) => "`false`".to_owned(),
        other => format!("`{}`", symbol(other)),
    }
}

fn symbol(token: Token<'_>) -> &'static str {
    match token {
        Token::Plus => "+",
        Token::Minus | Token::Sign => "-",
        Token::Times => "*",
        Token::Slash => "/",
        Token::Percent => "%",
        Token::Tilde => "~",
        Token::Less => "<",
        Token::LessEq => "<=",
        Token::Greater => ">",
        Token::GreaterEq => ">=",
        Token::Equal => "==",
        Token::NotEqual => "!=",
        Token::Or => "or",
        Token::And => "and",
        Token::Not => "not",
        Token::In => "in",
        Token::Is => "is",
        Token::Pipe => "|",
        Token::Assign => "=",
        Token::Comma => ",",
        Token::Colons => "::",
        Token::Open => "(",
        Token::Close => ")",
        Token::OpenList => "[",
        Token::CloseList => "]",
        Token::IgnoreMissing => "ignore missing",
        _ => "tag",
    }
}

fn fix(token: Token<'_>, expected: &[String]) -> &'static str {
    let arguments = has(expected, "=") || (has(expected, "name") && has(expected, ")"));
    match token {
        _ if arguments => "arguments are given by name: `f(name=value)`",
        Token::Less | Token::LessEq | Token::Greater | Token::GreaterEq | Token::Equal | Token::NotEqual => {
            "comparisons cannot be chained; join two with `and`"
        }
        Token::OpenList => "a list cannot be an operand; use `{% set %}` and name the variable",
        Token::Minus | Token::Plus => "a sign must touch a number; write `0 - x` to negate a variable",
        Token::Is => "only a variable can be tested with `is`",
        Token::In => "`in` takes one comparison value on its left",
        Token::Not => "`not` stands before a whole comparison; `x is not y` and `x not in y` exist too",
        Token::Name(_) | Token::Path(_) | Token::Str(_) if has(expected, "|") => "an operator or a quote is missing",
        _ => "",
    }
}
