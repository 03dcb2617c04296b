//! Compiling with an engine: the half of it that needs the languages' front halves.

use std::sync::Arc;

use super::builder::{Engine, EngineBuilder};
use super::cache::{Cache, Key, Recorder};
use super::loader::MemoryLoader;
use super::template::{Findings, Origin, Template};
use crate::bytecode::Dialect;
use crate::compiler::{Compiled, Loader, NoLoader, Unit};
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::dialect::{tera, tower};
use crate::limits::Limit;
use crate::text::{Source, Span};

/// What an engine needs to compile, beside what it needs to render.
pub(super) struct Front {
    loader: Arc<dyn Loader>,
    escape_suffixes: Vec<String>,
    shell: bool,
    cache: Option<Cache>,
}

impl Default for Front {
    fn default() -> Self {
        let escape_suffixes = [".html", ".htm", ".xml"].map(str::to_owned).into();
        Self { loader: Arc::new(NoLoader), escape_suffixes, shell: false, cache: None }
    }
}

impl Front {
    /// Whether the output of an entry template is escaped: for HTML or for a shell, as its language has it.
    fn escapes(&self, dialect: Dialect, name: &str) -> bool {
        if !dialect.escapes_by_name() {
            return self.shell;
        }
        self.escape_suffixes.iter().any(|suffix| name.ends_with(suffix.as_str()))
    }
}

impl Engine {
    /// Compiles `source` under `name`. What it includes, imports or extends comes from the engine's loader.
    /// Where the language escapes by name, `name` decides.
    pub fn compile(&self, dialect: Dialect, name: &str, source: &str) -> Result<Template, Diagnostics> {
        self.compile_source(dialect, &Source::new(name, source), None)
    }

    /// Compiles the template that the engine's loader has under `name`, or takes it from the engine's cache.
    pub fn load(&self, dialect: Dialect, name: &str) -> Result<Template, Diagnostics> {
        let front = &self.shared.front;
        let source = front.loader.load(name)?.ok_or_else(|| self.unknown(name))?;
        let Some(cache) = &front.cache else { return self.compile_source(dialect, &source, None) };
        let escape = front.escapes(dialect, name);
        let (limits, registry) = (&self.shared.limits, self.registry(dialect));
        let key = Key { dialect, escape, source: &source, limits, registry };
        let kept = cache.find(&key, &*front.loader);
        let linked = kept.and_then(|kept| Template::of_entry(kept.entry(name)?, Origin::Cache, self).ok());
        if let Some(template) = linked {
            return Ok(template);
        }
        let recorder = Recorder::new(&*front.loader);
        let template = self.compile_with(dialect, &source, escape, &recorder)?;
        cache.keep(&key, recorder, &template);
        Ok(template)
    }

    /// Compiles a source; `escape` overrides what the source's name says.
    pub fn compile_source(
        &self,
        dialect: Dialect,
        source: &Arc<Source>,
        escape: Option<bool>,
    ) -> Result<Template, Diagnostics> {
        let front = &self.shared.front;
        let escape = escape.unwrap_or_else(|| front.escapes(dialect, source.name()));
        self.compile_with(dialect, source, escape, &*front.loader)
    }

    fn compile_with(
        &self,
        dialect: Dialect,
        source: &Arc<Source>,
        escape: bool,
        loader: &dyn Loader,
    ) -> Result<Template, Diagnostics> {
        let limits = &self.shared.limits;
        if source.text().len() > limits.source_bytes {
            let error = Limit::SourceBytes.error(limits.source_bytes as u64);
            return Err(error.at(source, Span::new(0, 0), "").into());
        }
        let unit = Unit { entry: source, loader, registry: self.registry(dialect), limits, escape };
        let Compiled { program, lints, reaches } = compile(dialect, &unit).map_err(Diagnostics::from)?;
        Ok(Template::link(program, Findings { origin: Origin::Source, lints, reaches, escape }, self)?)
    }

    fn unknown(&self, name: &str) -> Box<Diagnostic> {
        let names = self.shared.front.loader.names();
        Diagnostic::new(Code::UnknownTemplate, format!("template `{name}` not found"))
            .with_suggestion(name, names.iter().map(String::as_str))
            .with_available(names.iter().cloned())
    }
}

/// Compiles a unit of `dialect`.
fn compile(dialect: Dialect, unit: &Unit<'_>) -> Result<Compiled, Vec<Box<Diagnostic>>> {
    match dialect {
        Dialect::Tower => tower::compile(unit),
        Dialect::Tera => tera::compile(unit),
    }
}

impl EngineBuilder {
    /// Sets where the templates that templates name are found.
    pub fn loader(mut self, loader: impl Loader + 'static) -> Self {
        self.front.loader = Arc::new(loader);
        self
    }

    /// Adds a template that others may name; it is found before the loader's.
    pub fn template(mut self, name: impl Into<String>, source: impl Into<String>) -> Self {
        let name = name.into();
        let below = std::mem::replace(&mut self.front.loader, Arc::new(NoLoader));
        self.front.loader = Arc::new(MemoryLoader::over(below).with(Source::new(name, source)));
        self
    }

    /// Keeps compiled templates in a directory, from process to process. What [`Engine::load`] takes from there has
    /// no [`Template::lints`].
    pub fn cache(mut self, cache: Cache) -> Self {
        self.front.cache = Some(cache);
        self
    }

    /// Sets the endings of the names whose output is escaped for HTML: `.html`, `.htm` and `.xml` unless set.
    /// An empty ending stands for every name.
    pub fn escape_suffixes<S: Into<String>>(mut self, suffixes: impl IntoIterator<Item = S>) -> Self {
        self.front.escape_suffixes = suffixes.into_iter().map(Into::into).collect();
        self
    }

    /// Quotes every value as one word of a shell, in languages that have a shell mode (`tower`).
    ///
    /// ```
    /// use dropforge::engine::{Dialect, Engine};
    /// let template = Engine::builder().shell(true).build().compile(Dialect::Tower, "cd", "cd ${params.dir}")?;
    /// assert_eq!(template.render(&serde_json::json!({"params": {"dir": "a b"}}))?, "cd 'a b'");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn shell(mut self, shell: bool) -> Self {
        self.front.shell = shell;
        self
    }
}
