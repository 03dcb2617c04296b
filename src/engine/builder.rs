//! Building an engine.

use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::{Arc, OnceLock};

use super::cache::Cache;
use super::front::{CelDialect, CelPresence, HelmOptions, TeraDialect, UnknownNames};
use super::instance;
use dropforge_base::files::Files;
use dropforge_base::limits::Limits;
use dropforge_base::stdlib::timestamps;
use dropforge_base::text::Source;
use dropforge_machine::bytecode::{Dialect, ImportKind};
use dropforge_machine::compiler::{Loader, Memo};
use dropforge_machine::function::{Builtin, Capabilities, HostArgs, HostFunction, Registry};

/// Compiles templates and opens artifacts. Cheap to clone, shared between threads.
#[derive(Debug, Clone)]
pub struct Engine {
    pub(super) shared: Arc<EngineBuilder>,
}

// Tables that are built on first use are complete or absent after a panic.
impl UnwindSafe for Engine {}
impl RefUnwindSafe for Engine {}

/// The functions of each language. A language's table is built on first use.
#[derive(Default)]
pub(super) struct Registries {
    of: [OnceLock<Registry>; Dialect::ALL.len()],
}

impl Registries {
    /// Returns the functions of a language, which `make` makes on first use.
    pub(super) fn get(&self, dialect: Dialect, make: impl FnOnce() -> Registry) -> &Registry {
        self.of[index(dialect)].get_or_init(make)
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
    pub(super) front: super::front::Front,
}

impl Default for Engine {
    fn default() -> Self {
        Self::new()
    }
}

impl Engine {
    /// Returns an engine with every language, default limits, no capabilities and no templates to include.
    pub fn new() -> Self {
        Self::builder().build()
    }

    /// Returns a builder for an engine.
    ///
    /// ```
    /// use dropforge::{Dialect, Engine};
    /// use dropforge::limits::Limits;
    /// let engine = Engine::builder()
    ///     .limits(Limits { output_bytes: 1 << 20, ..Limits::default() })
    ///     .function(Dialect::Tera, "owner_of(team)", |team: &str| format!("team-{team}"))
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
            front: super::front::Front::default(),
        }
    }

    /// Returns the limits of this engine.
    pub fn limits(&self) -> &Limits {
        &self.shared.limits
    }

    /// Returns the functions, filters and tests of a language.
    pub fn registry(&self, dialect: Dialect) -> &Registry {
        self.shared.registries.get(dialect, || instance::registry(dialect))
    }
}

impl EngineBuilder {
    /// Sets the limits.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Returns the limit of a source file.
    #[doc(hidden)]
    pub fn max_source_bytes(&self) -> usize {
        self.limits.source_bytes
    }

    /// Allows access to resources outside the inputs. An allowed clock is fixed for the lifetime of the engine: at the moment
    /// of the capabilities, or else at the seconds since 1970 in the environment variable `SOURCE_DATE_EPOCH`, which
    /// reproducible builds set, or else at this moment.
    pub fn allow(mut self, capabilities: Capabilities<'static>) -> Self {
        self.capabilities = self.capabilities.and(capabilities);
        if capabilities.include(Capabilities::CLOCK) {
            let moment = capabilities.moment().unwrap_or_else(timestamps::now);
            self.capabilities = self.capabilities.with_moment(moment);
        }
        self
    }

