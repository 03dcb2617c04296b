//! `dropforge render DIR`: all outputs of a folder, without a fleet.

use std::io;
use std::path::Path;
use std::time::Instant;

use clap::Args;
use indicatif::ProgressBar;

use dropforge::bulk::{
    self, Cluster, Fleet, Forge, Job, KubeSchemas, Layers, Layout, Merge, Options, Plan, ReadValues, Report, Selector,
    Stamper, TemplatePaths, Watch,
};
use dropforge::diagnostics::{Code, Diagnostic, Result};
use dropforge::value::DataMap;

use crate::changes::ChangeArgs;
use crate::console::Console;
use crate::copies::NamedFiles;
use crate::exit::{Exit, Failed};
use crate::input::{InputFiles, is_dash};
use crate::kube_schemas;
use crate::layers::layers;
use crate::options::Global;
use crate::outputs::{Loaded, OutputArgs, Outputs, Sources, completed};
use crate::render::RenderArgs;
use crate::signals::Stop;
use crate::stamp::print_problems;
use crate::summary;
use crate::why::Rendering;

/// Options of folders.
#[derive(Debug, Args)]
#[command(next_help_heading = "Folders")]
pub(crate) struct FolderArgs {
    /// Set the pattern of output paths [default: {template}]
    ///
    /// With {kind}, {apiVersion}, {name}, {namespace}, {metadata.a} or
    /// {document.a.b}, each YAML document gets its own file. Others like
    /// {region} are values. {namespace|none} is `none` if there is no namespace.
    #[arg(long, value_name = "LAYOUT")]
    pub(crate) layout: Option<String>,
    #[command(flatten)]
    pub(crate) outputs: OutputArgs,
    #[command(flatten)]
    pub(crate) changes: ChangeArgs,
}

impl FolderArgs {
    /// Returns the first of these options that is given.
    pub(crate) fn first_given(&self) -> Option<&'static str> {
        let layout = self.layout.is_some().then_some("--layout");
        layout.or_else(|| self.outputs.first_given()).or_else(|| self.changes.preview())
    }

    /// Returns the layout of output paths.
    ///
    /// # Errors
    /// `plan.bad_layout`.
    pub(crate) fn layout(&self) -> Result<Layout> {
        Layout::parse(self.layout.as_deref().unwrap_or("{template}"))?.of_one()
    }

    /// Checks that no option of folders is used with the one template `file`.
    ///
    /// # Errors
    /// `usage` with the first such option.
    pub(crate) fn check_unused(&self, file: &Path) -> Result<()> {
        let Some(option) = self.first_given() else { return Ok(()) };
        let message = format!("`{option}` does not apply to `{}`: it is one template", file.display());
        Err(Diagnostic::new(Code::Usage, message).with_help("name a folder"))
    }
}

/// Renders all templates of a folder as one cluster without a name.
///
/// # Errors
/// Errors of the plan, of compiling, and of writing.
pub(crate) fn run(
    args: &RenderArgs,
    global: &Global,
    files: &mut InputFiles,
    console: &Console,
) -> std::result::Result<Exit, Failed> {
    let started = Instant::now();
    let (changes, is_stream) = (&args.folder.changes, is_dash(&args.output));
    if let Some(option) = changes.preview().filter(|_| is_stream) {
        let message = format!("`{option}` needs an output directory (`-o DIR`)");
        return Err(Diagnostic::new(Code::Usage, message).into());
    }
    if !is_stream && changes.preview().is_none() {
        files.start_log();
    }
    let layout = args.folder.layout()?;
    let templates = std::slice::from_ref(&args.file);
    let layers = args.schema.add_to(layers(&args.values, Merge::default(), files, console)?, templates, files)?;
    let kinds = args.kinds.read(args.warnings.strict)?;
    let sources = sources(args);
    let Loaded { forge, names, paths } = sources.load(files, console)?;
    let outputs = Outputs::new(&sources, is_stream, &forge, names)?;
    let layout = outputs.layout(layout)?;
    let fleet = Fleet::new(vec![Cluster::new("", DataMap::default())])?;
    let plan = Plan::new(&fleet, &layers, &Selector::default(), outputs.all, layout)?;
    let read = || ReadValues::by(forge.templates()).and_plan(&Selector::default(), plan.layout(), None);
    if args.warnings.refuse(&layers, &plan.selection(&fleet), read, console)? {
        return Ok(Exit::Error);
    }
    let templates = plan.outputs().iter().map(|output| output.template.as_str());
    let stamper = forge.stamper(templates, &layers)?.for_plan(&plan).with_kinds(kinds.as_ref());
    let plain_stream = outputs.plain_stream;
    let made = Made {
        fleet: &fleet,
        layers: &layers,
        plan: &plan,
        stamper,
        forge: &forge,
        paths,
        plain_stream,
        kinds: kinds.as_ref(),
    };
    made.write(args, global, files, (started, console))
}

