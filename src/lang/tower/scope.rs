//! The scopes of references.

use std::fmt;

/// The first segment of a reference.
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

    /// Returns the name of the scope.
    pub fn name(self) -> &'static str {
        match self {
            Scope::Params => "params",
            Scope::Context => "context",
            Scope::Steps => "steps",
            Scope::Facts => "facts",
        }
    }

    /// Returns the scope called `name`.
    pub fn from_name(name: &str) -> Option<Scope> {
        Scope::ALL.into_iter().find(|scope| scope.name() == name)
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
