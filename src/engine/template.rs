//! A compiled template, ready to render.

use std::any::Any;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::{Arc, OnceLock};

use serde::Serialize;

use super::builder::Engine;
use super::coverage::{Coverage, during};
use super::instance::{self, Render};
use super::residual::{Choice, Residual};
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_base::files::Files;
use dropforge_base::limits::Limits;
use dropforge_machine::bytecode::analysis::{PlacedRead, inputs, places_of_reads};
use dropforge_machine::bytecode::{Dialect, Entry, ImportKind, Program, disassemble, disassemble_with_lines, encode};
use dropforge_machine::function::{Capabilities, Linked};
use dropforge_machine::language::Language;
use dropforge_machine::vm::{Observer, Run, Session, refused_calls};
use dropforge_value::{InputSpace, Inputs, OutputFormat, ReadPaths, Value};

/// Memory of a lint with its labels and its suggestion.
const LINT: usize = 6 * size_of::<Diagnostic>();

/// The error of a render.
pub type RenderError = Box<Diagnostic>;

/// A compiled template. Cheap to clone, shared between threads. Rendering never parses.
#[derive(Clone)]
pub struct Template {
    pub(super) shared: Arc<Shared>,
    /// The output format of documents.
    pub(super) format: OutputFormat,
    /// The program that an artifact has beside this one.
    pub(super) residual: Option<Arc<Residual>>,
    /// The choice between both.
    pub(super) choice: Choice,
}

// A render that panics changes nothing that another one sees: programs and functions are shared, and what a render writes is
// dropped or reset.
impl UnwindSafe for Template {}
impl RefUnwindSafe for Template {}

pub(super) struct Shared {
    pub(super) language: &'static dyn Language,
    pub(super) program: Program,
    pub(super) linked: Linked,
    pub(super) limits: Limits,
    pub(super) capabilities: Capabilities<'static>,
    pub(super) files: Option<Arc<Files>>,
    pub(super) found: Findings,
    pub(super) callees: Callees,
    pub(super) reads: FoundReads,
}

/// The paths that a program reads, found when they are asked for.
#[derive(Debug, Default)]
pub(super) struct FoundReads {
    paths: OnceLock<ReadPaths>,
    places: OnceLock<Vec<PlacedRead>>,
}

/// The templates that a program calls, by the names it has for them.
pub(super) type Callees = BTreeMap<String, Template>;

/// The origin of a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// Compiled from source.
    Source,
    /// Taken from the cache of an earlier process.
    Cache,
    /// Opened from an artifact.
    Artifact,
}

/// Facts about a template other than its program.
#[derive(Debug)]
pub(super) struct Findings {
    /// The origin.
    pub origin: Origin,
    /// Findings that do not stop the program from running.
    pub lints: Vec<Box<Diagnostic>>,
    /// The names of the templates it includes, imports, extends or calls, sorted.
    pub reaches: Vec<String>,
    /// `true` if the output is escaped.
    pub escape: bool,
    /// The tree it was compiled from, if that is kept.
    pub tree: Option<Arc<dyn Any + Send + Sync>>,
}

/// What renders without a session keep.
type Kept = (Session, InputSpace);

thread_local! {
    static KEPT: RefCell<Kept> = RefCell::default();
}

impl Template {
    /// Links a program to the functions of `engine`, under its limits and capabilities, and to the templates it calls.
    ///
    /// # Errors
    /// `function.unknown`, with the nearest available name.
    pub(super) fn link(program: Program, found: Findings, engine: &Engine, callees: Callees) -> Result<Self> {
        let linked = linked(&program, engine, &callees)?;
        let (limits, capabilities) = (engine.limits().clone(), engine.shared.capabilities);
        let files = engine.shared.files.clone();
        let language = instance::language(program.dialect())?;
        let reads = FoundReads::default();
        let shared = Shared { language, program, linked, limits, capabilities, files, found, callees, reads };
        Ok(Self::new(shared, language.default_format()))
    }

    pub(super) fn new(shared: Shared, format: OutputFormat) -> Self {
        Self { shared: Arc::new(shared), format, residual: None, choice: Choice::default() }
    }

