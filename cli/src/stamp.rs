//! `dropforge stamp`: a fleet to disk, to one stream, or compared with existing files.

mod streamed;
mod target;

use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;

use dropforge::bulk::{
    self, FleetChart, Forge, Job, KubeSchemas, Layers, Layout, Options, Plan, ReadValues, Report, Selector, Stamper,
    TemplatePaths, Watch,
};
use dropforge::diagnostics::{Code, Diagnostic, Result, counted};

use crate::changes::ChangeArgs;
use crate::chart::{self, FleetChartArgs};
use crate::console::Console;
use crate::copies::NamedFiles;
use crate::exit::{Exit, Failed};
use crate::fleet::{FleetArgs, check_selection};
use crate::glob;
use crate::input::{InputFiles, is_dash, is_pipe};
use crate::kube_schemas::{self, KubeArgs};
use crate::layers::layers;
#[cfg(not(feature = "remote"))]
use crate::no_remote as remote;
use crate::options::{CacheArgs, FormatArgs, Global, LanguageArgs, ValueArgs};
use crate::outputs::{Loaded, OutputArgs, Outputs, Sources, completed};
use crate::progress;
#[cfg(feature = "remote")]
use crate::remote;
use crate::schema::SchemaArgs;
use crate::shards::{PlanInputs, ShardArgs, Share};
use crate::signals::Stop;
use crate::specialise::{self, SpecialiseArgs};
use crate::stores::StoreArgs;
use crate::summary;
use crate::unread::WarningArgs;
use crate::watch::{Seen, WatchArgs};
use crate::why::Rendering;

use target::{Target, is_whole, stamp};

/// Stamp templates for every cluster of a fleet
///
///     dropforge stamp templates/ --fleet clusters.ndjson -f values.yaml -o out/
///
/// Writes a file for each cluster and template. Files are replaced atomically,
/// and unchanged files are not written. A cluster that fails keeps its old files
/// and does not stop the others.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct StampArgs {
    /// Template files, directories or artifacts, or a Helm chart
    #[arg(required = true, value_name = "TEMPLATES")]
    pub(crate) templates: Vec<PathBuf>,
    #[command(flatten)]
    fleet: FleetArgs,
    /// Write to this directory, or below s3://BUCKET/PREFIX; with `--layout single`, to this file, object or `-`
    #[arg(short, long, value_name = "OUT", value_parser = remote::output)]
    output: Option<PathBuf>,
    #[command(flatten)]
    format: FormatArgs,
    /// Set the pattern of output paths, or `single` for one stream
    ///
    /// {cluster} and {template} are names, others like {region} or {cluster.env}
    /// are values of the cluster. With {kind}, {apiVersion}, {name}, {namespace},
    /// {metadata.a} or {document.a.b}, each YAML document gets its own file.
    /// {namespace|none} is `none` if there is no namespace. A `:` in a name is
    /// written as `_`.
    #[arg(long, default_value = bulk::DEFAULT_LAYOUT, value_name = "LAYOUT")]
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
    #[command(flatten)]
    stores: StoreArgs,
    #[command(flatten)]
    changes: ChangeArgs,
    #[command(flatten)]
    pub(crate) language: LanguageArgs,
    #[command(flatten)]
    values: ValueArgs,
    #[command(flatten)]
    schema: SchemaArgs,
    #[command(flatten)]
    pub(crate) warnings: WarningArgs,
    #[command(flatten)]
    cache: CacheArgs,
    #[command(flatten)]
    specialise: SpecialiseArgs,
    #[command(flatten)]
    chart: FleetChartArgs,
    #[command(flatten)]
    shards: ShardArgs,
    /// Stamp clusters of NDJSON, CSV or TSV as they come, such as those of a pipe, without reading the fleet first
    ///
    /// An invalid line, or a repeated name or path, is found when it comes, or at the
    /// end: what was written before stays, and nothing is pruned.
    #[arg(long, conflicts_with_all = ["check", "diff", "dry_run", "watch", "explain_plan", "shard", "shards", "finish"])]
    stream: bool,
    #[command(flatten)]
    pub(crate) watch: WatchArgs,
}

/// The layout for one stream.
const SINGLE: &str = "single";

/// The surroundings of a run.
pub(crate) struct Run<'r> {
    pub(crate) global: &'r Global,
    pub(crate) console: &'r Console,
    /// Listens from the first output on.
    pub(crate) stop: &'r OnceCell<Stop>,
}

/// Runs the command.
pub(crate) fn run(
    args: &StampArgs,
    global: &Global,
    files: &mut InputFiles,
    console: &Console,
) -> std::result::Result<Exit, Failed> {
    let (started, stop) = (Instant::now(), OnceCell::new());
    let run = Run { global, console, stop: &stop };
    let report = once(args, &run, files, &mut Seen::default())?;
    if args.specialise.explain_plan {
        return Ok(Exit::Ok);
    }
    Ok(finish(args, &report, &run, started))
}

