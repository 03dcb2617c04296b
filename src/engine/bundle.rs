//! Compiling templates to artifacts, also in a build script.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use super::builder::{Engine, EngineBuilder};
use super::discover::{Skipped, TemplateSet, discover};
use super::loader::DirLoader;
use super::template::Template;
use crate::{UnknownNames, dialect_of, unknown_language_in};
use dropforge_base::diagnostics::{Code, Diagnostic, Diagnostics, Result, Severity, without_duplicates};
use dropforge_machine::bytecode::{Dialect, Entry, encode, encode_specialised};
use dropforge_machine::specialise::Known;
use dropforge_value::{Arena, DataMap, InputBuilder, Shapes};

/// Compiled templates to write as an artifact.
#[derive(Debug)]
pub struct Bundling {
    templates: Vec<Template>,
    /// The names of templates that are executable.
    executable: HashSet<String>,
    strip: bool,
    specialised: Option<Specialised>,
}

/// Templates specialised to known inputs.
#[derive(Debug)]
struct Specialised {
    known: DataMap,
    /// By the name of the original.
    residuals: HashMap<String, Template>,
}

impl Engine {
    /// Compiles the templates that the engine's loader has under these names into one artifact, together with the
    /// templates of other languages that they call. The bytes do not depend on the order or the machine.
    ///
    /// # Errors
    /// All errors of all templates, without duplicates.
    pub fn bundle<N: AsRef<str>>(
        &self,
        names: impl IntoIterator<Item = (Dialect, N)>,
    ) -> std::result::Result<Bundling, Diagnostics> {
        let all: Vec<(Dialect, N)> = names.into_iter().collect();
        let of = |dialect: Dialect| {
            let names = all.iter().filter(|(one, _)| *one == dialect).map(|(_, name)| name.as_ref());
            // Bypass the cache: cached templates have no lints.
            self.load_by(None, dialect, &names.collect::<Vec<&str>>())
        };
        let (mut templates, mut errors) = (Vec::new(), Vec::new());
        for answer in Dialect::ALL.into_iter().flat_map(of) {
            match answer {
                Ok(template) => templates.push(template),
                Err(more) => errors.extend(more.into_vec()),
            }
        }
        if errors.is_empty() {
            Ok(Bundling { templates, executable: HashSet::new(), strip: false, specialised: None })
        } else {
            Err(without_duplicates(errors).into())
        }
    }

    /// Bundles the files of a set with [`Engine::bundle`]. The language is `dialect`, or else the one that each name
    /// implies.
    ///
    /// # Errors
    /// The errors of [`Engine::bundle`]; `plan.no_templates` if a name implies no language.
    #[doc(hidden)]
    pub fn bundle_set(
        &self,
        set: &TemplateSet,
        dialect: Option<Dialect>,
    ) -> std::result::Result<Bundling, Diagnostics> {
        let language =
            |name: &str| dialect.or_else(|| dialect_of(name)).ok_or_else(|| unknown_language_in(&set.root, name));
        let names = set.files.iter().map(|file| Ok((language(&file.name)?, file.name.as_str())));
        let executable = set.files.iter().filter(|file| file.executable).map(|file| file.name.clone()).collect();
        Ok(Bundling { executable, ..self.bundle(names.collect::<Result<Vec<_>>>()?)? })
    }
}

impl Bundling {
    /// Leaves out sources and positions. Errors then name the template, but no line.
    pub fn strip(mut self, strip: bool) -> Self {
        self.strip = strip;
        self
    }

    /// Specialises the templates that read one of the `known` inputs, where they can be. The artifact holds each original
    /// and its [residual](Template::residual), and the known inputs in clear.
    ///
    /// # Errors
    /// `limit.depth`.
    ///
    /// ```
    /// use dropforge::{Dialect, Engine};
    /// use dropforge::value::{Data, DataMap};
    /// let build = Engine::builder().template("t.tera", "{{ name }}{% if env == 'prod' %}!{% endif %}").build();
    /// let known = DataMap::from_iter([("env".to_owned(), Data::Str("prod".to_owned()))]);
    /// let bytes = build.bundle([(Dialect::Tera, "t.tera")])?.specialise(known)?.encode()?;
    ///
    /// let artifact = Engine::new().open(bytes)?;
    /// let entry = &artifact.bundle().entries()[0];
    /// let words = |program: &dropforge::bytecode::Program| program.words().len();
    /// assert!(entry.residual().map(words) < Some(words(entry.program())));
    /// let template = artifact.template("t.tera")?;
    /// assert_eq!(template.render(&serde_json::json!({"name": "a", "env": "prod"}))?, "a!");
    /// assert_eq!(template.render(&serde_json::json!({"name": "b", "env": "dev"}))?, "b");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(hidden)]
    pub fn specialise(mut self, known: DataMap) -> Result<Self> {
        let (arena, names) = (Arena::new(), Arena::new());
        let shapes = Shapes::new(&names);
        let values = InputBuilder::new(&arena, &shapes).data_map(&known)?;
        let to = values.as_map().map_or(Known::Open, Known::of_map);
        let all = self.all();
        let read =
            all.iter().filter(|(_, template)| template.program().inputs().iter().any(|name| known.contains_key(*name)));
        let residual = |(name, template): &(&str, &Template)| Some(((*name).to_owned(), template.specialise(&to)?));
        let residuals = read.filter_map(residual).collect();
        self.specialised = Some(Specialised { known, residuals });
        Ok(self)
    }

