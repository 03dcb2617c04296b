//! `dropforge render CHART`: the text of `helm template`.

use dropforge::bulk::{Change, Cluster, DocumentCheck, Fleet, FleetChart, Forge, Merge, Selector, write_file};
use dropforge::diagnostics::{Code, Diagnostic, Result as Checked, counted};
use dropforge::dialect::helm::chart::Output;
use dropforge::value::DataMap;

use super::{open, print, unused, values};
use crate::console::Console;
use crate::exit::{Exit, Failed};
use crate::input::{InputFiles, is_dash};
use crate::options::CheckMode;
use crate::render::RenderArgs;
use crate::why::Rendering;

/// Renders a chart.
///
/// # Errors
/// Errors of the chart and its values; a document that is not YAML; errors of writing.
pub(crate) fn run(args: &RenderArgs, files: &mut InputFiles, console: &Console) -> Result<Exit, Failed> {
    refuse_options(args)?;
    let values = values::read(&args.values, files)?;
    let chart = open(&args.file, args.values.allow.grant(args.language.engine())?, files)?;
    let render = chart.render(&values, &args.chart.release(), &args.chart.capabilities()?)?;
    let output = render.output()?;
    print::unusual(&render, args.check_output == Some(CheckMode::Strict), console)?;
    if args.warnings.are_errors(console) {
        return Ok(Exit::Error);
    }
    let selection = args.chart.selection();
    match (is_dash(&args.output), args.chart.show_only.as_slice()) {
        (true, []) => crate::output::print(output.text_of(selection))?,
        (true, patterns) => crate::output::print(output.only(patterns, selection)?)?,
        (false, _) => write(&output, args, console)?,
    }
    Ok(Exit::Ok)
}

/// Returns what the command renders.
///
/// # Errors
/// Errors of the chart and its values.
pub(crate) fn rendering(args: &RenderArgs, files: &mut InputFiles, console: &Console) -> Result<Rendering, Failed> {
    refuse_options(args)?;
    let layers = crate::layers::layers(&args.values, Merge::default(), files, console)?;
    let release = args.chart.release();
    let chart = FleetChart {
        template: open(&args.file, args.values.allow.grant(args.language.engine())?, files)?,
        values: values::read(&args.values, files)?,
        name: Some(release.name.clone()),
        release,
        capabilities: args.chart.capabilities()?,
        selection: args.chart.selection(),
        namespace_key: None,
        single: true,
        check: DocumentCheck::new(false),
    };
    let (outputs, selector) = (chart.outputs(), Selector::default());
    let fleet = Fleet::new(vec![Cluster::new("", DataMap::default())])?;
    let (forge, paths) = (Forge::default(), super::paths(&args.file, &outputs, files));
    Ok(Rendering { fleet, layers, selector, forge, chart: Some(chart), paths, outputs })
}

/// Writes the documents of each template to a file of its own.
fn write(output: &Output, args: &RenderArgs, console: &Console) -> Checked<()> {
    let files = output.files(args.chart.selection());
    for (name, text) in &files {
        let path = args.output.join(name);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|error| {
                let message = format!("cannot create `{}`: {error}", folder.display());
                Diagnostic::new(Code::WriteFailed, message)
            })?;
        }
        let change = match write_file(&path, text.as_bytes(), false)? {
            Change::Create => "created",
            Change::Update => "updated",
            Change::Unchanged => "unchanged",
        };
        console.detail(&format!("{}: {change}", path.display()));
    }
    console.note(&format!("wrote {} below {}", counted(files.len(), "file"), args.output.display()));
    Ok(())
}

/// Checks that no option is used that charts do not have.
fn refuse_options(args: &RenderArgs) -> Checked<()> {
    let given = [
        ("--template", args.template.is_some()),
        ("--lang", args.language.lang.is_some()),
        ("--missing-key", args.language.missing_key.is_some()),
        ("--include-root", args.language.include_root.is_some()),
        ("--output-format", args.format.output_format.is_some()),
        ("--kube-schemas", args.kinds.files().next().is_some()),
        ("--checked", args.checked),
    ];
    let given = given.iter().find(|(_, given)| *given).map(|(option, _)| *option);
    if let Some(option) = given.or_else(|| args.schema.first_given()).or_else(|| args.folder.first_given()) {
        return Err(unused(option, &args.file).with_help("options of charts are under \"Helm charts\" in `--help`"));
    }
    if !is_dash(&args.output) && !args.chart.show_only.is_empty() {
        let message = "`--show-only` prints to standard output: it cannot be combined with `--output`";
        return Err(Diagnostic::new(Code::Usage, message));
    }
    Ok(())
}
