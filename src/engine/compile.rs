//! Compiling with an engine: the half of it that needs the languages' front halves.

use std::sync::Arc;

use super::artifact::Entries;
use super::builder::{Engine, EngineBuilder};
use super::cache::{Cache, Key, Recorder};
use super::discover::{dialect_of, unknown_language};
use super::links::{Library, Links};
use super::loader::{MemoryLoader, Once};
use super::template::{Findings, Origin, Template};
use crate::bytecode::{Dialect, Program};
use crate::compiler::{Compiled, Loader, NoLoader, Unit};
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::dialect::{cel, hcl, tera, tower};
use crate::text::Source;

/// What an engine needs to compile, beside what it needs to render.
pub(super) struct Front {
    loader: Arc<dyn Loader>,
    /// Found before the loader's, which they lie over once the engine is built.
    templates: Vec<Arc<Source>>,
    escape_suffixes: Vec<String>,
    shell: bool,
    strict_let: bool,
    cache: Option<Cache>,
}

impl Default for Front {
    fn default() -> Self {
        let escape_suffixes = [".html", ".htm", ".xml"].map(str::to_owned).into();
        Self {
            loader: Arc::new(NoLoader),
            templates: Vec::new(),
            escape_suffixes,
            shell: false,
            strict_let: false,
            cache: None,
        }
    }
}

impl Front {
    /// With the templates that were added in front of the loader's.
    pub(super) fn complete(mut self) -> Self {
        if !self.templates.is_empty() {
            let over = MemoryLoader::over(self.loader);
            self.loader = Arc::new(self.templates.drain(..).fold(over, MemoryLoader::with));
        }
        self
    }

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
        self.load_all(dialect, &[name]).pop().unwrap_or_else(|| Err(self.unknown(name).into()))
    }

    /// Compiles the templates that the engine's loader has under `names`, in order. What several of them include,
    /// import or extend is loaded and read once, so this is the way to compile a set of templates.
    /// Those that the engine's cache has are taken from there.
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
        self.load_by(self.shared.front.cache.as_ref(), dialect, names)
    }

    /// [`Engine::load_all`], by this cache or by none.
    pub(super) fn load_by(
        &self,
        cache: Option<&Cache>,
        dialect: Dialect,
        names: &[&str],
    ) -> Vec<Result<Template, Diagnostics>> {
        let loader = Once::over(&*self.shared.front.loader);
        let load = |name: &&str| loader.load(name)?.ok_or_else(|| self.unknown(name));
        let sources: Vec<_> = names.iter().map(load).collect();
        let known = |source: &Result<_, Box<Diagnostic>>| match source {
            Ok(source) => self.kept(cache?, dialect, source, &loader).map(Ok),
            Err(error) => Some(Err(error.clone().into())),
        };
        let known: Vec<Option<Result<_, Diagnostics>>> = sources.iter().map(known).collect();
        let unknown = sources.iter().zip(&known).filter(|(_, known)| known.is_none());
        let unknown: Vec<_> = unknown.filter_map(|(source, _)| source.as_ref().ok()).collect();
        let mut compiled = self.compile_all(cache, dialect, &unknown, &loader).into_iter();
        let mut next = || compiled.next().unwrap_or_else(|| Err(Vec::new().into()));
        known.into_iter().map(|known| known.unwrap_or_else(&mut next)).collect()
    }

    /// Compiles `entries`, in order, and puts them into the cache.
    fn compile_all(
        &self,
        cache: Option<&Cache>,
        dialect: Dialect,
        entries: &[&Arc<Source>],
        loader: &dyn Loader,
    ) -> Vec<Result<Template, Diagnostics>> {
        let recorders: Vec<_> = entries.iter().map(|_| Recorder::new(loader)).collect();
        let unit = |(entry, recorder)| {
            let loader = if cache.is_some() { recorder as &dyn Loader } else { loader };
            self.unit(dialect, entry, loader, None)
        };
        let units: Vec<_> = entries.iter().copied().zip(&recorders).map(unit).collect();
        let called = Sources { engine: self, loader };
        let mut links = Links::new(&called, self);
        let linked = |(answer, (unit, recorder)): (Answer, (&Unit<'_>, &Recorder<'_>))| {
            let Some(cache) = cache else { return link(answer, unit, &mut links) };
            // What an entry of the cache is made from has to be known of each by itself.
            let called = Sources { engine: self, loader: recorder };
            let template = link(answer, unit, &mut Links::new(&called, self))?;
            cache.keep(&Key::of(dialect, unit), recorder, &template);
            Ok(template)
        };
        compile_all(dialect, &units).into_iter().zip(units.iter().zip(&recorders)).map(linked).collect()
    }

    /// Compiles a source; `escape` overrides what the source's name says.
    pub fn compile_source(
        &self,
        dialect: Dialect,
        source: &Arc<Source>,
        escape: Option<bool>,
    ) -> Result<Template, Diagnostics> {
        let loader = Once::over(&*self.shared.front.loader);
        let unit = self.unit(dialect, source, &loader, escape);
        let called = Sources { engine: self, loader: &loader };
        link(compile(dialect, &unit), &unit, &mut Links::new(&called, self))
    }

    /// What compiles `entry`; `escape` overrides what its name says.
    fn unit<'u>(
        &'u self,
        dialect: Dialect,
        entry: &'u Arc<Source>,
        loader: &'u dyn Loader,
        escape: Option<bool>,
    ) -> Unit<'u> {
        let escape = escape.unwrap_or_else(|| self.shared.front.escapes(dialect, entry.name()));
        let (registry, limits, strict) = (self.registry(dialect), &self.shared.limits, self.shared.front.strict_let);
        Unit { entry, loader, registry, limits, escape, strict }
    }

    /// The template that a cache has for a source, if it has one.
    fn kept(&self, cache: &Cache, dialect: Dialect, source: &Arc<Source>, loader: &dyn Loader) -> Option<Template> {
        let kept = cache.find(&Key::of(dialect, &self.unit(dialect, source, loader, None)), loader)?;
        let template =
            Links::new(&Entries { bundle: &kept, origin: Origin::Cache }, self).template(source.name()).ok()?;
        // What is known of the engine before anything is parsed does not say how templates that are called escape.
        let same =
            |name: &str, called: &Template| called.escapes() == self.shared.front.escapes(called.dialect(), name);
        template.calls_only(&same).then_some(template)
    }

    fn unknown(&self, name: &str) -> Box<Diagnostic> {
        let names = self.shared.front.loader.names();
        Diagnostic::new(Code::UnknownTemplate, format!("template `{name}` not found"))
            .with_suggestion(name, names.iter().map(String::as_str))
            .with_available(names.iter().cloned())
    }
}