    /// Returns the number of templates with a residual.
    #[doc(hidden)]
    pub fn specialised(&self) -> usize {
        self.specialised.as_ref().map_or(0, |specialised| specialised.residuals.len())
    }

    /// Returns the templates.
    pub fn templates(&self) -> &[Template] {
        &self.templates
    }

    /// Returns lints about templates that may still render, without duplicates: unknown functions, missing includes.
    pub fn lints(&self) -> Vec<Box<Diagnostic>> {
        without_duplicates(self.templates.iter().flat_map(|template| template.lints().iter().cloned()).collect())
    }

    /// Encodes the artifact.
    ///
    /// # Errors
    /// `artifact.name` for a name that an artifact cannot hold; `input.type` for a known value that JSON does not have;
    /// `limit.code` if the templates are too large for one.
    pub fn encode(&self) -> Result<Vec<u8>> {
        let residual = |name: &str| self.specialised.as_ref()?.residuals.get(name).map(Template::program);
        let entries = self.all().into_iter().map(|(name, template)| Entry {
            executable: self.executable.contains(name),
            residual: residual(name),
            ..template.entry(name)
        });
        let entries: Vec<_> = entries.collect();
        match &self.specialised {
            Some(specialised) => encode_specialised(&entries, &specialised.known, self.strip),
            None => encode(&entries, self.strip),
        }
    }

    /// Returns the templates and those that they call, by name.
    fn all(&self) -> Vec<(&str, &Template)> {
        let mut all = Vec::new();
        self.templates.iter().for_each(|template| template.all(template.name(), &mut all));
        all
    }
}

/// Compiles the templates of a directory to `$OUT_DIR/<out>`, for a package's `build.rs`. The package embeds the file
/// (`dropforge::include_artifact!("templates")`) and opens it with [`Engine::open`](super::Engine::open). It needs only
/// the language's feature of this crate.
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
/// use dropforge::ImportKind;
/// use dropforge::{Dialect, Engine};
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
    pub fn compile(self, dir: &Path) -> std::result::Result<(Vec<u8>, Vec<Box<Diagnostic>>), Diagnostics> {
        let (bundle, skipped) = bundle_dir(self.engine.unknown_names(UnknownNames::Late), dir)?;
        let bundle = bundle.strip(self.strip);
        let lints: Vec<_> = skipped.warnings().chain(bundle.lints()).collect();
        if lints.iter().any(|lint| self.deny.is_some_and(|from| lint.severity >= from)) {
            return Err(lints.into());
        }
        Ok((bundle.encode()?, lints))
    }
}

/// Compiles the templates of a directory, which their includes come from. Also returns what was left out.
///
/// # Errors
/// All errors of all templates; those of [`discover`].
pub(super) fn bundle_dir(engine: EngineBuilder, dir: &Path) -> std::result::Result<(Bundling, Skipped), Diagnostics> {
    let set = discover(&[dir.to_owned()], None, &|name| dialect_of(name).is_some())?;
    let loader = DirLoader::jailed(&set.root)?.paths_from_here();
    let bundle = engine.loader(loader).build().bundle_set(&set, None)?;
    Ok((bundle, set.skipped))
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

#[cfg(test)]
mod tests {
    use crate::Engine;
    use dropforge_machine::bytecode::Dialect;

    #[test]
    fn long_texts_are_not_written_twice_in_large_templates() {
        let long = "a line of text\n".repeat(30_000);
        let values: String = (0..500).map(|at| format!("{{{{ v{at} }}}}")).collect();
        let text = format!("{values}{long}");
        let engine = Engine::builder().template("a.tera", text.clone()).build();
        let bytes = engine.bundle([(Dialect::Tera, "a.tera")]).unwrap().encode().unwrap();
        assert!(bytes.len() < text.len() * 3 / 2, "{}", bytes.len());
    }
}
