//! `dropforge hcl decode`: decoding a configuration by a specification, like the reference's `hcldec`.
//!
//! Flags, outputs and exit codes are those of `hcldec`, so it is a drop-in replacement.

mod document;

use std::cell::OnceCell;
use std::fs::File as OsFile;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{ArgAction, Args};
use dropforge::diagnostics::{Code, Diagnostic, Severity, at_most};
use dropforge::dialect::hcl::body::{Body, Context, DiagnosticList, File};
use dropforge::dialect::hcl::builtins;
use dropforge::dialect::hcl::decode::{Spec, SpecFile};
use dropforge::dialect::hcl::values::json::{encode, encode_plain};
use dropforge::function::{Fault, Registry};
use dropforge::limits::Limits;
use dropforge::text::Source;
use dropforge::value::{Type, Value};
use dropforge::vm::Space;

use crate::exit::{Exit, Failed};
use crate::input::{InputFiles, check_one_dash};
use crate::options::limits;
use crate::output;
use crate::stderr::{Stderr, line};
use document::{argument_name, diagnostics_json, is_argument, references_json, without_nulls};

/// Decode configurations with a specification and print the value as JSON
///
///     dropforge hcl decode --spec app.hcldec app.hcl
///
/// Flags and outputs are those of the reference's `hcldec`. Files named .json have
/// the JSON syntax, all others the native syntax. Several files are merged.
/// Without files, reads standard input.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, disable_version_flag = true)]
pub(crate) struct DecodeArgs {
    /// Configurations to decode
    #[arg(value_name = "FILES")]
    files: Vec<String>,
    /// Read the specification from this file (required)
    #[arg(short, long, value_name = "FILE")]
    spec: Option<String>,
    /// Write to this file [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Set variables with a JSON object, or a file of attributes in the native or JSON syntax
    #[arg(short = 'V', long, value_name = "JSON-OR-FILE")]
    vars: Vec<String>,
    /// Select the format of diagnostics; `json` is the only one with a name
    #[arg(long, value_name = "FORMAT")]
    diags: Option<String>,
    /// Print the type with the value
    #[arg(long)]
    with_type: bool,
    /// Keep null properties
    #[arg(long)]
    keep_nulls: bool,
    /// Print references to variables instead of the value
    #[arg(long)]
    var_refs: bool,
    // It takes the place of the global option of this letter.
    /// Print the version
    #[arg(id = "verbose", short = 'v', long = "version", action = ArgAction::Count)]
    version: u8,
}

/// The reason for a failure.
enum End {
    /// The specification or a configuration is invalid. The errors were printed.
    Invalid,
    /// An operational error.
    Failed(String),
    /// The output pipe was closed.
    Closed(Box<Diagnostic>),
}

/// Runs the command.
pub(crate) fn run(args: &DecodeArgs, inputs: &mut InputFiles, stderr: &Stderr) -> Result<Exit, Failed> {
    if args.version > 0 {
        return match print(None, concat!(env!("CARGO_PKG_VERSION"), "\n")) {
            Err(End::Closed(error)) => Err(error.into()),
            _ => Ok(Exit::Ok),
        };
    }
    if let Some(other) = args.diags.as_deref().filter(|format| !matches!(*format, "" | "json")) {
        line(&format!("Invalid diagnostics format {other:?}: only \"json\" is supported."));
        return Ok(Exit::Usage);
    }
    match decode(args, inputs, stderr) {
        Ok(()) => Ok(Exit::Ok),
        Err(End::Invalid) => Ok(Exit::Usage),
        Err(End::Closed(error)) => Err(error.into()),
        Err(End::Failed(why)) => {
            line(&format!("Error: {why}\n"));
            Ok(Exit::Error)
        }
    }
}

fn decode(args: &DecodeArgs, inputs: &mut InputFiles, stderr: &Stderr) -> Result<(), End> {
    let Some(spec_path) = &args.spec else { return Err(End::Failed("the --spec=... argument is required".into())) };
    let (limits, space, mut errors) = (limits(), Space::new(), Vec::new());
    // Declared before the contexts, because values borrow from these.
    let (var_files, config_files) = (OnceCell::new(), OnceCell::new());
    let spec_file =
        read(spec_path, (spec_path, "--spec -"), inputs, &mut errors).map(|source| SpecFile::parse(&source, &limits));
    errors.extend(spec_file.iter().flat_map(File::diagnostics).cloned());
    check(args, stderr, &errors)?;
    let plain = Context::new(&space, &limits);
    let spec = spec_file.as_ref().and_then(|file| SpecFile::read(file, &plain, &mut errors));
    check(args, stderr, &errors)?;
    let Some(spec) = spec else { return Err(End::Invalid) };
    let bare = builtins::bare();
    let var_sources = variables(args, inputs, &mut errors);
    let read_vars = var_sources.iter().map(|source| parsed(source, &bare, &limits, &mut errors)).collect::<Vec<_>>();
    let variables = arguments(var_files.get_or_init(|| read_vars), &plain, &mut errors);
    let (config_sources, registry) = (configurations(args, inputs, &mut errors), spec.registry());
    let read_files =
        config_sources.iter().map(|source| parsed(source, &registry, &limits, &mut errors)).collect::<Vec<_>>();
    let files = config_files.get_or_init(|| read_files);
    check(args, stderr, &errors)?;
    let body = match files.as_slice() {
        [only] => only.body(),
        several => Body::merged(several.iter().map(File::body)),
    };
    let context = spec.context(&plain, &variables);
    let text = match args.var_refs {
        true => references_json(&spec.spec.variables(&body), &context),
        false => value(args, stderr, &spec.spec, &body, &context, errors)?,
    };
    print(args.out.as_ref(), &format!("{text}\n"))
}

