//! The languages of this build, and renders by their rules.
//!
//! A language is a cargo feature; [`Dialect`] always has all of them. Compiling a template or opening an artifact of a
//! missing language is an error that names the feature.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use super::builder::Engine;
use super::coverage;
use super::template::Template;
use dropforge_base::diagnostics::{Code, Diagnostic, Diagnostics, Result, at_most};
use dropforge_base::text::Source;
use dropforge_machine::bytecode::{Dialect, Program};
use dropforge_machine::compiler::{Compilation, Mark, Unit};
use dropforge_machine::function::{Builtin, Cx, Registry};
use dropforge_machine::language::{Language, MarkRequest, not_built_in};
use dropforge_machine::vm::{Observer, Run, Session};
use dropforge_value::{Inputs, OutputFormat, Value, write_documents};

/// The languages.
static LANGUAGES: &[&dyn Language] = &[
    #[cfg(feature = "cel")]
    &dropforge_cel::Cel,
    #[cfg(feature = "cel")]
    &dropforge_cel::CelYaml,
    #[cfg(feature = "hcl")]
    &dropforge_hcl::Hcl,
    #[cfg(feature = "helm")]
    &dropforge_helm::Helm,
    #[cfg(feature = "tera")]
    &dropforge_tera::Tera,
    #[cfg(feature = "tower")]
    &dropforge_tower::Tower,
];

/// Returns a language.
///
/// # Errors
/// `function.capability_off` if this build lacks it.
pub(super) fn language(dialect: Dialect) -> Result<&'static dyn Language> {
    let language = LANGUAGES.iter().find(|language| language.dialect() == dialect);
    language.copied().ok_or_else(|| not_built_in(dialect))
}

/// Returns the functions of `dialect`.
pub(super) fn registry(dialect: Dialect) -> Registry {
    language(dialect).map_or_else(|_| Registry::default(), Language::registry)
}

/// Returns a function of the embedding program with parameters as those of `dialect`.
pub(super) fn adopt(dialect: Dialect, function: Builtin) -> Builtin {
    match language(dialect) {
        Ok(language) => language.adopt(function),
        Err(_) => function,
    }
}

/// Returns the functions of another implementation among those of an engine, and those of the embedding program.
pub(super) fn variant(dialect: Dialect, all: &Registry, name: &str) -> Registry {
    language(dialect).map_or_else(|_| all.clone(), |language| language.variant(all, name))
}

/// Compiles a unit.
///
/// # Errors
/// All errors of its sources.
pub(super) fn compile(dialect: Dialect, unit: &Unit<'_>) -> Compilation {
    compile_all(dialect, std::slice::from_ref(unit)).pop().unwrap_or_else(|| Err(Vec::new()))
}

/// Compiles units, in order. Shared sources are parsed once. The size of all programs is limited.
pub(super) fn compile_all(dialect: Dialect, units: &[Unit<'_>]) -> Vec<Compilation> {
    match language(dialect) {
        Ok(language) => language.compile(units),
        Err(error) => units.iter().map(|_| Err(vec![error.clone()])).collect(),
    }
}

/// A run of a program of a language.
pub(super) struct Render<'r> {
    pub language: &'static dyn Language,
    pub run: Run<'r>,
    /// The format of documents.
    pub format: OutputFormat,
}

impl<'r> Render<'r> {
    /// Runs the program and appends its text, or its documents, to `out`.
    pub fn render(self, session: &mut Session, out: &mut String, observer: Option<&mut dyn Observer>) -> Result<()> {
        let (language, program, start) = (self.language, self.run.program, out.len());
        self.render_raw(session, out, observer)?;
        language.finish(program, out, start);
        Ok(())
    }

    /// Works like [`Render::render`], but leaves texts of missing values in the output that the language removes.
    pub fn render_raw(
        self,
        session: &mut Session,
        out: &mut String,
        observer: Option<&mut dyn Observer>,
    ) -> Result<()> {
        let Self { language, run, format } = self;
        if !language.answers_documents() {
            return language.machine().answer(session, run, Some(out), observer).map(drop);
        }
        write(session, out, |session, out| {
            let documents = listed(language.machine().answer(session, run, None, observer)?)?;
            documents.iter().try_for_each(|document| writable(*document, run.program, format))?;
            write_documents(documents.iter().copied(), format, run.limits.output_bytes, out)
        })
    }

