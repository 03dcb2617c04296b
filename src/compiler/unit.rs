//! What a language's front half gets to compile and what it gives back. The engine calls
//! `dialect::x::compile(&Unit) -> Result<Compiled, Vec<Box<Diagnostic>>>` and knows no more of a language.

use std::sync::Arc;

use crate::bytecode::Program;
use crate::diagnostics::{Diagnostic, Result};
use crate::function::Registry;
use crate::limits::Limits;
use crate::text::Source;

/// Finds the templates that templates name.
pub trait Loader: Send + Sync {
    /// The source of the template `name`; `None` where there is none. An error is for what exists but must
    /// not or cannot be read.
    fn load(&self, name: &str) -> Result<Option<Arc<Source>>>;

    /// The names of all templates there are, as far as they are known; for suggestions.
    fn names(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Finds nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoLoader;

impl Loader for NoLoader {
    fn load(&self, _name: &str) -> Result<Option<Arc<Source>>> {
        Ok(None)
    }
}

/// One entry template with what is needed to compile it and everything it reaches.
#[derive(Clone, Copy)]
pub struct Unit<'u> {
    /// The entry template.
    pub entry: &'u Arc<Source>,
    /// Where the templates it names are found.
    pub loader: &'u dyn Loader,
    /// The functions there are.
    pub registry: &'u Registry,
    /// The limits of compilation.
    pub limits: &'u Limits,
    /// Whether what the entry template writes is escaped for HTML (in languages where the entry decides), or
    /// for a shell (in languages that have a shell mode).
    pub escape: bool,
    /// Whether a text that could be an expression or stand for itself is always an expression (in languages that have
    /// such texts).
    pub strict: bool,
}

impl std::fmt::Debug for Unit<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Unit").field("entry", &self.entry.name()).field("escape", &self.escape).finish()
    }
}

/// A compiled unit.
#[derive(Debug, Clone)]
pub struct Compiled {
    /// The program.
    pub program: Program,
    /// What a check reports though the program may run: unknown functions, templates and macros in branches
    /// that may never be taken, with their places.
    pub lints: Vec<Box<Diagnostic>>,
    /// The names of the other templates that it reaches, sorted.
    pub reaches: Vec<String>,
}
