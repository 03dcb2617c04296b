//! Precompiling templates in a build script.

use std::path::{Path, PathBuf};

use super::builder::{Engine, EngineBuilder};
use super::discover::discover;
use super::front::UnknownNames;
use super::languages::dialect_of;
use super::loader::DirLoader;
use dropforge_base::diagnostics::{Code, Diagnostic, Diagnostics, Severity};

/// Compiles the templates of a directory to `$OUT_DIR/<out>`, for a package's `build.rs`. The package embeds the file
/// (`include_bytes!(concat!(env!("OUT_DIR"), "/templates.mpk"))`) and opens it with
/// [`Engine::open`](crate::Engine::open). It needs only the language's feature of this crate.
///
/// Tells cargo to run the build script again if the directory changes. Errors, including unknown filters, fail the
/// build and are printed in full. Warnings are printed as build warnings. [`Precompile`] has options.
///
/// ```no_run
/// // In `main` of build.rs:
/// dropforge::precompile("templates", "templates.mpk");
/// ```
pub fn precompile(dir: impl AsRef<Path>, out: &str) -> PathBuf {
    Precompile::default().build(dir, out)
}

/// Precompiles with options.
///
/// ```no_run
/// // In `main` of build.rs:
/// use dropforge::Precompile;
/// use dropforge::bytecode::ImportKind;
/// use dropforge::engine::{Dialect, Engine};
/// let engine = Engine::builder().declare(Dialect::Tera, ImportKind::Filter, "shout");
/// Precompile::new(engine).strip(true).build("templates", "templates.mpk");
/// ```
#[derive(Debug)]
pub struct Precompile {
    engine: EngineBuilder,
    strip: bool,
    deny: Option<Severity>,
}

impl Default for Precompile {
    fn default() -> Self {
        Self::new(Engine::builder())
    }
}

impl Precompile {
    /// Compiles with the limits, functions and declarations of `engine`. Includes come from the directory.
    pub fn new(engine: EngineBuilder) -> Self {
        Self { engine, strip: false, deny: Some(Severity::Error) }
    }

    /// Leaves out sources and positions. Errors then name the template, but no line.
    pub fn strip(mut self, strip: bool) -> Self {
        self.strip = strip;
        self
    }

    /// Sets the lints that fail the build. The default is errors, such as an unknown filter. [`Severity::Warning`]
    /// fails on every lint, `None` on none, because a render that never reaches the name succeeds.
    pub fn deny(mut self, from: Option<Severity>) -> Self {
        self.deny = from;
        self
    }

    /// Compiles the templates of `dir` to `$OUT_DIR/<out>` and returns the path. On an error the process exits with
    /// code 1, as a build script should.
    pub fn build(self, dir: impl AsRef<Path>, out: &str) -> PathBuf {
        let dir = dir.as_ref();
        println!("cargo::rerun-if-changed={}", dir.display());
        let Some(target) = std::env::var_os("OUT_DIR") else {
            fail(&Diagnostic::new(Code::Usage, "there is no OUT_DIR: this is for build scripts").into())
        };
        let target = Path::new(&target).join(out);
        match self.compile(dir) {
            Ok((bytes, lints)) => {
                lints.iter().for_each(|lint| tell("warning", lint));
                if let Err(error) = std::fs::write(&target, bytes) {
                    let message = format!("cannot write `{}`: {error}", target.display());
                    fail(&Diagnostic::new(Code::WriteFailed, message).into())
                }
                target
            }
            Err(errors) => fail(&errors),
        }
    }

    /// Compiles the templates of `dir` to an artifact. Also returns the lints that do not fail the build.
    ///
    /// # Errors
    /// All errors of all templates, and the lints selected by [`Precompile::deny`].
    pub fn compile(self, dir: &Path) -> Result<(Vec<u8>, Vec<Box<Diagnostic>>), Diagnostics> {
        let set = discover(&[dir.to_owned()], None, &|name| dialect_of(name).is_some())?;
        let engine = self.engine.loader(DirLoader::jailed(&set.root)?).unknown_names(UnknownNames::Late).build();
        let bundle = engine.bundle_set(&set, None)?.strip(self.strip);
        let lints: Vec<_> = set.skipped.warnings().chain(bundle.lints()).collect();
        if lints.iter().any(|lint| self.deny.is_some_and(|from| lint.severity >= from)) {
            return Err(lints.into());
        }
        Ok((bundle.encode()?, lints))
    }
}

/// Prints the errors for cargo to show, and exits.
fn fail(errors: &Diagnostics) -> ! {
    errors.iter().for_each(|error| tell("error", error));
    std::process::exit(1)
}

/// Prints a diagnostic for cargo, line by line.
fn tell(level: &str, diagnostic: &Diagnostic) {
    let level = if diagnostic.severity == Severity::Error { "error" } else { level };
    for line in diagnostic.render(false).lines() {
        println!("cargo::{level}={line}");
    }
}
