//! `dropforge check`: every syntax and link error of a set of templates, without data, and where the language knows
//! types what is wrong with them.

use std::sync::Arc;

use super::args::CheckArgs;
use super::console::Console;
use super::exit::{Exit, Failed};
use super::opened;
use super::values::Stdin;
use crate::bulk::{Forge, dialect_of, discover};
use crate::bytecode::Dialect;
use crate::diagnostics::{Diagnostic, Severity, once_each};
use crate::dialect::hcl::check::{VariableTypes, check_template};
use crate::engine::{Engine, Template};
use crate::text::Source;

/// Runs the command.
pub(super) fn run(args: &CheckArgs, console: &Console) -> Result<Exit, Failed> {
    let mut stdin = Stdin::default();
    let engine = args.language.engine().build();
    let types = match &args.var_types {
        Some(path) => Some(VariableTypes::read(&stdin.read(path)?, engine.limits())?),
        None => None,
    };
    let (artifacts, sources) = opened::sort(&args.templates);
    let (mut checked, mut found) = (0, Vec::new());
    for path in &artifacts {
        let artifact = opened::artifact(path, &args.language, &mut stdin)?;
        checked += artifact.names().count();
        for template in artifact.names().map(|name| artifact.template(name)) {
            match template {
                Ok(template) => found.extend(wrong_types(&engine, &template, types.as_ref())),
                Err(error) => found.push(error),
            }
        }
    }
    if artifacts.is_empty() || !sources.is_empty() {
        let lang = args.language.lang;
        let is_template = |name: &str| lang.is_some() || dialect_of(name).is_some();
        let set = discover(&sources, args.language.include_root.as_deref(), &is_template)?;
        let (forge, errors) = Forge::compile_sound(&set, lang, args.language.engine())?;
        checked += set.files.len();
        found.extend(errors);
        found.extend(forge.lints());
        found.extend(forge.templates().flat_map(|template| wrong_types(&engine, template, types.as_ref())));
    }
    let found = once_each(found);
    found.iter().for_each(|diagnostic| console.diagnostic(diagnostic));
    let errors = found.iter().filter(|diagnostic| diagnostic.severity == Severity::Error).count();
    let warnings = found.len() - errors;
    console.note(&format!("{checked} templates checked, {errors} errors, {warnings} warnings"));
    Ok(if errors > 0 || (args.strict && warnings > 0) { Exit::Error } else { Exit::Ok })
}

/// What is wrong with a template whatever its variables are, in a language that knows that. Of an artifact without
/// sources nothing is.
fn wrong_types(engine: &Engine, template: &Template, types: Option<&VariableTypes>) -> Vec<Box<Diagnostic>> {
    let source: Option<&Arc<Source>> = template.program().sources().first();
    let Some(source) = source.filter(|_| template.dialect() == Dialect::Hcl) else { return Vec::new() };
    let checked = check_template(source, engine.registry(Dialect::Hcl), types, engine.limits());
    checked.unwrap_or_else(|errors| errors.into_vec())
}
