//! `dropforge intent`: validates and resolves intent definitions.
//!
//! Resolved fields go to stdout as one YAML (or JSON) map from path to text; everything else goes to stderr,
//! as text or as one JSON object a line with the fields the specification names.

use std::fs::OpenOptions;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, Subcommand, ValueEnum};

use crate::diagnostics::{Code, Diagnostic, Result, Severity};
use crate::dialect::tower::error;
use crate::dialect::tower::intent::{AuditEvent, Inputs, Intent, Resolved, ValidateOptions};
use crate::limits::{Limit, Limits};
use crate::text::{Source, Span};
use crate::value::{Data, yaml};

/// Validate and resolve intent definitions.
#[derive(Debug, Args)]
pub struct IntentArgs {
    #[command(subcommand)]
    command: IntentCommand,
}

#[derive(Debug, Subcommand)]
enum IntentCommand {
    /// Check an intent without inputs: expressions, fields, parameters, step order.
    Validate {
        #[command(flatten)]
        common: Common,
    },
    /// Print every field of an intent with its expressions resolved.
    Resolve {
        #[command(flatten)]
        common: Common,
        /// The scopes: a YAML or JSON map with `params`, `context` and `facts`.
        #[arg(long, value_name = "FILE")]
        inputs: Option<PathBuf>,
        /// The steps that have run: a map from step to `{status, outputs}`. Without it every step counts as
        /// completed with its declared outputs.
        #[arg(long, value_name = "FILE")]
        outputs: Option<PathBuf>,
        /// How the fields are printed.
        #[arg(long, value_enum, default_value_t = Format::Yaml)]
        format: Format,
    },
}

#[derive(Debug, Args)]
struct Common {
    /// The intent definition, `-` for stdin.
    file: PathBuf,
    /// Refuse expressions where shell quoting cannot protect them; `false` only warns.
    #[arg(long, value_name = "BOOL", default_value_t = true, num_args = 0..=1, default_missing_value = "true",
          action = clap::ArgAction::Set)]
    strict: bool,
    /// The context keys that are captured, so that references to others are errors.
    #[arg(long, value_name = "KEY,…", value_delimiter = ',')]
    context_keys: Option<Vec<String>>,
    /// Append audit events to this file, one JSON object a line.
    #[arg(long, value_name = "FILE")]
    audit: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Yaml,
    Json,
}

/// How errors and warnings are printed.
#[derive(Debug, Clone, Copy, Default)]
pub struct Reporting {
    /// One JSON object a line instead of text.
    pub json: bool,
    /// Colours in text.
    pub color: bool,
    /// No warnings.
    pub quiet: bool,
}

/// Runs the command; the answer is the exit code: 0, or 1 for an error in the intent or its inputs.
///
/// # Errors
/// Only what keeps stdout or stderr from being written to.
pub fn run(args: &IntentArgs, reporting: Reporting, out: &mut dyn Write, err: &mut dyn Write) -> io::Result<u8> {
    let mut audit = Audit::default();
    let (fields, found) = match &args.command {
        IntentCommand::Validate { common } => (None, validate(common, &mut audit)),
        IntentCommand::Resolve { common, inputs, outputs, format } => {
            match resolve(common, inputs.as_deref(), outputs.as_deref(), &mut audit) {
                (Some(resolved), found) => (Some((resolved.to_data(), *format)), found),
                (None, found) => (None, found),
            }
        }
    };
    let found: Vec<Box<Diagnostic>> = found.into_iter().chain(audit.failure).collect();
    for diagnostic in &found {
        reporting.print(diagnostic, err)?;
    }
    let failed = found.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    if let Some((fields, format)) = fields.filter(|_| !failed) {
        print(&fields, format, out)?;
    }
    Ok(u8::from(failed))
}

impl Reporting {
    fn print(self, diagnostic: &Diagnostic, err: &mut dyn Write) -> io::Result<()> {
        let is_warning = diagnostic.severity == Severity::Warning;
        if is_warning && self.quiet {
            return Ok(());
        }
        if !self.json {
            return err.write_all(diagnostic.render(self.color).as_bytes());
        }
        let mut object = error::to_json(diagnostic);
        if is_warning && let Some(fields) = object.as_object_mut() {
            fields.insert("severity".to_owned(), "warning".into());
        }
        writeln!(err, "{object}")
    }
}

fn print(fields: &Data, format: Format, out: &mut dyn Write) -> io::Result<()> {
    match format {
        Format::Yaml => out.write_all(yaml::to_string(fields).as_bytes()),
        Format::Json => {
            serde_json::to_writer_pretty(&mut *out, fields)?;
            out.write_all(b"\n")
        }
    }
}