/// The templates that a loader has, for what is called: each by the language that its name tells.
struct Sources<'l> {
    engine: &'l Engine,
    loader: &'l dyn Loader,
}

impl Library for Sources<'_> {
    fn program(&self, name: &str) -> Result<(Program, Findings), Diagnostics> {
        let dialect = dialect_of(name).ok_or_else(|| unknown_language(name))?;
        let source = self.loader.load(name)?.ok_or_else(|| self.engine.unknown(name))?;
        let unit = self.engine.unit(dialect, &source, self.loader, None);
        Ok(found(compile(dialect, &unit)?, &unit))
    }
}

/// What was compiled, apart.
fn found(compiled: Compiled, unit: &Unit<'_>) -> (Program, Findings) {
    let Compiled { program, lints, reaches } = compiled;
    (program, Findings { origin: Origin::Source, lints, reaches, escape: unit.escape })
}

fn link(answer: Answer, unit: &Unit<'_>, links: &mut Links<'_>) -> Result<Template, Diagnostics> {
    let (program, found) = found(answer?, unit);
    links.link(unit.entry.name(), program, found)
}

/// What compiling a unit gives: the program, or everything that is wrong.
type Answer = Result<Compiled, Vec<Box<Diagnostic>>>;

/// Compiles a unit of `dialect`.
fn compile(dialect: Dialect, unit: &Unit<'_>) -> Answer {
    match dialect {
        Dialect::Tower => tower::compile(unit),
        Dialect::Tera => tera::compile(unit),
        Dialect::Hcl => hcl::compile(unit),
        Dialect::Cel => cel::compile(unit),
        Dialect::CelYaml => cel::yaml::compile(unit),
    }
}

/// Compiles units of `dialect`, in order; what they share is read once.
fn compile_all(dialect: Dialect, units: &[Unit<'_>]) -> Vec<Answer> {
    match dialect {
        Dialect::Tower => units.iter().map(tower::compile).collect(),
        Dialect::Tera => tera::compile_all(units),
        Dialect::Hcl => units.iter().map(hcl::compile).collect(),
        Dialect::Cel => units.iter().map(cel::compile).collect(),
        Dialect::CelYaml => units.iter().map(cel::yaml::compile).collect(),
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
        self.front.templates.push(Source::new(name, source));
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_compiles_as_each_of_it_does() {
        let names = ["a", "rich", "long", "b", "broken", "absent", "rich", "late", "a"];
        let rich = "{% set y = 1.5 %}{% for k, v in m %}{{ loop.index }}{{ v.a.b | default(value=y) }}{% endfor %}\
                    {% if a is defined and a[k] > 12345678901 %}{{ a | upper }}{{ a | upper }}{% endif %}";
        // Found to be too long when some of it has been lowered.
        let long = format!("long{{{{ a | upper }}}}{{{{ x{} }}}}", ".a".repeat(60_001));
        let engine = Engine::builder()
            .template("part", "{{ x | nofilter }}")
            .template("a", "a{% include 'part' %}")
            .template("b", "{% import 'broken' as m %}b{% include 'part' %}")
            .template("rich", rich)
            .template("long", long)
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
        assert!(together[4].contains("endmacro") && together[5].contains("`absent`"), "{together:?}");
        assert!(together[1].contains("call_memo") && together[2].contains("limit"), "{together:?}");
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
