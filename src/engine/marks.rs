//! The names in a source, for editors.

use std::sync::Arc;

use super::builder::Engine;
use super::instance::not_built_in;
use crate::bytecode::Dialect;
use crate::compiler::Mark;
use crate::diagnostics::{Diagnostics, at_most};
#[cfg(feature = "cel")]
use crate::dialect::cel;
#[cfg(feature = "hcl")]
use crate::dialect::hcl;
#[cfg(feature = "helm")]
use crate::dialect::helm;
#[cfg(feature = "tera")]
use crate::dialect::tera;
#[cfg(feature = "tower")]
use crate::dialect::tower;
use crate::text::Source;

impl Engine {
    /// Returns the names in a template, in the order of their places, with what they name.
    ///
    /// # Errors
    /// The syntax errors of the source, except in HCL, where the names that could be read are returned.
    pub fn marks(&self, dialect: Dialect, source: &Arc<Source>) -> Result<Vec<Mark>, Diagnostics> {
        let limits = self.limits();
        let marks = match dialect {
            #[cfg(feature = "tower")]
            Dialect::Tower => tower::marks(source, limits),
            #[cfg(feature = "tera")]
            Dialect::Tera => tera::marks(source, limits),
            #[cfg(feature = "hcl")]
            Dialect::Hcl => Ok(hcl::marks(source, limits)),
            #[cfg(feature = "helm")]
            Dialect::Helm => helm::marks(source, self.registry(dialect), limits),
            #[cfg(feature = "cel")]
            Dialect::Cel => cel::marks(source, self.registry(dialect), limits),
            #[cfg(all(feature = "cel", feature = "yaml"))]
            Dialect::CelYaml => cel::yaml::marks(source, self.shared.front.strict_let, self.registry(dialect), limits),
            #[allow(unreachable_patterns)]
            _ => Err(vec![not_built_in(dialect)]),
        };
        marks.map_err(|errors| at_most(errors, limits.diagnostics, 0).into())
    }
}
