//! The languages of this build: their functions, compilers and runtime rules.
//!
//! A language is a cargo feature; [`Dialect`] always has all of them. Compiling a template or opening an artifact of a
//! missing language is an error that names the feature.

use crate::bytecode::{Dialect, Program};
#[cfg(feature = "compile")]
use crate::compiler::{self, Compilation, Unit};
use crate::diagnostics::{Code, Diagnostic, Result};
#[cfg(feature = "cel")]
use crate::dialect::cel;
#[cfg(feature = "hcl")]
use crate::dialect::hcl;
#[cfg(feature = "helm")]
use crate::dialect::helm;
#[cfg(feature = "tera")]
use crate::dialect::tera;
#[cfg(feature = "tower")]
use crate::dialect::tower;
#[cfg(all(feature = "helm", feature = "bulk"))]
use crate::function::Cx;
use crate::function::Registry;
#[cfg(feature = "compile")]
use crate::specialise::{Known, specialise};
use crate::value::{OutputFormat, Value, write_documents};
#[cfg(all(feature = "helm", feature = "bulk"))]
use crate::vm::Probing;
use crate::vm::{self, Hooks, Run, Session, run};

/// Returns the error of a language that this build lacks.
pub(crate) fn not_built_in(dialect: Dialect) -> Box<Diagnostic> {
    let features: Vec<_> = dialect.features().iter().map(|name| format!("\"{name}\"")).collect();
    let message = format!("the language `{}` is not part of this build", dialect.id());
    Diagnostic::new(Code::CapabilityOff, message)
        .with_help(format!("build dropforge with `features = [{}]`", features.join(", ")))
}

/// Checks that programs of `dialect` can run in this build.
///
/// # Errors
/// `function.capability_off`.
pub(super) fn require(dialect: Dialect) -> Result<()> {
    let built_in = match dialect {
        Dialect::Tower => cfg!(feature = "tower"),
        Dialect::Tera => cfg!(feature = "tera"),
        Dialect::Hcl => cfg!(feature = "hcl"),
        Dialect::Cel | Dialect::CelYaml => cfg!(feature = "cel"),
        Dialect::Helm => cfg!(feature = "helm"),
    };
    if built_in { Ok(()) } else { Err(not_built_in(dialect)) }
}

/// Returns the functions of `dialect`.
pub(super) fn registry(dialect: Dialect) -> Registry {
    match dialect {
        #[cfg(feature = "tera")]
        Dialect::Tera => tera::registry(),
        #[cfg(feature = "hcl")]
        Dialect::Hcl => hcl::registry(),
        #[cfg(feature = "cel")]
        Dialect::Cel | Dialect::CelYaml => cel::registry(),
        #[cfg(feature = "helm")]
        Dialect::Helm => helm::registry(),
        _ => Registry::default(),
    }
}

/// Returns the functions of plain Tera among those of an engine, and those of the embedding program.
#[cfg(feature = "compile")]
pub(super) fn plain_tera(all: &Registry) -> Registry {
    #[cfg(feature = "tera")]
    return tera::plain(all);
    #[cfg(not(feature = "tera"))]
    return all.clone();
}

/// Returns Go's own functions among those of an engine, and those of the embedding program.
#[cfg(feature = "compile")]
pub(super) fn plain_helm(all: &Registry) -> Registry {
    #[cfg(feature = "helm")]
    return helm::plain(all);
    #[cfg(not(feature = "helm"))]
    return all.clone();
}

/// Compiles a unit.
///
/// # Errors
/// All errors of its sources.
#[cfg(feature = "compile")]
pub(super) fn compile(dialect: Dialect, unit: &Unit<'_>) -> Compilation {
    compile_all(dialect, std::slice::from_ref(unit)).pop().unwrap_or_else(|| Err(Vec::new()))
}

