//! Artifacts: compiled templates as bytes, opened with an engine.

use std::collections::BTreeMap;
use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

use super::builder::Engine;
use super::instance;
use super::residual::KnownInputs;
use super::template::{Callees, Findings, Origin, Template};
use dropforge_base::diagnostics::{Code, Diagnostic, Diagnostics, Result};
use dropforge_machine::bytecode::{Bundle, BundleEntry, Bytes, ImportKind, Program};

/// An opened artifact. Its digest, its version and every program in it are verified. A template is linked to the
/// engine's functions when it is requested. Cheap to clone.
#[derive(Clone)]
pub struct Artifact {
    engine: Engine,
    bundle: Bundle,
    known: Option<Arc<KnownInputs>>,
}

// What is linked on request is not shared with others before it is complete.
impl UnwindSafe for Artifact {}
impl RefUnwindSafe for Artifact {}

impl Engine {
    /// Opens an artifact. Its templates have the limits, capabilities and functions of this engine.
    ///
    /// # Errors
    /// `artifact.…` if the bytes are not an artifact, were written by another version or are damaged; `program.corrupt`
    /// if the verifier rejects a program; `function.capability_off` if this build lacks a template's language.
    ///
    /// ```
    /// use dropforge::{Dialect, Engine};
    /// let build = Engine::builder().template("hi.tera", "hi {{ who }}").build();
    /// let bytes: Vec<u8> = build.bundle([(Dialect::Tera, "hi.tera")])?.encode()?;
    ///
    /// let artifact = Engine::new().open(bytes)?;
    /// assert_eq!(artifact.names().collect::<Vec<_>>(), ["hi.tera"]);
    /// assert_eq!(artifact.template("hi.tera")?.render(&serde_json::json!({"who": "you"}))?, "hi you");
    /// assert!(artifact.template("ho.tera").unwrap_err().to_string().contains("ho.tera"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open(&self, bytes: impl Into<Bytes>) -> Result<Artifact> {
        let bundle = Bundle::open(bytes)?;
        bundle.entries().iter().try_for_each(|entry| instance::language(entry.program().dialect()).map(drop))?;
        let known = bundle.known().map(|known| KnownInputs::new(known.clone())).transpose()?.map(Arc::new);
        Ok(Artifact { engine: self.clone(), bundle, known })
    }
}

impl Artifact {
    /// Returns the names of the templates, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.bundle.entries().iter().map(BundleEntry::name)
    }

    /// Returns the engine that opened the artifact.
    #[cfg(feature = "helm")]
    pub(super) fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Returns the header and entries of the artifact.
    #[doc(hidden)]
    pub fn bundle(&self) -> &Bundle {
        &self.bundle
    }

    /// Returns the template `name`. If the artifact has a [residual](Template::residual) for it, that runs for inputs that
    /// give the known values.
    ///
    /// # Errors
    /// `template.unknown`, with the nearest name; `function.unknown` if it calls a function that the engine does not
    /// have.
    pub fn template(&self, name: &str) -> Result<Template> {
        let entries = Entries { bundle: &self.bundle, origin: Origin::Artifact };
        let template = Links::new(&entries, &self.engine).template(name).map_err(first)?;
        let residual = self.bundle.entry(name).and_then(|entry| entry.residual());
        match (residual, &self.known) {
            (Some(program), Some(known)) => template.with_residual(program.clone(), known, &self.engine),
            _ => Ok(template),
        }
    }

    /// Every template, in the order of the names.
    ///
    /// # Errors
    /// The first error of [`Artifact::template`].
    pub fn templates(&self) -> Result<Vec<Template>> {
        self.names().map(|name| self.template(name)).collect()
    }
}

/// Called templates, taken from a bundle.
pub(super) struct Entries<'b> {
    /// The bundle.
    pub bundle: &'b Bundle,
    /// The origin reported by their templates.
    pub origin: Origin,
}

impl Library for Entries<'_> {
    fn program(&self, name: &str) -> std::result::Result<(Program, Findings), Diagnostics> {
        let Some(entry) = self.bundle.entry(name) else {
            let names = || self.bundle.entries().iter().map(BundleEntry::name);
            let error = Diagnostic::new(Code::UnknownTemplate, format!("the artifact has no template `{name}`"));
            return Err(error.with_suggestion(name, names()).with_available(names()).into());
        };
        let reaches = entry.reaches().iter().map(|name| name.to_string()).collect();
        let found = Findings { origin: self.origin, lints: Vec::new(), reaches, escape: entry.escape(), tree: None };
        Ok((entry.program().clone(), found))
    }
}

/// Returns the first of the errors.
fn first(errors: Diagnostics) -> Box<Diagnostic> {
    let none = || Diagnostic::new(Code::Internal, "a template failed without an error");
    errors.into_vec().into_iter().next().unwrap_or_else(none)
}

impl fmt::Debug for Artifact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

/// Maximum depth of calls between templates. Each runs on its own stack.
const NESTED: usize = 16;

/// A source of called templates.
pub(super) trait Library {
    /// Returns the program of the template `name`, and its findings.
    ///
    /// # Errors
    /// All errors of the template; `template.unknown`.
    fn program(&self, name: &str) -> std::result::Result<(Program, Findings), Diagnostics>;
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
    pub(super) fn template(&mut self, name: &str) -> std::result::Result<Template, Diagnostics> {
        let (program, found) = self.library.program(name)?;
        self.link(name, program, found)
    }

    /// Links the program `name` and its callees.
    ///
    /// # Errors
    /// `function.unknown`; `template.include_cycle` if it calls itself, directly or indirectly; all errors of its
    /// callees.
    pub(super) fn link(
        &mut self,
        name: &str,
        program: Program,
        mut found: Findings,
    ) -> std::result::Result<Template, Diagnostics> {
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

    fn callees(&mut self, program: &Program) -> std::result::Result<Callees, Diagnostics> {
        let called = program.imports().filter(|import| import.kind == ImportKind::Template);
        let mut callees = Callees::new();
        for import in called {
            callees.insert(import.name.to_owned(), self.callee(import.name)?);
        }
        Ok(callees)
    }

    fn callee(&mut self, name: &str) -> std::result::Result<Template, Diagnostics> {
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
