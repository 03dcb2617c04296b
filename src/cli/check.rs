//! `dropforge check`: every syntax and link error of a set of templates, without data.

use super::args::CheckArgs;
use super::console::Console;
use super::exit::{Exit, Failed};
use super::opened;
use super::values::Stdin;
use crate::bulk::{Forge, dialect_of, discover};
use crate::diagnostics::Severity;

/// Runs the command.
pub(super) fn run(args: &CheckArgs, console: &Console) -> Result<Exit, Failed> {
    let (artifacts, sources) = opened::sort(&args.templates);
    let (mut checked, mut found) = (0, Vec::new());
    for path in &artifacts {
        let artifact = opened::artifact(path, &args.language, &mut Stdin::default())?;
        checked += artifact.names().count();
        found.extend(artifact.names().filter_map(|name| artifact.template(name).err()));
    }
    if artifacts.is_empty() || !sources.is_empty() {
        let lang = args.language.lang;
        let is_template = |name: &str| lang.is_some() || dialect_of(name).is_some();
        let set = discover(&sources, args.language.include_root.as_deref(), &is_template)?;
        let (forge, errors) = Forge::compile_sound(&set, lang, args.language.engine())?;
        checked += set.files.len();
        found.extend(errors);
        found.extend(forge.lints());
    }
    found.iter().for_each(|diagnostic| console.diagnostic(diagnostic));
    let errors = found.iter().filter(|diagnostic| diagnostic.severity == Severity::Error).count();
    let warnings = found.len() - errors;
    console.note(&format!("{checked} templates checked, {errors} errors, {warnings} warnings"));
    Ok(if errors > 0 || (args.strict && warnings > 0) { Exit::Error } else { Exit::Ok })
}
