//! `dropforge compile CHART`: a chart to an artifact.

use std::path::{Path, PathBuf};

use humansize::{DECIMAL, format_size};

use dropforge::diagnostics::{Diagnostics, Result as Checked, counted};
use dropforge::dialect::helm::chart::UserValues;

use crate::compile::CompileArgs;
use crate::exit::{Exit, Failed};
use crate::input::{InputFiles, check_one_dash};
use crate::stderr::Stderr;
use crate::usage::{CHART, refuse};

/// Compiles a chart.
///
/// # Errors
/// Errors of the chart and its values; errors of writing.
pub(crate) fn compile(
    path: &Path,
    args: &CompileArgs,
    files: &mut InputFiles,
    stderr: &Stderr,
) -> Result<Exit, Failed> {
    refuse_options(path, args)?;
    let variants = variants(args, files)?;
    let engine = args.language.engine().build();
    let source = super::source(path, files)?;
    files.note_chart(path, &source);
    let bundle = engine.bundle_chart(&source, &variants)?.strip(args.strip);
    if args.denies(&bundle.lints(), stderr) {
        return Ok(Exit::Error);
    }
    let bytes = bundle.encode()?;
    args.write(&bytes, files)?;
    let programs = counted(bundle.programs().len(), "program");
    let size = format_size(bytes.len(), DECIMAL);
    stderr.note(&format!("compiled the chart {} with {programs} into {size}", bundle.name()));
    Ok(Exit::Ok)
}

/// Returns the values whose enabled charts are compiled: the defaults, and those of the options.
fn variants(args: &CompileArgs, files: &mut InputFiles) -> Result<Vec<UserValues>, Diagnostics> {
    let mut variants = vec![UserValues::default()];
    if !args.values.is_empty() {
        check_one_dash(args.values.iter().map(PathBuf::as_path))?;
        let mut values = UserValues::default();
        for path in &args.values {
            let source = files.read(path, "-f -")?;
            values.file(source.name(), source.text())?;
        }
        variants.push(values);
    }
    Ok(variants)
}

/// Checks that no option is used that charts do not have.
fn refuse_options(path: &Path, args: &CompileArgs) -> Checked<()> {
    let options = [
        ("--lang", args.language.lang.is_some()),
        ("--include-root", args.language.include_root.is_some()),
        ("--specialise", !args.specialise.is_empty()),
    ];
    refuse(&options, path, CHART)
}
