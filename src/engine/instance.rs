//! Which language's rules run a program, and which functions it has.

use crate::bytecode::Dialect;
use crate::diagnostics::{Code, Diagnostic, Result};
use crate::dialect::{cel, hcl, tera, tower};
use crate::function::Registry;
use crate::value::{OutputFormat, Value, write_documents};
use crate::vm::{Hooks, Run, Session, answer, answer_checked, run, run_checked};

/// The functions of `dialect`.
pub(super) fn registry(dialect: Dialect) -> Registry {
    match dialect {
        Dialect::Tower => Registry::default(),
        Dialect::Tera => tera::registry(),
        Dialect::Hcl => hcl::registry(),
        Dialect::Cel | Dialect::CelYaml => cel::registry(),
    }
}

/// The format that the documents of a language are written in where none is asked for.
pub(super) fn default_format(dialect: Dialect) -> OutputFormat {
    match dialect {
        Dialect::Cel => OutputFormat::Ndjson,
        _ => OutputFormat::Yaml,
    }
}

/// Runs a program by its language's rules and appends its text to `out`: what it writes, or the documents that it
/// answers with, in `format`.
pub(super) fn render<H: Hooks>(
    session: &mut Session,
    what: Run<'_>,
    format: OutputFormat,
    out: &mut String,
    hooks: &mut H,
) -> Result<()> {
    match what.program.dialect() {
        Dialect::Tower => run::<tower::Rules, H>(session, what, out, hooks),
        Dialect::Tera => run::<tera::Rules, H>(session, what, out, hooks),
        Dialect::Hcl => run::<hcl::Rules, H>(session, what, out, hooks),
        Dialect::Cel | Dialect::CelYaml => {
            write(session, out, |session, out| write_answer(documents(session, what, hooks)?, what, format, out))
        }
    }
}

/// The same with every index checked.
pub(super) fn render_checked(
    session: &mut Session,
    what: Run<'_>,
    format: OutputFormat,
    out: &mut String,
) -> Result<()> {
    match what.program.dialect() {
        Dialect::Tower => run_checked::<tower::Rules>(session, what, out),
        Dialect::Tera => run_checked::<tera::Rules>(session, what, out),
        Dialect::Hcl => run_checked::<hcl::Rules>(session, what, out),
        Dialect::Cel | Dialect::CelYaml => write(session, out, |session, out| {
            write_answer(listed(answer_checked::<cel::Rules>(session, what)?)?, what, format, out)
        }),
    }
}

/// Runs a program for the documents that it answers with.
///
/// # Errors
/// Those of the run; `usage` where programs of the language write text.
pub(super) fn documents<'s, H: Hooks>(
    session: &'s mut Session,
    what: Run<'s>,
    hooks: &mut H,
) -> Result<&'s [Value<'s>]> {
    match what.program.dialect() {
        Dialect::Cel | Dialect::CelYaml => listed(answer::<cel::Rules, H>(session, what, hooks)?),
        dialect => {
            let message = format!("`{}` is a template of `{}`: it gives text", what.program.name(), dialect.id());
            Err(Diagnostic::new(Code::Usage, message).with_help("render it: it has no documents"))
        }
    }
}

/// The documents of an answer, which the code of an emitter makes a list.
fn listed(answer: Value<'_>) -> Result<&[Value<'_>]> {
    answer
        .as_list()
        .ok_or_else(|| Diagnostic::new(Code::CorruptProgram, "the program's answer is no list of documents"))
}

/// Lets `write` append to `out`, by way of the session's room where something is in `out` already: the writer of
/// documents would look at that again.
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
    write_documents(documents.iter().copied(), format, what.limits.output_bytes, out)
}

/// Adds to an error of a render what the values are that it is about, in languages that tell.
#[cfg(feature = "compile")]
pub(super) fn explain(what: Run<'_>, error: &mut Box<Diagnostic>) {
    let (Dialect::Hcl, Some(source)) = (what.program.dialect(), what.program.sources().first()) else { return };
    hcl::explain::explain_template(source, what.inputs, what.limits, std::slice::from_mut(error));
    hcl::explain::explain_template(source, what.inputs, what.limits, &mut error.also);
}
