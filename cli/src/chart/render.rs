//! `dropforge render CHART`: the text of `helm template`.

use std::time::Instant;

use dropforge::bulk::{
    Cluster, DocumentCheck, Fleet, FleetChart, Forge, Layers, Merge, Plan, ReadValues, Selection as Clusters, Selector,
    Stamper, show_chart_writers,
};
use dropforge::diagnostics::{Code, Diagnostic, Diagnostics, Result as Checked};
use dropforge::engine::chart::ChartRender;
use dropforge::value::DataMap;

use super::{open, print, refuse_others, unused, values};
use crate::console::Console;
use crate::exit::{Exit, Failed};
use crate::folder::Made;
use crate::input::{InputFiles, is_dash};
use crate::kube_schemas;
use crate::layers::layers;
use crate::options::{CheckMode, Global};
use crate::outputs::Outputs;
use crate::render::RenderArgs;
use crate::why::Rendering;

/// Renders a chart.
///
/// # Errors
/// Errors of the chart and its values; a document that is not YAML; errors of writing.
pub(crate) fn run(
    args: &RenderArgs,
    global: &Global,
    files: &mut InputFiles,
    console: &Console,
) -> Result<Exit, Failed> {
    refuse_options(args)?;
    if !is_dash(&args.output) {
        return write(args, global, files, console);
    }
    let chart = chart(args, true, files)?;
    if refuse_unread(args, &chart, files, console)? {
        return Ok(Exit::Error);
    }
    let FleetChart { template, values, release, capabilities, selection, .. } = chart;
    let render = template.render(&values, &release, &capabilities)?;
    let output = render.output()?;
    print::unusual(&render, is_strict(args), console)?;
    let text = match args.chart.show_only.as_slice() {
        [] => output.text_of(selection),
        patterns => output.only(patterns, selection)?,
    };
    check_kinds(args, render, &text, console)?;
    if args.warnings.are_errors(console) {
        return Ok(Exit::Error);
    }
    crate::output::print(text)?;
    Ok(Exit::Ok)
}

/// Warns of values that nothing in the chart reads. Returns `true` if nothing may be written.
fn refuse_unread(args: &RenderArgs, chart: &FleetChart, files: &mut InputFiles, console: &Console) -> Checked<bool> {
    // What only charts can read as values is left out.
    let given =
        if args.values.gives_values() { layers(&args.values, Merge::default(), files, console).ok() } else { None };
    let Some(given) = given else { return Ok(args.warnings.are_errors(console)) };
    let fleet = Fleet::default();
    let clusters = Clusters::of(&fleet, &given, &Selector::default())?;
    args.warnings.refuse(&given, &clusters, || ReadValues::by_chart(chart, Some(&given)), console)
}

/// Returns what the command renders.
///
/// # Errors
/// Errors of the chart and its values.
pub(crate) fn rendering(args: &RenderArgs, files: &mut InputFiles, console: &Console) -> Result<Rendering, Failed> {
    refuse_options(args)?;
    let layers = layers(&args.values, Merge::default(), files, console)?;
    let chart = chart(args, is_dash(&args.output), files)?;
    let (outputs, selector) = (outputs(&chart).all, Selector::default());
    let (forge, paths) = (Forge::default(), super::paths(&args.file, &outputs, files));
    Ok(Rendering { fleet: fleet()?, layers, selector, forge, chart: Some(chart), paths, outputs })
}

/// Returns one cluster without a name.
fn fleet() -> Result<Fleet, Failed> {
    Ok(Fleet::new(vec![Cluster::new("", DataMap::default())])?)
}

/// Opens the chart. `single` asks for one text.
fn chart(args: &RenderArgs, single: bool, files: &mut InputFiles) -> Result<FleetChart, Diagnostics> {
    let (release, mut values) = (args.chart.release(), values::read(&args.values, files)?);
    values.skip_schemas(args.schema.is_off());
    Ok(FleetChart {
        values,
        template: open(&args.file, args.values.allow.grant(args.language.engine())?, files)?,
        name: Some(release.name.clone()),
        release,
        capabilities: args.chart.capabilities()?,
        selection: args.chart.selection(),
        namespace_key: None,
        single,
        check: DocumentCheck::new(is_strict(args) || args.warnings.strict),
    })
}

/// Returns the outputs: the names of files are those of templates, as `helm template --output-dir` has them.
fn outputs(chart: &FleetChart) -> Outputs {
    let mut outputs = Outputs::of_chart(chart);
    outputs.all.iter_mut().filter(|_| !chart.single).for_each(|output| output.name.clone_from(&output.template));
    outputs
}

fn is_strict(args: &RenderArgs) -> bool {
    args.check_output == Some(CheckMode::Strict)
}

/// Checks printed documents by the schemas of their kinds.
fn check_kinds(args: &RenderArgs, render: ChartRender, text: &str, console: &Console) -> Result<(), Diagnostics> {
    let kinds = args.kinds.read(args.warnings.strict)?;
    let name = format!("{}.yaml", render.plan().charts().first().map_or("", |chart| chart.path()));
    let mut errors = kinds.as_ref().map(|kinds| kinds.errors_of_file(&name, text)).unwrap_or_default();
    kube_schemas::warn(kinds.as_ref(), console);
    if errors.is_empty() {
        return Ok(());
    }
    show_chart_writers(render, text, &mut errors);
    Err(errors.into())
}

/// Writes the documents of each template to a file of its own, or compares them with existing files.
fn write(args: &RenderArgs, global: &Global, files: &mut InputFiles, console: &Console) -> Result<Exit, Failed> {
    let started = Instant::now();
    if args.folder.changes.preview().is_none() {
        files.start_log();
    }
    let kinds = args.kinds.read(args.warnings.strict)?;
    let chart = chart(args, false, files)?;
    if refuse_unread(args, &chart, files, console)? {
        return Ok(Exit::Error);
    }
    // Only the paths of outputs need the values apart from the chart.
    let layers = match args.folder.layout {
        Some(_) => layers(&args.values, Merge::default(), files, console)?,
        None => Layers::default(),
    };
    let outputs = outputs(&chart);
    let layout = outputs.layout(args.folder.layout()?)?;
    let paths = super::paths(&args.file, &outputs.all, files);
    let fleet = fleet()?;
    let plan = Plan::new(&fleet, &layers, &Selector::default(), outputs.all, layout)?;
    let stamper = Stamper::of_chart(&chart, &layers).for_plan(&plan).with_kinds(kinds.as_ref());
    let (forge, plain_stream, kinds) = (&Forge::default(), outputs.plain_stream, kinds.as_ref());
    let made = Made { fleet: &fleet, layers: &layers, plan: &plan, stamper, forge, paths, plain_stream, kinds };
    let exit = made.write(args, global, files, (started, console))?;
    console.diagnostics(chart.check.warnings().iter().cloned());
    Ok(exit)
}

/// Checks that no option is used that charts do not have.
fn refuse_options(args: &RenderArgs) -> Checked<()> {
    refuse_others(&args.language, &args.schema, &args.file)?;
    let given = [
        ("--template", args.template.is_some()),
        ("--output-format", args.format.output_format.is_some()),
        ("--copy", !args.folder.outputs.copy.is_empty()),
    ];
    let given = given.iter().find(|(_, given)| *given).map(|(option, _)| *option);
    if let Some(option) = given.or_else(|| args.schema.first_given()) {
        return Err(unused(option, &args.file));
    }
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
