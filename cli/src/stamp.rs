//! `dropforge stamp`: a fleet to disk, to one stream, or compared with existing files.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use indicatif::ProgressBar;

use dropforge::bulk::{self, Change, Cluster, FilePreview, Job, Layout, Options, Plan, ReadValues, Report};
use dropforge::bulk::{Stamper, StreamFile, Watch};
use dropforge::diagnostics::{Code, Diagnostic, Result, counted};

use crate::changes::ChangeArgs;
use crate::console::Console;
use crate::copies::NamedFiles;
use crate::exit::{Exit, Failed};
use crate::fleet::{FleetArgs, check_selection};
use crate::input::{InputFiles, unreadable};
use crate::kube_schemas::{self, KubeArgs};
use crate::options::{CacheArgs, FormatArgs, Global, LanguageArgs, ValueArgs};
use crate::output::stdout_error;
use crate::outputs::{Loaded, OutputArgs, Outputs, Sources, completed};
use crate::progress;
use crate::schema::SchemaArgs;
use crate::signals::Stop;
use crate::summary;
use crate::unread::WarningArgs;

/// Stamp templates for every cluster of a fleet
///
///     dropforge stamp templates/ --fleet clusters.ndjson -f values.yaml -o out/
///
/// Writes a file for each cluster and template. Files are replaced atomically,
/// and unchanged files are not written. A cluster that fails keeps its old files
/// and does not stop the others.
///
/// Exit codes: 0 success; 1 template, data or I/O error; 2 usage error or invalid
/// plan; 3 --check or --diff found changes; 4 some clusters failed;
/// 129, 130, 143 stopped by a signal; 141 output pipe closed.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct StampArgs {
    /// Template files, directories or artifacts
    #[arg(required = true, value_name = "TEMPLATES")]
    templates: Vec<PathBuf>,
    #[command(flatten)]
    fleet: FleetArgs,
    /// Write to this directory; with `--layout single`, to this file or `-`
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    #[command(flatten)]
    format: FormatArgs,
    /// Set the pattern of output paths, or `single` for one stream
    ///
    /// {cluster} and {template} are names, others like {region} or {cluster.env}
    /// are values of the cluster. With {kind}, {apiVersion}, {name}, {namespace},
    /// {metadata.a} or {document.a.b}, each YAML document gets its own file.
    #[arg(long, default_value = bulk::DEFAULT_LAYOUT, value_name = "LAYOUT", verbatim_doc_comment)]
    layout: String,
    /// Delete files of earlier runs that these templates no longer make
    #[arg(long)]
    prune: bool,
    /// Prune even if more than half of the files would be deleted
    #[arg(long, requires = "prune")]
    prune_force: bool,
    /// Stop at the first cluster that fails
    #[arg(long)]
    fail_fast: bool,
    #[command(flatten)]
    outputs: OutputArgs,
    #[command(flatten)]
    kinds: KubeArgs,
    /// Sync files to disk, so that they survive a power failure
    #[arg(long)]
    fsync: bool,
    /// Print the files that would change, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Print the files that would change, exit with 3 if there are any, and write nothing
    #[arg(long)]
    check: bool,
    /// Print changes as a diff, exit with 3 if there are any, and write nothing
    #[arg(long)]
    diff: bool,
    #[command(flatten)]
    changes: ChangeArgs,
    #[command(flatten)]
    language: LanguageArgs,
    #[command(flatten)]
    values: ValueArgs,
    #[command(flatten)]
    schema: SchemaArgs,
    #[command(flatten)]
    warnings: WarningArgs,
    #[command(flatten)]
    cache: CacheArgs,
}

/// The layout for one stream.
const SINGLE: &str = "single";