/// The outputs of a folder or a chart, and what they are made of.
pub(crate) struct Made<'m> {
    /// One cluster without a name.
    pub(crate) fleet: &'m Fleet,
    pub(crate) layers: &'m Layers,
    pub(crate) plan: &'m Plan,
    pub(crate) stamper: Stamper<'m>,
    /// The templates, unless they are those of a chart.
    pub(crate) forge: &'m Forge,
    pub(crate) paths: TemplatePaths,
    /// `true` if a stream of the outputs needs no separators.
    pub(crate) plain_stream: bool,
    pub(crate) kinds: Option<&'m KubeSchemas>,
}

impl Made<'_> {
    /// Renders the outputs, and writes them or compares them with existing files.
    ///
    /// # Errors
    /// Errors of writing.
    pub(crate) fn write(
        self,
        args: &RenderArgs,
        global: &Global,
        files: &InputFiles,
        (started, console): (Instant, &Console),
    ) -> std::result::Result<Exit, Failed> {
        let Self { fleet, layers, plan, stamper, forge, paths, plain_stream, kinds } = self;
        let (changes, is_stream) = (&args.folder.changes, is_dash(&args.output));
        let options = args.folder.outputs.options();
        let (deletions, run) = (changes.compare(), global.run.clone());
        let options = Options { plain_stream, templates: paths, deletions, run, read: files.log().clone(), ..options };
        let stop = Stop::listen();
        let watch = Watch { stop: stop.flag(), ..Watch::none() };
        let job = Job { fleet, layers, plan, options: &options, watch };
        let report = match changes.preview() {
            Some(_) => changes.print(&stamper, &job, &args.output, &ProgressBar::hidden(), console)?,
            None if is_stream => bulk::stream(&stamper, &job, &mut io::stdout())?,
            None => bulk::stamp(&stamper, &job, &args.output)?,
        };
        kube_schemas::warn(kinds, console);
        let report = completed(report, forge, plan);
        print_problems(&report, console);
        summary::print_folder(&report, (changes.preview().is_some(), is_stream), started.elapsed(), console);
        match exit(&report, &stop) {
            Exit::Ok if args.warnings.are_errors(console) => Ok(Exit::Error),
            Exit::Ok if changes.compare() && report.differs() => Ok(Exit::Differs),
            exit => Ok(exit),
        }
    }
}

/// Returns what the command renders.
///
/// # Errors
/// Errors of reading and compiling.
pub(crate) fn rendering(
    args: &RenderArgs,
    files: &mut InputFiles,
    console: &Console,
) -> std::result::Result<Rendering, Failed> {
    let templates = std::slice::from_ref(&args.file);
    let layers = args.schema.add_to(layers(&args.values, Merge::default(), files, console)?, templates, files)?;
    let sources = sources(args);
    let Loaded { forge, names, paths } = sources.load(files, console)?;
    let outputs = Outputs::new(&sources, is_dash(&args.output), &forge, names)?.all;
    let outputs = outputs.into_iter().filter(|one| args.template.as_ref().is_none_or(|name| one.template == *name));
    let (fleet, selector) = (Fleet::new(vec![Cluster::new("", DataMap::default())])?, Selector::default());
    Ok(Rendering { fleet, layers, selector, forge, chart: None, paths, outputs: outputs.collect() })
}

/// Returns the templates of the command and the options to load them with.
fn sources(args: &RenderArgs) -> Sources<'_> {
    Sources {
        paths: std::slice::from_ref(&args.file),
        language: &args.language,
        values: &args.values,
        cache: &args.cache,
        outputs: &args.folder.outputs,
        named: NamedFiles::new(&args.values, Some(&args.output)).with(args.schema.file()),
        format: args.format.output_format,
    }
}

/// Returns the exit.
fn exit(report: &Report, stop: &Stop) -> Exit {
    let is_invalid = |code: Code| matches!(code, Code::InvalidOutput | Code::UnfitOutput);
    match () {
        () if report.interrupted => Exit::Signal(stop.number()),
        () if report.is_complete() && report.errors.is_empty() => Exit::Ok,
        () if !report.failures.is_empty()
            && report.failures.iter().all(|failure| is_invalid(failure.diagnostic.code)) =>
        {
            Exit::Partial
        }
        () => Exit::Error,
    }
}