    /// Allows programs to read the files below a directory.
    ///
    /// ```
    /// use dropforge::{Dialect, Engine};
    /// use dropforge::files::Files;
    /// let engine = Engine::builder().files(Files::below(env!("CARGO_MANIFEST_DIR"))?).build();
    /// let template = engine.compile(Dialect::Hcl, "t", "${fileexists(\"lib.rs\")}")?;
    /// assert_eq!(template.render(&())?, "true");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn files(mut self, files: Files) -> Self {
        self.files = Some(Arc::new(files));
        self
    }

    /// Adds a function: a closure whose parameters are Rust types ([`HostFunction`]).
    ///
    /// Arguments are positional, in order, and named in languages that have names. Write the names after that of the
    /// function, in its order; `?` marks an optional one. An `Option` is optional without it. Checks, the listing of
    /// functions and errors of calls know the number of parameters, their names and their types.
    ///
    /// ```
    /// use dropforge::function::HostArgs;
    /// use dropforge::{Dialect, Engine};
    /// let probe = |n: i64, name: &str, unit: Option<String>| format!("{name}={n}{}", unit.unwrap_or_default());
    /// let engine = [Dialect::Tera, Dialect::Helm, Dialect::Hcl, Dialect::Cel]
    ///     .into_iter()
    ///     .fold(Engine::builder(), |engine, dialect| engine.function(dialect, "probe(n, name, unit)", probe))
    ///     .function(Dialect::Hcl, "count", |args: &HostArgs| args.positional().len())
    ///     .build();
    /// let render = |dialect, source| Ok::<_, dropforge::Error>(engine.compile(dialect, "t", source)?.render(&())?);
    /// assert_eq!(render(Dialect::Tera, "{{ probe(name='a', n=1) }}")?, "a=1");
    /// assert_eq!(render(Dialect::Helm, r#"{{ "ms" | probe 1 "a" }}"#)?, "a=1ms");
    /// assert_eq!(render(Dialect::Hcl, r#"${probe([1, "a"]...)} ${count(1, 2, 3)}"#)?, "a=1 3");
    /// assert_eq!(render(Dialect::Cel, "1.probe('a')")?, "\"a=1\"\n");
    /// # Ok::<(), dropforge::Error>(())
    /// ```
    pub fn function<P>(self, dialect: Dialect, name: impl AsRef<str>, body: impl HostFunction<P>) -> Self {
        self.host(dialect, ImportKind::Function, name.as_ref(), body)
    }

    /// Adds a filter: like a function, whose first argument is the filtered value. Names of parameters are those after it.
    ///
    /// ```
    /// use dropforge::{Dialect, Engine};
    /// let engine = Engine::builder().filter(Dialect::Tera, "repeat(times)", str::repeat).build();
    /// let template = engine.compile(Dialect::Tera, "t", "{{ 'ab' | repeat(times=3) }}")?;
    /// assert_eq!(template.render(&())?, "ababab");
    /// # Ok::<(), dropforge::Error>(())
    /// ```
    pub fn filter<P>(self, dialect: Dialect, name: impl AsRef<str>, body: impl HostFunction<P>) -> Self {
        self.host(dialect, ImportKind::Filter, name.as_ref(), body)
    }

    /// Adds a test: like a filter, but returns a boolean.
    pub fn test<P>(self, dialect: Dialect, name: impl AsRef<str>, body: impl HostFunction<P>) -> Self {
        self.host(dialect, ImportKind::Test, name.as_ref(), body)
    }

    /// Declares a function that the rendering program defines. Templates may call it. An engine that opens the artifact
    /// must have it. Names of parameters after that of the function are checked.
    ///
    /// ```
    /// use dropforge::ImportKind;
    /// use dropforge::{Dialect, Engine};
    /// let build = Engine::builder().declare(Dialect::Tera, ImportKind::Filter, "shout").build();
    /// assert!(build.compile(Dialect::Tera, "t", "{{ 'a' | shout }}")?.lints().is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn declare(self, dialect: Dialect, kind: ImportKind, name: impl AsRef<str>) -> Self {
        let name = name.as_ref();
        let plain = name.split('(').next().unwrap_or(name);
        let reason = format!("the {} `{plain}` is declared here, not defined", kind.name());
        self.host(dialect, kind, name, move |_: &HostArgs| Err::<(), _>(reason.clone()))
    }

    fn host<P>(mut self, dialect: Dialect, kind: ImportKind, name: &str, body: impl HostFunction<P>) -> Self {
        let function = instance::adopt(dialect, Builtin::host(kind, name, body));
        self.registries.change(dialect, |registry| registry.insert(function));
        self
    }

    /// Builds the engine.
    pub fn build(self) -> Engine {
        Engine { shared: Arc::new(Self { front: self.front.complete(), ..self }) }
    }
}

impl EngineBuilder {
    /// Sets the loader of included, imported and extended templates.
    pub fn loader(mut self, loader: impl Loader + 'static) -> Self {
        self.front.loader = Arc::new(loader);
        self
    }

    /// Adds a template for others to include, import or extend. It takes precedence over the loader's.
    pub fn template(mut self, name: impl Into<String>, source: impl Into<String>) -> Self {
        self.front.templates.push(Source::new(name, source));
        self
    }

    /// Adds a source like [`EngineBuilder::template`], under its name.
    #[doc(hidden)]
    pub fn source(mut self, source: Arc<Source>) -> Self {
        self.front.templates.push(source);
        self
    }

    /// Keeps compiled templates in a directory across processes. Templates that [`Engine::load`] takes from it have no
    /// [`Template::lints`](super::Template::lints).
    pub fn cache(mut self, cache: Cache) -> Self {
        self.front.cache = Some(cache);
        self
    }

    /// Sets the name suffixes of templates whose output is escaped for HTML. The default is `.html`, `.htm` and `.xml`.
    /// An empty suffix matches every name.
    pub fn escape_suffixes<S: Into<String>>(mut self, suffixes: impl IntoIterator<Item = S>) -> Self {
        self.front.escape_suffixes = suffixes.into_iter().map(Into::into).collect();
        self
    }

