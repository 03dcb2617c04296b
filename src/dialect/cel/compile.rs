//! Compilation of templates that are one expression: parse, check, lower.

use super::check::{Environment, check};
use super::lower::compile_document;
use super::syntax::{Options, parse};
use crate::compiler::{Compiled, Unit};
use crate::diagnostics::{Diagnostic, Diagnostics};

/// Compiles a template that is one expression. It answers with one document, its value.
///
/// # Errors
/// All syntax and type errors; limits of the code's size.
pub fn compile(unit: &Unit<'_>) -> Result<Compiled, Vec<Box<Diagnostic>>> {
    let tree = parse(unit.entry, &Options::default()).map_err(Diagnostics::into_vec)?;
    check(&tree, &Environment::new(unit.registry).with_open_names()).map_err(Diagnostics::into_vec)?;
    let program = compile_document(&tree, unit.registry, unit.limits).map_err(|error| vec![error])?;
    Ok(Compiled { program, lints: Vec::new(), reaches: Vec::new() })
}