/// What a run works on, without the clusters.
struct Prepared {
    layers: Layers,
    selector: Selector,
    kinds: Option<KubeSchemas>,
    forge: Forge,
    /// The chart that makes all outputs instead of the templates.
    chart: Option<FleetChart>,
    paths: TemplatePaths,
    outputs: Outputs,
    layout: Layout,
}

impl Prepared {
    /// Reads a chart instead of templates.
    fn of_chart(
        path: &Path,
        args: &StampArgs,
        files: &mut InputFiles,
        rest: (Layers, Selector, Option<KubeSchemas>, Layout),
    ) -> std::result::Result<Self, Failed> {
        chart::refuse_others(&args.language, &args.schema, path)?;
        let options = [
            ("--output-format", args.format.output_format.is_some()),
            ("--explain-plan", args.specialise.explain_plan),
        ];
        if let Some((option, _)) = options.iter().find(|(_, given)| *given) {
            return Err(chart::unused(option, path).into());
        }
        let (layers, selector, kinds, layout) = rest;
        let single = args.layout == SINGLE;
        let with = (&args.chart, &args.language, &args.values, &args.schema);
        let chart = chart::load(path, with, (single, args.fleet.name_key()), files)?;
        let outputs = Outputs::of_chart(&chart);
        let (layout, paths) = (outputs.layout(layout)?, chart::paths(path, &outputs.all, files));
        Ok(Self { layers, selector, kinds, forge: Forge::default(), chart: Some(chart), paths, outputs, layout })
    }

    /// Prints the warnings of a run.
    fn warn(&self, console: &Console) {
        kube_schemas::warn(self.kinds.as_ref(), console);
        let found = self.chart.iter().flat_map(|chart| chart.check.warnings());
        found.for_each(|warning| console.diagnostic(warning));
    }

    /// Creates the renderer of a plan.
    ///
    /// # Errors
    /// `template.unknown`.
    fn stamper<'p>(&'p self, plan: &'p Plan) -> Result<Stamper<'p>> {
        let stamper = match &self.chart {
            Some(chart) => Stamper::of_chart(chart, &self.layers),
            None => {
                let names = plan.outputs().iter().map(|output| output.template.as_str());
                self.forge.stamper(names, &self.layers)?
            }
        };
        Ok(stamper.for_plan(plan).with_kinds(self.kinds.as_ref()))
    }
}

/// Reads everything but the clusters.
fn prepare(args: &StampArgs, console: &Console, files: &mut InputFiles) -> std::result::Result<Prepared, Failed> {
    let layout = Layout::parse(if args.layout == SINGLE { bulk::DEFAULT_LAYOUT } else { &args.layout })?;
    let selector = args.fleet.selector()?;
    let chart = chart::only_chart(&args.templates)?;
    // A chart checks values by its own schemas, together with its defaults.
    let templates = if chart.is_some() { &[][..] } else { &args.templates };
    let layers = layers(&args.values, args.fleet.merge(), files, console)?;
    let layers = args.schema.add_to(layers, templates, files)?;
    let kinds = args.kinds.read(args.warnings.strict)?;
    if let Some(path) = chart {
        return Prepared::of_chart(path, args, files, (layers, selector, kinds, layout));
    }
    if let Some(path) = args.templates.first() {
        args.chart.check_unused(path)?;
    }
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
    let forge = if args.specialise.no_specialise || args.stream { forge.general() } else { forge };
    let outputs = Outputs::new(&sources, args.layout == SINGLE, &forge, names)?;
    let layout = outputs.layout(layout)?;
    Ok(Prepared { layers, selector, kinds, forge, chart: None, paths, outputs, layout })
}

/// Returns what the command renders, for every cluster that it selects.
///
/// # Errors
/// Errors of reading and compiling.
pub(crate) fn rendering(
    args: &StampArgs,
    files: &mut InputFiles,
    console: &Console,
) -> std::result::Result<Rendering, Failed> {
    let fleet = args.fleet.read(files)?;
    let Prepared { layers, selector, forge, chart, paths, outputs, .. } = prepare(args, console, files)?;
    Ok(Rendering { fleet, layers, selector, forge: forge.general(), chart, paths, outputs: outputs.all })
}

