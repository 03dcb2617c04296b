//! Building an engine.

use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

#[cfg(feature = "compile")]
use super::cache::Cache;
#[cfg(feature = "compile")]
use super::front::UnknownNames;
use super::instance;
use crate::bytecode::{Dialect, ImportKind};
#[cfg(feature = "compile")]
use crate::compiler::Loader;
use crate::function::{Capabilities, Files, HostArgs, IntoHostResult, Registry};
use crate::limits::Limits;
#[cfg(feature = "compile")]
use crate::text::Source;

/// Compiles templates, or opens what was compiled. Cheap to clone, shared between threads.
#[derive(Debug, Clone)]
pub struct Engine {
    pub(super) shared: Arc<EngineBuilder>,
}

/// The functions of each language; a language's table is made when it is first asked for.
#[derive(Default)]
struct Registries {
    of: [OnceLock<Registry>; Dialect::ALL.len()],
}

impl Registries {
    fn get(&self, dialect: Dialect) -> &Registry {
        self.of[index(dialect)].get_or_init(|| instance::registry(dialect))
    }

    fn change(&mut self, dialect: Dialect, change: impl FnOnce(&mut Registry)) {
        let place = &mut self.of[index(dialect)];
        let mut registry = place.take().unwrap_or_else(|| instance::registry(dialect));
        change(&mut registry);
        *place = OnceLock::from(registry);
    }
}

fn index(dialect: Dialect) -> usize {
    Dialect::ALL.iter().position(|one| *one == dialect).unwrap_or(0)
}

/// An engine under construction.
pub struct EngineBuilder {
    pub(super) limits: Limits,
    pub(super) capabilities: Capabilities<'static>,
    pub(super) files: Option<Arc<Files>>,
    registries: Registries,
    #[cfg(feature = "compile")]
    pub(super) front: super::front::Front,
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
            files: None,
            registries: Registries::default(),
            #[cfg(feature = "compile")]
            front: super::front::Front::default(),
        }
    }

    /// The limits of this engine.
    pub fn limits(&self) -> &Limits {
        &self.shared.limits
    }

    /// The functions, filters and tests of a language.
    pub fn registry(&self, dialect: Dialect) -> &Registry {
        self.shared.registries.get(dialect)
    }
}

impl EngineBuilder {
    /// Sets the limits.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Allows what programs may reach outside their inputs. Where that is the clock, this moment stands for the whole of
    /// what the engine does.
    pub fn allow(mut self, capabilities: Capabilities<'static>) -> Self {
        self.capabilities = self.capabilities.and(capabilities);
        if capabilities.include(Capabilities::CLOCK) {
            self.capabilities = self.capabilities.with_moment(SystemTime::now());
        }
        self
    }

    /// Allows programs to read the files below a directory.
    ///
    /// ```
    /// use dropforge::engine::{Dialect, Engine};
    /// use dropforge::function::Files;
    /// # #[cfg(feature = "compile")] {
    /// let engine = Engine::builder().files(Files::below(env!("CARGO_MANIFEST_DIR"))?).build();
    /// let template = engine.compile(Dialect::Hcl, "t", "${fileexists(\"src/lib.rs\")}")?;
    /// assert_eq!(template.render(&())?, "true");
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn files(mut self, files: Files) -> Self {
        self.files = Some(Arc::new(files));
        self
    }

    /// Adds a function: a closure over named arguments that answers with anything that serialises, or an error.
    pub fn function<A: IntoHostResult>(
        self,
        dialect: Dialect,
        name: impl Into<String>,
        body: impl Fn(&HostArgs) -> A + Send + Sync + 'static,
    ) -> Self {
        self.host(dialect, ImportKind::Function, name, body)
    }

    /// Adds a filter: like a function, with the filtered value as [`HostArgs::value`].
    pub fn filter<A: IntoHostResult>(
        self,
        dialect: Dialect,
        name: impl Into<String>,
        body: impl Fn(&HostArgs) -> A + Send + Sync + 'static,
    ) -> Self {
        self.host(dialect, ImportKind::Filter, name, body)
    }