impl Common {
    fn options(&self) -> ValidateOptions {
        ValidateOptions { strict: self.strict, context_keys: self.context_keys.clone(), ..ValidateOptions::default() }
    }

    fn intent(&self) -> std::result::Result<Intent, Vec<Box<Diagnostic>>> {
        let limits = Limits::default();
        Intent::parse_within(&read(&self.file, &limits).map_err(|error| vec![error])?, &limits)
    }
}

fn validate(common: &Common, audit: &mut Audit) -> Vec<Box<Diagnostic>> {
    audit.open(common.audit.as_deref());
    match common.intent() {
        Err(errors) => errors,
        Ok(intent) => {
            let report = intent.validate_with(&common.options(), &mut |event| audit.write(event));
            report.warnings.into_iter().chain(report.errors).collect()
        }
    }
}

fn resolve(
    common: &Common,
    inputs: Option<&Path>,
    outputs: Option<&Path>,
    audit: &mut Audit,
) -> (Option<Resolved>, Vec<Box<Diagnostic>>) {
    audit.open(common.audit.as_deref());
    let read = || -> std::result::Result<_, Vec<Box<Diagnostic>>> { Ok((common.intent()?, scopes(inputs, outputs)?)) };
    let (intent, inputs) = match read() {
        Ok(read) => read,
        Err(errors) => return (None, errors),
    };
    let options = common.options();
    let warnings = intent.validate(&options).warnings;
    match intent.resolve_with(&inputs, &options, &mut |event| audit.write(event)) {
        Ok(resolved) => {
            let found = warnings.into_iter().chain(resolved.warnings.iter().cloned()).collect();
            (Some(resolved), found)
        }
        Err(errors) => (None, warnings.into_iter().chain(errors).collect()),
    }
}

/// The inputs of both files.
fn scopes(inputs: Option<&Path>, outputs: Option<&Path>) -> std::result::Result<Inputs, Vec<Box<Diagnostic>>> {
    let limits = Limits::default();
    let source = |path: &Path| read(path, &limits).map_err(|error| vec![error]);
    let mut scopes = match inputs {
        Some(path) => Inputs::from_yaml(&source(path)?, &limits)?,
        None => Inputs::default(),
    };
    if let Some(path) = outputs {
        let source = source(path)?;
        scopes.steps = match yaml::read_data(&source, &limits)? {
            Data::Map(steps) => Some(steps),
            Data::Null => Some(<_>::default()),
            other => {
                let message =
                    format!("step outputs are a map from step to `{{status, outputs}}`, not a {}", other.kind());
                return Err(vec![Diagnostic::new(Code::InputSyntax, message).at(&source, Span::new(0, 0), "")]);
            }
        };
    }
    Ok(scopes)
}

/// Reads a file, or stdin for `-`.
fn read(path: &Path, limits: &Limits) -> Result<Arc<Source>> {
    let name = path.display().to_string();
    let failed = |error: io::Error| Diagnostic::new(Code::ReadFailed, format!("`{name}` cannot be read: {error}"));
    let mut bytes = Vec::new();
    let most = limits.source_bytes as u64 + 1;
    if path == Path::new("-") {
        io::stdin().lock().take(most).read_to_end(&mut bytes).map_err(failed)?;
    } else {
        std::fs::File::open(path).and_then(|file| file.take(most).read_to_end(&mut bytes)).map_err(failed)?;
    }
    if bytes.len() > limits.source_bytes {
        return Err(Limit::SourceBytes.error(limits.source_bytes as u64).with_note(format!("the file is `{name}`")));
    }
    String::from_utf8(bytes).map(|text| Source::new(name.as_str(), text)).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Diagnostic::new(Code::NotUtf8, format!("`{name}` is not UTF-8 from byte {at} on"))
    })
}

/// The audit file, and the first thing that went wrong with it.
#[derive(Default)]
struct Audit {
    file: Option<(PathBuf, std::fs::File)>,
    failure: Option<Box<Diagnostic>>,
}

impl Audit {
    fn open(&mut self, path: Option<&Path>) {
        let Some(path) = path else { return };
        match OpenOptions::new().create(true).append(true).open(path) {
            Ok(file) => self.file = Some((path.to_owned(), file)),
            Err(error) => self.fail(path, &error),
        }
    }

    fn write(&mut self, event: &AuditEvent) {
        let Some((path, file)) = &mut self.file else { return };
        if let Err(error) = writeln!(file, "{}", event.to_json()) {
            let path = path.clone();
            self.file = None;
            self.fail(&path, &error);
        }
    }

    fn fail(&mut self, path: &Path, error: &io::Error) {
        let message = format!("the audit file `{}` cannot be written: {error}", path.display());
        self.failure = Some(Diagnostic::new(Code::WriteFailed, message));
    }
}
