//! Links a template to the templates of other languages that it calls.

use std::collections::BTreeMap;

use super::builder::Engine;
use super::template::{Callees, Findings, Template};
use dropforge_base::diagnostics::{Code, Diagnostic, Diagnostics};
use dropforge_machine::bytecode::{ImportKind, Program};

/// Maximum depth of calls between templates. Each runs on its own stack.
const NESTED: usize = 16;

/// A source of called templates.
pub(super) trait Library {
    /// Returns the program of the template `name`, and its findings.
    ///
    /// # Errors
    /// All errors of the template; `template.unknown`.
    fn program(&self, name: &str) -> Result<(Program, Findings), Diagnostics>;
}

/// Links templates. A template called several times is linked once.
pub(super) struct Links<'l> {
    library: &'l dyn Library,
    engine: &'l Engine,
    /// Linked callees.
    done: BTreeMap<String, Template>,
    /// The chain of templates being linked, callers first.
    open: Vec<String>,
}

impl<'l> Links<'l> {
    pub(super) fn new(library: &'l dyn Library, engine: &'l Engine) -> Self {
        Self { library, engine, done: BTreeMap::new(), open: Vec::new() }
    }

    /// Returns the template `name` of the library.
    ///
    /// # Errors
    /// The errors of the library and of [`Links::link`].
    pub(super) fn template(&mut self, name: &str) -> Result<Template, Diagnostics> {
        let (program, found) = self.library.program(name)?;
        self.link(name, program, found)
    }

    /// Links the program `name` and its callees.
    ///
    /// # Errors
    /// `function.unknown`; `template.include_cycle` if it calls itself, directly or indirectly; all errors of its
    /// callees.
    pub(super) fn link(&mut self, name: &str, program: Program, mut found: Findings) -> Result<Template, Diagnostics> {
        self.open.push(name.to_owned());
        let callees = self.callees(&program);
        self.open.pop();
        let callees = callees?;
        for (name, callee) in &callees {
            found.reaches.push(name.clone());
            found.reaches.extend_from_slice(callee.reaches());
            found.lints.extend_from_slice(callee.lints());
        }
        found.reaches.sort_unstable();
        found.reaches.dedup();
        Ok(Template::link(program, found, self.engine, callees)?)
    }

    fn callees(&mut self, program: &Program) -> Result<Callees, Diagnostics> {
        let called = program.imports().filter(|import| import.kind == ImportKind::Template);
        let mut callees = Callees::new();
        for import in called {
            callees.insert(import.name.to_owned(), self.callee(import.name)?);
        }
        Ok(callees)
    }

    fn callee(&mut self, name: &str) -> Result<Template, Diagnostics> {
        if let Some(known) = self.done.get(name) {
            return Ok(known.clone());
        }
        if let Some(from) = self.open.iter().position(|open| open == name) {
            let way = self.open.get(from..).unwrap_or(&[]).iter().map(String::as_str).chain([name]);
            let chain: Vec<_> = way.map(|name| format!("`{name}`")).collect();
            let message = format!("include cycle: {}", chain.join(" includes "));
            return Err(Diagnostic::new(Code::IncludeCycle, message).into());
        }
        if self.open.len() >= NESTED {
            let message = format!("templates of other languages nest too deep: the limit is {NESTED} levels");
            return Err(self.noted(Diagnostic::new(Code::LimitRecursion, message).into()));
        }
        let template = self.template(name).map_err(|errors| self.noted(errors))?;
        self.done.insert(name.to_owned(), template.clone());
        Ok(template)
    }

    /// Adds the caller to the errors of a callee.
    fn noted(&self, errors: Diagnostics) -> Diagnostics {
        let Some(caller) = self.open.last() else { return errors };
        let note = |error: Box<Diagnostic>| error.with_note(format!("`{caller}` includes it"));
        errors.into_vec().into_iter().map(note).collect::<Vec<_>>().into()
    }
}

#[cfg(test)]
#[path = "links_tests.rs"]
mod tests;
