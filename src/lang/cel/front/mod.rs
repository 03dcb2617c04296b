//! From source to program: parsers, checks, lowering.

use dropforge_base::diagnostics::Diagnostic;
use dropforge_machine::compiler::{Compilation, Mark, Unit, compile_all};
use dropforge_machine::language::{Front, MarkRequest};

pub(crate) mod attributes;
pub mod check;
pub(crate) mod compile;
pub(crate) mod constant;
pub(crate) mod expression;
pub(crate) mod lower;
pub(crate) mod marks;
pub(crate) mod partial;
pub(crate) mod resolution;
pub(crate) mod settings;
#[doc(hidden)]
pub mod syntax;
#[doc(hidden)]
pub mod yaml;

pub use attributes::Pattern;
pub use compile::compile;
pub use expression::Expression;
pub use marks::marks;
pub use partial::{Partial, Residual, UnknownAttribute};
pub use resolution::Names;
pub use settings::{Declarations, Settings};

/// The front end of expressions.
#[derive(Debug)]
pub(crate) struct CelFront;

impl Front for CelFront {
    fn compile(&self, units: &[Unit<'_>]) -> Vec<Compilation> {
        compile_all(units, compile)
    }

    fn marks(&self, request: &MarkRequest<'_>) -> Result<Vec<Mark>, Vec<Box<Diagnostic>>> {
        marks(request.source, request.registry, request.limits)
    }
}

/// The front end of YAML.
#[derive(Debug)]
pub(crate) struct YamlFront;

impl Front for YamlFront {
    fn compile(&self, units: &[Unit<'_>]) -> Vec<Compilation> {
        compile_all(units, yaml::compile)
    }

    fn marks(&self, request: &MarkRequest<'_>) -> Result<Vec<Mark>, Vec<Box<Diagnostic>>> {
        yaml::marks(request.source, request.strict, request.registry, request.limits)
    }
}
