//! `dropforge compile`: templates become one artifact.

use std::io::Write;

use humansize::{DECIMAL, format_size};

use super::args::CompileArgs;
use super::console::Console;
use super::exit::{Exit, Failed};
use super::opened;
use super::values::stdout_error;
use crate::bulk::{dialect_of, discover, engine, write_file};
use crate::diagnostics::{Code, Diagnostic, Severity};

/// Runs the command.
pub(super) fn run(args: &CompileArgs, console: &Console) -> Result<Exit, Failed> {
    if let Some(path) = opened::sort(&args.templates).0.first() {
        let message = format!("`{}` is an artifact already", path.display());
        return Err(Diagnostic::new(Code::Usage, message).with_help("compile its sources").into());
    }
    let lang = args.language.lang;
    let is_template = |name: &str| lang.is_some() || dialect_of(name).is_some();
    let set = discover(&args.templates, args.language.include_root.as_deref(), &is_template)?;
    let bundle = engine(&set.root, args.language.engine())?.bundle_set(&set, lang)?.strip(args.strip);
    let lints = bundle.lints();
    lints.iter().for_each(|lint| console.diagnostic(lint));
    let is_denied = |severity| !args.lenient && (args.strict || severity == Severity::Error);
    if lints.iter().any(|lint| is_denied(lint.severity)) {
        return Ok(Exit::Error);
    }
    let bytes = bundle.encode()?;
    if args.output.as_os_str() == "-" {
        let mut stdout = std::io::stdout().lock();
        stdout.write_all(&bytes).and_then(|()| stdout.flush()).map_err(|error| stdout_error(&error))?;
    } else {
        write_file(&args.output, &bytes)?;
    }
    let (count, size) = (bundle.templates().len(), format_size(bytes.len(), DECIMAL));
    console.note(&format!("{count} template{} in {size}", if count == 1 { "" } else { "s" }));
    Ok(Exit::Ok)
}
