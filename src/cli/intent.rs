//! `dropforge intent`: validates and resolves intent definitions.
//!
//! Resolved fields go to standard output as one YAML (or JSON) map from path to text. As JSON, errors have the
//! fields that the language's specification names.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{ArgAction, Args, Subcommand, ValueEnum};

use super::args::ErrorFormat;
use super::console::{self, Console};
use super::exit::{Exit, Failed};
use super::values::{Stdin, stdout_error};
use crate::diagnostics::{Code, Diagnostic, Result, Severity};
use crate::dialect::tower::error;
use crate::dialect::tower::intent::{AuditEvent, Inputs, Intent, ValidateOptions};
use crate::limits::Limits;
use crate::text::Span;
use crate::value::{Data, yaml};

/// Validate and resolve intent definitions.
#[derive(Debug, Args)]
pub(super) struct IntentArgs {
    #[command(subcommand)]
    command: IntentCommand,
}

#[derive(Debug, Subcommand)]
enum IntentCommand {
    /// Check an intent without inputs: expressions, fields, parameters, step order
    Validate(CommonArgs),
    /// Print every field of an intent with its expressions resolved
    Resolve(ResolveArgs),
}

#[derive(Debug, Args)]
struct CommonArgs {
    /// The intent definition, or `-`
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Refuse expressions where shell quoting cannot protect them; with `false`, warn of them
    #[arg(long, value_name = "BOOL", default_value_t = true, action = ArgAction::Set)]
    strict: bool,
    /// The context keys that are captured; references to others are errors
    #[arg(long, value_name = "KEY,...", value_delimiter = ',')]
    context_keys: Option<Vec<String>>,
    /// Append audit events to this file, one JSON object a line
    #[arg(long, value_name = "FILE")]
    audit: Option<PathBuf>,
}

#[derive(Debug, Args)]
struct ResolveArgs {
    #[command(flatten)]
    common: CommonArgs,
    /// The scopes: a YAML or JSON map with `params`, `context` and `facts`
    #[arg(long, value_name = "FILE")]
    inputs: Option<PathBuf>,
    /// The steps that have run: a map from step to `{status, outputs}`; unless set, every step counts as
    /// completed with its declared outputs
    #[arg(long, value_name = "FILE")]
    outputs: Option<PathBuf>,
    /// How the fields are printed
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
}

/// How fields are printed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A YAML map
    #[default]
    Yaml,
    /// A JSON object
    Json,
}

/// Runs the command.
pub(super) fn run(args: &IntentArgs, console: &Console) -> std::result::Result<Exit, Failed> {
    let mut stdin = Stdin::default();
    let (fields, found) = match &args.command {
        IntentCommand::Validate(common) => (None, validate(common, &mut stdin)),
        IntentCommand::Resolve(args) => match resolve(args, &mut stdin) {
            Ok((fields, warnings)) => (Some((fields, args.format)), warnings),
            Err(errors) => (None, errors),
        },
    };
    found.iter().for_each(|diagnostic| print(diagnostic, console));
    if let Some(error) = found.iter().find(|diagnostic| diagnostic.severity == Severity::Error) {
        return Ok(Exit::of(error));
    }
    if let Some((fields, format)) = fields {
        let mut stdout = std::io::stdout().lock();
        let text = text_of(&fields, format);
        stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(|error| stdout_error(&error))?;
    }
    Ok(Exit::Ok)
}

fn print(diagnostic: &Diagnostic, console: &Console) {
    if console.format == ErrorFormat::Human {
        return console.diagnostic(diagnostic);
    }
    let mut object = error::to_json(diagnostic);
    if diagnostic.severity == Severity::Warning
        && let Some(fields) = object.as_object_mut()
    {
        fields.insert("severity".to_owned(), "warning".into());
    }
    console::line(&object.to_string());
}

fn text_of(fields: &Data, format: Format) -> String {
    match format {
        Format::Yaml => yaml::to_string(fields),
        Format::Json => serde_json::to_string_pretty(fields).unwrap_or_default() + "\n",
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

    fn intent(&self, stdin: &mut Stdin) -> std::result::Result<Intent, Found> {
        Intent::parse(&stdin.read(&self.file).map_err(one)?)
    }
}

fn validate(args: &CommonArgs, stdin: &mut Stdin) -> Found {
    let check = |stdin: &mut Stdin| -> std::result::Result<Found, Found> {
        let mut audit = Audit::open(args.audit.as_deref()).map_err(one)?;
        let report = args.intent(stdin)?.validate_with(&args.options(), &mut |event| audit.write(event));
        Ok(report.warnings.into_iter().chain(report.errors).chain(audit.failure).collect())
    };
    let (Ok(found) | Err(found)) = check(stdin);
    found
}

/// The resolved fields and the warnings.
fn resolve(args: &ResolveArgs, stdin: &mut Stdin) -> std::result::Result<(Data, Found), Found> {
    let common = &args.common;
    let mut audit = Audit::open(common.audit.as_deref()).map_err(one)?;
    let (intent, inputs) = (common.intent(stdin)?, scopes(args, stdin)?);
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
        Err(errors) => Err(found.into_iter().chain(errors).chain(failure).collect()),
    }
}

/// The inputs of both files.
fn scopes(args: &ResolveArgs, stdin: &mut Stdin) -> std::result::Result<Inputs, Found> {
    let limits = Limits::default();
    let mut scopes = match &args.inputs {
        Some(path) => Inputs::from_yaml(&stdin.read(path).map_err(one)?, &limits)?,
        None => Inputs::default(),
    };
    let Some(path) = &args.outputs else { return Ok(scopes) };
    let source = stdin.read(path).map_err(one)?;
    scopes.steps = match yaml::read_data(&source, &limits)? {
        Data::Map(steps) => Some(steps),
        Data::Null => Some(<_>::default()),
        other => {
            let message = format!("step outputs are a map from step to `{{status, outputs}}`, not a {}", other.kind());
            return Err(one(Diagnostic::new(Code::InputSyntax, message).at(&source, Span::new(0, 0), "")));
        }
    };
    Ok(scopes)
}

/// The audit file, and the first thing that went wrong with it.
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
    Diagnostic::new(Code::WriteFailed, format!("the audit file `{}` cannot be written: {error}", path.display()))
}
