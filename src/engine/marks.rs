//! The names in a source, for editors.

use std::sync::Arc;

use super::builder::Engine;
use super::instance::language;
use dropforge_base::diagnostics::{Diagnostics, at_most};
use dropforge_base::text::Source;
use dropforge_machine::bytecode::Dialect;
use dropforge_machine::compiler::Mark;
use dropforge_machine::language::MarkRequest;

impl Engine {
    /// Returns the names in a template, in the order of their places, with what they name.
    ///
    /// # Errors
    /// The syntax errors of the source, except in HCL, where the names that could be read are returned.
    pub fn marks(&self, dialect: Dialect, source: &Arc<Source>) -> Result<Vec<Mark>, Diagnostics> {
        let (registry, limits, strict) = (self.registry(dialect), self.limits(), self.shared.front.strict_let);
        let marks = language(dialect)?.marks(&MarkRequest { source, registry, limits, strict });
        marks.map_err(|errors| at_most(errors, limits.diagnostics, 0).into())
    }
}
