//! Input files and `--set`: from the command line to the layers of inputs.

use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use clap::ArgMatches;

use super::args::ValueArgs;
use crate::bulk::input;
use crate::bulk::values::{Assignment, SetKind, parse_set};
use crate::bulk::{Format, Layers};
use crate::diagnostics::{Code, Diagnostic, Result};
use crate::text::Source;

/// Standard input, which can be read once.
#[derive(Debug, Default)]
pub(super) struct Stdin {
    used: bool,
}

impl Stdin {
    /// The text of a file, or of standard input for `-`.
    ///
    /// # Errors
    /// `file.read_failed`, `syntax.not_utf8`, `usage` for a second `-`.
    pub(super) fn read(&mut self, path: &Path) -> Result<Arc<Source>> {
        let bytes = self.bytes(path)?;
        text(path, bytes)
    }

    /// The bytes of a file, or of standard input for `-`.
    ///
    /// # Errors
    /// `file.read_failed`, `usage` for a second `-`.
    pub(super) fn bytes(&mut self, path: &Path) -> Result<Vec<u8>> {
        let fail =
            |error: io::Error| Diagnostic::new(Code::ReadFailed, format!("cannot read `{}`: {error}", path.display()));
        if path.as_os_str() != "-" {
            return std::fs::read(path).map_err(fail);
        }
        if std::mem::replace(&mut self.used, true) {
            return Err(Diagnostic::new(Code::Usage, "`-` is given twice, standard input can be read once"));
        }
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes).map_err(fail)?;
        Ok(bytes)
    }
}

/// What was read from `path` as text.
///
/// # Errors
/// `syntax.not_utf8`.
pub(super) fn text(path: &Path, bytes: Vec<u8>) -> Result<Arc<Source>> {
    let name = path.display().to_string();
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Source::new(name, text)),
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            Err(Diagnostic::new(Code::NotUtf8, format!("`{name}` is not UTF-8 (byte {at})")))
        }
    }
}

/// The layers that `-f` and the `--set` family make.
///
/// # Errors
/// Errors of reading the files; `input.bad_set`.
pub(super) fn layers(args: &ValueArgs, matches: &ArgMatches, stdin: &mut Stdin) -> Result<Layers> {
    let sets = sets(args, matches, stdin)?;
    let mut files = Vec::new();
    for path in &args.values {
        let source = stdin.read(path)?;
        // A values file is YAML, and JSON is YAML, unless its name says otherwise.
        let format = match Format::of(source.name(), "") {
            format @ (Format::Json | Format::Hcl) => format,
            _ => Format::Yaml,
        };
        files.push(input::map(&source, format)?);
    }
    Ok(Layers::new(files, sets))
}

/// The `--set` family in the order of the command line.
fn sets(args: &ValueArgs, matches: &ArgMatches, stdin: &mut Stdin) -> Result<Vec<Assignment>> {
    let kinds = [
        (SetKind::Typed, "set", &args.set),
        (SetKind::Text, "set_string", &args.set_string),
        (SetKind::Json, "set_json", &args.set_json),
        (SetKind::File, "set_file", &args.set_file),
        (SetKind::Literal, "set_literal", &args.set_literal),
    ];
    let mut all = Vec::new();
    for (kind, id, texts) in kinds {
        let places = matches.indices_of(id).into_iter().flatten();
        all.extend(places.zip(texts).map(|(place, text)| (place, kind, text)));
    }
    all.sort_by_key(|(place, _, _)| *place);
    let mut sets = Vec::new();
    for (_, kind, text) in all {
        let mut read = |path: &str| stdin.read(Path::new(path)).map(|source| source.text().to_owned());
        sets.extend(parse_set(kind, text, &mut read)?);
    }
    Ok(sets)
}

/// The error of standard output.
pub(super) fn stdout_error(error: &io::Error) -> Box<Diagnostic> {
    match error.kind() {
        io::ErrorKind::BrokenPipe => Diagnostic::new(Code::ClosedPipe, "the reader of the output has gone"),
        _ => Diagnostic::new(Code::WriteFailed, format!("cannot write to standard output: {error}")),
    }
}