/// Stamps once: everything, or what differs from the run that was `seen`.
pub(crate) fn once(
    args: &StampArgs,
    &Run { global, console, stop }: &Run<'_>,
    files: &mut InputFiles,
    seen: &mut Seen,
) -> std::result::Result<Report, Failed> {
    let target = Target::of(args)?;
    if args.language.lang.is_none() {
        args.fleet.check_templates(&args.templates)?;
    }
    let share = args.shards.share(&args.fleet.fleet, args.layout == SINGLE)?;
    share.start(files);
    // Nothing else has a manifest.
    if args.layout != SINGLE && args.changes.preview().is_none() {
        files.start_log();
    }
    if args.stream {
        return streamed::once(args, &Run { global, console, stop }, &target, files);
    }
    let fleet = args.fleet.read(files)?;
    let mut prepared = prepare(args, console, files)?;
    let (all, paths) = (std::mem::take(&mut prepared.outputs.all), std::mem::take(&mut prepared.paths));
    let Prepared { layers, selector, forge, outputs, layout, .. } = &prepared;
    let plan = Plan::new(&fleet, layers, selector, all, layout.clone())?;
    check_selection(selector, &fleet, layers, plan.clusters())?;
    if plan.clusters() == 0 {
        console.warning("no clusters to stamp");
    }
    let clusters = plan.selection(&fleet);
    let read = || {
        let read = match &prepared.chart {
            Some(chart) => ReadValues::by_chart(chart, None),
            None => ReadValues::by(forge.templates()),
        };
        read.and_plan(selector, plan.layout(), args.fleet.name_key())
    };
    if args.warnings.refuse(layers, &clusters, read, console)? {
        return Err(Failed { diagnostics: Vec::new(), failures: Vec::new(), exit: Exit::Error });
    }
    if !args.specialise.no_specialise {
        specialise::print_choices(forge, &clusters, layers, console)?;
    }
    let made = PlanInputs { forge, layers, fleet: &fleet, plan: &plan, kinds: prepared.kinds.as_ref() };
    let digest = share.digest(&global.deciding, chart::only_chart(&args.templates)?, made, files)?;
    let plan = match share {
        Share::Shard(shard) => plan.of_shard(&fleet, shard)?,
        Share::All | Share::Finish(_) => plan,
    };
    // The files of a template or cluster that is gone, or documents that are, are found by a whole run. So are those of a
    // chart, whose templates depend on one another.
    let whole = args.layout == SINGLE || prepared.chart.is_some() || (args.prune && plan.is_of_documents());
    let plan = if whole { plan } else { seen.narrow(plan, &fleet, layers, forge, args.prune)? };
    let (templates, clusters) = (counted(plan.outputs().len(), "template"), counted(plan.clusters(), "cluster"));
    console.detail(&format!("stamping {templates} for {clusters}"));
    let stamper = prepared.stamper(&plan)?;
    let (stop, bar) = (stop.get_or_init(Stop::listen), progress::bar(plan.clusters(), console));
    let tick = || bar.inc(1);
    let prune = args.prune && !seen.is_narrowed();
    let shard = share.of(digest.clone());
    let plain_stream = outputs.plain_stream;
    let leftovers = is_whole(&args.fleet, selector) && !seen.is_narrowed();
    let options = Options { plain_stream, templates: paths, prune, leftovers, shard, ..options(args, global, files) };
    let watch = Watch { stop: stop.flag(), done: &tick };
    let job = Job { fleet: &fleet, layers, plan: &plan, options: &options, watch };
    if args.specialise.explain_plan {
        bar.finish_and_clear();
        specialise::print(stamper.specialisation(&job), plan.clusters())?;
        return Ok(Report::default());
    }
    let report = match (share, &target) {
        (Share::Finish(count), Target::Directory(out)) => bulk::finish_shards(&job, &digest, count, out),
        (Share::Finish(count), Target::Store(store)) => store.finish(&job, &digest, count),
        _ => stamp(args, &target, &stamper, &job, &bar, console),
    };
    bar.finish_and_clear();
    prepared.warn(console);
    Ok(completed(report?, forge, &plan))
}

impl StampArgs {
    /// Returns the paths of the templates, to replace URLs by local copies.
    ///
    /// # Errors
    /// `usage` for URLs with `--watch`, and for a URL of sources beside other templates, which have no folder in common.
    pub(crate) fn fetched_templates(&mut self, files: &InputFiles) -> Result<&mut [PathBuf]> {
        let is_url = |path: &PathBuf| files.is_url(path);
        if self.watch.watch && self.templates.iter().any(is_url) {
            return Err(Diagnostic::new(Code::Usage, "`--watch` does not apply to templates by URL"));
        }
        let is_artifact = |path: &PathBuf| path.starts_with("oci:") || path.extension().is_some_and(|end| end == "mpk");
        if self.templates.len() > 1 && self.templates.iter().any(|path| is_url(path) && !is_artifact(path)) {
            return Err(Diagnostic::new(Code::Usage, "a URL of templates cannot be combined with other templates")
                .with_help("put them below one prefix, or into an artifact"));
        }
        Ok(&mut self.templates)
    }

    /// Returns `true` if the run is one of several that stamp a fleet.
    pub(crate) fn has_shards(&self) -> bool {
        self.shards.any()
    }