    /// Returns the template with another output format for documents. A template that writes text is unaffected
    /// ([`Template::gives_documents`]).
    ///
    /// ```
    /// use dropforge::{Dialect, Engine};
    /// use dropforge::value::OutputFormat;
    /// let template = Engine::new().compile(Dialect::Cel, "a.cel", "{'a': [n, n + 1]}")?;
    /// let inputs = serde_json::json!({"n": 1});
    /// assert_eq!(template.render(&inputs)?, "{\"a\":[1,2]}\n");
    /// assert_eq!(template.with_format(OutputFormat::Yaml).render(&inputs)?, "a:\n  - 1\n  - 2\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_format(&self, format: OutputFormat) -> Self {
        Self { format, ..self.clone() }
    }

    /// Returns the paths that the program reads. They are found once.
    #[doc(hidden)]
    pub fn read_paths(&self) -> &ReadPaths {
        self.shared.reads.paths.get_or_init(|| {
            let mut paths = ReadPaths::default();
            self.program().add_reads(&mut paths);
            paths
        })
    }

    /// Returns the paths that the program reads with their places in the sources. They are found once.
    #[doc(hidden)]
    pub fn places_of_reads(&self) -> &[PlacedRead] {
        self.shared.reads.places.get_or_init(|| places_of_reads(self.program()))
    }

    /// Returns the output format of its documents.
    pub fn format(&self) -> OutputFormat {
        self.format
    }

    /// Returns `true` if the template gives documents, which are written in a [format](Template::with_format), rather
    /// than text.
    pub fn gives_documents(&self) -> bool {
        self.shared.language.answers_documents()
    }

    /// Renders the documents as values. They live until the session is used again.
    ///
    /// # Errors
    /// The errors of a render; `usage` if the template [gives text](Template::gives_documents).
    ///
    /// ```
    /// use dropforge::{Dialect, Engine};
    /// use dropforge::{Arena, Inputs, Value};
    /// use dropforge::Session;
    /// let template = Engine::new().compile(Dialect::Cel, "a.cel", "{'n': n + 1}")?;
    /// let (arena, mut session) = (Arena::new(), Session::new());
    /// let inputs = Inputs::new(arena.map(&[("n", Value::Int(1))]));
    /// let documents = template.documents(&mut session, inputs)?;
    /// let n = documents[0].as_map().and_then(|map| map.get("n"));
    /// assert!(matches!(n, Some(Value::Int(2))));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn documents<'s>(&'s self, session: &'s mut Session, inputs: Inputs<'s>) -> Result<&'s [Value<'s>]> {
        self.rendering(self.run(inputs)).documents(session)
    }

    /// Renders with inputs that serialise to a map, or to nothing (`&()`).
    ///
    /// # Errors
    /// `input.type` for other inputs; errors of the template with these inputs; exceeded limits.
    ///
    /// ```
    /// let template = dropforge::Engine::new().compile_named("t.tera", "{{ n }}")?;
    /// assert_eq!(template.render(&serde_json::json!({"n": 5}))?, "5");
    /// let error = template.render(&5).unwrap_err();
    /// assert!(error.message.contains("must be a map"), "{error}");
    /// # Ok::<(), dropforge::Error>(())
    /// ```
    pub fn render<T: Serialize + ?Sized>(&self, input: &T) -> Result<String> {
        let mut out = String::new();
        self.render_into(input, &mut out)?;
        Ok(out)
    }

    /// Renders into a buffer, appending to it. On an error the buffer is unchanged.
    ///
    /// ```
    /// use dropforge::{Dialect, Engine};
    /// let template = Engine::new().compile(Dialect::Tera, "t", "{{ n }};")?;
    /// let mut out = String::new();
    /// for n in 1..=3 {
    ///     template.render_into(&serde_json::json!({ "n": n }), &mut out)?;
    /// }
    /// assert_eq!(out, "1;2;3;");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn render_into<T: Serialize + ?Sized>(&self, input: &T, out: &mut String) -> Result<()> {
        KEPT.with(|kept| match kept.try_borrow_mut() {
            Ok(mut kept) => self.render_given(&mut kept, input, out),
            // In use: a registered function or an input is rendering a template of its own.
            Err(_) => self.render_given(&mut Kept::default(), input, out),
        })
    }

    fn render_given<T: Serialize + ?Sized>(&self, kept: &mut Kept, input: &T, out: &mut String) -> Result<()> {
        let (session, space) = kept;
        space.with(|builder| self.render_inputs(session, named(builder.serialize(input)?)?, out))
    }

    /// Renders converted inputs in a session that keeps its memory. On an error the buffer is unchanged.
    pub fn render_inputs(&self, session: &mut Session, inputs: Inputs<'_>, out: &mut String) -> Result<()> {
        self.render_run(session, self.chosen(inputs), out, None)
    }

    /// Renders and reports each step to `observer`. With the feature `checked`, the machine checks every index and panics on an
    /// invalid one.
    #[doc(hidden)]
    pub fn render_observed(
        &self,
        session: &mut Session,
        inputs: Inputs<'_>,
        out: &mut String,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        self.render_run(session, self.chosen(inputs), out, Some(observer))
    }

    fn render_run(
        &self,
        session: &mut Session,
        run: Run<'_>,
        out: &mut String,
        observer: Option<&mut dyn Observer>,
    ) -> Result<()> {
        let before = out.len();
        let result = self.rendering(run).render(session, out, observer);
        if result.is_err() {
            out.truncate(before);
        }
        result
    }

    /// Returns a run by the rules of the template's language.
    pub(super) fn rendering<'r>(&self, run: Run<'r>) -> Render<'r> {
        Render { language: self.shared.language, run, format: self.format }
    }

    /// Renders, and adds to `coverage` what runs, also in the templates that it includes and calls. The program is never a
    /// specialised one.
    ///
    /// # Errors
    /// See [`Template::render`].
    #[doc(hidden)]
    pub fn render_covered(
        &self,
        session: &mut Session,
        inputs: Inputs<'_>,
        out: &mut String,
        coverage: &Coverage,
    ) -> Result<()> {
        coverage.add(self);
        during(coverage, |watch| self.render_run(session, self.run(inputs), out, Some(watch)))
    }

    /// Returns the templates that the program calls.
    pub(super) fn callees(&self) -> impl Iterator<Item = &Template> {
        self.shared.callees.values()
    }

    /// Renders on a machine that checks every index and panics on an invalid one. Slower; for tests of the verifier.
    #[cfg(feature = "checked")]
    #[doc(hidden)]
    pub fn render_checked(&self, session: &mut Session, inputs: Inputs<'_>, out: &mut String) -> Result<()> {
        self.render_observed(session, inputs, out, &mut dropforge_machine::vm::NoHooks)
    }

    /// Adds the values of the involved variables to the error of a render with these inputs. Only HCL supports this.
    /// Marked values are withheld. Parses the template again.
    ///
    /// ```
    /// use dropforge::{Dialect, Engine};
    /// use dropforge::{Arena, Inputs};
    /// use dropforge::Session;
    /// let template = Engine::new().compile(Dialect::Hcl, "t", "${name + 1}")?;
    /// let arena = Arena::new();
    /// let inputs = Inputs::new(arena.map(&[("name", arena.text("api"))]));
    /// let mut error = template.render_inputs(&mut Session::new(), inputs, &mut String::new()).unwrap_err();
    /// template.explain(inputs, &mut error);
    /// assert_eq!(error.notes, ["`name` is \"api\""]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn explain(&self, inputs: Inputs<'_>, error: &mut RenderError) {
        if let Some(front) = self.shared.language.front() {
            front.explain(self.run(inputs), error);
        }
    }

    /// Checks that the template's format can represent a document.
    #[doc(hidden)]
    pub fn check_writable(&self, document: Value<'_>) -> Result<()> {
        instance::writable(document, self.program(), self.format)
    }

    /// Returns the program with its imports.
    pub(super) fn parts(&self) -> (&Program, &Linked) {
        (&self.shared.program, &self.shared.linked)
    }

    pub(super) fn run<'r>(&'r self, inputs: Inputs<'r>) -> Run<'r> {
        let Shared { program, linked, limits, .. } = &*self.shared;
        Run { program, linked, inputs, limits, capabilities: self.capabilities(), budgets: None }
    }

    /// Returns the memory that the template takes, in bytes, without the templates that it calls: the program, its
    /// functions and its lints. It is an estimate.
    pub fn memory(&self) -> usize {
        let Shared { program, found, .. } = &*self.shared;
        let residual = self.residual.as_ref().map_or(0, |residual| residual.program.memory());
        let lints: usize = found.lints.iter().map(|lint| LINT + 4 * lint.message.len()).sum();
        size_of::<Shared>() + program.memory() + residual + program.imports().len() * size_of::<[usize; 4]>() + lints
    }

    /// Returns the capabilities it renders with.
    pub fn capabilities(&self) -> Capabilities<'_> {
        let files = self.shared.files.iter();
        files.fold(self.shared.capabilities, |all, files| all.with_files(files))
    }

    /// Returns the errors of the calls that its capabilities do not allow, whether a run reaches them or not.
    #[doc(hidden)]
    pub fn refused_calls(&self) -> Vec<Box<Diagnostic>> {
        refused_calls(&self.shared.program, &self.shared.linked, self.capabilities())
    }

    /// Returns the limits it renders under.
    pub fn limits(&self) -> &Limits {
        &self.shared.limits
    }

    /// Returns the origin of the template.
    pub fn origin(&self) -> Origin {
        self.shared.found.origin
    }

    /// Returns the template's language.
    pub fn dialect(&self) -> Dialect {
        self.program().dialect()
    }

    /// Returns the name it was compiled under.
    pub fn name(&self) -> &str {
        self.program().name()
    }

    /// Returns the template's program.
    #[doc(hidden)]
    pub fn program(&self) -> &Program {
        &self.shared.program
    }

    /// Returns lints about a template that may still render: unknown functions, templates and macros in branches that
    /// may never be taken. Only templates compiled from source have them.
    pub fn lints(&self) -> &[Box<Diagnostic>] {
        &self.shared.found.lints
    }

    /// Returns the tree it was compiled from, if the engine [keeps it](super::EngineBuilder::keep_trees) and that is its
    /// type. HCL templates have a `Parsed<ExprId>` ([example](super::EngineBuilder::keep_trees)); other languages none.
    #[doc(hidden)]
    pub fn tree<T: Any + Send + Sync>(&self) -> Option<&T> {
        self.shared.found.tree.as_ref()?.downcast_ref()
    }

    /// Returns the names of the other templates it reaches, sorted.
    pub fn reaches(&self) -> &[String] {
        &self.shared.found.reaches
    }

    /// Returns `true` if its output is escaped, for HTML or for a shell.
    pub fn escapes(&self) -> bool {
        self.shared.found.escape
    }

    /// Returns the template as an artifact entry.
    pub(super) fn entry<'t>(&'t self, name: &'t str) -> Entry<'t> {
        let (program, escape, reaches) = (self.program(), self.escapes(), self.reaches());
        Entry { name, program, escape, executable: false, reaches, residual: None }
    }

    /// Returns the template and its callees as entries of an artifact, each once.
    pub(super) fn entries<'t>(&'t self, name: &'t str) -> Vec<Entry<'t>> {
        let mut all = Vec::new();
        self.all(name, &mut all);
        all.into_iter().map(|(name, template)| template.entry(name)).collect()
    }

    /// Encodes the template and its callees without their texts.
    ///
    /// # Errors
    /// `artifact.name` for a name that an artifact cannot hold.
    #[doc(hidden)]
    pub fn encoded(&self) -> Result<Vec<u8>> {
        encode(&self.entries(self.name()), true)
    }

    /// Adds the template and its callees to those of an artifact, each once.
    pub(super) fn all<'t>(&'t self, name: &'t str, to: &mut Vec<(&'t str, &'t Template)>) {
        // Two templates with one name but different languages are an error of the artifact.
        if !to.iter().any(|(one, template)| *one == name && template.dialect() == self.dialect()) {
            to.push((name, self));
            self.shared.callees.iter().for_each(|(name, callee)| callee.all(name, to));
        }
    }

    /// Returns `true` if `holds` for every template that it calls, directly or indirectly, and the name used there.
    pub(super) fn calls_only(&self, holds: &dyn Fn(&str, &Template) -> bool) -> bool {
        self.shared.callees.iter().all(|(name, called)| holds(name, called) && called.calls_only(holds))
    }

    /// Sets the folder of the sources of this program and of those it calls.
    pub(super) fn set_folder(&self, folder: &Arc<str>) {
        self.program().set_folder(folder.clone());
        self.shared.callees.values().for_each(|called| called.set_folder(folder));
    }

    /// Returns the top-level inputs that it reads, sorted. Names of its own variables are not among them.
    ///
    /// ```
    /// use dropforge::{Dialect, Engine};
    /// let source = "{% set host = name ~ '.eu' %}{% for port in ports %}{{ host }}:{{ port }} {% endfor %}";
    /// let template = Engine::new().compile(Dialect::Tera, "t", source)?;
    /// assert_eq!(template.inputs(), ["name", "ports"]);
    /// # Ok::<(), dropforge::Error>(())
    /// ```
    pub fn inputs(&self) -> Vec<&str> {
        inputs(self.program())
    }

    /// Returns the listing.
    #[doc(hidden)]
    pub fn disassemble(&self) -> String {
        disassemble(self.program())
    }

    /// Returns the listing, with each instruction below its source line.
    #[doc(hidden)]
    pub fn disassemble_with_lines(&self) -> String {
        disassemble_with_lines(self.program())
    }
}

/// Links a program to the functions of `engine`, and to the templates it calls.
///
/// # Errors
/// `function.unknown`, with the nearest available name.
pub(super) fn linked(program: &Program, engine: &Engine, callees: &Callees) -> Result<Linked> {
    let registry = engine.registry(program.dialect());
    let linked = registry.link_with(program.imports(), &mut |name| match callees.get(name) {
        Some(template) => Ok(template.clone().into_callee(name)),
        None => Err(registry.unknown(ImportKind::Template, name)),
    });
    linked.map_err(|error| error.with_note(format!("`{}` calls it", program.name())))
}

/// Converts the inputs of a render.
///
/// # Errors
/// `input.type` if they are not a map.
fn named(inputs: Value<'_>) -> Result<Inputs<'_>> {
    if matches!(inputs, Value::Map(_) | Value::Null) {
        return Ok(Inputs::new(inputs));
    }
    let message = format!("the inputs must be a map of names, found a value of type {}", inputs.kind());
    Err(Diagnostic::new(Code::InputType, message).with_help("pass a struct, a map or `serde_json::json!({…})`"))
}

impl fmt::Debug for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Template").field("name", &self.name()).field("dialect", &self.dialect()).finish()
    }
}
