//! From source to program: parsers, checks, lowering.

pub(crate) mod attributes;
pub mod check;
pub(crate) mod expression;
pub(crate) mod files;
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

use crate::dialects::{has_homogeneous_literals, missing_macros};
use crate::{Cel, CelYaml};
use check::{Environment, Strictness, check_with};
use dropforge_base::diagnostics::{Diagnostic, Diagnostics};
use dropforge_machine::compiler::{Compilation, Compiled, Mark, Unit, compile_all};
use dropforge_machine::language::{Front, MarkRequest};
use files::RawFiles;
use lower::compile_document;
use syntax::parse_within;

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
    let tree = parse_within(unit.entry, &syntax_of(unit), unit.limits).map_err(Diagnostics::into_vec)?;
    let environment = Environment::new(unit.registry).with_open_names();
    check_with(&tree, &environment, strictness(unit)).map_err(Diagnostics::into_vec)?;
    let files = RawFiles::new(unit);
    let program = compile_document(&tree, unit, &files).map_err(|error| vec![error])?;
    let (reaches, lints) = files.into_parts();
    Ok(Compiled { program, lints, reaches: reaches.into_iter().collect(), tree: None })
}

/// Returns the options of the parser of a template.
fn syntax_of(unit: &Unit<'_>) -> syntax::Options {
    syntax::Options { refused_macros: missing_macros(unit.variant), ..syntax::Options::default() }
}

/// Returns the strictness of the checks of a template.
fn strictness(unit: &Unit<'_>) -> Strictness {
    Strictness { literals: true, homogeneous: has_homogeneous_literals(unit.variant) }
}
