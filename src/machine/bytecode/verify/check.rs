//! The check of one program.

use super::super::sections::Tables;
use super::rules::{Rule, Rules};
use dropforge_base::diagnostics::Result;

/// The location of source texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::bytecode) enum Texts {
    /// In the pool.
    InPool,
    /// Outside the program.
    Apart,
}

/// The handling of the maximum heights of each chunk: stack, loops, captures.
#[derive(Debug)]
pub(in crate::bytecode) enum Maxima<'m> {
    /// They must equal the declared ones.
    Compare,
    /// They are recorded with the index of the chunk.
    Measure(&'m mut Vec<(usize, [u32; 3])>),
}

/// Checks the tables and the code of a program.
///
/// # Errors
/// [`Code::CorruptProgram`](dropforge_base::diagnostics::Code::CorruptProgram) with the broken rule.
pub(in crate::bytecode) fn verify(
    tables: &Tables<'_>,
    texts: Texts,
    rules: Rules,
    mut maxima: Maxima<'_>,
) -> Result<()> {
    let check = Check { tables, rules };
    check.tables(texts)?;
    let records = check.records()?;
    check.code(&mut vec![0; tables.words.len()], &records, &mut maxima)
}

/// A program, and the rules to check.
#[derive(Debug, Clone, Copy)]
pub(super) struct Check<'c, 't> {
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
