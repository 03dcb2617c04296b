//! `dropforge intent`: validation and resolution of intent definitions.
//!
//! Resolved fields are printed as one YAML or JSON map from path to text. JSON errors have the fields of the language
//! specification, too.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{ArgAction, Args, Subcommand};

use dropforge::diagnostics::{Code, Diagnostic, Result, Severity};
use dropforge::dialect::tower::intent::{AuditEvent, Inputs, Intent, ValidateOptions};
use dropforge::text::{Source, Span};
use dropforge::value::{Data, OutputFormat, yaml};

use crate::exit::{Exit, Failed};
use crate::input::InputFiles;
use crate::options::{ErrorFormat, limits, named};
use crate::output;
use crate::stderr::Stderr;

/// Commands on intents.
#[derive(Debug, Subcommand)]
pub(crate) enum IntentCommand {
    /// Check expressions, fields, parameters and step order, without inputs
    ///
    ///     dropforge intent validate deploy.yaml
    #[command(verbatim_doc_comment)]
    Validate(CommonArgs),
    /// Print all fields with their expressions resolved
    ///
    ///     dropforge intent resolve deploy.yaml --inputs inputs.yaml
    #[command(verbatim_doc_comment)]
    Resolve(ResolveArgs),
}

/// Options of all commands.
#[derive(Debug, Args)]
pub(crate) struct CommonArgs {
    /// Intent file, or `-`
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Reject expressions where shell quoting is not safe; with `false`, warn about them
    #[arg(long, value_name = "BOOL", default_value_t = true, action = ArgAction::Set)]
    strict: bool,
    /// Reject references to other context keys
    #[arg(long, value_name = "KEY,...", value_delimiter = ',')]
    context_keys: Option<Vec<String>>,
    /// Append audit events to this file, one JSON object per line
    #[arg(long, value_name = "FILE")]
    audit: Option<PathBuf>,
}

/// Options of `resolve`.
#[derive(Debug, Args)]
pub(crate) struct ResolveArgs {
    #[command(flatten)]
    common: CommonArgs,
    /// Read the scopes `params`, `context` and `facts` from a YAML or JSON map
    #[arg(long, value_name = "FILE")]
    inputs: Option<PathBuf>,
    /// Read the steps that ran from a map of steps to `{status, outputs}` [default: all steps completed with their
    /// declared outputs]
    #[arg(long, value_name = "FILE")]
    outputs: Option<PathBuf>,
    /// Select the format of the fields
    #[arg(long, value_name = "FORMAT", default_value = "yaml", value_parser = named(&[
        ("yaml", "YAML map", OutputFormat::Yaml),
        ("json", "JSON object", OutputFormat::Json),
    ]))]
    format: OutputFormat,
}

/// Runs the command.
pub(crate) fn run(
    command: &IntentCommand,
    files: &mut InputFiles,
    stderr: &Stderr,
) -> std::result::Result<Exit, Failed> {
    let (fields, found) = match command {
        IntentCommand::Validate(common) => (None, validate(common, files)),
        IntentCommand::Resolve(args) => match resolve(args, files) {
            Ok((fields, warnings)) => (Some((fields, args.format)), warnings),
            Err(errors) => (None, errors),
        },
    };
    found.iter().for_each(|diagnostic| print(diagnostic, stderr));
    if let Some(error) = found.iter().find(|diagnostic| diagnostic.severity == Severity::Error) {
        return Ok(Exit::of(error));
    }
    if let Some((fields, format)) = fields {
        output::print(text_of(&fields, format))?;
    }
    Ok(Exit::Ok)
}

/// Prints a diagnostic. JSON has the name of its code as `error`, too, as the specification of the language wants.
fn print(diagnostic: &Diagnostic, stderr: &Stderr) {
    match stderr.format() {
        ErrorFormat::Json => {
            stderr.diagnostic(&Box::new(diagnostic.clone()).with_field("error", diagnostic.code.name()))
        }
        _ => stderr.diagnostic(diagnostic),
    }
}

fn text_of(fields: &Data, format: OutputFormat) -> String {
    match format {
        OutputFormat::Json => serde_json::to_string_pretty(fields).unwrap_or_default() + "\n",
        _ => yaml::to_string(fields),
    }
}

type Found = Vec<Box<Diagnostic>>;

fn one(error: Box<Diagnostic>) -> Found {
    vec![error]
}

impl CommonArgs {
    fn options(&self) -> ValidateOptions {
        ValidateOptions { strict: self.strict, context_keys: self.context_keys.clone(), ..ValidateOptions::default() }
    }

