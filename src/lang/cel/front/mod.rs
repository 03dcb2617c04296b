//! From source to program: parsers, checks, lowering.

pub(crate) mod attributes;
pub mod check;
pub(crate) mod expression;
pub(crate) mod lower;
pub(crate) mod marks;
pub(crate) mod partial;
pub(crate) mod settings;
#[doc(hidden)]
pub mod syntax;
#[doc(hidden)]
pub mod yaml;

pub use attributes::Pattern;
pub use expression::Expression;
pub use marks::marks;
pub use partial::{Partial, Residual, UnknownAttribute};
pub use settings::{Declarations, Names, Settings};

use crate::{Cel, CelYaml};
use check::{Environment, Strictness, check_with};
use dropforge_base::diagnostics::{Diagnostic, Diagnostics};
use dropforge_machine::compiler::{Compilation, Compiled, Mark, Unit, compile_all};
use dropforge_machine::language::{Front, MarkRequest};
use lower::compile_document;
use syntax::parse;

impl Front for Cel {
    fn compile(&self, units: &[Unit<'_>]) -> Vec<Compilation> {
        compile_all(units, compile)
    }

    fn marks(&self, request: &MarkRequest<'_>) -> Result<Vec<Mark>, Vec<Box<Diagnostic>>> {
        marks(request.source, request.registry, request.limits)
    }
}

impl Front for CelYaml {
    fn compile(&self, units: &[Unit<'_>]) -> Vec<Compilation> {
        compile_all(units, yaml::compile)
    }

    fn marks(&self, request: &MarkRequest<'_>) -> Result<Vec<Mark>, Vec<Box<Diagnostic>>> {
        yaml::marks(request.source, request.strict, request.registry, request.limits)
    }
}

/// Compiles a template that is one expression. It answers with one document, its value.
///
/// # Errors
/// All syntax and type errors; limits of the code's size.
pub fn compile(unit: &Unit<'_>) -> Result<Compiled, Vec<Box<Diagnostic>>> {
    unit.limits.check_size(unit.entry).map_err(|error| vec![error])?;
    let tree = parse(unit.entry, &syntax::Options::default()).map_err(Diagnostics::into_vec)?;
    let (environment, options) =
        (Environment::new(unit.registry).with_open_names(), Strictness { literals: true, ..Strictness::default() });
    check_with(&tree, &environment, options).map_err(Diagnostics::into_vec)?;
    let program = compile_document(&tree, unit.registry, unit.lenient, unit.limits).map_err(|error| vec![error])?;
    Ok(Compiled { program, lints: Vec::new(), reaches: Vec::new(), tree: None })
}