/// Compiles units, in order. Shared sources are parsed once. The size of all programs is limited.
#[cfg(feature = "compile")]
pub(super) fn compile_all(dialect: Dialect, units: &[Unit<'_>]) -> Vec<Compilation> {
    match dialect {
        #[cfg(feature = "tower")]
        Dialect::Tower => compiler::compile_all(units, tower::compile),
        #[cfg(feature = "tera")]
        Dialect::Tera => tera::compile_all(units),
        #[cfg(feature = "hcl")]
        Dialect::Hcl => compiler::compile_all(units, hcl::compile),
        #[cfg(feature = "helm")]
        Dialect::Helm => compiler::compile_all(units, helm::compile),
        #[cfg(feature = "cel")]
        Dialect::Cel => compiler::compile_all(units, cel::compile),
        #[cfg(all(feature = "cel", feature = "yaml"))]
        Dialect::CelYaml => compiler::compile_all(units, cel::yaml::compile),
        #[allow(unreachable_patterns)]
        _ => units.iter().map(|_| Err(vec![not_built_in(dialect)])).collect(),
    }
}

/// Returns the default output format of the documents of a language.
pub(super) fn default_format(dialect: Dialect) -> OutputFormat {
    match dialect {
        Dialect::Cel => OutputFormat::Ndjson,
        _ => OutputFormat::Yaml,
    }
}

/// Runs a program by its language's rules and appends its text, or its documents in `format`, to `out`.
pub(super) fn render<H: Hooks>(
    session: &mut Session,
    what: Run<'_>,
    format: OutputFormat,
    out: &mut String,
    hooks: &mut H,
) -> Result<()> {
    let start = out.len();
    render_raw(session, what, format, out, hooks)?;
    finish(what.program, out, start);
    Ok(())
}

/// Removes the texts of missing values from what [`render_raw`] appended to `out` from byte `start` on.
pub(super) fn finish(program: &Program, out: &mut String, start: usize) {
    match program.dialect() {
        #[cfg(feature = "helm")]
        Dialect::Helm => helm::finish(program, out, start),
        _ => {
            let _ = (out, start);
        }
    }
}

/// Works like [`render`], but leaves texts of missing values in the output that the language removes.
pub(super) fn render_raw<H: Hooks>(
    session: &mut Session,
    what: Run<'_>,
    format: OutputFormat,
    out: &mut String,
    hooks: &mut H,
) -> Result<()> {
    match what.program.dialect() {
        #[cfg(feature = "tower")]
        Dialect::Tower => run::<tower::Rules, H>(session, what, out, hooks),
        #[cfg(feature = "tera")]
        Dialect::Tera => run::<tera::Rules, H>(session, what, out, hooks),
        #[cfg(feature = "hcl")]
        Dialect::Hcl => run::<hcl::Rules, H>(session, what, out, hooks),
        #[cfg(feature = "helm")]
        Dialect::Helm => run::<helm::Rules, H>(session, what, out, hooks),
        _ => write(session, out, |session, out| write_answer(documents(session, what, hooks)?, what, format, out)),
    }
}

/// Runs a program of several outputs for its answer. Appends its text to `out`.
///
/// # Errors
/// The errors of the run; `usage` for another language.
#[cfg(feature = "helm")]
pub(super) fn answer<'s, H: Hooks>(
    session: &'s mut Session,
    what: Run<'s>,
    out: &mut String,
    hooks: &mut H,
) -> Result<Value<'s>> {
    match what.program.dialect() {
        Dialect::Helm => vm::answer::<helm::Rules, H>(session, what, Some(out), hooks),
        dialect => Err(Diagnostic::new(Code::Usage, format!("a template of `{}` has one output", dialect.id()))),
    }
}

/// Runs a program of several outputs for what `end` makes of its answer. Appends its text to `out`. With `probes`, nothing may
/// depend on inputs that are not known.
///
/// # Errors
/// The errors of the run; `internal` if something depends on such an input; `usage` for another language.
#[cfg(all(feature = "helm", feature = "bulk"))]
pub(super) fn ended<'s, R>(
    session: &'s mut Session,
    what: Run<'s>,
    out: &mut String,
    probes: bool,
    end: impl FnOnce(&Cx<'s>, Value<'s>) -> R,
) -> Result<R> {
    match what.program.dialect() {
        Dialect::Helm if probes => vm::ended::<Probing<helm::Rules>, R>(session, what, out, end),
        Dialect::Helm => vm::ended::<helm::Rules, R>(session, what, out, end),
        dialect => Err(Diagnostic::new(Code::Usage, format!("a template of `{}` has one output", dialect.id()))),
    }
}

/// Runs a program for its documents.
///
/// # Errors
/// The errors of the run; `usage` for a language whose programs write text.
pub(super) fn documents<'s, H: Hooks>(
    session: &'s mut Session,
    what: Run<'s>,
    hooks: &mut H,
) -> Result<&'s [Value<'s>]> {
    match what.program.dialect() {
        #[cfg(feature = "cel")]
        Dialect::Cel | Dialect::CelYaml => listed(vm::answer::<cel::Rules, H>(session, what, None, hooks)?),
        dialect => {
            let _ = (&session, &hooks);
            require(dialect)?;
            let message = format!("`{}` is a {} template: it renders to text", what.program.name(), dialect.id());
            Err(Diagnostic::new(Code::Usage, message).with_help("use `render` instead of `documents`"))
        }
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

fn write_answer(documents: &[Value<'_>], what: Run<'_>, format: OutputFormat, out: &mut String) -> Result<()> {
    documents.iter().try_for_each(|document| writable(*document, what.program, format))?;
    write_documents(documents.iter().copied(), format, what.limits.output_bytes, out)
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

/// Returns the program specialised to `known`, in languages whose programs write text. `None` if it cannot be.
#[cfg(feature = "compile")]
pub(super) fn specialised(what: Run<'_>, known: &Known<'_>) -> Option<Program> {
    let Run { program, linked, limits, .. } = what;
    match program.dialect() {
        #[cfg(feature = "tower")]
        Dialect::Tower => specialise::<tower::Rules>(program, linked, known, limits),
        #[cfg(feature = "tera")]
        Dialect::Tera => specialise::<tera::Rules>(program, linked, known, limits),
        #[cfg(feature = "hcl")]
        Dialect::Hcl => specialise::<hcl::Rules>(program, linked, known, limits),
        #[cfg(feature = "helm")]
        Dialect::Helm => specialise::<helm::Rules>(program, linked, known, limits),
        #[cfg(feature = "cel")]
        Dialect::Cel | Dialect::CelYaml => specialise::<cel::Rules>(program, linked, known, limits),
        #[allow(unreachable_patterns)]
        _ => None,
    }
}

/// Adds the values of the involved variables to a render error, in languages that support it.
#[cfg(feature = "compile")]
pub(super) fn explain(what: Run<'_>, error: &mut Box<Diagnostic>) {
    #[cfg(feature = "hcl")]
    if let (Dialect::Hcl, Some(source)) = (what.program.dialect(), what.program.sources().first()) {
        hcl::value_notes::explain_template(source, what.inputs, what.limits, std::slice::from_mut(error));
        hcl::value_notes::explain_template(source, what.inputs, what.limits, &mut error.also);
    }
    #[cfg(not(feature = "hcl"))]
    let _ = (what, error);
}
