//! `dropforge render`: one template, one set of values.

use std::io::Write;
use std::path::Path;

use clap::ArgMatches;

use super::args::{RenderArgs, allowing};
use super::console::Console;
use super::exit::{Exit, Failed};
use super::values::{self, Stdin, stdout_error};
use super::{cached, opened};
use crate::bulk::{TemplateSet, dialect_of, discover, engine, unknown_language, write_file};
use crate::bytecode::is_artifact;
use crate::diagnostics::{Code, Diagnostic};
use crate::engine::Template;
use crate::value::{Arena, DataMap, InputBuilder, Inputs, Shapes};
use crate::vm::Session;

/// Runs the command.
pub(super) fn run(args: &RenderArgs, matches: &ArgMatches, console: &Console) -> Result<Exit, Failed> {
    let mut stdin = Stdin::default();
    let mut template = template(args, &mut stdin)?;
    if let Some(format) = args.output_format {
        if !template.gives_documents() {
            return Err(opened::gives_text(template.name()).into());
        }
        template = template.with_format(format);
    }
    cached::tell(&template, console);
    let layers = values::layers(&args.values, matches, &mut stdin)?;
    let text = text(&template, layers.alone()?)?;
    if args.output.as_os_str() == "-" {
        let mut stdout = std::io::stdout().lock();
        stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(|error| stdout_error(&error))?;
    } else {
        let change = write_file(&args.output, text.as_bytes())?;
        console.detail(&format!("{}: {change:?}", args.output.display()));
    }
    Ok(Exit::Ok)
}

/// The text of `template` with these inputs.
fn text(template: &Template, inputs: &DataMap) -> Result<String, Failed> {
    let (arena, names) = (Arena::new(), Arena::new());
    let shapes = Shapes::new(&names);
    let inputs = Inputs::new(InputBuilder::new(&arena, &shapes).data_map(inputs));
    let mut text = String::new();
    match template.render_inputs(&mut Session::new(), inputs, &mut text) {
        Ok(()) => Ok(text),
        Err(mut error) => {
            template.explain(inputs, &mut error);
            Err(error.into())
        }
    }
}

/// The template that is asked for, from its source or out of an artifact.
fn template(args: &RenderArgs, stdin: &mut Stdin) -> Result<Template, Failed> {
    if args.file.is_dir() {
        let message = format!("`{}` is a directory", args.file.display());
        return Err(Diagnostic::new(Code::Usage, message).with_help("name one template").into());
    }
    if args.file.as_os_str() == "-" {
        return standard_input(args, stdin);
    }
    if opened::holds_artifact(&args.file) {
        let artifact = opened::artifact(&args.file, &args.language, &args.values.allow, stdin)?;
        return Ok(opened::choose(&artifact, args.template.as_deref())?);
    }
    no_name(args)?;
    let root = args.language.include_root.as_deref();
    let TemplateSet { root, files } = discover(std::slice::from_ref(&args.file), root, &|_| true)?;
    let name = files.first().map_or("", |file| file.name.as_str());
    let dialect = args.language.lang.or_else(|| dialect_of(name)).ok_or_else(|| unknown_language(name))?;
    let builder = cached::with_cache(allowing(args.language.engine(), &args.values.allow)?, &args.cache);
    Ok(engine(&root, builder)?.load(dialect, name)?)
}

fn standard_input(args: &RenderArgs, stdin: &mut Stdin) -> Result<Template, Failed> {
    let bytes = stdin.bytes(&args.file)?;
    if is_artifact(&bytes) {
        let artifact = opened::open(bytes, &args.file, &args.language, &args.values.allow)?;
        return Ok(opened::choose(&artifact, args.template.as_deref())?);
    }
    no_name(args)?;
    let dialect = args.language.lang.ok_or_else(|| {
        Diagnostic::new(Code::Usage, "the language of standard input is not known").with_help("say `--lang tera`")
    })?;
    let source = values::text(&args.file, bytes)?;
    let root = args.language.include_root.as_deref().unwrap_or(Path::new("."));
    Ok(engine(root, allowing(args.language.engine(), &args.values.allow)?)?.compile_source(dialect, &source, None)?)
}

/// A name is asked for only where there are several templates.
fn no_name(args: &RenderArgs) -> Result<(), Failed> {
    match args.template {
        None => Ok(()),
        Some(_) => {
            let message = format!("`--template` is for artifacts, and `{}` is none", args.file.display());
            Err(Diagnostic::new(Code::Usage, message).into())
        }
    }
}
