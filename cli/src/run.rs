//! One run of a command: reading what it renders, stamping it, and reporting. `stamp` has a fleet; `render` has one cluster
//! without a name.

use std::cell::OnceCell;
use std::fmt::Write;
use std::io;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::changes::ChangeArgs;
use crate::compile::{cache, noted_files, this_build};
use crate::exit::{Exit, Failed, Stop};
use crate::fleet::{FleetArgs, check_selection};
use crate::input::InputFiles;
use crate::missing::WarningArgs;
use crate::options::{CacheArgs, ErrorFormat, Global, LanguageArgs, ValueArgs};
use crate::output::stdout_error;
use crate::outputs::OutputArgs;
use crate::releases::{Definitions, ReleasesOption};
use crate::schema::{KubeArgs, SchemaArgs};
use crate::shards::RunPart;
use crate::stderr::Stderr;
use crate::watch::Seen;
use crate::{chart, remote, specialise, summary};
use crate::{layers, other_tools};
use dropforge::bulk::{
    ChartSet, Cluster, Failure, FilePreview, Fleet, LastRun, Layers, Layout, Merge, Options, Plan, PlanDigest,
    RELEASES_LAYOUT, Report, Run, RunMode, RunOutputs, RunSet, RunTarget, Selector, Specialise, TemplatePaths, Watch,
};
use dropforge::diagnostics::{Code, Diagnostic, Diagnostics, Result, counted};
use dropforge::dialect::helm::chart::UserValues;
use dropforge::engine::Dialect;
use dropforge::engine::chart::ChartTemplate;
use dropforge::value::{DataMap, OutputFormat};
use indicatif::{HumanFloatCount, ProgressBar, ProgressState, ProgressStyle};

/// The options of a run, whichever command has them.
pub(crate) struct RunArgs<'a> {
    /// The paths of the templates, or of one chart.
    pub(crate) paths: &'a [PathBuf],
    pub(crate) language: &'a LanguageArgs,
    pub(crate) values: &'a ValueArgs,
    pub(crate) schema: &'a SchemaArgs,
    pub(crate) kinds: &'a KubeArgs,
    pub(crate) cache: &'a CacheArgs,
    pub(crate) outputs: &'a OutputArgs,
    pub(crate) changes: &'a ChangeArgs,
    pub(crate) warnings: &'a WarningArgs,
    pub(crate) format: Option<OutputFormat>,
    /// The value of `-o`.
    pub(crate) output: Option<&'a Path>,
    pub(crate) target: Target<'a>,
    pub(crate) layout: Layout,
    /// The releases, for a command that renders several.
    pub(crate) releases: Option<&'a ReleasesOption>,
    /// The fleet. `None` for one cluster without a name.
    pub(crate) fleet: Option<&'a FleetArgs>,
    /// Creates the chart of the run from its templates and the values of the command line.
    pub(crate) chart: Box<dyn Fn(ChartTemplate, Vec<UserValues>) -> Result<ChartSet> + 'a>,
    /// Fail if values cannot be read as layers. Only a chart can do without: it merges values by its own rules.
    pub(crate) needs_values: bool,
    /// Read clusters batch by batch.
    pub(crate) stream: bool,
    pub(crate) share: RunPart,
    pub(crate) explain_plan: bool,
    /// The options of stamping that the command line gives.
    pub(crate) options: Options,
}

/// What a run without options on the command line takes for them.
#[derive(Debug, Default)]
pub(crate) struct RunDefaults {
    language: LanguageArgs,
    kinds: KubeArgs,
    cache: CacheArgs,
    outputs: OutputArgs,
    changes: ChangeArgs,
    warnings: WarningArgs,
}