/// Runs the command.
pub(crate) fn run(
    args: &StampArgs,
    global: &Global,
    files: &mut InputFiles,
    console: &Console,
) -> std::result::Result<Exit, Failed> {
    let started = Instant::now();
    let target = Target::of(args)?;
    let layout = Layout::parse(if args.layout == SINGLE { bulk::DEFAULT_LAYOUT } else { &args.layout })?;
    if args.language.lang.is_none() {
        args.fleet.check_templates(&args.templates)?;
    }
    let selector = args.fleet.selector()?;
    let layers = args.schema.layers(&args.values, args.fleet.merge(), &args.templates, files, console)?;
    let fleet = args.fleet.read(files)?;
    let kinds = args.kinds.read()?;
    let sources = Sources {
        paths: &args.templates,
        language: &args.language,
        values: &args.values,
        cache: &args.cache,
        outputs: &args.outputs,
        named: NamedFiles::new(&args.values, args.output.as_deref())
            .with_fleets(&args.fleet.fleet)?
            .with(args.schema.file()),
        format: args.format.output_format,
    };
    let Loaded { forge, names, paths } = sources.load(files, console)?;
    let outputs = Outputs::new(&sources, args.layout == SINGLE, &forge, names)?;
    let layout = outputs.layout(layout)?;
    let plan = Plan::new(&fleet, &layers, &selector, outputs.all, layout)?;
    check_selection(&selector, &fleet, &layers, plan.clusters())?;
    if plan.clusters() == 0 {
        console.warning("no clusters to stamp");
    }
    let clusters: Vec<&Cluster> = (0..plan.clusters()).filter_map(|at| plan.cluster(&fleet, at)).collect();
    let read = || ReadValues::by(forge.templates()).and_plan(&selector, plan.layout(), args.fleet.name_key());
    if args.warnings.refuse(&layers, &clusters, read, console) {
        return Ok(Exit::Error);
    }
    let (templates, clusters) = (counted(plan.outputs().len(), "template"), counted(plan.clusters(), "cluster"));
    console.detail(&format!("stamping {templates} for {clusters}"));
    let stamper = forge.stamper(plan.outputs().iter().map(|output| output.template.as_str()), &layers)?;
    let stamper = stamper.for_plan(&plan).with_kinds(kinds.as_ref());
    let (stop, bar) = (Stop::listen(), progress::bar(plan.clusters(), console));
    let tick = || bar.inc(1);
    let options = Options { plain_stream: outputs.json, templates: paths, ..options(args, global) };
    let watch = Watch { stop: stop.flag(), done: &tick };
    let job = Job { fleet: &fleet, layers: &layers, plan: &plan, options: &options, watch };
    let report = stamp(args, &target, &stamper, &job, &bar, console);
    bar.finish_and_clear();
    kube_schemas::warn(kinds.as_ref(), console);
    Ok(finish(args, &completed(report?, &forge, &plan), &stop, console, started))
}

impl StampArgs {
    /// Returns `true` if nothing is written.
    fn is_preview(&self) -> bool {
        self.dry_run || self.check || self.diff
    }
}

fn options(args: &StampArgs, global: &Global) -> Options {
    Options {
        threads: global.jobs.map_or(0, usize::from),
        fail_fast: args.fail_fast,
        fsync: args.fsync,
        prune: args.prune,
        prune_force: args.prune_force,
        deletions: args.check || args.diff,
        force: args.changes.force,
        ..args.outputs.options()
    }
}

