//! Building an engine, and compiling with it.

use std::sync::Arc;

use super::instance;
use super::loader::{MemoryLoader, Once};
use super::template::Template;
use crate::bytecode::{Dialect, ImportKind};
use crate::compiler::{Loader, NoLoader, Unit};
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::function::{Capabilities, HostArgs, IntoAnswer, Registry};
use crate::limits::Limits;
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
    /// In the order of [`Dialect::ALL`].
    registries: [Registry; Dialect::ALL.len()],
    templates: Vec<Arc<Source>>,
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
            registries: Dialect::ALL.map(instance::registry),
            templates: Vec::new(),
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
    pub fn registry(&self, dialect: Dialect) -> &Registry {
        self.shared.registry(dialect)
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

    /// Compiles the templates that the engine's loader has under `names`, in order. What several of them include,
    /// import or extend is loaded and read once, so this is the way to compile a set of templates.
    ///
    /// ```
    /// use dropforge::engine::{Dialect, Engine};
    /// let engine = Engine::builder()
    ///     .template("_a", "{{ a }}")
    ///     .template("b", "b{% include '_a' %}")
    ///     .template("c", "c{% include '_a' %}")
    ///     .build();
    /// let inputs = serde_json::json!({ "a": 1 });
    /// let all = engine.load_all(Dialect::Tera, &["b", "c"]).into_iter().collect::<Result<Vec<_>, _>>()?;
    /// let texts = all.iter().map(|template| template.render(&inputs)).collect::<Result<Vec<_>, _>>()?;
    /// assert_eq!(texts, ["b1", "c1"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn load_all(&self, dialect: Dialect, names: &[&str]) -> Vec<Result<Template, Diagnostics>> {
        let loader = Once::over(&*self.shared.loader);
        let load = |name: &&str| loader.load(name)?.ok_or_else(|| self.unknown(name));
        let sources: Vec<_> = names.iter().map(load).collect();
        let entries = sources.iter().flatten();
        let units: Vec<_> = entries.map(|entry| self.shared.unit(dialect, entry, &loader, None)).collect();
        let mut answers = instance::compile_all(dialect, &units).into_iter();
        let answer = |source: &Result<_, Box<Diagnostic>>| match source {
            Ok(_) => self.link(dialect, answers.next().unwrap_or(Err(Vec::new()))),
            Err(error) => Err(error.clone().into()),
        };
        sources.iter().map(answer).collect()
    }

    /// Compiles a source; `escape` overrides what the source's name says.
    pub fn compile_source(
        &self,
        dialect: Dialect,
        source: &Arc<Source>,
        escape: Option<bool>,
    ) -> Result<Template, Diagnostics> {
        let shared = &self.shared;
        let unit = shared.unit(dialect, source, &*shared.loader, escape);
        self.link(dialect, instance::compile(dialect, &unit))
    }

    fn link(&self, dialect: Dialect, compiled: instance::Answer) -> Result<Template, Diagnostics> {
        let (shared, compiled) = (&self.shared, compiled?);
        let linked = shared.registry(dialect).link(compiled.program.imports())?;
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
        self.templates.push(Source::new(name, source));
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
        self.registries[place(dialect)].insert_host(kind, name, body);
        self
    }

    /// The engine.
    pub fn build(mut self) -> Engine {
        if !self.templates.is_empty() {
            let over = MemoryLoader::over(self.loader);
            self.loader = Arc::new(self.templates.drain(..).fold(over, MemoryLoader::with));
        }
        Engine { shared: Arc::new(self) }
    }

    fn registry(&self, dialect: Dialect) -> &Registry {
        &self.registries[place(dialect)]
    }

    /// What compiles `entry`; `escape` overrides what its name says.
    fn unit<'u>(
        &'u self,
        dialect: Dialect,
        entry: &'u Arc<Source>,
        loader: &'u dyn Loader,
        escape: Option<bool>,
    ) -> Unit<'u> {
        let by_language = || if dialect.escapes_by_name() { self.escapes(entry.name()) } else { self.shell };
        let (registry, limits) = (self.registry(dialect), &self.limits);
        Unit { entry, loader, registry, limits, escape: escape.unwrap_or_else(by_language) }
    }

    fn escapes(&self, name: &str) -> bool {
        self.escape_suffixes.iter().any(|suffix| name.ends_with(suffix.as_str()))
    }
}

/// The place of a language in [`Dialect::ALL`].
fn place(dialect: Dialect) -> usize {
    Dialect::ALL.iter().position(|other| *other == dialect).unwrap_or(0)
}

impl std::fmt::Debug for EngineBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EngineBuilder").field("limits", &self.limits).field("allow", &self.capabilities).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_compiles_as_each_of_it_does() {
        let names = ["a", "b", "broken", "absent", "late", "a"];
        let engine = Engine::builder()
            .template("part", "{{ x | nofilter }}")
            .template("a", "a{% include 'part' %}")
            .template("b", "{% import 'broken' as m %}b{% include 'part' %}")
            .template("broken", "{% macro m() %}")
            .template("late", "{% include ['absent', 'a'] %}")
            .build();
        let told = |answer: Result<Template, Diagnostics>| match answer {
            Ok(template) => format!("{}{:?}", template.disassemble(), template.lints()),
            Err(errors) => errors.to_string(),
        };
        let together: Vec<_> = engine.load_all(Dialect::Tera, &names).into_iter().map(told).collect();
        let alone: Vec<_> = names.iter().map(|name| told(engine.load(Dialect::Tera, name))).collect();
        assert_eq!(together, alone);
        assert!(together[2].contains("endmacro") && together[3].contains("`absent`"), "{together:?}");
    }

    #[test]
    fn added_templates_are_found_before_the_loaders_whichever_is_said_first() {
        let loader = || MemoryLoader::new().with(Source::new("a", "below")).with(Source::new("b", "b"));
        let first = Engine::builder().template("a", "above").loader(loader()).build();
        let last = Engine::builder().loader(loader()).template("a", "once").template("a", "above").build();
        for engine in [first, last] {
            let text = |name| engine.load(Dialect::Tera, name).unwrap().render(&()).unwrap();
            assert_eq!([text("a"), text("b")], ["above", "b"]);
        }
    }
}
