//! Building an engine, and compiling with it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::instance;
use super::loader::MemoryLoader;
use super::template::Template;
use crate::bytecode::{Dialect, ImportKind};
use crate::compiler::{Loader, NoLoader, Unit};
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::function::{Capabilities, HostArgs, IntoAnswer, Registry};
use crate::limits::{Limit, Limits};
use crate::text::Source;

/// Compiles templates. Cheap to clone, shared between threads.
#[derive(Debug, Clone)]
pub struct Engine {
    shared: Arc<EngineBuilder>,
}

/// An engine under construction.
pub struct EngineBuilder {
    pub(super) limits: Limits,
    pub(super) capabilities: Capabilities,
    registries: BTreeMap<Dialect, Registry>,
    loader: Arc<dyn Loader>,
    escape_suffixes: Vec<String>,
    shell: bool,
}

impl Default for Engine {
    fn default() -> Self {
        Self::new()
    }
}

impl Engine {
    /// An engine with every language, default limits, no capability and nothing to include.
    pub fn new() -> Self {
        Self::builder().build()
    }

    /// An engine to be set up.
    ///
    /// ```
    /// use dropforge::engine::{Dialect, Engine};
    /// use dropforge::limits::Limits;
    /// let engine = Engine::builder()
    ///     .limits(Limits { output_bytes: 1 << 20, ..Limits::default() })
    ///     .function(Dialect::Tera, "owner_of", |args| {
    ///         args.get::<String>("team").map(|team| format!("team-{team}"))
    ///     })
    ///     .template("_labels.tera", "owner: {{ owner_of(team='core') }}")
    ///     .build();
    /// let template = engine.compile(Dialect::Tera, "a.tera", "{% include '_labels.tera' %}")?;
    /// assert_eq!(template.render(&())?, "owner: team-core");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn builder() -> EngineBuilder {
        EngineBuilder {
            limits: Limits::default(),
            capabilities: Capabilities::NONE,
            registries: Dialect::ALL.into_iter().map(|dialect| (dialect, instance::registry(dialect))).collect(),
            loader: Arc::new(NoLoader),
            escape_suffixes: [".html", ".htm", ".xml"].map(str::to_owned).into(),
            shell: false,
        }
    }

    /// The limits of this engine.
    pub fn limits(&self) -> &Limits {
        &self.shared.limits
    }

    /// The functions, filters and tests of a language.
    pub fn registry(&self, dialect: Dialect) -> Option<&Registry> {
        self.shared.registries.get(&dialect)
    }

    /// Compiles `source` under `name`. What it includes, imports or extends comes from the engine's loader.
    /// Where the language escapes by name, `name` decides.
    pub fn compile(&self, dialect: Dialect, name: &str, source: &str) -> Result<Template, Diagnostics> {
        self.compile_source(dialect, &Source::new(name, source), None)
    }

    /// Compiles the template that the engine's loader has under `name`.
    pub fn load(&self, dialect: Dialect, name: &str) -> Result<Template, Diagnostics> {
        let source = self.shared.loader.load(name)?.ok_or_else(|| self.unknown(name))?;
        self.compile_source(dialect, &source, None)
    }

    /// Compiles a source; `escape` overrides what the source's name says.
    pub fn compile_source(
        &self,
        dialect: Dialect,
        source: &Arc<Source>,
        escape: Option<bool>,
    ) -> Result<Template, Diagnostics> {
        let shared = &self.shared;
        if source.text().len() > shared.limits.source_bytes {
            let error = Limit::SourceBytes.error(shared.limits.source_bytes as u64);
            return Err(error.at(source, crate::text::Span::new(0, 0), "").into());
        }
        let empty = Registry::default();
        let registry = shared.registries.get(&dialect).unwrap_or(&empty);
        let by_language = || if dialect.escapes_by_name() { shared.escapes(source.name()) } else { shared.shell };
        let escape = escape.unwrap_or_else(by_language);
        let unit = Unit { entry: source, loader: &*shared.loader, registry, limits: &shared.limits, escape };
        let compiled = instance::compile(dialect, &unit).map_err(Diagnostics::from)?;
        let linked = registry.link(compiled.program.imports())?;
        Ok(Template::new(compiled, linked, shared.limits.clone(), shared.capabilities))
    }

    fn unknown(&self, name: &str) -> Box<Diagnostic> {
        let names = self.shared.loader.names();
        Diagnostic::new(Code::UnknownTemplate, format!("template `{name}` not found"))
            .with_suggestion(name, names.iter().map(String::as_str))
            .with_available(names.iter().cloned())
    }
}

impl EngineBuilder {
    /// Sets the limits.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Allows what programs may reach outside their inputs.
    pub fn allow(mut self, capabilities: Capabilities) -> Self {
        self.capabilities = self.capabilities.and(capabilities);
        self
    }

    /// Sets where the templates that templates name are found.
    pub fn loader(mut self, loader: impl Loader + 'static) -> Self {
        self.loader = Arc::new(loader);
        self
    }

    /// Adds a template that others may name; it is found before the loader's.
    pub fn template(mut self, name: impl Into<String>, source: impl Into<String>) -> Self {
        let name = name.into();
        let below = std::mem::replace(&mut self.loader, Arc::new(NoLoader));
        self.loader = Arc::new(MemoryLoader::over(below).with(Source::new(name, source)));
        self
    }

    /// Sets the endings of the names whose output is escaped for HTML: `.html`, `.htm` and `.xml` unless set.
    /// An empty ending stands for every name.
    pub fn escape_suffixes<S: Into<String>>(mut self, suffixes: impl IntoIterator<Item = S>) -> Self {
        self.escape_suffixes = suffixes.into_iter().map(Into::into).collect();
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
        self.shell = shell;
        self
    }

    /// Adds a function: a closure over named arguments that answers with anything that serialises, or an error.
    pub fn function<A: IntoAnswer>(
        self,
        dialect: Dialect,
        name: impl Into<String>,
        body: impl Fn(&HostArgs) -> A + Send + Sync + 'static,
    ) -> Self {
        self.host(dialect, ImportKind::Function, name, body)
    }

    /// Adds a filter: like a function, with the filtered value as [`HostArgs::value`].
    pub fn filter<A: IntoAnswer>(
        self,
        dialect: Dialect,
        name: impl Into<String>,
        body: impl Fn(&HostArgs) -> A + Send + Sync + 'static,
    ) -> Self {
        self.host(dialect, ImportKind::Filter, name, body)
    }

    /// Adds a test: like a filter, with a boolean for an answer.
    pub fn test<A: IntoAnswer>(
        self,
        dialect: Dialect,
        name: impl Into<String>,
        body: impl Fn(&HostArgs) -> A + Send + Sync + 'static,
    ) -> Self {
        self.host(dialect, ImportKind::Test, name, body)
    }

    fn host<A: IntoAnswer>(
        mut self,
        dialect: Dialect,
        kind: ImportKind,
        name: impl Into<String>,
        body: impl Fn(&HostArgs) -> A + Send + Sync + 'static,
    ) -> Self {
        self.registries.entry(dialect).or_default().insert_host(kind, name, body);
        self
    }

    /// The engine.
    pub fn build(self) -> Engine {
        Engine { shared: Arc::new(self) }
    }

    fn escapes(&self, name: &str) -> bool {
        self.escape_suffixes.iter().any(|suffix| name.ends_with(suffix.as_str()))
    }
}

impl std::fmt::Debug for EngineBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EngineBuilder").field("limits", &self.limits).field("allow", &self.capabilities).finish()
    }
}