/// The destination of outputs.
enum Target<'a> {
    Directory(&'a Path),
    Stdout,
    File(&'a Path),
}

impl<'a> Target<'a> {
    fn of(args: &'a StampArgs) -> Result<Self> {
        let usage = |message: &str, help: &str| Err(Diagnostic::new(Code::Usage, message).with_help(help));
        let is_single = args.layout == SINGLE;
        if is_single && args.prune {
            return usage("`--prune` does not apply to `--layout single`", "remove one of them");
        }
        match &args.output {
            None if is_single => Ok(Target::Stdout),
            None => usage("`--output` is missing", "use `-o DIR`, or `--layout single` for standard output"),
            Some(path) if path.as_os_str() == "-" && is_single => Ok(Target::Stdout),
            Some(path) if path.as_os_str() == "-" => {
                usage("`-o -` needs `--layout single`", "add `--layout single`, or use `-o DIR`")
            }
            Some(path) if is_single => Ok(Target::File(path)),
            Some(path) => Ok(Target::Directory(path)),
        }
    }
}

fn stamp(
    args: &StampArgs,
    target: &Target<'_>,
    stamper: &Stamper<'_>,
    job: &Job<'_>,
    bar: &ProgressBar,
    console: &Console,
) -> Result<Report> {
    match target {
        Target::Directory(out) if args.is_preview() => {
            let mut changes = args.changes.printer(out, args.diff, console);
            let mut print = |file: &FilePreview<'_>| bar.suspend(|| changes.print(file));
            let report = bulk::preview(stamper, job, out, &mut print)?;
            bar.suspend(|| changes.finish()).map_err(|error| stdout_error(&error))?;
            Ok(report)
        }
        Target::Directory(out) => bulk::stamp(stamper, job, out),
        Target::Stdout if args.is_preview() => {
            let option = if args.diff {
                "--diff"
            } else if args.check {
                "--check"
            } else {
                "--dry-run"
            };
            Err(Diagnostic::new(Code::Usage, format!("`{option}` needs an output file (`-o FILE`)")))
        }
        Target::Stdout => bulk::stream(stamper, job, &mut io::stdout()),
        Target::File(path) if args.is_preview() => compare_file(args, path, stamper, job, console),
        Target::File(path) => write_stream(path, stamper, job),
    }
}

fn write_stream(path: &Path, stamper: &Stamper<'_>, job: &Job<'_>) -> Result<Report> {
    let mut file = StreamFile::create(path)?;
    let report = bulk::stream(stamper, job, &mut file)?;
    if report.is_complete() {
        return Ok(one_file(report, file.finish()?));
    }
    let warning = format!("kept the old `{}` because the run is incomplete", path.display());
    Ok(Report { created: 0, warnings: vec![warning], ..report })
}

/// Converts the report of a stream, which counts outputs, to the report of one file.
fn one_file(report: Report, change: Change) -> Report {
    let count = |other: Change| usize::from(change == other);
    let (created, updated) = (count(Change::Create), count(Change::Update));
    Report { created, updated, unchanged: count(Change::Unchanged), ..report }
}

/// Previews one file. Both texts are held in memory.
fn compare_file(
    args: &StampArgs,
    path: &Path,
    stamper: &Stamper<'_>,
    job: &Job<'_>,
    console: &Console,
) -> Result<Report> {
    let mut new = Vec::new();
    let report = bulk::stream(stamper, job, &mut new)?;
    let (old, change) = match std::fs::read(path) {
        Ok(old) if old == new => return Ok(one_file(report, Change::Unchanged)),
        Ok(old) => (old, Change::Update),
        Err(error) if error.kind() == io::ErrorKind::NotFound => (Vec::new(), Change::Create),
        Err(error) => return Err(unreadable(path, error)),
    };
    let (old, new) = (String::from_utf8_lossy(&old), String::from_utf8_lossy(&new));
    let path = path.display().to_string();
    let file = FilePreview { path: &path, cluster: "", template: "", change: Some(change), old: &old, new: &new };
    let mut changes = args.changes.printer(Path::new(""), args.diff, console);
    changes.print(&file).and_then(|()| changes.finish()).map_err(|error| stdout_error(&error))?;
    Ok(one_file(report, change))
}

/// Prints errors, warnings and the summary. Returns the exit.
fn finish(args: &StampArgs, report: &Report, stop: &Stop, console: &Console, started: Instant) -> Exit {
    report.failures.iter().for_each(|failure| console.failure(failure));
    report.errors.iter().for_each(|error| console.diagnostic(error));
    report.warnings.iter().for_each(|warning| console.warning(warning));
    report.notes.iter().for_each(|note| console.note(&format!("note: {note}")));
    summary::print(report, args.is_preview(), started.elapsed(), console);
    match () {
        () if report.interrupted => Exit::Signal(stop.number()),
        () if report.failed > 0 && args.fail_fast => Exit::Error,
        () if report.failed > 0 => Exit::Partial,
        () if !report.errors.is_empty() => Exit::Error,
        () if args.warnings.are_errors(console) => Exit::Error,
        () if (args.check || args.diff) && report.differs() => Exit::Differs,
        () => Exit::Ok,
    }
}