    /// Quotes every value as one shell word, in languages with a shell mode (`tower`).
    ///
    /// ```
    /// use dropforge::{Dialect, Engine};
    /// let template = Engine::builder().shell(true).build().compile(Dialect::Tower, "cd", "cd ${params.dir}")?;
    /// assert_eq!(template.render(&serde_json::json!({"params": {"dir": "a b"}}))?, "cd 'a b'");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn shell(mut self, shell: bool) -> Self {
        self.front.shell = shell;
        self
    }

    /// Makes every string of a `$let` without `${ }` an expression, even if it could be meant as text (`cel-yaml`).
    /// Text must then be a CEL string (`'text'`) or contain `${ }`.
    ///
    /// ```
    /// use dropforge::{Dialect, Engine};
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

    /// Sets the result of presence tests on values without fields and elements (`cel` and `cel-yaml`). The default is
    /// [`CelPresence::Lenient`], as in Kubernetes.
    ///
    /// ```
    /// use dropforge::{CelPresence, Dialect, Engine};
    /// let source = "tag: ${cfg.?image.?tag.orValue('latest')}\n";
    /// let compile = |presence| {
    ///     Engine::builder().cel_presence(presence).build().compile(Dialect::CelYaml, "a.cel.yaml", source)
    /// };
    /// let inputs = serde_json::json!({"cfg": {"image": null}});
    /// assert_eq!(compile(CelPresence::Lenient)?.render(&inputs)?, "tag: latest\n");
    /// let error = compile(CelPresence::Strict)?.render(&inputs).unwrap_err();
    /// assert_eq!(error.message, "no such key: tag");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn cel_presence(mut self, presence: CelPresence) -> Self {
        self.front.cel_presence = presence;
        self
    }

    /// Sets the implementation of CEL whose functions and checks expressions are compiled with (`cel` and `cel-yaml`). The
    /// default is [`CelDialect::Spec`].
    ///
    /// ```
    /// use dropforge::{CelDialect, Dialect, Engine};
    /// let source = "ms: ${duration('1.5s').getMilliseconds()}\n";
    /// let render = |dialect| {
    ///     let template = Engine::builder().cel_dialect(dialect).build().compile(Dialect::CelYaml, "a.cel.yaml", source)?;
    ///     Ok::<_, dropforge::Error>(template.render(&())?)
    /// };
    /// assert_eq!(render(CelDialect::Spec)?, "ms: 500\n");
    /// assert_eq!(render(CelDialect::Kro)?, "ms: 1500\n");
    /// # Ok::<(), dropforge::Error>(())
    /// ```
    pub fn cel_dialect(mut self, dialect: CelDialect) -> Self {
        self.front.cel_dialect = dialect;
        self
    }

    /// Sets the filters and functions that Tera templates may use. The default is [`TeraDialect::Plus`]. A function of
    /// your own replaces a builtin of the same name in both.
    ///
    /// ```
    /// use dropforge::{Dialect, Engine, TeraDialect};
    /// let source = "labels:\n  {{ labels | to_yaml(indent=2) }}\n";
    /// let inputs = serde_json::json!({"labels": {"app": "web", "on": "yes"}});
    /// let template = Engine::new().compile(Dialect::Tera, "a.yaml.tera", source)?;
    /// assert_eq!(template.render(&inputs)?, "labels:\n  app: web\n  \"on\": \"yes\"\n");
    /// let plain = Engine::builder().tera(TeraDialect::Plain).build();
    /// let errors = plain.compile(Dialect::Tera, "a.yaml.tera", source).unwrap_err();
    /// assert!(errors.to_string().contains("filter `to_yaml` not found"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn tera(mut self, dialect: TeraDialect) -> Self {
        self.front.tera = dialect;
        self
    }

    /// Sets the rules of Go templates. The default is what Helm does.
    ///
    /// ```
    /// use dropforge::{Dialect, Engine, HelmOptions};
    /// let source = "name: {{ .name }}\n";
    /// let template = Engine::new().compile(Dialect::Helm, "a.gotmpl", source)?;
    /// assert_eq!(template.render(&())?, "name: \n");
    /// let options = HelmOptions { keeps_no_value: true, ..HelmOptions::default() };
    /// let template = Engine::builder().helm(options).build().compile(Dialect::Helm, "a.gotmpl", source)?;
    /// assert_eq!(template.render(&())?, "name: <no value>\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn helm(mut self, options: HelmOptions) -> Self {
        self.front.helm = options;
        self
    }

    /// Sets when an unknown filter, test, function, macro or template is an error. The default is when its caller is
    /// compiled.
    ///
    /// ```
    /// use dropforge::UnknownNames;
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

    /// Sets if templates keep the trees they were compiled from, for checks of them. The default is no.
    ///
    /// ```
    /// use dropforge::dialect::hcl::syntax::{ExprId, parser::Parsed};
    /// use dropforge::{Dialect, Engine};
    /// let engine = Engine::builder().keep_trees(true).build();
    /// let template = engine.compile(Dialect::Hcl, "svc.tftpl", "${name}: ${port}")?;
    /// assert!(template.tree::<Parsed<ExprId>>().is_some());
    /// # Ok::<(), dropforge::Error>(())
    /// ```
    #[doc(hidden)]
    pub fn keep_trees(mut self, keep: bool) -> Self {
        self.front.keeps_trees = keep;
        self
    }

    /// Sets where compilers keep results for the next compilation of nearly the same source. The default is nowhere.
    #[doc(hidden)]
    pub fn memo(mut self, memo: Memo) -> Self {
        self.front.memo = Some(memo);
        self
    }
}

impl std::fmt::Debug for EngineBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EngineBuilder").field("limits", &self.limits).field("allow", &self.capabilities).finish()
    }
}
