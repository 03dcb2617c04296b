//! The rules by number.

use std::fmt;

use dropforge_base::diagnostics::{Code, Diagnostic};

/// A rule of the verifier. See the documentation of [`crate::bytecode::verify`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Rule {
    V1,
    V2,
    V3,
    V4,
    V5,
    V6,
    V7,
    V8,
    V9,
    V10,
    V11,
    V12,
    V13,
    V14,
    V15,
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

impl Rule {
    /// Returns the error of a program that breaks the rule there.
    #[cold]
    pub(super) fn broken_at(self, what: &str, at: usize) -> Box<Diagnostic> {
        self.broken(format_args!("{what} (at {at})"))
    }

    /// Returns the error of a program that breaks the rule.
    #[cold]
    pub(in crate::bytecode) fn broken(self, what: impl fmt::Display) -> Box<Diagnostic> {
        Diagnostic::new(Code::CorruptProgram, format!("rule {self}: {what}")).with_field("rule", self.to_string())
    }
}

/// The rules to check: all of them, except in tests that show the effect of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules(u16);

impl Rules {
    /// All rules.
    pub const ALL: Rules = Rules(u16::MAX);

    #[cfg(test)]
    pub(in crate::bytecode) fn without(rule: Rule) -> Rules {
        Rules(!(1 << rule as u16))
    }

    /// Returns `true` if the rule is checked: always, except in tests.
    #[inline(always)]
    pub(in crate::bytecode) fn has(self, rule: Rule) -> bool {
        cfg!(not(test)) || self.0 & 1 << rule as u16 != 0
    }
}
