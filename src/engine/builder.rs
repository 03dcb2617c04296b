//! Building an engine.

use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use super::instance;
use crate::bytecode::{Dialect, ImportKind};
use crate::function::{Capabilities, Files, HostArgs, IntoAnswer, Registry};
use crate::limits::Limits;

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
    pub(super) front: super::compile::Front,
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
            front: super::compile::Front::default(),
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

    fn host<A: IntoAnswer>(
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

impl std::fmt::Debug for EngineBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EngineBuilder").field("limits", &self.limits).field("allow", &self.capabilities).finish()
    }
}
