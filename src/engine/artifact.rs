//! Artifacts: compiled templates as bytes, opened with an engine.

use std::fmt;
use std::sync::Arc;

use super::builder::Engine;
use super::instance;
use super::links::{Library, Links};
use super::residual::KnownInputs;
use super::template::{Findings, Origin, Template};
use dropforge_base::diagnostics::{Code, Diagnostic, Diagnostics, Result};
use dropforge_machine::bytecode::{Bundle, BundleEntry, Bytes, Program};

/// An opened artifact. Its digest, its version and every program in it are verified. A template is linked to the
/// engine's functions when it is requested. Cheap to clone.
#[derive(Clone)]
pub struct Artifact {
    engine: Engine,
    bundle: Bundle,
    known: Option<Arc<KnownInputs>>,
}

impl Engine {
    /// Opens an artifact. Its templates have the limits, capabilities and functions of this engine.
    ///
    /// # Errors
    /// `artifact.…` if the bytes are not an artifact, were written by another version or are damaged; `program.corrupt`
    /// if the verifier rejects a program; `function.capability_off` if this build lacks a template's language.
    ///
    /// ```
    /// use dropforge::engine::{Dialect, Engine};
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
