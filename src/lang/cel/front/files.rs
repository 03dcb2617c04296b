//! Files that the expressions of a template read as text when it is compiled.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use dropforge_base::diagnostics::{Code, Diagnostic, LOOKED_UP, Result};
use dropforge_base::stdlib::paths::within;
use dropforge_base::text::{Source, Span};
use dropforge_machine::bytecode::Failure;
use dropforge_machine::compiler::Unit;

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
    pub fn read(&self, from: &Arc<Source>, span: Span, path: &str) -> Result<std::result::Result<String, Failure>> {
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