    /// Checks that the run can be repeated.
    ///
    /// # Errors
    /// `usage` for standard input, pipes and standard output.
    pub(crate) fn check_watchable(&self) -> Result<()> {
        let target = Target::of(self)?;
        if matches!(target, Target::Store(_)) {
            return Err(Diagnostic::new(Code::Usage, "`--watch` does not apply to object stores and packs")
                .with_help("name a directory with `-o DIR`, without `--pack`"));
        }
        if let Some(pipe) = self.inputs().find(|path| is_pipe(path)) {
            let message = format!("`--watch` does not apply to the pipe `{}`", pipe.display());
            return Err(Diagnostic::new(Code::Usage, message).with_help("write the input to a file, and name that"));
        }
        match self.inputs().any(|path| is_dash(&path)) || matches!(target, Target::Stdout) {
            true => Err(Diagnostic::new(Code::Usage, "`--watch` does not apply to standard input and output")
                .with_help("name files, and a directory with `-o DIR`")),
            false => Ok(()),
        }
    }

    /// Returns the files and folders that the run reads.
    pub(crate) fn inputs(&self) -> impl Iterator<Item = PathBuf> {
        let fleets = self.fleet.fleet.iter().map(|pattern| glob::literal_part(pattern));
        let schemas = self.schema.file().into_iter().chain(self.schema.var_types()).map(Path::to_owned);
        let schemas = schemas.chain(self.kinds.files().cloned());
        let values = self.values.values.iter().cloned().chain(self.values.sets.files());
        self.templates.iter().cloned().chain(fleets).chain(values).chain(schemas)
    }

    /// Returns `true` if a changed file is a template, or copied, or a fleet, so that [`Seen`] finds what it reaches.
    pub(crate) fn is_narrow(&self, changed: &Path) -> bool {
        let mut fleets = self.fleet.fleet.iter().map(|pattern| glob::literal_part(pattern));
        let is_schema = changed.to_string_lossy().ends_with(".schema.json");
        let is_template = self.templates.iter().any(|path| changed.starts_with(path)) && !is_schema;
        is_template || fleets.any(|path| changed.starts_with(path))
    }

    /// Returns the directory or the file to write to.
    pub(crate) fn output(&self) -> Option<PathBuf> {
        self.output.clone()
    }

    /// Returns the folder that includes are relative to, if there are sources.
    ///
    /// # Errors
    /// Errors of [`LanguageArgs::discover`].
    pub(crate) fn include_root(&self) -> Result<Option<PathBuf>> {
        let (_, sources) = crate::artifacts::split(&self.templates);
        if sources.is_empty() || chart::only_chart(&self.templates)?.is_some() {
            Ok(None)
        } else {
            self.language.discover(&sources, &NamedFiles::default()).map(|set| Some(set.root))
        }
    }
}

fn options(args: &StampArgs, global: &Global, files: &InputFiles) -> Options {
    Options {
        threads: global.jobs.map_or(0, usize::from),
        fail_fast: args.fail_fast,
        fsync: args.fsync,
        specialise: args.specialise.option(),
        prune: args.prune,
        prune_force: args.prune_force,
        deletions: args.changes.compare(),
        run: global.run.clone(),
        read: files.log().clone(),
        ..args.outputs.options()
    }
}

/// Prints errors and warnings.
pub(crate) fn print_problems(report: &Report, console: &Console) {
    for failure in console.join_places(&report.failures).iter() {
        match failure.diagnostic.cluster {
            Some(_) => console.failure(failure),
            // A folder is one cluster without a name.
            None => console.diagnostic(&failure.diagnostic),
        }
    }
    report.errors.iter().for_each(|error| console.diagnostic(error));
    report.warnings.iter().for_each(|warning| console.warning(warning));
    report.notes.iter().for_each(|note| console.note(&format!("note: {note}")));
}

/// Prints errors, warnings and the summary. Returns the exit.
fn finish(args: &StampArgs, report: &Report, run: &Run<'_>, started: Instant) -> Exit {
    print_problems(report, run.console);
    summary::print(report, args.changes.preview().is_some(), started.elapsed(), run.console);
    match () {
        // Faults of the plan.
        () if args.stream && !report.errors.is_empty() => {
            report.errors.first().map_or(Exit::Error, |error| Exit::of(error))
        }
        () if report.interrupted => Exit::Signal(run.stop.get().map_or(0, Stop::number)),
        () if report.failed > 0 && args.fail_fast => Exit::Error,
        () if report.failed > 0 => Exit::Partial,
        () if !report.errors.is_empty() => Exit::Error,
        () if args.warnings.are_errors(run.console) => Exit::Error,
        () if args.changes.compare() && report.differs() => Exit::Differs,
        () => Exit::Ok,
    }
}
