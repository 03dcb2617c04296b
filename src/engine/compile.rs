//! Compiling with an engine: sources, the cache and linking.

use std::sync::Arc;

use super::artifact::{Entries, Library, Links};
use super::builder::Engine;
use super::cache::{Cache, Key, RecordingLoader};
use super::front::{CelPresence, Front, UnknownNames};
use super::instance::{compile, compile_all, variant};
use super::loader::Once;
use super::template::{Findings, Origin, Template};
use crate::{dialect_of, unknown_language};
use dropforge_base::diagnostics::{Code, Diagnostic, Diagnostics, LOOKED_UP, Severity, without_duplicates};
use dropforge_base::text::Source;
use dropforge_machine::bytecode::{Dialect, Program};
use dropforge_machine::compiler::{Compilation, Compiled, Loader, Unit, with_names};
use dropforge_machine::function::Registry;
use serde::Serialize;

/// Compiles `source` with default limits and renders it once.
///
/// To render more than once, compile with an [`Engine`].
///
/// # Errors
/// The errors of [`Engine::compile`] and [`Template::render`].
///
/// ```
/// use dropforge::Dialect;
/// let text = dropforge::render(Dialect::Tower, "cd ${params.dir}", &serde_json::json!({"params": {"dir": "/srv"}}))?;
/// assert_eq!(text, "cd /srv");
/// # Ok::<(), dropforge::Error>(())
/// ```
pub fn render<T: Serialize + ?Sized>(dialect: Dialect, source: &str, inputs: &T) -> Result<String, Diagnostics> {
    Ok(Engine::new().compile(dialect, "template", source)?.render(inputs)?)
}

impl Engine {
    /// Compiles `source` under `name`. Its includes, imports and parents come from the engine's loader.
    /// In Tera the name also decides whether the output is escaped for HTML.
    ///
    /// # Errors
    /// Every syntax error of the source; every unknown name, unless the engine defers them to the render
    /// ([`EngineBuilder::unknown_names`](super::EngineBuilder::unknown_names)); `function.capability_off` if this build
    /// lacks the language.
    pub fn compile(&self, dialect: Dialect, name: &str, source: &str) -> Result<Template, Diagnostics> {
        self.compile_source(dialect, &Source::new(name, source), None)
    }

    /// Compiles `source` in the language that `name` implies.
    ///
    /// # Errors
    /// The errors of [`Engine::compile`]; `plan.no_templates` if the name implies no language.
    ///
    /// ```
    /// let engine = dropforge::Engine::new();
    /// let template = engine.compile_named("motd.tftpl", "Hello, ${name}!")?;
    /// assert_eq!(template.render(&serde_json::json!({"name": "Ada"}))?, "Hello, Ada!");
    /// # Ok::<(), dropforge::Error>(())
    /// ```
    pub fn compile_named(&self, name: &str, source: &str) -> Result<Template, Diagnostics> {
        let dialect = dialect_of(name).ok_or_else(|| unknown_language(name))?;
        self.compile(dialect, name, source)
    }

    /// Compiles the template that the engine's loader has under `name`, or takes it from the engine's cache.
    pub fn load(&self, dialect: Dialect, name: &str) -> Result<Template, Diagnostics> {
        self.load_all(dialect, &[name]).pop().unwrap_or_else(|| Err(self.unknown(name).into()))
    }

    /// Compiles the templates that the engine's loader has under `names`, in order. Templates that several of them
    /// include, import or extend are loaded and parsed once, so prefer this for a set of templates. Templates in the
    /// engine's cache are taken from there.
    ///
    /// ```
    /// use dropforge::{Dialect, Engine};
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
    #[doc(hidden)]
    pub fn load_all(&self, dialect: Dialect, names: &[&str]) -> Vec<Result<Template, Diagnostics>> {
        self.load_by(self.shared.front.cache.as_ref(), dialect, names)
    }

