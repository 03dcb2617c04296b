//! From source to program: parsers, checks, lowering. Expressions may read files as text when they are compiled.

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

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;

pub use attributes::Pattern;
pub use expression::Expression;
pub use marks::marks;
pub use partial::{Partial, Residual, UnknownAttribute};
pub use settings::{Declarations, Names, Settings};

use crate::dialects::{has_homogeneous_literals, missing_macros};
use crate::{Cel, CelYaml};
use check::{Environment, Strictness, check_with};
use dropforge_base::diagnostics::{self, Code, Diagnostic, Diagnostics, LOOKED_UP};
use dropforge_base::stdlib::paths::within;
use dropforge_base::text::{Source, Span};
use dropforge_machine::bytecode::Failure;
use dropforge_machine::compiler::{Compilation, Compiled, Mark, Unit, compile_all};
use dropforge_machine::language::{Front, MarkRequest};
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

/// The files that were read, and warnings about missing ones.
pub(crate) struct RawFiles<'u> {
    unit: &'u Unit<'u>,
    names: RefCell<BTreeSet<String>>,
    lints: RefCell<Vec<Box<Diagnostic>>>,
}

impl<'u> RawFiles<'u> {
    /// Reads files with the loader of a unit.
    pub fn new(unit: &'u Unit<'u>) -> Self {
        Self { unit, names: RefCell::default(), lints: RefCell::default() }
    }

    /// Reads the file at a path in the folder of the source that names it. A missing file is the error of the call.
    ///
    /// # Errors
    /// A path out of the root of the loader, a file that it cannot read or that is too large.
    pub fn read(&self, from: &Arc<Source>, span: Span, path: &str) -> diagnostics::Result<Result<String, Failure>> {
        let found = within(folder_of(from.name()), path).ok_or_else(|| outside(path)).and_then(|name| {
            let source = self.unit.loader.load(&name)?;
            source.iter().try_for_each(|source| self.unit.limits.check_size(source))?;
            Ok((name, source))
        });
        let (name, source) = found.map_err(|error| error.at(from, span, ""))?;
        let Some(source) = source else { return Ok(Err(self.missing(from, span, &name))) };
        self.names.borrow_mut().insert(name);
        Ok(Ok(source.text().to_owned()))
    }

    /// Warns about a missing file, and returns the error of the call.
    fn missing(&self, from: &Arc<Source>, span: Span, name: &str) -> Failure {
        let mut names = self.unit.loader.files(folder_of(name), "");
        names.sort_unstable();
        let message = format!("file `{name}` not found");
        let lint = Diagnostic::warning(Code::UnknownTemplate, message.clone())
            .with_field(LOOKED_UP, name)
            .with_suggestion(name, names.iter().map(String::as_str))
            .with_available(names.iter().cloned())
            .at(from, span, "");
        let help = lint.help.as_deref().map(str::to_owned);
        self.lints.borrow_mut().push(lint);
        Failure { code: Code::UnknownTemplate, message, available: Some(names), help }
    }

    /// Returns the names of the files, sorted, and the warnings.
    pub fn into_parts(self) -> (BTreeSet<String>, Vec<Box<Diagnostic>>) {
        (self.names.into_inner(), self.lints.into_inner())
    }
}

/// Returns the folder of a file, with `/` at its end. Empty for the root.
fn folder_of(name: &str) -> &str {
    name.rfind('/').and_then(|at| name.get(..=at)).unwrap_or("")
}

fn outside(path: &str) -> Box<Diagnostic> {
    let error = Diagnostic::new(Code::OutsideRoot, format!("`{path}` leads out of the include root"));
    error.with_help("paths are relative to the file they stand in")
}
