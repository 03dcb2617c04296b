//! `dropforge render CHART`: the text of `helm template`.

use std::any::Any;

use super::refuse_others;
use crate::exit::{Exit, Failed};
use crate::input::{InputFiles, is_dash};
use crate::options::Global;
use crate::render::RenderArgs;
use crate::schema;
use crate::stderr::Stderr;
use crate::usage::{CHART, refuse};
use dropforge::bulk::{ChartSet, KubeSchemas, Run, show_chart_writers};
use dropforge::diagnostics::{Code, Diagnostic, Diagnostics, Result as Checked, Severity};
use dropforge::engine::chart::ChartRender;
use dropforge::mask::Mask;

/// Renders a chart.
///
/// # Errors
/// Errors of the chart and its values; a document that is not YAML; errors of writing.
pub(crate) fn run(args: &RenderArgs, global: &Global, files: &mut InputFiles, stderr: &Stderr) -> Result<Exit, Failed> {
    if !is_dash(&args.output) {
        return args.stamp(global, files, stderr);
    }
    let reader = args.run_args()?;
    let run = reader.read(files, stderr)?;
    if reader.refuses(&run, &run.plan()?, stderr)? {
        return Ok(Exit::Error);
    }
    let Run { set, kinds, values, .. } = run;
    let set: Box<dyn Any> = set;
    let Ok(chart) = set.downcast::<ChartSet>() else { return Ok(Exit::Error) };
    let mask = Mask::of_each(|each| {
        chart.template.chart().each_secret(&chart.values, each);
        values.each_secret(None, each);
    });
    let text = text(&chart, kinds.as_ref(), &mask, args, stderr).map_err(|errors| errors.without(&mask))?;
    if args.warnings.are_errors(stderr) {
        return Ok(Exit::Error);
    }
    crate::output::print(text)?;
    Ok(Exit::Ok)
}

/// Renders the documents to print.
fn text(
    chart: &ChartSet,
    kinds: Option<&KubeSchemas>,
    mask: &Mask,
    args: &RenderArgs,
    stderr: &Stderr,
) -> Result<String, Diagnostics> {
    let render = chart.template.render(&chart.values, &chart.release, &chart.capabilities)?;
    let output = render.output()?;
    let patterns = args.chart.show_only.as_slice();
    let text = match patterns {
        [] => output.text_of(chart.selection),
        patterns => output.only(patterns, chart.selection)?,
    };
    let is_shown = |name: &str| patterns.is_empty() || patterns.iter().any(|pattern| output.shows(pattern, name));
    unusual(&render, &is_shown, (args.is_strict(), mask), stderr)?;
    check_kinds(kinds, render, &text, stderr)?;
    Ok(text)
}

/// Checks printed documents by the schemas of their kinds.
fn check_kinds(
    kinds: Option<&KubeSchemas>,
    render: ChartRender,
    text: &str,
    stderr: &Stderr,
) -> Result<(), Diagnostics> {
    let name = format!("{}.yaml", render.plan().charts().first().map_or("", |chart| chart.path()));
    let mut errors = kinds.map(|kinds| kinds.errors_of_file(&name, text)).unwrap_or_default();
    schema::warn(kinds, stderr);
    if errors.is_empty() {
        return Ok(());
    }
    show_chart_writers(render, text, &mut errors);
    Err(errors.into())
}

/// Checks that no option is used that charts do not have.
///
/// # Errors
/// `usage` with the first such option.
pub(crate) fn refuse_options(args: &RenderArgs) -> Checked<()> {
    refuse_others(&args.language, &args.schema, args.file())?;
    let options = [
        ("--template", args.template.is_some()),
        ("--output-format", args.format.output_format.is_some()),
        ("--copy", !args.folder.outputs.copy.is_empty()),
        ("--schema", args.schema.file().is_some()),
    ];
    refuse(&options, args.file(), CHART)?;
    if let Some(option) = args.folder.first_given().filter(|_| is_dash(&args.output)) {
        let message = format!("`{option}` needs an output directory (`-o DIR`)");
        return Err(Diagnostic::new(Code::Usage, message));
    }
    if !is_dash(&args.output) && !args.chart.show_only.is_empty() {
        let message = "`--show-only` prints to standard output: it cannot be combined with `--output`";
        return Err(Diagnostic::new(Code::Usage, message));
    }
    Ok(())
}

/// Prints the warnings about the documents of a render that are shown. With `strict` they are errors.
///
/// # Errors
/// The findings, with `strict`.
fn unusual(
    render: &ChartRender,
    is_shown: &dyn Fn(&str) -> bool,
    (strict, mask): (bool, &Mask),
    stderr: &Stderr,
) -> Result<(), Diagnostics> {
    let mut found = render.warnings_in(is_shown);
    if strict && !found.is_empty() {
        found.iter_mut().for_each(|error| error.severity = Severity::Error);
        return Err(found.into());
    }
    mask.hide_in_all(&mut found);
    found.iter().for_each(|warning| stderr.diagnostic(warning));
    Ok(())
}