/// Decodes the value as JSON.
fn value<'r>(
    args: &DecodeArgs,
    stderr: &Stderr,
    spec: &Spec<'r>,
    body: &Body<'r>,
    context: &Context<'r>,
    mut errors: DiagnosticList,
) -> Result<String, End> {
    let value = spec.decode(body, context, &mut errors);
    check(args, stderr, &errors)?;
    let text = context.with_cx(|cx| match args.with_type {
        true => encode(cx, value, &Type::Dynamic),
        false => encode_plain(cx, value),
    });
    let text = text.map_err(|error| match error {
        Fault::Limit(limit) => End::Failed(limit.message),
        Fault::Wrong(wrong) => End::Failed(wrong.message),
    })?;
    match args.keep_nulls {
        true => Ok(text),
        false => without_nulls(&text, context.limits()).map_err(End::Failed),
    }
}

/// Prints the diagnostics and fails if any is an error.
fn check(args: &DecodeArgs, stderr: &Stderr, errors: &DiagnosticList) -> Result<(), End> {
    if !errors.iter().any(|error| error.severity == Severity::Error) {
        return Ok(());
    }
    let errors = at_most(errors.clone(), limits().diagnostics, 0);
    match args.diags.as_deref() {
        Some("json") => line(&diagnostics_json(&errors)),
        _ => errors.iter().for_each(|error| stderr.diagnostic(error)),
    }
    Err(End::Invalid)
}

/// Reads a file that `option` names as the text of the source `name`.
fn read(
    path: &str,
    (name, option): (&str, &'static str),
    inputs: &mut InputFiles,
    errors: &mut DiagnosticList,
) -> Option<Arc<Source>> {
    match inputs.bytes(Path::new(path), option) {
        Ok(bytes) => text(name, &bytes, errors),
        Err(error) if error.code == Code::ReadFailed => {
            let detail = format!("{}.", error.message);
            errors.push(Diagnostic::new(Code::ReadFailed, "Failed to read file").with_detail(detail));
            None
        }
        Err(error) => {
            errors.push(error);
            None
        }
    }
}

fn text(name: &str, bytes: &[u8], errors: &mut DiagnosticList) -> Option<Arc<Source>> {
    match str::from_utf8(bytes) {
        Ok(text) => Some(Source::new(name, text)),
        Err(error) => {
            let at = error.valid_up_to();
            let detail = format!("`{name}` is not valid UTF-8 at byte {at}.");
            errors.push(Diagnostic::new(Code::NotUtf8, "Invalid character encoding").with_detail(detail));
            None
        }
    }
}

/// Parses a source in the syntax of its name.
fn parsed(source: &Arc<Source>, registry: &Registry, limits: &Limits, errors: &mut DiagnosticList) -> File {
    let name = source.name();
    let is_json = name.ends_with(".json") || is_argument(name);
    let file = if is_json { File::json(source, registry, limits) } else { File::native(source, registry, limits) };
    errors.extend(file.diagnostics().iter().cloned());
    file
}

/// Returns the values of `--vars`, reading the files among them.
fn variables(args: &DecodeArgs, inputs: &mut InputFiles, errors: &mut DiagnosticList) -> Vec<Arc<Source>> {
    errors.extend(check_one_dash(args.vars.iter().map(Path::new)).err());
    let source = |(at, text): (usize, &String)| match text.trim_start().starts_with('{') {
        true => Some(Source::new(argument_name(at), text.as_str())),
        false => read(text, (text, "--vars -"), inputs, errors),
    };
    (0..).zip(&args.vars).filter_map(source).collect()
}

/// Evaluates the attributes of files as variables. The last of repeated names counts.
fn arguments<'r>(files: &'r [File], context: &Context<'r>, errors: &mut DiagnosticList) -> Vec<(&'r str, Value<'r>)> {
    let mut variables = Vec::new();
    for file in files {
        for (name, attribute) in file.body().just_attributes(errors) {
            variables.push((name, attribute.expr.evaluate(context, errors)));
        }
    }
    variables
}

/// Reads the configurations.
fn configurations(args: &DecodeArgs, inputs: &mut InputFiles, errors: &mut DiagnosticList) -> Vec<Arc<Source>> {
    errors.extend(check_one_dash(args.files.iter().map(Path::new)).err());
    match args.files.as_slice() {
        [] => read("-", ("<stdin>", "-"), inputs, errors).into_iter().collect(),
        paths => paths.iter().filter_map(|path| read(path, (path, "-"), inputs, errors)).collect(),
    }
}

fn print(out: Option<&PathBuf>, text: &str) -> Result<(), End> {
    let Some(path) = out else { return output::print(text).map_err(End::Closed) };
    let failed = |error| End::Failed(format!("can't open {} for writing: {error}", path.display()));
    OsFile::create(path).and_then(|mut file| file.write_all(text.as_bytes())).map_err(failed)
}
