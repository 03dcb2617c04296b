//! `dropforge check`: every syntax and link error of a set of templates, without data.

use super::args::CheckArgs;
use super::console::Console;
use super::exit::{Exit, Failed};
use crate::bulk::{Forge, dialect_of, discover};
use crate::diagnostics::Severity;

/// Runs the command.
pub(super) fn run(args: &CheckArgs, console: &Console) -> Result<Exit, Failed> {
    let lang = args.language.lang;
    let is_template = |name: &str| lang.is_some() || dialect_of(name).is_some();
    let set = discover(&args.templates, args.language.include_root.as_deref(), &is_template)?;
    let (forge, mut found) = Forge::compile_sound(&set, lang, args.language.engine())?;
    found.extend(forge.lints());
    found.iter().for_each(|diagnostic| console.diagnostic(diagnostic));
    let errors = found.iter().filter(|diagnostic| diagnostic.severity == Severity::Error).count();
    let warnings = found.len() - errors;
    console.note(&format!("{} templates checked, {errors} errors, {warnings} warnings", set.files.len()));
    Ok(if errors > 0 || (args.strict && warnings > 0) { Exit::Error } else { Exit::Ok })
}