impl RunDefaults {
    /// Returns the run of a project's releases, of which nothing is written.
    ///
    /// # Errors
    /// None: the layout of releases is valid.
    pub(crate) fn of_releases<'a>(
        &'a self,
        (releases, fleet): (&'a ReleasesOption, &'a FleetArgs),
        (values, schema): (&'a ValueArgs, &'a SchemaArgs),
    ) -> Result<RunArgs<'a>> {
        Ok(RunArgs {
            paths: &[],
            language: &self.language,
            values,
            schema,
            kinds: &self.kinds,
            cache: &self.cache,
            outputs: &self.outputs,
            changes: &self.changes,
            warnings: &self.warnings,
            format: None,
            output: None,
            target: Target::Directory(Path::new("")),
            layout: Layout::of_releases(RELEASES_LAYOUT)?,
            releases: Some(releases),
            fleet: Some(fleet),
            chart: Box::new(|_, _| Err(Diagnostic::new(Code::Internal, "a release is no chart of its own"))),
            needs_values: true,
            stream: false,
            share: RunPart::All,
            explain_plan: false,
            options: self.outputs.options(),
        })
    }
}

/// A template set with its outputs and the paths of its templates.
pub(crate) type ReadSet = (Box<dyn RunSet>, RunOutputs, TemplatePaths);

/// The surroundings of a run.
#[derive(Clone, Copy)]
pub(crate) struct Surroundings<'r> {
    pub(crate) global: &'r Global,
    pub(crate) stderr: &'r Stderr,
    /// Listens from the first output on.
    pub(crate) stop: &'r OnceCell<Stop>,
}

/// The destination that options name.
#[derive(Debug)]
pub(crate) enum Target<'a> {
    Directory(&'a Path),
    Stdout,
    File(&'a Path),
    Store(remote::StoreTarget),
}

impl Target<'_> {
    /// Returns `true` for one stream, file or object.
    pub(crate) fn is_single(&self) -> bool {
        match self {
            Self::Directory(_) => false,
            Self::Stdout | Self::File(_) => true,
            Self::Store(store) => store.is_single(),
        }
    }

    /// Returns the directory or prefix that the paths of changes are below.
    fn prefix(&self) -> PathBuf {
        match self {
            Self::Directory(path) => (*path).to_owned(),
            Self::Stdout | Self::File(_) => PathBuf::new(),
            Self::Store(store) => store.prefix(),
        }
    }
}

/// Returns one cluster without a name.
fn one_cluster() -> Result<Fleet> {
    Fleet::new(vec![Cluster::new("", DataMap::default())])
}

