//! The text form of patterns.

use std::fmt;
use std::str::FromStr;

use super::pattern::{Key, PARTS, Part, Pattern};
use crate::syntax::{Options, Symbol, Tokens, is_identifier, parse, quoted};
use dropforge_base::diagnostics::{Code, Diagnostic};
use dropforge_base::text::Source;

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, part) in self.parts.iter().enumerate() {
            match part {
                Part::Key(Key::Text(name)) if at == 0 => f.write_str(name)?,
                Part::Key(Key::Text(name)) if is_identifier(name) => write!(f, ".{name}")?,
                Part::Key(Key::Text(name)) => write!(f, "[{}]", quoted(name))?,
                Part::Key(Key::Number(number)) if i64::try_from(*number).is_err() => write!(f, "[{number}u]")?,
                Part::Key(Key::Number(number)) => write!(f, "[{number}]")?,
                Part::Key(Key::Bool(truth)) => write!(f, "[{truth}]")?,
                Part::Any => f.write_str(".*")?,
            }
        }
        Ok(())
    }
}

impl FromStr for Pattern {
    type Err = Box<Diagnostic>;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let invalid = |why: &str| {
            let shown: String = text.chars().take(60).collect();
            let message = format!("`{shown}` is not a pattern of attributes: {why}");
            let help = "a pattern is a variable with what is below it: `request.auth`, `request.items[0].*`";
            Diagnostic::new(Code::UnexpectedToken, message).with_help(help)
        };
        let (name, mut rest) = split_name(text);
        if !is_identifier(name) {
            return Err(invalid("it begins with the name of a variable"));
        }
        let mut pattern = Pattern::new(name);
        while !rest.is_empty() {
            let (part, behind) = part(rest).ok_or_else(|| invalid("a `.name`, `[key]` or `.*` is missing"))?;
            pattern.parts.push(part);
            rest = behind;
            if pattern.parts.len() > PARTS {
                return Err(invalid("it has too many parts"));
            }
        }
        Ok(pattern)
    }
}

/// Splits a name off the beginning of a text.
fn split_name(text: &str) -> (&str, &str) {
    let end = text.find(|char: char| !char.is_ascii_alphanumeric() && char != '_').unwrap_or(text.len());
    text.split_at(end)
}

/// Parses the next part, and returns the rest of the text.
fn part(text: &str) -> Option<(Part, &str)> {
    let field = |name: &str| Part::Key(Key::text(name));
    if let Some(rest) = text.strip_prefix(".*") {
        return Some((Part::Any, rest));
    }
    if let Some(rest) = text.strip_prefix(".`") {
        let (name, rest) = rest.split_once('`')?;
        return Some((field(name), rest));
    }
    if let Some(rest) = text.strip_prefix('.') {
        let (name, rest) = split_name(rest);
        return is_identifier(name).then(|| (field(name), rest));
    }
    let inner = text.strip_prefix('[')?;
    let (key, rest) = inner.split_at(closing(inner)?);
    let key = if key.trim() == "*" { Part::Any } else { Part::Key(literal(key)?) };
    Some((key, rest.strip_prefix(']')?))
}

/// Finds the bracket that closes the one before the text.
fn closing(text: &str) -> Option<usize> {
    let mut tokens = Tokens::new(text, 0);
    tokens.find(|token| token.symbol == Symbol::CloseBracket).map(|token| token.span.range().start)
}

/// Parses a literal key.
fn literal(text: &str) -> Option<Key> {
    let tree = parse(&Source::new("<key>", text), &Options::default()).ok()?;
    Key::of_literal(&tree, tree.expr(tree.root))
}
