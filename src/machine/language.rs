//! Languages, as the engine sees them.

use std::marker::PhantomData;
use std::sync::Arc;

use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_base::limits::Limits;
use dropforge_base::text::Source;
use dropforge_value::{OutputFormat, Value};

use crate::bytecode::{Dialect, Program};
use crate::compiler::{Compilation, Mark, Unit};
use crate::function::{Builtin, Cx, Registry};
use crate::specialise::{Known, specialise};
use crate::vm::{NoHooks, Observer, Probing, Run, Semantics, Session, answer, ended};

/// A language: its functions, its front end, and the machine that runs its programs.
pub trait Language: Sync {
    /// Returns the id.
    fn dialect(&self) -> Dialect;

    /// Returns the machine that runs programs of the language.
    fn machine(&self) -> &'static dyn Machine;

    /// Returns the functions.
    fn registry(&self) -> Registry {
        Registry::default()
    }

    /// Returns a function of the embedding program with parameters as the functions of the language have them.
    fn adopt(&self, function: Builtin) -> Builtin {
        function
    }

    /// Returns the functions of the implementation called `name` among `all`, and those of the embedding program. A language
    /// with one other implementation does not look at the name.
    fn variant(&self, all: &Registry, _name: &str) -> Registry {
        all.clone()
    }

    /// Returns the front end, which a build without the cargo feature `compile` lacks.
    fn front(&self) -> Option<&'static dyn Front> {
        None
    }

    /// Returns `true` if the name of an entry template decides about HTML escaping.
    fn escapes_by_name(&self) -> bool {
        false
    }

    /// Returns `true` if the result of a program is a list of documents rather than text.
    fn answers_documents(&self) -> bool {
        false
    }

    /// Returns `true` if all numbers of inputs are floats, whose text has no fraction where there is none.
    fn has_only_floats(&self) -> bool {
        false
    }

    /// Returns the default output format of documents.
    fn default_format(&self) -> OutputFormat {
        OutputFormat::Yaml
    }

    /// Completes the text that a run of `program` has appended to `out` from byte `start` on.
    fn finish(&self, program: &Program, out: &mut String, start: usize) {
        let _ = (program, out, start);
    }

    /// Returns the offset in `whole` of the byte at `at` of `text`, which [`Language::finish`] has made of `whole`. `None` if
    /// it is another text.
    fn before_finish(&self, whole: &str, text: &str, at: usize) -> Option<usize> {
        (whole == text).then_some(at)
    }

    /// Returns the likely fix in a template for an output that is invalid.
    fn output_fix(&self, invalid: &InvalidOutput<'_>) -> Option<String> {
        let _ = invalid;
        None
    }
}

/// A part of an output that is not the YAML or JSON that it should be, and the code that wrote it.
#[derive(Debug, Clone, Copy)]
pub struct InvalidOutput<'o> {
    /// The expression, or the text of a template.
    pub code: &'o str,
    /// The line of the template before the code.
    pub before: &'o str,
    /// `true` if the code is text of a template.
    pub is_text: bool,
    /// The output.
    pub output: &'o str,
    /// The byte of the output with the error.
    pub at: usize,
}

impl<'o> InvalidOutput<'o> {
    /// Returns the text before the tag that opens with `open` and that has the code, unless it is text.
    pub fn lead(&self, open: &str) -> Option<&'o str> {
        self.before.trim_end().trim_end_matches('-').strip_suffix(open).filter(|_| !self.is_text)
    }

    /// Returns `true` for text that begins its line in the template, but not in the output: a tag before it has removed the
    /// line break.
    pub fn is_joined(&self) -> bool {
        let start = self.output.get(..self.at).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1);
        let line = self.output.get(start..).and_then(|rest| rest.lines().next()).unwrap_or("").trim_start();
        let code = self.code.trim();
        self.is_text && self.before.trim().is_empty() && line.contains(code) && !line.starts_with(code)
    }

    /// Returns the indentation that the line with the error should have after the line before it.
    pub fn wanted_indent(&self) -> Option<usize> {
        let start = self.output.get(..self.at)?.rfind('\n')?;
        let line = self.output.get(..start)?.lines().rfind(|line| !line.trim().is_empty())?;
        let indent = line.len() - line.trim_start_matches(' ').len();
        Some(if line.trim_end().ends_with(':') { indent + 2 } else { indent })
    }
}

/// Returns the indentation of lines below a tag with this text before it in its line: those of a value of a key, or of text
/// alone.
pub fn indent_below(lead: &str) -> usize {
    let spaces = lead.len() - lead.trim_start_matches(' ').len();
    if lead.trim().is_empty() { spaces } else { spaces + 2 }
}