impl RunArgs<'_> {
    /// Reads everything but clusters of batches.
    ///
    /// # Errors
    /// Errors of reading and compiling.
    pub(crate) fn read(&self, files: &mut InputFiles, stderr: &Stderr) -> std::result::Result<Run, Failed> {
        let (mut fleet, selector, merge, name_key) = match self.fleet {
            Some(args) => {
                let fleet = if self.stream { Fleet::default() } else { args.read(files)? };
                (fleet, args.selector()?, args.merge(), args.name_key().map(str::to_owned))
            }
            None => (one_cluster()?, Selector::default(), Merge::default(), None),
        };
        let definitions = match self.releases {
            Some(option) => Definitions::read(option, files)?,
            None => Definitions::default(),
        };
        if !definitions.is_empty() && !self.paths.is_empty() {
            let message = "a run has either templates or releases";
            let help = "make the templates a release: `[[release]]` with `name` and `templates`";
            return Err(Diagnostic::new(Code::Usage, message).with_help(help).into());
        }
        let mut groups = self.groups(&definitions, &mut fleet, files)?.into_iter();
        let of_layers = groups.next().unwrap_or_default();
        let chart = chart::only_chart(self.paths)?;
        let sets = definitions.sets_of(&self.values.sets, None);
        let values = match layers::read_with(self.values, &sets, files, stderr) {
            // What only charts can read as values is left out.
            Err(_) if chart.is_some() && !self.needs_values => Layers::default(),
            read => read?.layers(&of_layers, merge),
        };
        // Those of releases are secret, too.
        let values = values.decrypting(&files.decrypted_places());
        // A chart checks values by its own schemas, together with its defaults.
        let templates = if chart.is_some() { &[][..] } else { self.paths };
        let values = self.schema.add_to(values, templates, files)?;
        let kinds = self.kinds.read(self.warnings.strict)?;
        let (set, outputs, paths) = match chart {
            Some(path) => self.chart(path, &values, files)?,
            None if !definitions.is_empty() => self.release_set(&definitions, groups.collect(), files, stderr)?,
            None => self.templates(files, stderr)?,
        };
        let run = Run::new(set, outputs, self.layout.clone())?;
        Ok(Run { paths, fleet, selector, name_key, values, kinds, ..run })
    }

    /// Opens a chart.
    fn chart(&self, path: &Path, layers: &Layers, files: &mut InputFiles) -> std::result::Result<ReadSet, Diagnostics> {
        let values = chart::user_values_of(self.values, layers, self.schema.is_off(), files)?;
        let template = chart::open(path, self.values.allow.grant(self.language.engine())?, files)?;
        let chart = (self.chart)(template, values)?;
        let mut outputs = chart.outputs();
        if self.fleet.is_none() && !chart.single {
            // Files have the names of templates, as `helm template --output-dir` has them.
            outputs.all.iter_mut().for_each(|output| output.name.clone_from(&output.template));
        }
        let paths = chart::paths(path, &outputs.all, files);
        Ok((Box::new(chart), outputs, paths))
    }

    /// Prints warnings for values that nothing reads. Returns `true` if nothing may be written.
    ///
    /// # Errors
    /// Errors of reading clusters.
    pub(crate) fn refuses(&self, run: &Run, plan: &Plan, stderr: &Stderr) -> Result<bool> {
        let clusters = plan.selection(&run.fleet);
        // A chart that does not compile fails when it is rendered.
        let mistakes = |all| run.set.mistakes(&run.values, &clusters, all).unwrap_or_default();
        self.warnings.refuse(&run.values, &clusters, || run.reads(), mistakes, stderr)
    }

    /// Stamps once: everything, or what differs from the run that was `seen`.
    ///
    /// # Errors
    /// Errors of reading, of the plan and of the destination.
    pub(crate) fn once(
        &self,
        around: Surroundings<'_>,
        files: &mut InputFiles,
        seen: &mut Seen,
    ) -> std::result::Result<Report, Failed> {
        let Surroundings { global, stderr, .. } = around;
        let noted_files = self.noted_files(seen)?;
        if self.share != RunPart::All || noted_files.is_some() {
            files.digest(PlanDigest::default());
        }
        // Only directory outputs keep a state.
        if !self.target.is_single() && self.changes.preview().is_none() {
            files.start_log();
        }
        let mut run = self.read(files, stderr)?;
        let plan = run.plan()?;
        if self.stream {
            return self.batches(&run, &plan, around, files);
        }
        check_selection(&run.selector, &run.fleet, &run.values, plan.clusters())?;
        if plan.clusters() == 0 {
            stderr.warning("no clusters to stamp");
        }
        if self.refuses(&run, &plan, stderr)? {
            return Err(Failed { diagnostics: Vec::new(), failures: Vec::new(), exit: Exit::Error });
        }
        if !self.needs_values && run.set.is_planned_by_values() {
            // They were needed only to find those that nothing reads.
            run.values = run.values.without_values();
        }
        if self.options.specialise != Specialise::Never {
            specialise::print_choices(&*run.set, &plan.selection(&run.fleet), &run.values, stderr)?;
        }
        if noted_files.is_some_and(|least| plan.clusters() * plan.outputs().len() < least) {
            files.take_digest();
        }
        let digest = RunPart::digest(&global.deciding, (&run, &plan), files)?;
        let plan = self.part(&run, plan, seen)?;
        self.stamp(&run, &plan, (digest, seen), around, files)
    }

    /// Returns the minimum number of files of a run that is noted, so that the next one can be left out. `None` for a run that
    /// does not write a directory, or that depends on more than what it reads.
    fn noted_files(&self, seen: &Seen) -> Result<Option<usize>> {
        let is_whole = self.share == RunPart::All && !self.stream && !self.explain_plan && !seen.is_watching();
        let writes = matches!(self.target, Target::Directory(_)) && self.changes.preview().is_none();
        let (capabilities, files) = self.values.allow.capabilities()?;
        let is_noted = is_whole && writes && capabilities.is_none() && files.is_none();
        Ok(noted_files(self.cache).filter(|_| is_noted))
    }

    /// Returns the note of the last run with the inputs that have this digest.
    fn last_run(&self, mut digest: PlanDigest, global: &Global, files: &InputFiles) -> Option<LastRun> {
        let cache = cache(self.cache)?;
        digest.bytes(&this_build());
        // The owner and the arguments are in the state.
        digest.text(&serde_json::to_string(&global.run).ok()?);
        // The same contents in other files are other values.
        files.log().files().keys().for_each(|name| digest.text(name));
        let Options { prune, prune_force, force, fsync, check_outputs, keep_empty, .. } = self.options;
        digest
            .bytes(&[prune, prune_force, force, fsync, check_outputs, keep_empty, self.warnings.strict].map(u8::from));
        Some(LastRun::new(cache, &digest))
    }

    /// Returns the part of a plan that the run stamps: its shard, or what differs from the run that was `seen`.
    fn part(&self, run: &Run, plan: Plan, seen: &mut Seen) -> Result<Plan> {
        let plan = match self.share {
            RunPart::Shard(shard) => plan.of_shard(&run.fleet, shard)?,
            RunPart::All | RunPart::Finish(_) => plan,
        };
        // The files of a template or cluster that is gone, or documents that are, are found by a whole run.
        match self.target.is_single() || (self.options.prune && plan.is_of_documents()) {
            false => seen.narrow(plan, &run.fleet, &run.values, &*run.set, self.options.prune),
            true => Ok(plan),
        }
    }

    /// Stamps a plan.
    fn stamp(
        &self,
        run: &Run,
        plan: &Plan,
        (digest, seen): (Option<PlanDigest>, &Seen),
        Surroundings { global, stderr, stop }: Surroundings<'_>,
        files: &InputFiles,
    ) -> std::result::Result<Report, Failed> {
        let bar = match self.fleet {
            Some(_) => bar(plan.clusters(), stderr),
            None => ProgressBar::hidden(),
        };
        if self.fleet.is_some() {
            let (templates, clusters) =
                (counted(plan.outputs().len(), "template"), counted(plan.clusters(), "cluster"));
            stderr.detail(&format!("stamping {templates} for {clusters}"));
        }
        let plan_digest = digest.as_ref().map(PlanDigest::finish).unwrap_or_default();
        let options = Options {
            last_run: digest.filter(|_| self.share == RunPart::All).and_then(|all| self.last_run(all, global, files)),
            prune: self.options.prune && !seen.lacks_outputs(),
            leftovers: self.is_whole_fleet(run) && !seen.is_narrowed(),
            all_clusters: self.has_all_clusters(run) && !seen.is_narrowed(),
            shard: self.share.of(plan_digest.clone()),
            ..self.options(run, global, files)
        };
        let tick = || bar.inc(1);
        let watch = Watch { stop: stop.get_or_init(Stop::listen).flag(), done: &tick };
        if self.explain_plan {
            let stamper = run.stamper(plan)?;
            bar.finish_and_clear();
            specialise::print(&stamper.specialisation(&run.job(plan, &options, watch)), plan.clusters())?;
            return Ok(Report::default());
        }
        let report = match (self.share, self.changes.preview()) {
            (RunPart::Finish(count), _) => {
                let mode = RunMode::Finish { plan: &plan_digest, count };
                self.to(Some("--finish"), files, |target| run.stamp(plan, &options, watch, target, mode))
            }
            (_, None) => self.to(None, files, |target| run.stamp(plan, &options, watch, target, RunMode::Write)),
            (_, option) => {
                let prefix = self.target.prefix();
                let mut changes = self.changes.printer(&prefix, stderr);
                let mut each = |file: &FilePreview<'_>| bar.suspend(|| changes.print(file));
                let mode = RunMode::Preview(&mut each);
                let report = self.to(option, files, |target| run.stamp(plan, &options, watch, target, mode));
                report.and_then(|report| {
                    bar.suspend(|| changes.finish()).map_err(|error| stdout_error(&error))?;
                    Ok(report)
                })
            }
        };
        bar.finish_and_clear();
        let report = report?;
        warn(&report, stderr);
        if report.is_left_out {
            stderr.detail("nothing has changed since the last run, so nothing was rendered");
        }
        Ok(with_hints(report, run))
    }

    /// Returns `true` if the run renders all clusters of its fleet.
    fn has_all_clusters(&self, run: &Run) -> bool {
        let is_one = self.fleet.is_some_and(FleetArgs::is_one);
        run.selector.is_empty() && !is_one && self.share == RunPart::All
    }

    /// Stamps clusters as they come.
    fn batches(
        &self,
        run: &Run,
        plan: &Plan,
        Surroundings { global, stderr, stop }: Surroundings<'_>,
        files: &mut InputFiles,
    ) -> std::result::Result<Report, Failed> {
        if self.options.prune && !run.selector.is_empty() {
            let error = Diagnostic::new(Code::Usage, "`--prune` cannot be combined with `--stream` and `--selector`");
            let help = "leave `-l` out: files of clusters that are not selected are not known";
            return Err(error.with_help(help).into());
        }
        let Some(args) = self.fleet else { return Ok(Report::default()) };
        let fleet = args.stream(files)?;
        let (stop, bar) = (stop.get_or_init(Stop::listen), count(stderr));
        let tick = || bar.inc(1);
        let (leftovers, all_clusters) = (self.is_whole_fleet(run), self.has_all_clusters(run));
        let options = Options { leftovers, all_clusters, ..self.options(run, global, files) };
        let watch = Watch { stop: stop.flag(), done: &tick };
        let mode = RunMode::Batches(fleet);
        let report = self.to(Some("--stream"), files, |target| run.stamp(plan, &options, watch, target, mode));
        bar.finish_and_clear();
        let report = report?;
        warn(&report, stderr);
        Ok(with_hints(report, run))
    }

    /// Opens the destination. `option` asks for another mode than writing.
    fn to(
        &self,
        option: Option<&str>,
        files: &InputFiles,
        run: impl FnOnce(RunTarget<'_>) -> Result<Report>,
    ) -> Result<Report> {
        match (&self.target, option) {
            (Target::Directory(out), _) => run(RunTarget::Directory(out)),
            (Target::File(path), _) => {
                files.check_output(path)?;
                run(RunTarget::File(path))
            }
            (Target::Stdout, Some(option)) if option != "--stream" => {
                Err(Diagnostic::new(Code::Usage, format!("`{option}` needs an output file (`-o FILE`)")))
            }
            (Target::Stdout, _) => run(RunTarget::Stream(&mut io::stdout())),
            (Target::Store(store), option) => run(store.open(option)?),
        }
    }

    fn options(&self, run: &Run, global: &Global, files: &InputFiles) -> Options {
        Options {
            threads: global.jobs.map_or(0, usize::from),
            plain_stream: run.outputs.plain_stream,
            templates: run.paths.clone(),
            deletions: self.changes.compare(),
            run: global.run.clone(),
            read: files.log().clone(),
            ..self.options.clone()
        }
    }

    /// Returns `true` for all clusters of files. Standard input may hold another part of a fleet each time.
    fn is_whole_fleet(&self, run: &Run) -> bool {
        run.selector.is_empty() && self.fleet.is_some_and(|args| args.fleet.iter().all(|one| one != "-"))
    }

    /// Prints errors, warnings and the summary of a run. Returns the exit.
    pub(crate) fn finish(&self, report: &Report, around: Surroundings<'_>, started: Instant) -> Exit {
        let (stderr, took, is_preview) = (around.stderr, started.elapsed(), self.changes.preview().is_some());
        print_problems(report, stderr);
        match self.fleet {
            Some(args) if !args.is_one() => summary::print(report, is_preview, took, stderr),
            _ => summary::print_folder(report, (is_preview, self.target.is_single()), took, stderr),
        }
        self.exit(report, around)
    }

    fn exit(&self, report: &Report, Surroundings { stderr, stop, .. }: Surroundings<'_>) -> Exit {
        let is_invalid = |failure: &Failure| matches!(failure.diagnostic.code, Code::InvalidOutput | Code::UnfitOutput);
        // A render without a fleet is partial only if all of its errors are about invalid outputs.
        let is_fleet = self.fleet.is_some_and(|args| !args.is_one());
        let is_partial = is_fleet || report.failures.iter().all(is_invalid);
        // A chart is parsed with the values of a cluster. If none could be, the error is the same as of other templates.
        let is_unparsed = report.failed == report.clusters
            && report.failures.iter().all(|failure| failure.diagnostic.code.is_syntax());
        match report.errors.first() {
            // Faults of the plan.
            Some(error) if self.stream => Exit::of(error),
            _ if report.interrupted => Exit::Signal(stop.get().map_or(0, Stop::number)),
            _ if report.failed > 0 && (self.options.fail_fast || !is_partial || is_unparsed) => Exit::Error,
            _ if report.failed > 0 => Exit::Partial,
            Some(_) => Exit::Error,
            None if self.warnings.are_errors(stderr) => Exit::Error,
            None if self.changes.compare() && report.differs() => Exit::Differs,
            None => Exit::Ok,
        }
    }
}

