//! `dropforge hcl decode`: a configuration decoded by a specification, as the reference's `hcldec` does it.
//!
//! Flags, outputs and exit codes are those of that tool, so that whatever drives it can drive this.

mod json;
mod report;

use std::cell::OnceCell;
use std::fs::File as OsFile;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::sync::Arc;

use clap::{ArgAction, Args};

use super::super::console::{Console, line};
use super::super::exit::{Exit, Failed};
use super::super::values::stdout_error;
use crate::diagnostics::{Code, Diagnostic, Severity};
use crate::dialect::hcl::body::{Body, Context, Faults, File};
use crate::dialect::hcl::builtins;
use crate::dialect::hcl::decode::{Spec, SpecFile};
use crate::dialect::hcl::values::json::{encode, encode_plain};
use crate::function::{Fault, Registry};
use crate::limits::Limits;
use crate::text::Source;
use crate::value::{Type, Value};
use crate::vm::Space;

/// Decode configurations by a specification and print the value as JSON.
///
/// The flags and outputs are those of the reference's `hcldec`. Files whose names end in `.json` are in the JSON
/// syntax, all others in the native one; several are taken together. Without a file, standard input is read.
///
/// Exit codes: 0 done; 1 an operational error; 2 the specification or a configuration is wrong, or usage.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, disable_version_flag = true)]
pub(super) struct DecodeArgs {
    /// The configurations
    #[arg(value_name = "FILES")]
    files: Vec<String>,
    /// The specification (required)
    #[arg(short, long, value_name = "FILE")]
    spec: Option<String>,
    /// Where to write; standard output unless set
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Variables: a JSON object, or a file of arguments, in JSON if its name ends in `.json`
    #[arg(short = 'V', long, value_name = "JSON-OR-FILE")]
    vars: Vec<String>,
    /// How diagnostics are printed; `json` is the only format with a name
    #[arg(long, value_name = "FORMAT")]
    diags: Option<String>,
    /// Print the value's type beside it
    #[arg(long)]
    with_type: bool,
    /// Print properties that are null, too
    #[arg(long)]
    keep_nulls: bool,
    /// Print the variables that the configurations name, and no value
    #[arg(long)]
    var_refs: bool,
    // It takes the place of the global option of this letter.
    /// Print the version
    #[arg(id = "verbose", short = 'v', long = "version", action = ArgAction::Count)]
    version: u8,
}

/// What ends the command before its end.
enum End {
    /// The specification or a configuration is wrong; that was printed.
    Wrong,
    /// Something did not work.
    Failed(String),
    /// The reader of the output has gone.
    Closed(Box<Diagnostic>),
}

/// Runs the command.
pub(super) fn run(args: &DecodeArgs, console: &Console) -> Result<Exit, Failed> {
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
    match decode(args, console) {
        Ok(()) => Ok(Exit::Ok),
        Err(End::Wrong) => Ok(Exit::Usage),
        Err(End::Closed(error)) => Err(error.into()),
        Err(End::Failed(why)) => {
            line(&format!("Error: {why}\n"));
            Ok(Exit::Error)
        }
    }
}

fn decode(args: &DecodeArgs, console: &Console) -> Result<(), End> {
    let Some(spec_path) = &args.spec else { return Err(End::Failed("the --spec=... argument is required".into())) };
    let (limits, space, mut faults) = (Limits::default(), Space::new(), Vec::new());
    // What values refer to stands before the contexts they are made in.
    let (var_files, config_files) = (OnceCell::new(), OnceCell::new());
    let spec_file = read(spec_path, &mut faults).map(|source| SpecFile::parse(&source, &limits));
    faults.extend(spec_file.iter().flat_map(File::diagnostics).cloned());
    sound(args, console, &faults)?;
    let plain = Context::new(&space, &limits);
    let spec = spec_file.as_ref().and_then(|file| SpecFile::read(file, &plain, &mut faults));
    sound(args, console, &faults)?;
    let Some(spec) = spec else { return Err(End::Wrong) };
    let bare = Arc::new(builtins::bare());
    let read_vars =
        (0..).zip(&args.vars).filter_map(|(at, text)| vars(at, text, &bare, &limits, &mut faults)).collect::<Vec<_>>();
    let variables = arguments(var_files.get_or_init(|| read_vars), &plain, &mut faults);
    let read_files = files(args, &Arc::new(spec.registry()), &limits, &mut faults)?;
    let files = config_files.get_or_init(|| read_files);
    sound(args, console, &faults)?;
    let body = match files.as_slice() {
        [only] => only.body(),
        several => Body::merged(several.iter().map(File::body)),
    };
    let context = spec.context(&plain, &variables);
    let text = match args.var_refs {
        true => json::references(&spec.spec.variables(&body), &context),
        false => value(args, console, &spec.spec, &body, &context, faults)?,
    };
    print(args.out.as_ref(), &format!("{text}\n"))
}