    fn intent(&self, files: &mut InputFiles) -> std::result::Result<Intent, Found> {
        Intent::parse(&files.read(&self.file, "-").map_err(one)?)
    }
}

fn validate(args: &CommonArgs, files: &mut InputFiles) -> Found {
    let check = |files: &mut InputFiles| -> std::result::Result<Found, Found> {
        let mut audit = Audit::open(args.audit.as_deref()).map_err(one)?;
        let report = args.intent(files)?.validate_with(&args.options(), &mut |event| audit.write(event));
        Ok(report.warnings.into_iter().chain(report.errors).chain(audit.failure).collect())
    };
    let (Ok(found) | Err(found)) = check(files);
    found
}

/// Returns the resolved fields and warnings.
fn resolve(args: &ResolveArgs, files: &mut InputFiles) -> std::result::Result<(Data, Found), Found> {
    let common = &args.common;
    let mut audit = Audit::open(common.audit.as_deref()).map_err(one)?;
    let intent = common.intent(files)?;
    let given = args.inputs.as_ref().map(|path| files.read(path, "--inputs -").map_err(one)).transpose()?;
    let inputs = scopes(args, given.as_ref(), files)?;
    let options = common.options();
    let mut found = intent.validate(&options).warnings;
    let resolved = intent.resolve_with(&inputs, &options, &mut |event| audit.write(event));
    let failure = audit.failure.take();
    match resolved {
        Ok(resolved) if failure.is_none() => {
            let fields = resolved.to_data();
            found.extend(resolved.warnings);
            Ok((fields, found))
        }
        Ok(_) => Err(failure.into_iter().collect()),
        Err(errors) => {
            let errors = errors.into_iter().map(|error| placed(error, given.as_ref()));
            Err(found.into_iter().chain(errors).chain(failure).collect())
        }
    }
}

/// Adds the place of an undeclared parameter in the file of inputs.
fn placed(error: Box<Diagnostic>, given: Option<&Arc<Source>>) -> Box<Diagnostic> {
    let place = given.filter(|_| error.code == Code::ParameterUndeclared).and_then(|source| {
        let documents = yaml::read(source, &limits()).ok()?;
        let params = documents.first()?.get("params")?;
        Some((source, params.entry(error.fields.get("parameter")?)?.key.span))
    });
    match place {
        Some((source, span)) => error.at(source, span, ""),
        None => error,
    }
}

/// Reads the inputs from both files.
fn scopes(
    args: &ResolveArgs,
    given: Option<&Arc<Source>>,
    files: &mut InputFiles,
) -> std::result::Result<Inputs, Found> {
    let limits = limits();
    let mut scopes = match given {
        Some(source) => Inputs::from_yaml(source, &limits)?,
        None => Inputs::default(),
    };
    let Some(path) = &args.outputs else { return Ok(scopes) };
    let source = files.read(path, "--outputs -").map_err(one)?;
    scopes.steps = match yaml::read_data(&source, &limits)?.try_into_map() {
        Ok(steps) => Some(steps),
        Err(Data::Null) => Some(<_>::default()),
        Err(other) => {
            let message = format!("expected a map of steps to `{{status, outputs}}`, found {}", other.kind());
            return Err(one(Diagnostic::new(Code::InputSyntax, message).at(&source, Span::new(0, 0), "")));
        }
    };
    Ok(scopes)
}

/// The audit file and its first error.
#[derive(Default)]
struct Audit {
    file: Option<(PathBuf, File)>,
    failure: Option<Box<Diagnostic>>,
}

impl Audit {
    fn open(path: Option<&Path>) -> Result<Self> {
        let Some(path) = path else { return Ok(Self::default()) };
        match OpenOptions::new().create(true).append(true).open(path) {
            Ok(file) => Ok(Self { file: Some((path.to_owned(), file)), failure: None }),
            Err(error) => Err(unwritable(path, &error)),
        }
    }

    fn write(&mut self, event: &AuditEvent) {
        let Some((path, file)) = &mut self.file else { return };
        if let Err(error) = writeln!(file, "{}", event.to_json()) {
            self.failure = Some(unwritable(path, &error));
            self.file = None;
        }
    }
}

fn unwritable(path: &Path, error: &std::io::Error) -> Box<Diagnostic> {
    Diagnostic::new(Code::WriteFailed, format!("cannot write audit file `{}`: {error}", path.display()))
}
