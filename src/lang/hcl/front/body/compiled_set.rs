//! Expressions of a file that are compiled together.

use crate::compile::Executable;
use dropforge_base::diagnostics::Result;

/// Expressions compiled to one program, with a chunk each.
#[derive(Debug)]
pub(super) struct CompiledSet<Id> {
    pub executable: Executable,
    /// The expressions in the order of their chunks, ascending.
    ids: Vec<Id>,
}

impl<Id: Copy + Ord> CompiledSet<Id> {
    /// Compiles expressions with `compile`, which gets them sorted and without duplicates.
    pub fn new(mut ids: Vec<Id>, compile: impl FnOnce(&[Id]) -> Result<Executable>) -> Result<Self> {
        ids.sort_unstable();
        ids.dedup();
        Ok(Self { executable: compile(&ids)?, ids })
    }

    /// Returns the program and the chunk of an expression.
    pub fn chunk(&self, id: Id) -> Option<(&Executable, u32)> {
        let at = self.ids.binary_search(&id).ok()?;
        Some((&self.executable, u32::try_from(at).ok()?))
    }
}
