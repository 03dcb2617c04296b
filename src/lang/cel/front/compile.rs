//! Compilation of templates that are one expression: parse, check, lower.

use crate::check::{Environment, Options, check_with};
use crate::lower::compile_document;
use crate::syntax::{self, parse};
use dropforge_base::diagnostics::{Diagnostic, Diagnostics};
use dropforge_machine::compiler::{Compiled, Unit};

/// Compiles a template that is one expression. It answers with one document, its value.
///
/// # Errors
/// All syntax and type errors; limits of the code's size.
pub fn compile(unit: &Unit<'_>) -> Result<Compiled, Vec<Box<Diagnostic>>> {
    unit.limits.check_size(unit.entry).map_err(|error| vec![error])?;
    let tree = parse(unit.entry, &syntax::Options::default()).map_err(Diagnostics::into_vec)?;
    let (environment, options) =
        (Environment::new(unit.registry).with_open_names(), Options { literals: true, ..Options::default() });
    check_with(&tree, &environment, options).map_err(Diagnostics::into_vec)?;
    let program = compile_document(&tree, unit.registry, unit.lenient, unit.limits).map_err(|error| vec![error])?;
    Ok(Compiled { program, lints: Vec::new(), reaches: Vec::new(), tree: None })
}
