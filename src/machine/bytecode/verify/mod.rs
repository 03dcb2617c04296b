//! The verifier: one linear pass over a program's tables and code, before it runs.
//!
//! The machine runs verified programs without further checks: every index is in range, every string is within the pool,
//! every jump leads to an instruction of the same chunk, the heights of the stacks are known at every instruction, and
//! every cycle uses fuel. Freshly compiled programs are verified like loaded ones.
//!
//! | rule | requirement |
//! |---|---|
//! | V1 | every opcode exists and belongs to the language |
//! | V2 | every instruction is complete, its choices exist, unused bits are zero |
//! | V3 | jumps and handlers lead to instructions of the same chunk, handlers nest |
//! | V4 | chunks are adjacent and fill the code; none runs past its end |
//! | V5 | strings, numbers, paths, scopes and failures exist and are well formed |
//! | V6 | slots, inline caches and memos exist |
//! | V7 | the height of the stack is the same where branches meet, never negative, 0 at the end, and as the chunk declares; all code is reachable |
//! | V8 | a loop has slots for its names, and jumps back to its start |
//! | V9 | loops and captures nest, are the same where branches meet, and are closed at the end; a handler's code closes only its own; properties of loops belong to open loops |
//! | V10 | callees exist, and have the parameters of the arguments; chunks that can be called by name exist |
//! | V11 | only the next item of a loop jumps back, which uses fuel |
//! | V12 | the first chunk has no parameters |
//! | V13 | positions are sorted and within the sources |
//! | V14 | names of templates are valid, sorted and unique (bundles only); names of chunks are sorted and unique |
//! | V15 | tables are no larger than operands can address |
//!
//! V6 needs no definite assignment, because slots start unset. V8 needs no kinds of stack entries, because values,
//! loops and captures have stacks of their own. V10 does not compare signatures: linking does. Calls of chunks are
//! bounded by the machine's limits on frames. A call by name finds its chunk when it runs, so the machine compares its
//! arguments with the parameters.

mod instruction;
mod tables;
mod walk;

use std::fmt;

use super::sections::Tables;
use dropforge_base::diagnostics::{Code, Diagnostic, Result};

/// Maximum number of a program's strings that share a byte of the text, on average.
pub(super) const SHARED: usize = 4;

/// The handling of the maximum heights of each chunk: stack, loops, captures.
#[derive(Debug)]
pub(in crate::bytecode) enum Maxima<'m> {
    /// They must equal the declared ones.
    Compare,
    /// They are recorded with the index of the chunk.
    Measure(&'m mut Vec<(usize, [u32; 3])>),
}

/// Checks the tables and the code of a program. `texts_in_pool` tells if the pool has the texts of sources.
///
/// # Errors
/// [`Code::CorruptProgram`](dropforge_base::diagnostics::Code::CorruptProgram) with the broken rule.
pub(in crate::bytecode) fn verify(
    tables: &Tables<'_>,
    texts_in_pool: bool,
    rules: Rules,
    mut maxima: Maxima<'_>,
) -> Result<()> {
    let check = Check { tables, rules };
    check.tables(texts_in_pool)?;
    let records = check.records()?;
    check.code(&mut vec![0; tables.words.len()], &records, &mut maxima)
}

/// A program, and the rules to check.
#[derive(Debug, Clone, Copy)]
struct Check<'c, 't> {
    pub tables: &'c Tables<'t>,
    pub rules: Rules,
}

impl Check<'_, '_> {
    /// Reports a broken rule unless `holds`.
    #[inline(always)]
    pub fn require(&self, rule: Rule, holds: bool, what: &'static str, at: usize) -> Result<()> {
        if holds || !self.rules.has(rule) { Ok(()) } else { Err(rule.broken_at(what, at)) }
    }

    pub(crate) fn has_string(&self, id: u32) -> bool {
        (id as usize) < self.tables.strings.len()
    }
}

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
    fn broken_at(self, what: &str, at: usize) -> Box<Diagnostic> {
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

#[cfg(test)]
mod tests;
