//! The verifier: one linear pass over a program's tables and code, before anything runs.
//!
//! What it lets through, the machine may run without looking: every index leads into its table, every string is
//! a piece of the pool, every jump leads to an instruction of the same chunk, the heights of the stacks are
//! known at every instruction and never fall below what is there, and nothing runs in a circle without using
//! fuel. What the emitter makes is verified as what is loaded is.
//!
//! | rule | what it asks |
//! |---|---|
//! | V1 | every opcode exists and is the language's |
//! | V2 | every instruction is whole, its small operands have a meaning, unused bits are zero |
//! | V3 | jumps and handlers lead to instructions of the same chunk, handlers nest |
//! | V4 | chunks lie side by side and fill the code; none runs past its end |
//! | V5 | strings, numbers, paths, scopes and failures exist and are well formed |
//! | V6 | slots, inline caches and places for answers exist |
//! | V7 | the height of the stack is the same wherever branches meet, never negative, 0 at the end, and at most what the chunk declares; all code can be reached |
//! | V8 | a loop sets as many slots as it has names, and its turns begin where it does |
//! | V9 | loops and captures nest, are the same wherever branches meet and are closed at the end; a handler's code closes none that were open before it; facts of loops are of open loops |
//! | V10 | callees exist, and arguments are for parameters that they have |
//! | V11 | only the end of a loop's turn leads back, which uses fuel |
//! | V12 | a render begins with a chunk that takes no parameters |
//! | V13 | places are in order and lie in the sources |
//! | V14 | names of templates and of what they reach are such, in order, once (of bundles only) |
//! | V15 | tables are no larger than operands can name |
//!
//! V6 needs no definite assignment: slots begin unset. V8 knows no kinds of stack entries, because values,
//! loops and captures have stacks of their own. V10 compares a function's signature when the program is linked,
//! since the table of functions is the engine's. V12 has no inheritance to look at: it is resolved when a
//! template is compiled, and calls of chunks are bounded by the machine's limit on frames.

mod code;
mod records;
mod tables;
#[cfg(test)]
mod tests;

use std::fmt;

use super::sections::Tables;
use crate::diagnostics::{Code, Diagnostic, Result};

/// A rule of the verifier; see the head of [`crate::bytecode::verify`].
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
    /// The error of a program that breaks the rule.
    #[cold]
    pub(super) fn broken(self, what: impl fmt::Display) -> Box<Diagnostic> {
        Diagnostic::new(Code::CorruptProgram, format!("rule {self}: {what}")).with_field("rule", self.to_string())
    }
}

/// The rules that are asked: all of them, but for tests that show what each is good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules(u16);

impl Rules {
    /// All rules.
    pub const ALL: Rules = Rules(u16::MAX);

    #[cfg(test)]
    pub(super) fn without(rule: Rule) -> Rules {
        Rules(!(1 << rule as u16))
    }

    pub(super) fn has(self, rule: Rule) -> bool {
        self.0 & 1 << rule as u16 != 0
    }
}

/// Where the texts of sources are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Texts {
    /// In the pool.
    InPool,
    /// Beside the program.
    Apart,
}

/// What becomes of the greatest heights that the verifier finds in each chunk: stack, loops, captures.
#[derive(Debug)]
pub(super) enum Maxima<'m> {
    /// They are what the chunk declares.
    Compare,
    /// They are noted with the index of the chunk.
    Measure(&'m mut Vec<(usize, [u32; 3])>),
}

/// Checks the tables and the code of a program.
///
/// # Errors
/// [`Code::CorruptProgram`] with the rule that is broken.
pub(super) fn verify(tables: &Tables<'_>, texts: Texts, rules: Rules, mut maxima: Maxima<'_>) -> Result<()> {
    let check = Check { tables, rules };
    check.tables(texts)?;
    let Tables { words, paths, sites, keys, scopes, failures, .. } = tables;
    let records = paths.len() + sites.len() + keys.len() + scopes.len() + failures.len();
    let mut scratch = vec![0; words.len() + records];
    let (states, facts) = scratch.split_at_mut(words.len());
    let facts = check.records(facts)?;
    check.code(states, &facts, &mut maxima)
}

/// What is checked, and by which rules.
#[derive(Debug, Clone, Copy)]
struct Check<'c, 't> {
    tables: &'c Tables<'t>,
    rules: Rules,
}

impl Check<'_, '_> {
    /// An error where `holds` does not, unless the rule is not asked.
    #[inline(always)]
    fn require(&self, rule: Rule, holds: bool, what: &'static str, at: usize) -> Result<()> {
        if holds { Ok(()) } else { self.broken(rule, what, at) }
    }

    #[cold]
    fn broken(&self, rule: Rule, what: &'static str, at: usize) -> Result<()> {
        if self.rules.has(rule) { Err(rule.broken(format_args!("{what} (at {at})"))) } else { Ok(()) }
    }

    fn has_string(&self, id: u32) -> bool {
        (id as usize) < self.tables.strings.len()
    }
}
