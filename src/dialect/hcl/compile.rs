//! The entrance of the language: from sources to linked programs.
//!
//! ```text
//! source ─parse─▶ tree ─lower─▶ program ─link─▶ executable
//! ```
//! A template reaches other templates only when it is rendered, so there is nothing to load. Errors of templates and
//! configurations whatever their variables are: [`check`](super::check).

use super::builtins::complete;
use super::executable::Executable;
use super::json::{Document, JsonId, Templates};
use super::lower::{lower_expressions, lower_json, lower_template};
use super::syntax::parser::{Parsed, parse_template};
use super::syntax::tree::{ExprId, Tree};
use crate::compiler::{Compiled, Unit};
use crate::diagnostics::{Diagnostic, Result};
use crate::function::Registry;
use crate::limits::Limits;

/// Compiles a template file to a program that writes its text.
///
/// # Errors
/// All syntax errors, or a limit of the code.
pub fn compile(unit: &Unit<'_>) -> std::result::Result<Compiled, Vec<Box<Diagnostic>>> {
    let Parsed { tree, root, diagnostics } = parse_template(unit.entry, unit.limits);
    if !diagnostics.is_empty() {
        return Err(diagnostics);
    }
    lower_template(&tree, root, unit.registry, unit.limits).map_err(|error| vec![error])
}

/// The functions and limits that expressions are compiled with.
#[derive(Debug, Clone)]
pub(super) struct Compiler {
    registry: Registry,
    limits: Limits,
}

impl Compiler {
    /// A compiler with the functions of `registry` and the language's intrinsics.
    pub fn new(registry: &Registry, limits: &Limits) -> Self {
        Self { registry: complete(registry), limits: limits.clone() }
    }

    /// The functions.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// The limits.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Compiles expressions to a chunk each, in their order.
    ///
    /// # Errors
    /// A limit of the code.
    pub fn expressions(&self, tree: &Tree, roots: &[ExprId]) -> Result<Executable> {
        Executable::new(lower_expressions(tree, roots, &self.registry, &self.limits)?, &self.registry)
    }

    /// Compiles values of a JSON document to a chunk each, in their order. Without `templates`, strings are literal.
    ///
    /// # Errors
    /// A limit of the code.
    pub fn json(&self, document: &Document, templates: Option<&Templates>, roots: &[JsonId]) -> Result<Executable> {
        Executable::new(lower_json(document, templates, roots, &self.registry, &self.limits)?, &self.registry)
    }
}
