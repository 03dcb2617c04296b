//! The syntax tree of a templated field: a flat list of parts in the arena of the compilation.

use std::fmt;

use crate::text::Span;

/// The four scopes a reference can begin with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// `params.<name>`: resolved parameters.
    Params,
    /// `context.<name>`: the captured execution context.
    Context,
    /// `steps.<id>.outputs.<name>`: outputs of completed steps.
    Steps,
    /// `facts.<name>`: runtime state.
    Facts,
}

impl Scope {
    /// Every scope.
    pub const ALL: [Scope; 4] = [Scope::Params, Scope::Context, Scope::Steps, Scope::Facts];

    /// The scope as it is written.
    pub fn name(self) -> &'static str {
        match self {
            Scope::Params => "params",
            Scope::Context => "context",
            Scope::Steps => "steps",
            Scope::Facts => "facts",
        }
    }

    /// The scope called `name`.
    pub fn from_name(name: &str) -> Option<Scope> {
        Scope::ALL.into_iter().find(|scope| scope.name() == name)
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One `${…}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reference<'s> {
    /// The whole expression with its braces.
    pub span: Span,
    /// The scope it names.
    pub scope: Scope,
    /// The rest of the path: one flat key, dots included.
    pub name: &'s str,
}

impl<'s> Reference<'s> {
    /// The step and the output that a reference of the scope `steps` names.
    pub fn step_output(&self) -> Option<(&'s str, &'s str)> {
        let (step, rest) = self.name.split_once('.').filter(|_| self.scope == Scope::Steps)?;
        Some((step, rest.strip_prefix("outputs.")?))
    }
}

/// A piece of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part<'s> {
    /// Text that is kept byte for byte.
    Text(Span),
    /// An expression.
    Expression(Reference<'s>),
}

/// A parsed field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field<'a, 's> {
    /// The parts in order; no two texts are neighbours.
    pub parts: &'a [Part<'s>],
}

impl<'a, 's> Field<'a, 's> {
    /// The expressions in order.
    pub fn references(&self) -> impl Iterator<Item = &'a Reference<'s>> + use<'a, 's> {
        self.parts.iter().filter_map(|part| match part {
            Part::Expression(reference) => Some(reference),
            Part::Text(_) => None,
        })
    }
}