    /// Implements [`Engine::load_all`] with this cache or none.
    pub(super) fn load_by(
        &self,
        cache: Option<&Cache>,
        dialect: Dialect,
        names: &[&str],
    ) -> Vec<Result<Template, Diagnostics>> {
        // The templates of one name space are no part of a cache's key.
        let cache = cache.filter(|_| dialect != Dialect::Helm);
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

    /// Compiles `entries` in order and stores them in the cache.
    fn compile_all(
        &self,
        cache: Option<&Cache>,
        dialect: Dialect,
        entries: &[&Arc<Source>],
        loader: &dyn Loader,
    ) -> Vec<Result<Template, Diagnostics>> {
        let recorders: Vec<_> = entries.iter().map(|_| RecordingLoader::new(loader)).collect();
        let unit = |(entry, recorder)| {
            let loader = if cache.is_some() { recorder as &dyn Loader } else { loader };
            self.unit(dialect, entry, loader, None)
        };
        let units: Vec<_> = entries.iter().copied().zip(&recorders).map(unit).collect();
        let called = Sources { engine: self, loader };
        let mut links = Links::new(&called, self);
        let unknown_names = self.shared.front.unknown_names;
        let linked = |(compiled, (unit, recorder)): (Compilation, (&Unit<'_>, &RecordingLoader<'_>))| {
            let Some(cache) = cache else { return link(compiled, unit, &mut links, unknown_names) };
            // Each cache entry records its own sources.
            let called = Sources { engine: self, loader: recorder };
            let template = link(compiled, unit, &mut Links::new(&called, self), unknown_names)?;
            // A cached template has no lints, so one with unknown names would pass where they are errors, and warnings about
            // arguments, which every run prints, would be lost.
            let mut lints = template.lints().iter();
            if lints.all(|lint| lint.severity != Severity::Error && lint.code != Code::BadArgument) {
                cache.keep(&Key::of(dialect, unit), recorder, &template.entries(unit.entry.name()));
            }
            Ok(template)
        };
        compile_all(dialect, &units).into_iter().zip(units.iter().zip(&recorders)).map(linked).collect()
    }

    /// Compiles a source. `escape` overrides the rule for its name.
    #[doc(hidden)]
    pub fn compile_source(
        &self,
        dialect: Dialect,
        source: &Arc<Source>,
        escape: Option<bool>,
    ) -> Result<Template, Diagnostics> {
        let loader = Once::over(&*self.shared.front.loader);
        let unit = self.unit(dialect, source, &loader, escape);
        let called = Sources { engine: self, loader: &loader };
        link(compile(dialect, &unit), &unit, &mut Links::new(&called, self), self.shared.front.unknown_names)
    }

    /// Returns the compilation unit of `entry`. `escape` overrides the rule for its name.
    pub(super) fn unit<'u>(
        &'u self,
        dialect: Dialect,
        entry: &'u Arc<Source>,
        loader: &'u dyn Loader,
        escape: Option<bool>,
    ) -> Unit<'u> {
        let escape = escape.unwrap_or_else(|| self.shared.front.escapes(dialect, entry.name()));
        let Front { strict_let: strict, cel_presence, helm, keeps_trees, memo, .. } = &self.shared.front;
        let (registry, limits) = (self.functions(dialect), &self.shared.limits);
        let lenient = match dialect {
            Dialect::Helm => helm.keeps_no_value,
            _ => *cel_presence == CelPresence::Lenient,
        };
        let delimiters = helm.delimiters.as_ref().map(|[left, right]| [left.as_str(), right.as_str()]);
        Unit {
            entry,
            loader,
            registry,
            limits,
            escape,
            strict: *strict,
            lenient,
            variant: self.shared.front.variant(dialect),
            together: self.shared.front.together(dialect),
            missing_key: helm.missing_key,
            delimiters,
            any_data: helm.any_data,
            keeps_tree: *keeps_trees,
            memo: memo.as_ref(),
        }
    }

    /// Returns the functions that templates may use. Programs are linked with all functions: what an artifact uses was
    /// decided when it was compiled.
    fn functions(&self, dialect: Dialect) -> &Registry {
        let (all, front) = (self.registry(dialect), &self.shared.front);
        match front.variant(dialect) {
            "" => all,
            name => front.variants.get(dialect, || variant(dialect, all, name)),
        }
    }

    /// Returns the cached template of a source.
    fn kept(&self, cache: &Cache, dialect: Dialect, source: &Arc<Source>, loader: &dyn Loader) -> Option<Template> {
        let kept = cache.find(&Key::of(dialect, &self.unit(dialect, source, loader, None)), loader)?;
        let template =
            Links::new(&Entries { bundle: &kept, origin: Origin::Cache }, self).template(source.name()).ok()?;
        // The key does not cover the escaping of called templates.
        let same =
            |name: &str, called: &Template| called.escapes() == self.shared.front.escapes(called.dialect(), name);
        if let Some(folder) = loader.folder() {
            template.set_folder(&folder);
        }
        template.calls_only(&same).then_some(template)
    }

    fn unknown(&self, name: &str) -> Box<Diagnostic> {
        let loader = &*self.shared.front.loader;
        let names = loader.names();
        let error = Diagnostic::new(Code::UnknownTemplate, format!("template `{name}` not found"))
            .with_field(LOOKED_UP, name)
            .with_suggestion(name, names.iter().map(String::as_str));
        with_names(error, loader, &names)
    }
}

/// Called templates from a loader. Each name implies its language.
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

/// Splits a compiled unit into its program and its findings.
fn found(compiled: Compiled, unit: &Unit<'_>) -> (Program, Findings) {
    let Compiled { program, lints, reaches, tree } = compiled;
    (program, Findings { origin: Origin::Source, lints, reaches, escape: unit.escape, tree })
}

/// Links a compiled unit.
///
/// # Errors
/// Errors of compiling and linking; unknown names, unless they are deferred to the render.
fn link(
    compiled: Compilation,
    unit: &Unit<'_>,
    links: &mut Links<'_>,
    unknown_names: UnknownNames,
) -> Result<Template, Diagnostics> {
    let (program, found) = found(compiled?, unit);
    let template = links.link(unit.entry.name(), program, found)?;
    if unknown_names == UnknownNames::Early && has_errors(&template) {
        let errors = template.lints().iter().filter(|lint| lint.severity == Severity::Error);
        return Err(without_duplicates(errors.cloned().collect()).into());
    }
    Ok(template)
}

/// Returns `true` if a render of the template can reach an unknown name.
fn has_errors(template: &Template) -> bool {
    template.lints().iter().any(|lint| lint.severity == Severity::Error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemoryLoader;

    #[test]
    fn a_set_compiles_as_each_of_it_does() {
        let names = ["a", "rich", "long", "b", "broken", "absent", "rich", "late", "a"];
        let rich = "{% set y = 1.5 %}{% for k, v in m %}{{ loop.index }}{{ v.a.b | default(value=y) }}{% endfor %}\
                    {% if a is defined and a[k] > 12345678901 %}{{ a | upper }}{{ a | upper }}{% endif %}";
        // The limit is exceeded when some of it has been lowered.
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
        assert!(
            together[4].contains("`{% macro %}` is not closed") && together[5].contains("`absent`"),
            "{together:?}"
        );
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
