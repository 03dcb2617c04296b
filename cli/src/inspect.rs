//! `dropforge inspect` and `dropforge disasm`: the content of an artifact, and the instructions of compiled templates.

use std::path::PathBuf;

use clap::Args;
use humansize::{DECIMAL, format_size};
use serde_json::{Map, Value, json};

use dropforge::bulk::Templates;
use dropforge::bytecode::{Bundle, BundleEntry, ChunkInfo, Import, Program, ResourceFile, Resources};
use dropforge::diagnostics::{Code, Diagnostic, counted};
use dropforge::engine::Template;
use dropforge::stdlib::strings::hex;
use dropforge::value::{Data, DataMap};

use crate::artifacts;
use crate::chart;
use crate::copies::NamedFiles;
use crate::exit::{Exit, Failed};
use crate::input::InputFiles;
use crate::options::LanguageArgs;
use crate::output::print;

/// Show the templates, inputs and functions of an artifact
///
///     dropforge inspect templates.mpk
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct InspectArgs {
    /// Artifact, or `-`
    #[arg(value_name = "ARTIFACT")]
    pub(crate) file: PathBuf,
    /// Print a JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Runs the command.
pub(crate) fn run(args: &InspectArgs, files: &mut InputFiles) -> Result<Exit, Failed> {
    chart::refuse_source(&args.file)?;
    let bundle = artifacts::bundle(&args.file, files)?;
    print(if args.json { format!("{:#}\n", to_json(&bundle)) } else { to_text(&bundle) })?;
    Ok(Exit::Ok)
}

/// Sizes of a program and maximum resources of one render, without those of its calls.
fn needs(program: &Program) -> [(&'static str, usize); 6] {
    let most = |of: fn(ChunkInfo) -> u32| program.chunks().map(of).max().unwrap_or(0) as usize;
    [
        ("words", program.words().len()),
        ("chunks", program.chunks().len()),
        ("slots", most(|chunk| chunk.slots)),
        ("stack", most(|chunk| chunk.stack)),
        ("loops", most(|chunk| chunk.loops)),
        ("captures", most(|chunk| chunk.captures)),
    ]
}

fn sources(program: &Program) -> Vec<&str> {
    program.sources().iter().map(|source| source.name()).collect()
}

fn to_json(bundle: &Bundle) -> Value {
    json!({
        "format": bundle.format(),
        "engine": bundle.engine(),
        "isa": format!("{:016x}", bundle.fingerprint()),
        "digest": hex(bundle.digest()),
        "bytes": bundle.len(),
        "stripped": bundle.stripped(),
        "known": bundle.known().map(|known| Data::Map(DataMap::clone(known))),
        "resources": bundle.resources().map(resources_json),
        "templates": bundle.entries().iter().map(template_json).collect::<Vec<_>>(),
    })
}

fn resources_json(resources: &Resources) -> Value {
    let file = |file: ResourceFile<'_>| json!({"path": file.path(), "bytes": file.bytes().len()});
    json!({
        "name": resources.name(),
        "language": resources.dialect().id(),
        "files": resources.files().map(file).collect::<Vec<_>>(),
    })
}

fn template_json(entry: &BundleEntry) -> Value {
    let limits = needs(entry.program()).map(|(name, number)| (name.to_owned(), number.into()));
    let import = |import: Import<'_>| {
        let parameters = import.signature.count();
        json!({"kind": import.kind.name(), "name": import.name, "parameters": parameters})
    };
    json!({
        "name": entry.name(),
        "language": entry.dialect().id(),
        "escapes": entry.escape(),
        "executable": entry.executable(),
        "digest": hex(entry.digest()),
        "inputs": entry.inputs(),
        "imports": entry.program().imports().map(import).collect::<Vec<_>>(),
        "reaches": entry.reaches(),
        "sources": sources(entry.program()),
        "limits": Map::from_iter(limits),
        "specialised": entry.residual().map(|residual| json!({"words": residual.words().len()})),
    })
}

fn to_text(bundle: &Bundle) -> String {
    let mut text = String::new();
    let mut line = |key: &str, value: &str| text.push_str(&format!("{key:<10}{value}\n"));
    let (format, engine, isa) = (bundle.format(), bundle.engine(), bundle.fingerprint());
    line("format", &format!("{format} of dropforge {engine}, instruction set {isa:016x}"));
    line("digest", &hex(bundle.digest()));
    line("size", &format_size(bundle.len(), DECIMAL));
    line("sources", if bundle.stripped() { "stripped" } else { "included" });
    line("templates", &bundle.entries().len().to_string());
    if let Some(resources) = bundle.resources() {
        line("files", &of_files(resources));
    }
    if let Some(known) = bundle.known() {
        text.push_str("\nSpecialised templates know these values, which are here in clear:\n");
        known_text("", known, &mut text);
    }
    bundle.entries().iter().for_each(|entry| template_text(entry, &mut text));
    text
}

/// Returns the owner of files, their number and size.
fn of_files(resources: &Resources) -> String {
    let (files, size) = (resources.files(), resources.files().map(|file| file.bytes().len()).sum::<usize>());
    let (number, language) = (counted(files.len(), "file"), resources.dialect().id());
    format!("{number} of {} ({language}), {}", resources.name(), format_size(size, DECIMAL))
}

/// Adds a line for each value that is not a map.
fn known_text(path: &str, known: &DataMap, text: &mut String) {
    for (name, value) in known {
        match value {
            Data::Map(below) if !below.is_empty() => known_text(&format!("{path}{name}."), below, text),
            _ => text.push_str(&format!("  {path}{name} = {}\n", json!(value))),
        }
    }
}

fn template_text(entry: &BundleEntry, text: &mut String) {
    let escapes = if entry.escape() { ", escaped" } else { "" };
    let executable = if entry.executable() { ", executable" } else { "" };
    text.push_str(&format!("\n{} ({}{escapes}{executable})\n", entry.name(), entry.dialect().id()));
    let mut line = |key: &str, value: &str| text.push_str(&format!("  {key:<8}{value}\n"));
    line("digest", &hex(entry.digest()));
    line("inputs", &listed(entry.inputs()));
    line("calls", &listed(entry.program().imports().map(|import| format!("{} {}", import.kind.name(), import.name))));
    line("uses", &listed(entry.reaches()));
    let residual = entry.residual().map(|residual| counted(residual.words().len(), "word"));
    let residual = residual.map_or_else(String::new, |words| format!("; specialised: {words}"));
    let words = counted(entry.program().words().len(), "word");
    line("code", &format!("{words} of bytecode{residual}"));
}

fn listed<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> String {
    let names: Vec<S> = names.into_iter().collect();
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    if names.is_empty() { "-".to_owned() } else { names.join(", ") }
}

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
pub(crate) fn disasm(args: &DisasmArgs, files: &mut InputFiles) -> Result<Exit, Failed> {
    let mut templates = disasm_templates(args, files)?;
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

fn disasm_templates(args: &DisasmArgs, files: &mut InputFiles) -> Result<Vec<Template>, Failed> {
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
