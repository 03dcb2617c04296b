//! Patterns as text.

use std::fmt;

use super::pattern::{Key, PARTS, Part, Pattern};
use crate::diagnostics::{Code, Diagnostic};
use crate::dialect::cel::syntax::tree::{Expr, Literal, Tree};
use crate::dialect::cel::syntax::{Options, parse, unparse};
use crate::text::Source;

/// Writes the parts of a pattern.
pub(super) fn write(parts: &[Part], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for (at, part) in parts.iter().enumerate() {
        match part {
            Part::Key(Key::Text(name)) if at == 0 => f.write_str(name)?,
            Part::Key(Key::Text(name)) if is_name(name) => write!(f, ".{name}")?,
            Part::Key(Key::Text(name)) => write!(f, "[{}]", quoted(name))?,
            Part::Key(Key::Number(number)) if i64::try_from(*number).is_err() => write!(f, "[{number}u]")?,
            Part::Key(Key::Number(number)) => write!(f, "[{number}]")?,
            Part::Key(Key::Bool(truth)) => write!(f, "[{truth}]")?,
            Part::Any => f.write_str(".*")?,
        }
    }
    Ok(())
}

/// A text as a literal.
fn quoted(text: &str) -> String {
    let mut tree = Tree::new(&Source::new("", ""));
    let name = tree.intern(text);
    tree.root = tree.add(Expr::Literal(Literal::String(name)), crate::text::Span::default(), 0);
    unparse(&tree)
}

fn is_name(name: &str) -> bool {
    let mut chars = name.chars();
    let first = chars.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_');
    first && chars.all(|char| char.is_ascii_alphanumeric() || char == '_')
}

/// Reads a pattern.
pub(super) fn read(text: &str) -> Result<Pattern, Box<Diagnostic>> {
    let wrong = |why: &str| {
        let shown: String = text.chars().take(60).collect();
        let message = format!("`{shown}` is no pattern of attributes: {why}");
        let help = "a pattern is a variable with what is below it: `request.auth`, `request.items[0].*`";
        Diagnostic::new(Code::UnexpectedToken, message).with_help(help)
    };
    let (name, mut rest) = split_name(text);
    if !is_name(name) {
        return Err(wrong("it begins with the name of a variable"));
    }
    let mut pattern = Pattern::new(name);
    while !rest.is_empty() {
        let (part, behind) = part(rest).ok_or_else(|| wrong("a `.name`, `[key]` or `.*` is missing"))?;
        pattern.parts.push(part);
        rest = behind;
        if pattern.parts.len() > PARTS {
            return Err(wrong("it has too many parts"));
        }
    }
    Ok(pattern)
}

/// A name, and what stands behind it.
fn split_name(text: &str) -> (&str, &str) {
    let end = text.find(|char: char| !char.is_ascii_alphanumeric() && char != '_').unwrap_or(text.len());
    text.split_at(end)
}

/// The next part, and what stands behind it.
fn part(text: &str) -> Option<(Part, &str)> {
    let field = |name: &str| Part::Key(Key::Text(name.to_owned()));
    if let Some(rest) = text.strip_prefix(".*") {
        return Some((Part::Any, rest));
    }
    if let Some(rest) = text.strip_prefix(".`") {
        let (name, rest) = rest.split_once('`')?;
        return Some((field(name), rest));
    }
    if let Some(rest) = text.strip_prefix('.') {
        let (name, rest) = split_name(rest);
        return is_name(name).then(|| (field(name), rest));
    }
    let inner = text.strip_prefix('[')?;
    let (key, rest) = inner.split_at(closing(inner)?);
    let key = if key.trim() == "*" { Part::Any } else { Part::Key(literal(key)?) };
    Some((key, rest.strip_prefix(']')?))
}

/// Where the bracket ends that is open before the text.
fn closing(text: &str) -> Option<usize> {
    let mut quote = None;
    let mut escaped = false;
    for (at, char) in text.char_indices() {
        match (quote, char) {
            (Some(_), _) if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (Some(open), char) if char == open => quote = None,
            (None, '"' | '\'') => quote = Some(char),
            (None, ']') => return Some(at),
            _ => {}
        }
    }
    None
}

/// The key that is written as a literal of the language.
fn literal(text: &str) -> Option<Key> {
    let tree = parse(&Source::new("<key>", text), &Options::default()).ok()?;
    key(&tree, tree.expr(tree.root))
}

/// The key that an expression is, where it is a constant that can be one.
pub(super) fn key(tree: &Tree, expr: Expr) -> Option<Key> {
    match expr {
        Expr::Literal(Literal::String(text)) => Some(Key::Text(tree.name(text).to_owned())),
        Expr::Literal(Literal::Int(number)) => Some(Key::Number(number.into())),
        Expr::Literal(Literal::Uint(number)) => Some(Key::Number(number.into())),
        // Below 2^53 every whole number is a float.
        Expr::Literal(Literal::Double(number)) if number.fract() == 0.0 && number.abs() < 9_007_199_254_740_992.0 => {
            Some(Key::Number(number as i128))
        }
        Expr::Literal(Literal::Bool(truth)) => Some(Key::Bool(truth)),
        _ => None,
    }
}
