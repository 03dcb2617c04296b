//! `dropforge hcl fmt`: formatting in the canonical style.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::exit::{Exit, Failed};
use crate::input::{InputFiles, is_dash};
use crate::options::limits;
use crate::output::print;
use crate::stderr::Stderr;
use clap::Args;
use dropforge::bulk::{unified_diff, write_file};
use dropforge::diagnostics::{Code, Diagnostic, Result};
use dropforge::dialect::hcl::format::format;
use dropforge::dialect::hcl::syntax::parser::parse_config;
use dropforge::engine::{Dialect, dialect_of};
use dropforge::files::unreadable;

/// Maximum depth of a directory search.
const MAX_DEPTH: usize = 64;

/// Format files in the canonical style
///
///     dropforge hcl fmt -r -w modules/
///
/// Without options, prints the formatted text. A file with syntax errors is
/// printed, too, as far as it can be formatted, but never written.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct FmtArgs {
    /// Files to format, or `-` [default: standard input]
    #[arg(value_name = "FILES")]
    files: Vec<PathBuf>,
    /// Print the names of files that would change, exit with 3 if there are any, and write nothing
    #[arg(long, conflicts_with_all = ["diff", "write"])]
    check: bool,
    /// Print changes as a diff, exit with 3 if there are any, and write nothing
    #[arg(long, conflicts_with = "write")]
    diff: bool,
    /// Write files in place, and print the names of those that changed
    #[arg(short, long)]
    write: bool,
    /// Search directories, except hidden ones, for *.hcl, *.nomad, *.tf, *.tfvars and *.tofu
    #[arg(short, long)]
    recursive: bool,
}

/// Runs the command.
pub(crate) fn run(args: &FmtArgs, files: &mut InputFiles, stderr: &Stderr) -> std::result::Result<Exit, Failed> {
    let (mut failed, mut differs) = (false, false);
    for path in paths(args)? {
        match format_file(args, &path, files) {
            Ok(changed) => differs |= changed,
            Err(closed) if closed.exit == Exit::ClosedPipe => return Err(closed),
            Err(errors) => {
                errors.diagnostics.iter().for_each(|diagnostic| stderr.diagnostic(diagnostic));
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

/// Formats one file. Returns `true` if an option was given and the file changes.
fn format_file(args: &FmtArgs, path: &Path, files: &mut InputFiles) -> std::result::Result<bool, Failed> {
    let source = files.read(path, "-")?;
    let errors = parse_config(&source, &limits()).diagnostics;
    if errors.iter().any(|error| error.code == Code::LimitSourceBytes) {
        return Err(errors.into());
    }
    let text = format(source.text());
    if !errors.is_empty() {
        if !(args.check || args.diff || args.write) {
            print(text)?;
        }
        return Err(errors.into());
    }
    let changed = text != source.text();
    let name = source.name();
    match (args.check, args.diff, args.write) {
        (true, ..) if changed => print(format!("{name}\n"))?,
        (_, true, _) if changed => print(unified_diff(name, name, source.text(), &text))?,
        (.., true) if changed => {
            write_file(path, text.as_bytes(), false)?;
            print(format!("{name}\n"))?;
        }
        (false, false, false) => {
            print(text)?;
            return Ok(false);
        }
        _ => {}
    }
    Ok(changed)
}

/// Returns the named files and those of the named directories, in order and without duplicates.
fn paths(args: &FmtArgs) -> Result<Vec<PathBuf>> {
    let named = if args.files.is_empty() { vec![PathBuf::from("-")] } else { args.files.clone() };
    if args.write && named.iter().any(|path| is_dash(path)) {
        let message = "cannot write standard input in place";
        return Err(Diagnostic::new(Code::Usage, message).with_help("name files, or remove `--write`"));
    }
    let (mut paths, mut seen) = (Vec::new(), BTreeSet::new());
    for path in named {
        let found = match path.is_dir() {
            false => vec![path],
            true if args.recursive => below(&path)?,
            true => {
                let message = format!("`{}` is a directory", path.display());
                return Err(Diagnostic::new(Code::Usage, message).with_help("use `--recursive` to search it"));
            }
        };
        paths.extend(found.into_iter().filter(|path| seen.insert(path.clone())));
    }
    Ok(paths)
}

/// Returns the configurations below a directory, sorted. Does not follow symbolic links.
fn below(directory: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut rest = vec![(directory.to_owned(), 0)];
    while let Some((directory, depth)) = rest.pop() {
        let fail = |error: std::io::Error| unreadable(&directory, error);
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
    files.sort_unstable();
    Ok(files)
}

/// Extensions of configurations in the native syntax.
const EXTENSIONS: [&str; 5] = ["hcl", "nomad", "tf", "tfvars", "tofu"];

/// Returns `true` for the name of a configuration in the native syntax (`main.tf`).
pub(crate) fn is_native(path: &Path) -> bool {
    path.extension().and_then(|extension| extension.to_str()).is_some_and(|name| EXTENSIONS.contains(&name))
}

/// Returns `true` for the name of a configuration in the native or JSON syntax (`main.tf.json`). A name with another
/// language (`app.tera.hcl`) is that of a template.
pub(crate) fn is_configuration(name: &str) -> bool {
    let path = Path::new(name.strip_suffix(".json").unwrap_or(name));
    is_native(path) && matches!(dialect_of(name), None | Some(Dialect::Hcl))
}
