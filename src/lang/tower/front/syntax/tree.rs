//! The syntax tree of a field: a flat list of parts in the arena of the compilation.

use crate::Scope;
use dropforge_base::text::Span;

/// A `${…}` expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reference<'s> {
    /// The whole expression, including its braces.
    pub span: Span,
    /// The first segment.
    pub scope: Scope,
    /// The rest of the path as one flat key, including dots.
    pub name: &'s str,
}

impl<'s> Reference<'s> {
    /// Returns the step and the output that a reference into `steps` names.
    pub(crate) fn step_output(&self) -> Option<(&'s str, &'s str)> {
        let (step, rest) = self.name.split_once('.').filter(|_| self.scope == Scope::Steps)?;
        Some((step, rest.strip_prefix("outputs.")?))
    }
}

/// A part of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part<'s> {
    /// Text, unchanged.
    Text(Span),
    /// An expression.
    Expression(Reference<'s>),
}

/// A parsed field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParsedField<'a, 's> {
    /// The parts in order. No two texts are adjacent.
    pub parts: &'a [Part<'s>],
}

impl<'a, 's> ParsedField<'a, 's> {
    /// Returns the expressions in order.
    pub fn references(&self) -> impl Iterator<Item = &'a Reference<'s>> + use<'a, 's> {
        self.parts.iter().filter_map(|part| match part {
            Part::Expression(reference) => Some(reference),
            Part::Text(_) => None,
        })
    }
}

/// Returns `true` if an expression can spell `text` as one segment.
pub fn is_identifier(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_lowercase() || b == b'_')
        && bytes.all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}
