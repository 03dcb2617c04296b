//! `dropforge hcl fmt`: files in the canonical layout.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;

use super::super::console::Console;
use super::super::exit::{Exit, Failed};
use super::super::values::{Stdin, stdout_error};
use super::is_native;
use crate::bulk::{unified_diff, write_file};
use crate::diagnostics::{Code, Diagnostic, Result};
use crate::dialect::hcl::format::format;
use crate::dialect::hcl::syntax::parser::parse_config;
use crate::limits::Limits;

/// How deep directories are searched.
const MAX_DEPTH: usize = 64;

/// Lay files out in the canonical style.
///
/// Without an option the files' new text goes to standard output. A file with a syntax error is not laid out.
///
/// Exit codes: 0 done; 1 a syntax or I/O error; 2 usage; 3 `--check` or `--diff` found differences.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(super) struct FmtArgs {
    /// The files, or `-` for standard input, which it is if there is none
    #[arg(value_name = "FILES")]
    files: Vec<PathBuf>,
    /// Write nothing; name the files that would change, exit 3 when there are any
    #[arg(long, conflicts_with_all = ["diff", "write"])]
    check: bool,
    /// Write nothing; print the differences, exit 3 when there are any
    #[arg(long, conflicts_with = "write")]
    diff: bool,
    /// Write the files in place, and name those that changed
    #[arg(short, long)]
    write: bool,
    /// Search directories for *.hcl, *.nomad, *.tf, *.tfvars, *.tofu; not those with a `.` before their names
    #[arg(short, long)]
    recursive: bool,
}

/// Runs the command.
pub(super) fn run(args: &FmtArgs, console: &Console) -> std::result::Result<Exit, Failed> {
    let (mut stdin, mut failed, mut differs) = (Stdin::default(), false, false);
    for path in paths(args)? {
        match one(args, &path, &mut stdin) {
            Ok(changed) => differs |= changed,
            Err(end) if end.exit == Exit::ClosedPipe => return Err(end),
            Err(errors) => {
                errors.diagnostics.iter().for_each(|diagnostic| console.diagnostic(diagnostic));
                failed = true;
            }
        }
    }
    Ok(match (failed, differs && !args.write) {
        (true, _) => Exit::Error,
        (_, true) => Exit::Differs,
        _ => Exit::Ok,
    })
}

/// Lays one file out: whether that changes it, as far as somebody asked.
fn one(args: &FmtArgs, path: &Path, stdin: &mut Stdin) -> std::result::Result<bool, Failed> {
    let source = stdin.read(path)?;
    let errors = parse_config(&source, &Limits::default()).diagnostics;
    if !errors.is_empty() {
        return Err(errors.into());
    }
    let text = format(source.text());
    let changed = text != source.text();
    let name = source.name();
    match (args.check, args.diff, args.write) {
        (true, ..) if changed => print(&format!("{name}\n"))?,
        (_, true, _) if changed => print(&unified_diff(name, name, source.text(), &text))?,
        (.., true) if changed => {
            write_file(path, text.as_bytes())?;
            print(&format!("{name}\n"))?;
        }
        (false, false, false) => {
            print(&text)?;
            return Ok(false);
        }
        _ => {}
    }
    Ok(changed)
}

fn print(text: &str) -> Result<()> {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(|error| stdout_error(&error))
}

/// The files that are named, and those in directories that are; each once, in order.
fn paths(args: &FmtArgs) -> Result<Vec<PathBuf>> {
    let standard = || PathBuf::from("-");
    let named = if args.files.is_empty() { vec![standard()] } else { args.files.clone() };
    if args.write && named.contains(&standard()) {
        let message = "standard input cannot be written in place";
        return Err(Diagnostic::new(Code::Usage, message).with_help("name files, or leave out `--write`"));
    }
    let (mut paths, mut seen) = (Vec::new(), BTreeSet::new());
    for path in named {
        let found = match path.is_dir() {
            false => vec![path],
            true if args.recursive => below(&path)?,
            true => {
                let message = format!("`{}` is a directory", path.display());
                return Err(Diagnostic::new(Code::Usage, message).with_help("search it: `--recursive`"));
            }
        };
        paths.extend(found.into_iter().filter(|path| seen.insert(path.clone())));
    }
    Ok(paths)
}

/// The files below a directory, by name. Symbolic links are not followed.
fn below(directory: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut rest = vec![(directory.to_owned(), 0)];
    while let Some((directory, depth)) = rest.pop() {
        let fail = |error: std::io::Error| {
            Diagnostic::new(Code::ReadFailed, format!("cannot read `{}`: {error}", directory.display()))
        };
        for entry in std::fs::read_dir(&directory).map_err(fail)? {
            let entry = entry.map_err(fail)?;
            let kind = entry.file_type().map_err(fail)?;
            let hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
            if kind.is_dir() && !hidden && depth < MAX_DEPTH {
                rest.push((entry.path(), depth + 1));
            } else if kind.is_file() && is_native(&entry.path()) {
                files.push(entry.path());
            }
        }
    }
    files.sort();
    Ok(files)
}