/// The value as JSON.
fn value<'r>(
    args: &DecodeArgs,
    console: &Console,
    spec: &Spec<'r>,
    body: &Body<'r>,
    context: &Context<'r>,
    mut faults: Faults,
) -> Result<String, End> {
    let value = spec.decode(body, context, &mut faults);
    sound(args, console, &faults)?;
    let text = context.with_cx(|cx| match args.with_type {
        true => encode(cx, value, &Type::Dynamic),
        false => encode_plain(cx, value),
    });
    let text = text.map_err(|fault| match fault {
        Fault::Limit(limit) => End::Failed(limit.message),
        Fault::Wrong(wrong) => End::Failed(wrong.message),
    })?;
    match args.keep_nulls {
        true => Ok(text),
        false => json::without_nulls(&text, context.limits()).map_err(End::Failed),
    }
}

/// Prints what is wrong, where something is.
fn sound(args: &DecodeArgs, console: &Console, faults: &Faults) -> Result<(), End> {
    if !faults.iter().any(|fault| fault.severity == Severity::Error) {
        return Ok(());
    }
    match args.diags.as_deref() {
        Some("json") => line(&report::json(faults)),
        _ => faults.iter().for_each(|fault| console.diagnostic(fault)),
    }
    Err(End::Wrong)
}

/// A file's text; what is wrong with it otherwise is a diagnostic.
fn read(path: &str, faults: &mut Faults) -> Option<Arc<Source>> {
    match std::fs::read(path) {
        Ok(bytes) => text(path, bytes, faults),
        Err(error) => {
            let detail = format!("`{path}` could not be read: {error}.");
            faults.push(Diagnostic::new(Code::ReadFailed, "Failed to read file").with_detail(detail));
            None
        }
    }
}

fn text(name: &str, bytes: Vec<u8>, faults: &mut Faults) -> Option<Arc<Source>> {
    match String::from_utf8(bytes) {
        Ok(text) => Some(Source::new(name, text)),
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            let detail = format!("`{name}` is not UTF-8 from byte {at} on.");
            faults.push(Diagnostic::new(Code::NotUtf8, "Invalid character encoding").with_detail(detail));
            None
        }
    }
}

/// A source in the syntax that its name says.
fn parsed(source: &Arc<Source>, registry: &Arc<Registry>, limits: &Limits, faults: &mut Faults) -> File {
    let name = source.name();
    let is_json = name.ends_with(".json") || report::is_argument(name);
    let file = if is_json { File::json(source, registry, limits) } else { File::native(source, registry, limits) };
    faults.extend(file.diagnostics().iter().cloned());
    file
}

/// What `--vars` says.
fn vars(at: usize, text: &str, registry: &Arc<Registry>, limits: &Limits, faults: &mut Faults) -> Option<File> {
    let source = match text.trim_start().starts_with('{') {
        true => Source::new(report::argument_name(at), text),
        false => read(text, faults)?,
    };
    Some(parsed(&source, registry, limits, faults))
}

/// The arguments of files as variables; of a name that comes twice the last one counts.
fn arguments<'r>(files: &'r [File], context: &Context<'r>, faults: &mut Faults) -> Vec<(&'r str, Value<'r>)> {
    let mut variables = Vec::new();
    for file in files {
        for (name, attribute) in file.body().just_attributes(faults) {
            variables.push((name, attribute.expr.evaluate(context, faults)));
        }
    }
    variables
}

/// The configurations.
fn files(args: &DecodeArgs, registry: &Arc<Registry>, limits: &Limits, faults: &mut Faults) -> Result<Vec<File>, End> {
    let sources: Vec<_> = match args.files.as_slice() {
        [] => {
            let mut bytes = Vec::new();
            let failed = |error| End::Failed(format!("failed to read stdin: {error}"));
            std::io::stdin().lock().read_to_end(&mut bytes).map_err(failed)?;
            vec![text("<stdin>", bytes, faults)]
        }
        paths => paths.iter().map(|path| read(path, faults)).collect(),
    };
    Ok(sources.iter().flatten().map(|source| parsed(source, registry, limits, faults)).collect())
}

fn print(out: Option<&PathBuf>, text: &str) -> Result<(), End> {
    let Some(path) = out else {
        let mut stdout = std::io::stdout().lock();
        let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
        return written.map_err(|error| End::Closed(stdout_error(&error)));
    };
    let failed = |error| End::Failed(format!("can't open {} for writing: {error}", path.display()));
    OsFile::create(path).and_then(|mut file| file.write_all(text.as_bytes())).map_err(failed)
}
