//! The conditions of filters in paths: `@.name == "app" && !@.on`.

use std::borrow::Cow;
use std::cmp::Ordering;

use regex::Regex;
use serde_json::Value;

use super::path::{DEEPEST, PathParser, Place, Steps};
use super::values::{compare, same};
use dropforge::stdlib::re2;

/// A condition.
#[derive(Debug, Clone)]
pub(super) enum Condition {
    Any(Vec<Condition>),
    All(Vec<Condition>),
    Not(Box<Condition>),
    /// There is a value.
    Exists(Operand),
    Compares(Operand, Comparison, Operand),
    Matches(Operand, Regex),
}

/// A side of a comparison.
#[derive(Debug, Clone)]
pub(super) enum Operand {
    /// The values at a path from the tested value: `@.name`.
    Here(Steps),
    /// The values at a path from the document: `$.kind`.
    Root(Steps),
    Literal(Value),
}

/// A comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    Unequal,
    AtLeast,
    AtMost,
    Above,
    Below,
}

/// The operators. Longer ones come first.
const OPERATORS: [(&str, Comparison); 6] = [
    ("==", Comparison::Equal),
    ("!=", Comparison::Unequal),
    (">=", Comparison::AtLeast),
    ("<=", Comparison::AtMost),
    (">", Comparison::Above),
    ("<", Comparison::Below),
];

impl Condition {
    /// Returns `true` if the condition holds for a value of the document `root`. Paths may lead to several values: a
    /// comparison holds for each of them, and there has to be one.
    pub fn holds(&self, value: &Value, root: &Value) -> bool {
        match self {
            Self::Any(parts) => parts.iter().any(|part| part.holds(value, root)),
            Self::All(parts) => parts.iter().all(|part| part.holds(value, root)),
            Self::Not(inner) => !inner.holds(value, root),
            Self::Exists(Operand::Literal(value)) => value == &Value::Bool(true),
            Self::Exists(operand) => !operand.values(value, root).is_empty(),
            Self::Compares(left, comparison, right) => {
                let (left, right) = (left.values(value, root), right.values(value, root));
                let fits = |a: &Cow<'_, Value>| right.iter().all(|b| comparison.holds(a, b));
                !left.is_empty() && !right.is_empty() && left.iter().all(fits)
            }
            Self::Matches(operand, pattern) => {
                let found = operand.values(value, root);
                let fits = |one: &Cow<'_, Value>| one.as_str().is_some_and(|text| pattern.is_match(text));
                !found.is_empty() && found.iter().all(fits)
            }
        }
    }
}

impl Operand {
    fn values<'d>(&'d self, value: &'d Value, root: &'d Value) -> Vec<Cow<'d, Value>> {
        match self {
            Self::Here(steps) => steps.find(value, root),
            Self::Root(steps) => steps.find(root, root),
            Self::Literal(literal) => vec![Cow::Borrowed(literal)],
        }
    }
}

impl Comparison {
    fn holds(self, a: &Value, b: &Value) -> bool {
        let is = |wanted: fn(Ordering) -> bool| compare(a, b).is_some_and(wanted);
        match self {
            Self::Equal => same(a, b),
            Self::Unequal => !same(a, b),
            Self::AtLeast => is(Ordering::is_ge),
            Self::AtMost => is(Ordering::is_le),
            Self::Above => is(Ordering::is_gt),
            Self::Below => is(Ordering::is_lt),
        }
    }
}

impl PathParser<'_> {
    /// Parses a condition.
    pub fn condition(&mut self) -> Result<Condition, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(format!("filters nest deeper than {DEEPEST} levels"));
        }
        let mut parts = vec![self.conjunction()?];
        while self.takes("||") {
            parts.push(self.conjunction()?);
        }
        self.depth -= 1;
        Ok(one_or(parts, Condition::Any))
    }

    fn conjunction(&mut self) -> Result<Condition, String> {
        let mut parts = vec![self.basic()?];
        while self.takes("&&") {
            parts.push(self.basic()?);
        }
        Ok(one_or(parts, Condition::All))
    }

    /// Parses a part between `&&` and `||`, and the blanks after it.
    fn basic(&mut self) -> Result<Condition, String> {
        let mut is_negative = false;
        self.skip_blanks();
        while !self.rest.starts_with("!=") && self.takes("!") {
            is_negative = !is_negative;
            self.skip_blanks();
        }
        let inner = if self.takes("(") {
            let inner = self.condition()?;
            if !self.takes(")") {
                return Err("a parenthesis is not closed".to_owned());
            }
            inner
        } else {
            self.comparison()?
        };
        self.skip_blanks();
        Ok(if is_negative { Condition::Not(Box::new(inner)) } else { inner })
    }

    fn comparison(&mut self) -> Result<Condition, String> {
        let left = self.operand()?;
        self.skip_blanks();
        if self.takes("=~") {
            return Ok(Condition::Matches(left, self.pattern()?));
        }
        let operator = OPERATORS.into_iter().find(|(text, _)| self.takes(text));
        let Some((_, comparison)) = operator else { return Ok(Condition::Exists(left)) };
        Ok(Condition::Compares(left, comparison, self.operand()?))
    }

    fn operand(&mut self) -> Result<Operand, String> {
        self.skip_blanks();
        if self.takes("@") {
            return self.steps(Place::Filter).map(Operand::Here);
        }
        if self.takes("$") {
            return self.steps(Place::Filter).map(Operand::Root);
        }
        let quote = self.rest.chars().next().filter(|c| matches!(c, '\'' | '"'));
        let literal = match quote {
            Some(quote) => Value::from(self.delimited(quote)?),
            None => {
                let is_end = |c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+'));
                let (word, rest) = self.rest.split_at(self.rest.find(is_end).unwrap_or(self.rest.len()));
                self.rest = rest;
                let literal = serde_json::from_str(word);
                literal.map_err(|_| {
                    format!(
                        "expected `@`, `$`, a text in quotes, a number, `true`, `false` or `null` before `{word}{rest}`"
                    )
                })?
            }
        };
        Ok(Operand::Literal(literal))
    }

    /// Takes a text between two of the same character. Nothing is escaped.
    fn delimited(&mut self, quote: char) -> Result<String, String> {
        let inside = self.rest.get(quote.len_utf8()..).unwrap_or("");
        let end = inside.find(quote).ok_or("a quote is not closed")?;
        let (text, rest) = inside.split_at(end);
        self.rest = rest.get(quote.len_utf8()..).unwrap_or("");
        Ok(text.to_owned())
    }

    /// Takes a regular expression between slashes. A backslash escapes a slash.
    fn pattern(&mut self) -> Result<Regex, String> {
        self.skip_blanks();
        if !self.takes("/") {
            return Err("a regular expression stands between slashes".to_owned());
        }
        let (mut text, mut chars) = (String::new(), self.rest.chars());
        loop {
            match chars.next() {
                None => return Err("a regular expression is not closed".to_owned()),
                Some('/') => break,
                Some('\\') => match chars.next() {
                    Some('/') => text.push('/'),
                    next => text.extend(std::iter::once('\\').chain(next)),
                },
                Some(c) => text.push(c),
            }
        }
        self.rest = chars.as_str();
        re2::compiled(&text).map_err(|why| format!("`{text}` is not a regular expression: {why}"))
    }
}

/// Returns the only part, or all of them together.
fn one_or(mut parts: Vec<Condition>, all: fn(Vec<Condition>) -> Condition) -> Condition {
    match parts.len() {
        1 => parts.remove(0),
        _ => all(parts),
    }
}
