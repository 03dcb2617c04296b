//! Linking a template to the templates of other languages that it calls, wherever those come from.

use std::collections::BTreeMap;

use super::builder::Engine;
use super::template::{Callees, Findings, Template};
use crate::bytecode::{ImportKind, Program};
use crate::diagnostics::{Code, Diagnostic, Diagnostics};

/// How many templates call one another at most: each runs on a stack of its own.
const NESTED: usize = 16;

/// Where templates that are called come from.
pub(super) trait Library {
    /// The program of the template `name`, and what was found about it.
    ///
    /// # Errors
    /// Everything that is wrong with it; `template.unknown`.
    fn program(&self, name: &str) -> Result<(Program, Findings), Diagnostics>;
}

/// Links templates, each that is called once.
pub(super) struct Links<'l> {
    library: &'l dyn Library,
    engine: &'l Engine,
    /// What was linked because it is called.
    done: BTreeMap<String, Template>,
    /// What is being linked, each called by the one before it.
    open: Vec<String>,
}

impl<'l> Links<'l> {
    pub(super) fn new(library: &'l dyn Library, engine: &'l Engine) -> Self {
        Self { library, engine, done: BTreeMap::new(), open: Vec::new() }
    }

    /// The template `name` of the library.
    ///
    /// # Errors
    /// Those of the library and of [`Links::link`].
    pub(super) fn template(&mut self, name: &str) -> Result<Template, Diagnostics> {
        let (program, found) = self.library.program(name)?;
        self.link(name, program, found)
    }

    /// Links the program that is called `name`, and what it calls.
    ///
    /// # Errors
    /// `function.unknown`; `template.include_cycle` where it calls itself, also through others; everything that is wrong
    /// with what it calls.
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
        called.map(|import| Ok((import.name.to_owned(), self.callee(import.name)?))).collect()
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

    /// Says of errors of what is called who calls it.
    fn noted(&self, errors: Diagnostics) -> Diagnostics {
        let Some(caller) = self.open.last() else { return errors };
        let note = |error: Box<Diagnostic>| error.with_note(format!("`{caller}` includes it"));
        errors.into_vec().into_iter().map(note).collect::<Vec<_>>().into()
    }
}

#[cfg(all(test, feature = "compile"))]
#[path = "links_tests.rs"]
mod tests;
