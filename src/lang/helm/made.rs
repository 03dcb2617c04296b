//! Templates made at render time: the texts of `tpl`.

use bumpalo::Bump;
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_base::text::Source;
use dropforge_machine::bytecode::Dialect;
use dropforge_machine::compiler::{Emitter, MissingKey, NoLoader, Unit};
use dropforge_machine::function::{Made, Making, Request};

use super::error::{GO_MESSAGE, quoted};
use super::lower::{Folding, lower_made};
use super::set::Set;

/// Compiles a text as a template. Its errors are those of the render that makes it.
///
/// # Errors
/// The first syntax error of the text, or a limit.
pub(super) fn make(request: &Request<'_>) -> Result<Making> {
    compiled(request, false)
}

/// Works like [`make`] for a template in which a missing key is an error.
pub(super) fn make_strict(request: &Request<'_>) -> Result<Making> {
    compiled(request, true)
}

fn compiled(request: &Request<'_>, strict: bool) -> Result<Making> {
    if !request.text.contains("{{") {
        return Ok(Making::AsItIs);
    }
    let entry = Source::made(request.text);
    let unit = Unit {
        entry: &entry,
        loader: &NoLoader,
        registry: request.registry,
        limits: request.limits,
        escape: false,
        strict: false,
        lenient: true,
        together: &[],
        missing_key: if strict { MissingKey::Error } else { MissingKey::default() },
        delimiters: None,
        any_data: false,
        keeps_tree: false,
        memo: None,
    };
    let (arena, files) = (Bump::new(), Set::files(&unit));
    let set = Set::parse(&arena, &files, &unit).map_err(|mut errors| {
        if errors.is_empty() {
            Diagnostic::new(Code::Internal, "no error")
        } else {
            unparsed(request.text, errors.swap_remove(0))
        }
    })?;
    let mut emitter = Emitter::new(Dialect::Helm, &Folding, unit.limits.code_words).lenient(true);
    let chunk = lower_made(&unit, &set, &mut emitter, &|name| request.sees(name))?;
    let program = emitter.finish()?;
    let linked = request.registry.link(program.imports())?;
    Ok(Making::Made(Made { program, linked, chunk }))
}

/// Adds the message of Go to a syntax error of a text.
fn unparsed(text: &str, error: Box<Diagnostic>) -> Box<Diagnostic> {
    let message = error.fields.get(GO_MESSAGE).unwrap_or(&error.message);
    let line = error.position().map_or(1, |position| position.line);
    let go = format!("cannot parse template {}: template: gotpl:{line}: {message}", quoted(text));
    error.with_field(GO_MESSAGE, go)
}
