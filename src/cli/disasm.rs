//! `dropforge disasm`: the instructions of compiled templates.

use std::io::Write;

use super::args::DisasmArgs;
use super::exit::{Exit, Failed};
use super::opened;
use super::values::{Stdin, stdout_error};
use crate::bulk::{Forge, dialect_of, discover};
use crate::diagnostics::{Code, Diagnostic};
use crate::engine::Template;

/// Runs the command.
pub(super) fn run(args: &DisasmArgs) -> Result<Exit, Failed> {
    let templates = templates(args)?;
    let wanted = |template: &&Template| args.template.as_deref().is_none_or(|name| template.name() == name);
    let chosen: Vec<&Template> = templates.iter().filter(wanted).collect();
    if let (Some(name), true) = (&args.template, chosen.is_empty()) {
        let names: Vec<&str> = templates.iter().map(Template::name).collect();
        let error = Diagnostic::new(Code::UnknownTemplate, format!("there is no template `{name}`"));
        return Err(error.with_suggestion(name, names.iter().copied()).with_available(names).into());
    }
    let listings: Vec<String> = chosen.iter().map(|template| listing(template)).collect();
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(listings.join("\n").as_bytes()).map_err(|error| stdout_error(&error))?;
    Ok(Exit::Ok)
}

fn listing(template: &Template) -> String {
    format!("; {} ({})\n{}", template.name(), template.dialect().id(), template.disassemble_with_lines())
}

fn templates(args: &DisasmArgs) -> Result<Vec<Template>, Failed> {
    let (artifacts, sources) = opened::sort(&args.templates);
    let mut templates = Vec::new();
    for path in &artifacts {
        templates.extend(opened::artifact(path, &args.language, &[], &mut Stdin::default())?.templates()?);
    }
    if artifacts.is_empty() || !sources.is_empty() {
        let lang = args.language.lang;
        let is_template = |name: &str| lang.is_some() || dialect_of(name).is_some();
        let set = discover(&sources, args.language.include_root.as_deref(), &is_template)?;
        templates.extend(Forge::compile(&set, lang, args.language.engine())?.templates().cloned());
    }
    Ok(templates)
}