/// Prints the warnings that a run has found in outputs.
fn warn(report: &Report, stderr: &Stderr) {
    report.unchecked.iter().for_each(|warning| stderr.warning(warning));
    report.found.iter().for_each(|warning| stderr.diagnostic(warning));
}

/// Adds hints for users of Terraform to the errors of HCL templates.
fn with_hints(mut report: Report, run: &Run) -> Report {
    for Failure { diagnostic, .. } in &mut report.failures {
        let name = diagnostic.primary().map(|label| label.source.name().to_owned());
        if name.and_then(|name| run.set.template(&name)).is_some_and(|template| template.dialect() == Dialect::Hcl) {
            other_tools::name_variables(diagnostic);
        }
    }
    report
}

/// Prints errors and warnings.
pub(crate) fn print_problems(report: &Report, stderr: &Stderr) {
    for failure in stderr.join_places(&report.failures).iter() {
        match failure.diagnostic.cluster {
            Some(_) => stderr.failure(failure),
            // A folder is one cluster without a name.
            None => stderr.diagnostic(&failure.diagnostic),
        }
    }
    report.errors.iter().for_each(|error| stderr.diagnostic(error));
    report.warnings.iter().for_each(|warning| stderr.warning(warning));
    report.notes.iter().for_each(|note| stderr.note(&format!("note: {note}")));
}

/// Creates a bar that counts clusters whose number is unknown, hidden like [`bar`].
pub(crate) fn count(stderr: &Stderr) -> ProgressBar {
    let bar = bar(0, stderr);
    if let Some(style) = style("{spinner} {human_pos} clusters, {speed}") {
        bar.set_style(style);
    }
    bar.unset_length();
    bar
}

/// Creates a progress bar for `clusters`. It is hidden if standard error is not a terminal, with `--quiet` and with JSON
/// errors.
pub(crate) fn bar(clusters: usize, stderr: &Stderr) -> ProgressBar {
    if stderr.quiet || stderr.format() != ErrorFormat::Human || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(clusters as u64);
    if let Some(style) = style("{wide_bar} {human_pos}/{human_len} clusters, {speed}, {eta} left") {
        bar.set_style(style);
    }
    bar
}

/// Returns the style of a template with `{speed}`, a whole number per second.
pub(crate) fn style(template: &str) -> Option<ProgressStyle> {
    let speed = |state: &ProgressState, out: &mut dyn Write| {
        let _ = write!(out, "{}/s", HumanFloatCount(state.per_sec().round()));
    };
    ProgressStyle::with_template(template).ok().map(|style| style.with_key("speed", speed))
}