    /// Runs the program for its documents.
    ///
    /// # Errors
    /// The errors of the run; `usage` for a language whose programs write text.
    pub fn documents<'s>(self, session: &'s mut Session) -> Result<&'s [Value<'s>]>
    where
        'r: 's,
    {
        let Self { language, run, .. } = self;
        if language.answers_documents() {
            return listed(language.machine().answer(session, run, None, None)?);
        }
        let message = format!("`{}` is a {} template: it renders to text", run.program.name(), language.dialect().id());
        Err(Diagnostic::new(Code::Usage, message).with_help("use `render` instead of `documents`"))
    }
}

/// Returns the documents of an answer. Lowering always makes it a list.
fn listed(answer: Value<'_>) -> Result<&[Value<'_>]> {
    answer
        .as_list()
        .ok_or_else(|| Diagnostic::new(Code::CorruptProgram, "the result of the program is not a list of documents"))
}

/// Appends to `out`, through the session's buffer if `out` already has text, which the document writer would scan
/// again.
fn write(
    session: &mut Session,
    out: &mut String,
    write: impl FnOnce(&mut Session, &mut String) -> Result<()>,
) -> Result<()> {
    if out.is_empty() {
        return write(session, out);
    }
    let mut text = std::mem::take(&mut session.text);
    text.clear();
    let written = write(session, &mut text);
    out.push_str(&text);
    session.text = text;
    written
}

/// Checks that a format can represent a document.
///
/// # Errors
/// A list or map has a tag, and the format is JSON.
pub(super) fn writable(document: Value<'_>, program: &Program, format: OutputFormat) -> Result<()> {
    let tagged = if format.is_json() { document.tagged_collection() } else { None };
    let Some((tag, at)) = tagged else { return Ok(()) };
    let message = format!("the tag `{tag}` cannot be written as JSON");
    let error = Diagnostic::new(Code::TypeMismatch, message)
        .with_help("write YAML or KYAML, which have tags, or remove the tag");
    let place = program.place(at);
    Err(match place.and_then(|place| Some((program.source(place)?, place.span))) {
        Some((source, span)) => error.at(source, span, ""),
        None => error,
    })
}

/// The memory of a nested render.
#[derive(Default)]
struct Memory {
    session: Session,
    text: String,
}

thread_local! {
    /// Memory of finished nested renders, for reuse.
    static SPARE: RefCell<Vec<Memory>> = RefCell::default();
}

impl Template {
    /// Wraps the template in a function that returns its text.
    pub(super) fn into_callee(self, name: &str) -> Builtin {
        Builtin::of_template(
            name.to_owned(),
            Arc::new(move |cx, given| Ok(self.render_within(cx, given.first().copied().unwrap_or_default())?)),
        )
    }

    /// Renders within the caller's remaining budgets and with its capabilities.
    fn render_within<'v>(&self, cx: &Cx<'v>, inputs: Value<'v>) -> Result<Value<'v>> {
        let mut memory = SPARE.with_borrow_mut(Vec::pop).unwrap_or_default();
        memory.text.clear();
        let (program, linked) = self.parts();
        let (budgets, inputs, limits) = (Cell::new(cx.budgets()), Inputs::new(inputs), cx.limits());
        let run = Run { program, linked, inputs, limits, capabilities: cx.capabilities(), budgets: Some(&budgets) };
        let (session, out) = (&mut memory.session, &mut memory.text);
        let rendered = match coverage::current() {
            Some(coverage) => self.rendering(run).render(session, out, Some(&mut coverage.watch())),
            None => self.rendering(run).render(session, out, None),
        };
        cx.set_budgets(budgets.get());
        let text = rendered.and_then(|()| cx.text(&memory.text));
        SPARE.with_borrow_mut(|spare| spare.push(memory));
        text
    }
}

impl Engine {
    /// Returns the names in a template, in the order of their places, with what they name.
    ///
    /// # Errors
    /// The syntax errors of the source, except in HCL, where the names that could be read are returned.
    #[doc(hidden)]
    pub fn marks(&self, dialect: Dialect, source: &Arc<Source>) -> std::result::Result<Vec<Mark>, Diagnostics> {
        let (registry, limits, strict) = (self.registry(dialect), self.limits(), self.shared.front.strict_let);
        let marks = language(dialect)?.marks(&MarkRequest { source, registry, limits, strict });
        marks.map_err(|errors| at_most(errors, limits.diagnostics, 0).into())
    }
}