    /// Adds a test: like a filter, with a boolean for an answer.
    pub fn test<A: IntoHostResult>(
        self,
        dialect: Dialect,
        name: impl Into<String>,
        body: impl Fn(&HostArgs) -> A + Send + Sync + 'static,
    ) -> Self {
        self.host(dialect, ImportKind::Test, name, body)
    }

    /// Declares a function that only the program which renders defines. What is compiled may call it; an engine
    /// that opens the artifact must have it.
    ///
    /// ```
    /// # #[cfg(feature = "compile")] {
    /// use dropforge::bytecode::ImportKind;
    /// use dropforge::engine::{Dialect, Engine};
    /// let build = Engine::builder().declare(Dialect::Tera, ImportKind::Filter, "shout").build();
    /// assert!(build.compile(Dialect::Tera, "t", "{{ 'a' | shout }}")?.lints().is_empty());
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn declare(self, dialect: Dialect, kind: ImportKind, name: impl Into<String>) -> Self {
        let name = name.into();
        let reason = format!("the {} `{name}` is declared here, not defined", kind.name());
        self.host(dialect, kind, name, move |_| Err::<(), _>(reason.clone()))
    }

    fn host<A: IntoHostResult>(
        mut self,
        dialect: Dialect,
        kind: ImportKind,
        name: impl Into<String>,
        body: impl Fn(&HostArgs) -> A + Send + Sync + 'static,
    ) -> Self {
        self.registries.change(dialect, |registry| registry.insert_host(kind, name, body));
        self
    }

    /// The engine.
    pub fn build(self) -> Engine {
        #[cfg(feature = "compile")]
        let this = Self { front: self.front.complete(), ..self };
        #[cfg(not(feature = "compile"))]
        let this = self;
        Engine { shared: Arc::new(this) }
    }
}

#[cfg(feature = "compile")]
impl EngineBuilder {
    /// Sets where the templates that templates name are found.
    pub fn loader(mut self, loader: impl Loader + 'static) -> Self {
        self.front.loader = Arc::new(loader);
        self
    }

    /// Adds a template that others may name; it is found before the loader's.
    pub fn template(mut self, name: impl Into<String>, source: impl Into<String>) -> Self {
        self.front.templates.push(Source::new(name, source));
        self
    }

    /// Keeps compiled templates in a directory, from process to process. What [`Engine::load`] takes from there has
    /// no [`Template::lints`](super::Template::lints).
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

    /// Makes every text of a `$let` without `${ }` an expression, also where it could be meant as text (`cel-yaml`).
    /// A text then says so: `'text'` in quotes of CEL, or with `${ }` in it.
    ///
    /// ```
    /// use dropforge::engine::{Dialect, Engine};
    /// let source = "$let: {zone: eu-west}\nzone: ${zone}\n";
    /// let compile = |strict| Engine::builder().strict_let(strict).build().compile(Dialect::CelYaml, "a.cel.yaml", source);
    /// assert_eq!(compile(false)?.render(&())?, "zone: eu-west\n");
    /// assert!(compile(true)?.render(&()).is_err_and(|error| error.message.contains("eu")));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn strict_let(mut self, strict: bool) -> Self {
        self.front.strict_let = strict;
        self
    }

    /// Sets when an unknown filter, test, function, macro or template is an error: when its caller is compiled, unless
    /// set.
    ///
    /// ```
    /// use dropforge::engine::UnknownNames;
    /// use dropforge::{Dialect, Engine};
    /// let source = "{% if debug %}{{ 1 | shuot }}{% endif %}ok";
    /// let errors = Engine::new().compile(Dialect::Tera, "t", source).unwrap_err();
    /// assert!(errors.to_string().contains("`shuot`"));
    ///
    /// let late = Engine::builder().unknown_names(UnknownNames::Late).build().compile(Dialect::Tera, "t", source)?;
    /// assert_eq!(late.render(&serde_json::json!({"debug": false}))?, "ok");
    /// assert!(late.render(&serde_json::json!({"debug": true})).is_err());
    /// # Ok::<(), dropforge::Error>(())
    /// ```
    pub fn unknown_names(mut self, when: UnknownNames) -> Self {
        self.front.unknown_names = when;
        self
    }
}

impl std::fmt::Debug for EngineBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EngineBuilder").field("limits", &self.limits).field("allow", &self.capabilities).finish()
    }
}
