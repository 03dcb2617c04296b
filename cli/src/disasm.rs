//! `dropforge disasm`: the instructions of compiled templates.

use std::path::PathBuf;

use clap::Args;

use dropforge::bulk::Templates;
use dropforge::diagnostics::{Code, Diagnostic};
use dropforge::engine::Template;

use crate::artifacts;
use crate::chart;
use crate::copies::NamedFiles;
use crate::exit::{Exit, Failed};
use crate::input::InputFiles;
use crate::options::LanguageArgs;
use crate::output::print;

/// Print the instructions of compiled templates
///
///     dropforge disasm app.yaml.tera
///     dropforge disasm templates.mpk -t app.yaml.tera
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct DisasmArgs {
    /// Artifacts, template files or directories
    #[arg(required = true, value_name = "FILE")]
    pub(crate) templates: Vec<PathBuf>,
    /// Print only this template
    #[arg(short, long, value_name = "NAME")]
    pub(crate) template: Option<String>,
    #[command(flatten)]
    pub(crate) language: LanguageArgs,
}

/// Runs the command.
pub(crate) fn run(args: &DisasmArgs, files: &mut InputFiles) -> Result<Exit, Failed> {
    let mut templates = templates(args, files)?;
    if let Some(name) = &args.template {
        let names: Vec<String> = templates.iter().map(|template| template.name().to_owned()).collect();
        templates.retain(|template| template.name() == name);
        if templates.is_empty() {
            let error = Diagnostic::new(Code::UnknownTemplate, format!("unknown template `{name}`"));
            return Err(error.with_suggestion(name, names.iter().map(String::as_str)).with_available(&names).into());
        }
    }
    print(templates.iter().map(listing).collect::<Vec<_>>().join("\n"))?;
    Ok(Exit::Ok)
}

fn listing(template: &Template) -> String {
    format!("; {} ({})\n{}", template.name(), template.dialect().id(), template.disassemble_with_lines())
}

fn templates(args: &DisasmArgs, files: &mut InputFiles) -> Result<Vec<Template>, Failed> {
    args.templates.iter().try_for_each(|path| chart::refuse_source(path))?;
    let (artifacts, sources) = artifacts::split(&args.templates);
    let (mut templates, language) = (Vec::new(), &args.language);
    for path in &artifacts {
        let artifact = artifacts::read(path, language, language.engine(), files)?;
        templates.extend(artifact.templates()?);
    }
    if !sources.is_empty() {
        let set = language.discover(&sources, &NamedFiles::default())?;
        templates.extend(Templates::compile(&set, language.lang, language.engine())?.iter().cloned());
    }
    Ok(templates)
}