impl dyn Language {
    /// Compiles units, in order. Shared sources are parsed once. The size of all programs is limited.
    pub fn compile(&self, units: &[Unit<'_>]) -> Vec<Compilation> {
        match self.front() {
            Some(front) => front.compile(units),
            None => units.iter().map(|_| Err(vec![no_compiler(self.dialect())])).collect(),
        }
    }

    /// Returns the names in a template, in the order of their places.
    ///
    /// # Errors
    /// The syntax errors of the source.
    pub fn marks(&self, request: &MarkRequest<'_>) -> std::result::Result<Vec<Mark>, Vec<Box<Diagnostic>>> {
        self.front().ok_or_else(|| vec![no_compiler(self.dialect())])?.marks(request)
    }
}

/// The front end of a language: what reads its sources.
pub trait Front: Sync {
    /// Compiles units, in order. Shared sources are parsed once. The size of all programs is limited.
    fn compile(&self, units: &[Unit<'_>]) -> Vec<Compilation>;

    /// Returns the names in a template, in the order of their places.
    ///
    /// # Errors
    /// The syntax errors of the source.
    fn marks(&self, request: &MarkRequest<'_>) -> std::result::Result<Vec<Mark>, Vec<Box<Diagnostic>>>;

    /// Adds the values of the involved variables to the error of a run.
    fn explain(&self, run: Run<'_>, error: &mut Box<Diagnostic>) {
        let _ = (run, error);
    }
}

/// A source whose names are asked for.
#[derive(Debug, Clone, Copy)]
pub struct MarkRequest<'r> {
    /// The source.
    pub source: &'r Arc<Source>,
    /// The functions of the engine.
    pub registry: &'r Registry,
    /// The limits of the engine.
    pub limits: &'r Limits,
    /// `true` if bindings must be expressions.
    pub strict: bool,
}

/// The machine of one language.
pub trait Machine: Sync {
    /// Runs a program for its result, which lives until the next run of the session. Text is appended to `out`, or dropped.
    ///
    /// # Errors
    /// The errors of the run.
    fn answer<'s>(
        &self,
        session: &'s mut Session,
        run: Run<'s>,
        out: Option<&mut String>,
        observer: Option<&mut dyn Observer>,
    ) -> Result<Value<'s>>;

    /// Runs a program and calls `end` with its result. Text is appended to `out`. If the run is a probe, it fails as soon as
    /// something depends on a value that is not known.
    ///
    /// # Errors
    /// The errors of the run; `internal` of a probe.
    fn end<'s>(
        &self,
        session: &'s mut Session,
        run: Run<'s>,
        probes: bool,
        out: &mut String,
        end: &mut dyn FnMut(&Cx<'s>, Value<'s>),
    ) -> Result<()>;

    /// Returns the program of `run` specialised to `known`, or `None` if it cannot be.
    fn specialise(&self, run: Run<'_>, known: &Known<'_>) -> Option<Program>;
}

/// The machine with the rules `S`.
#[derive(Debug)]
pub struct MachineOf<S>(PhantomData<fn() -> S>);

impl<S> MachineOf<S> {
    /// The machine.
    pub const INSTANCE: Self = Self(PhantomData);
}

impl<S: Semantics + Default> Machine for MachineOf<S> {
    fn answer<'s>(
        &self,
        session: &'s mut Session,
        run: Run<'s>,
        out: Option<&mut String>,
        observer: Option<&mut dyn Observer>,
    ) -> Result<Value<'s>> {
        match observer {
            None => answer(&S::default(), session, run, out, &mut NoHooks),
            Some(observer) => observed(&S::default(), session, run, out, observer),
        }
    }

    fn end<'s>(
        &self,
        session: &'s mut Session,
        run: Run<'s>,
        probes: bool,
        out: &mut String,
        end: &mut dyn FnMut(&Cx<'s>, Value<'s>),
    ) -> Result<()> {
        match probes {
            true => probed(&S::default(), session, run, out, end),
            false => ended(&S::default(), session, run, out, end),
        }
    }

    fn specialise(&self, run: Run<'_>, known: &Known<'_>) -> Option<Program> {
        specialise(&S::default(), run.program, run.linked, known, run.limits)
    }
}

/// Runs an observed program. One copy of the machine's loop serves all languages.
fn observed<'s>(
    rules: &dyn Semantics,
    session: &'s mut Session,
    run: Run<'s>,
    out: Option<&mut String>,
    mut observer: &mut dyn Observer,
) -> Result<Value<'s>> {
    answer(rules, session, run, out, &mut observer)
}

/// Runs a probe. One copy of the machine's loop serves all languages.
fn probed<'s>(
    rules: &dyn Semantics,
    session: &'s mut Session,
    run: Run<'s>,
    out: &mut String,
    end: &mut dyn FnMut(&Cx<'s>, Value<'s>),
) -> Result<()> {
    ended(&Probing(rules), session, run, out, end)
}

/// Returns the error of a language that this build lacks.
pub fn not_built_in(dialect: Dialect) -> Box<Diagnostic> {
    missing(format!("the language `{}` is not part of this build", dialect.id()), dialect.features())
}

/// Returns the error of a language whose compiler this build lacks.
fn no_compiler(dialect: Dialect) -> Box<Diagnostic> {
    let features: Vec<_> = dialect.features().iter().copied().chain(["compile"]).collect();
    missing(format!("the compiler of `{}` is not part of this build", dialect.id()), &features)
}

fn missing(message: String, features: &[&str]) -> Box<Diagnostic> {
    let features: Vec<_> = features.iter().map(|name| format!("\"{name}\"")).collect();
    Diagnostic::new(Code::CapabilityOff, message)
        .with_help(format!("build dropforge with `features = [{}]`", features.join(", ")))
}
