//! `dropforge stamp`: a fleet to disk, to one stream, or compared with existing files.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;

use dropforge::bulk::{self, Layout, Options, Specialise};
use dropforge::diagnostics::{Code, Diagnostic, Result};

use crate::changes::ChangeArgs;
use crate::chart::{self, FleetChartArgs};
use crate::copies::NamedFiles;
use crate::exit::{Exit, Failed};
use crate::fleet::FleetArgs;
use crate::glob;
use crate::input::{InputFiles, is_dash, is_pipe};
use crate::missing::WarningArgs;
use crate::options::{CacheArgs, FormatArgs, Global, LanguageArgs, ValueArgs};
use crate::outputs::{OutputArgs, StoreArgs};
use crate::project::key;
use crate::releases::ReleasesOption;
use crate::remote;
use crate::run::{RunArgs, Surroundings, Target};
use crate::schema::{KubeArgs, SchemaArgs};
use crate::shards::{RunPart, ShardArgs};
use crate::specialise::SpecialiseArgs;
use crate::stderr::Stderr;
use crate::usage::{CHART, refuse, unfit_to};
use crate::watch::{Seen, WatchArgs};

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
    #[arg(required_unless_present = "releases", value_name = "TEMPLATES")]
    pub(crate) templates: Vec<PathBuf>,
    #[command(flatten, next_help_heading = "Inputs")]
    releases: ReleasesOption,
    #[command(flatten, next_help_heading = "Inputs")]
    fleet: FleetArgs,
    #[command(flatten)]
    pub(crate) values: ValueArgs,
    /// Write to this directory, or below s3://BUCKET/PREFIX
    ///
    /// With `--layout single` it is a file, an object or `-`.
    #[arg(short, long, help_heading = "Output", value_name = "OUT", value_parser = remote::output,
        add = key("output").named("dir"))]
    output: Option<PathBuf>,
    /// Set the pattern of output paths
    ///
    /// `single` writes one stream.
    ///
    /// {cluster} and {template} are names, others like {region} or {cluster.env}
    /// are values of the cluster. With {kind}, {apiVersion}, {name}, {namespace},
    /// {metadata.a} or {document.a.b}, each YAML document gets its own file.
    /// {namespace|none} is `none` if there is no namespace. A `:` in a name is
    /// written as `_`.
    /// The default is {cluster}/{template}, and {cluster}/{release}/{template} for the
    /// releases of a project.
    #[arg(long, help_heading = "Output", value_name = "LAYOUT", add = key("output"))]
    layout: Option<String>,
    /// Delete files that templates no longer make
    ///
    /// Only files of earlier runs of this project are deleted.
    #[arg(long, help_heading = "Output", add = key("output"))]
    prune: bool,
    /// Prune even if more than half of the files would be deleted
    #[arg(long, help_heading = "Output", requires = "prune", hide_short_help = true)]
    prune_force: bool,
    #[command(flatten, next_help_heading = "Output")]
    format: FormatArgs,
    #[command(flatten, next_help_heading = "Review")]
    changes: ChangeArgs,
    #[command(flatten, next_help_heading = "Output")]
    outputs: OutputArgs,
    /// Stop at the first cluster that fails
    #[arg(long, help_heading = "Output", hide_short_help = true)]
    fail_fast: bool,
    /// Sync files to disk, so that they survive a power failure
    #[arg(long, help_heading = "Output", add = key("output"), hide_short_help = true)]
    fsync: bool,
    #[command(flatten, next_help_heading = "Output")]
    pub(crate) watch: WatchArgs,
    #[command(flatten)]
    schema: SchemaArgs,
    #[command(flatten)]
    kinds: KubeArgs,
    #[command(flatten)]
    pub(crate) warnings: WarningArgs,
    #[command(flatten)]
    chart: FleetChartArgs,
    #[command(flatten)]
    pub(crate) language: LanguageArgs,
    #[command(flatten)]
    cache: CacheArgs,
    #[command(flatten)]
    specialise: SpecialiseArgs,
    #[command(flatten)]
    shards: ShardArgs,
    /// Stamp clusters of NDJSON, CSV or TSV as they come, such as those of a pipe, without reading the fleet first
    ///
    /// An invalid line, or a repeated name or path, is found when it comes, or at the
    /// end: what was written before stays, and nothing is pruned.
    #[arg(long, conflicts_with_all = ["check", "diff", "dry_run", "watch", "explain_plan", "shard", "shards", "finish"],
        hide_short_help = true)]
    stream: bool,
    #[command(flatten)]
    stores: StoreArgs,
}

/// The layout for one stream.
const SINGLE: &str = "single";

/// Runs the command.
pub(crate) fn run(
    args: &StampArgs,
    global: &Global,
    files: &mut InputFiles,
    stderr: &Stderr,
) -> std::result::Result<Exit, Failed> {
    let (started, stop) = (Instant::now(), OnceCell::new());
    let (around, run) = (Surroundings { global, stderr, stop: &stop }, args.run_args()?);
    let report = run.once(around, files, &mut Seen::default())?;
    if args.specialise.explain_plan {
        return Ok(Exit::Ok);
    }
    Ok(run.finish(&report, around, started))
}

impl StampArgs {
    /// Returns the options of the run, with its destination and shard.
    ///
    /// # Errors
    /// `usage` for options that do not apply; errors of parsing.
    pub(crate) fn run_args(&self) -> Result<RunArgs<'_>> {
        let target = self.target()?;
        if !self.releases.with.is_empty() && self.changes.preview().is_none() {
            let message = "`--with` shows what another version of a chart would change, and writes nothing";
            let help = "add `--diff`, or change `version` in the project and run `dropforge deps update`";
            return Err(Diagnostic::new(Code::Usage, message).with_help(help));
        }
        if self.language.lang.is_none() {
            self.fleet.check_templates(&self.templates)?;
        }
        let share = self.shards.share(&self.fleet.fleet, self.is_single())?;
        Ok(RunArgs { target, share, ..self.reading_args()? })
    }

    /// Returns the options that decide what the run renders.
    ///
    /// # Errors
    /// Same as [`StampArgs::run_args`].
    pub(crate) fn reading_args(&self) -> Result<RunArgs<'_>> {
        let single = self.is_single();
        self.check_chart_options()?;
        // Classes of clusters are those of a batch.
        let specialise = if self.stream { Specialise::Never } else { self.specialise.option() };
        Ok(RunArgs {
            paths: &self.templates,
            language: &self.language,
            values: &self.values,
            schema: &self.schema,
            kinds: &self.kinds,
            cache: &self.cache,
            outputs: &self.outputs,
            changes: &self.changes,
            warnings: &self.warnings,
            format: self.format.output_format,
            output: self.output.as_deref(),
            target: if single { Target::Stdout } else { Target::Directory(Path::new("")) },
            layout: self.layout()?,
            releases: Some(&self.releases),
            fleet: Some(&self.fleet),
            chart: Box::new(move |template, values| {
                self.chart.chart(template, (values, self.fleet.name_key()), single)
            }),
            needs_values: true,
            stream: self.stream,
            share: RunPart::All,
            explain_plan: self.specialise.explain_plan,
            options: Options {
                fail_fast: self.fail_fast,
                fsync: self.fsync,
                specialise,
                prune: self.prune,
                prune_force: self.prune_force,
                ..self.outputs.options()
            },
        })
    }

    /// Returns `true` if some releases are left out.
    pub(crate) fn renders_a_part(&self) -> bool {
        !self.releases.only.is_empty()
    }

    /// Returns `true` for one stream.
    fn is_single(&self) -> bool {
        self.layout.as_deref() == Some(SINGLE)
    }

    fn layout(&self) -> Result<Layout> {
        let layout = self.layout.as_deref().filter(|layout| *layout != SINGLE);
        match self.releases.releases {
            Some(_) => Layout::of_releases(layout.unwrap_or(bulk::RELEASES_LAYOUT)),
            None => Layout::parse(layout.unwrap_or(bulk::DEFAULT_LAYOUT)),
        }
    }

    /// Returns the destination that the options name.
    fn target(&self) -> Result<Target<'_>> {
        let usage = |message: &str, help: &str| Err(Diagnostic::new(Code::Usage, message).with_help(help));
        let is_single = self.is_single();
        if is_single && self.prune {
            return Err(unfit_to("--prune", "`--layout single`").with_help("remove one of them"));
        }
        if let Some(target) = remote::StoreTarget::of(self.output.as_deref(), is_single, &self.stores)? {
            return Ok(Target::Store(target));
        }
        match &self.output {
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

    /// Checks that options of charts are used only with charts, and no others with them.
    fn check_chart_options(&self) -> Result<()> {
        let Some(path) = chart::only_chart(&self.templates)? else {
            return self.templates.first().map_or(Ok(()), |path| self.chart.check_unused(path));
        };
        chart::refuse_others(&self.language, &self.schema, path)?;
        let options = [
            ("--output-format", self.format.output_format.is_some()),
            ("--explain-plan", self.specialise.explain_plan),
        ];
        refuse(&options, path, CHART)
    }

    /// Returns the paths of the templates, to replace URLs by local copies.
    ///
    /// # Errors
    /// `usage` for URLs with `--watch`, and for a URL of sources beside other templates, which have no folder in common.
    pub(crate) fn fetched_templates(&mut self, files: &InputFiles) -> Result<&mut [PathBuf]> {
        let is_url = |path: &PathBuf| files.is_url(path);
        if self.watch.watch && self.templates.iter().any(is_url) {
            return Err(unfit_to("--watch", "templates by URL"));
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
        let target = self.target()?;
        if matches!(target, Target::Store(_)) {
            return Err(unfit_to("--watch", "object stores and packs")
                .with_help("name a directory with `-o DIR`, without `--pack`"));
        }
        if let Some(pipe) = self.inputs().find(|path| is_pipe(path)) {
            let error = unfit_to("--watch", &format!("the pipe `{}`", pipe.display()));
            return Err(error.with_help("write the input to a file, and name that"));
        }
        match self.inputs().any(|path| is_dash(&path)) || matches!(target, Target::Stdout) {
            true => {
                Err(unfit_to("--watch", "standard input and output")
                    .with_help("name files, and a directory with `-o DIR`"))
            }
            false => Ok(()),
        }
    }

    /// Returns the files and folders that the run reads.
    pub(crate) fn inputs(&self) -> impl Iterator<Item = PathBuf> {
        let fleets = self.fleet.fleet.iter().map(|pattern| glob::literal_part(pattern));
        let schemas = self.schema.file().into_iter().chain(self.schema.var_types()).map(Path::to_owned);
        let schemas = schemas.chain(self.kinds.files().cloned());
        let values = self.values.values.iter().cloned().chain(self.values.sets.files()).chain(self.fleet.layer_roots());
        // The files of releases lie below their project file.
        let project = self.releases.releases.iter().map(|path| match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
            _ => PathBuf::from("."),
        });
        self.templates.iter().cloned().chain(fleets).chain(values).chain(schemas).chain(project)
    }

    /// Returns `true` if a changed file is a template or copied, so that [`Seen`] finds what it reaches.
    pub(crate) fn is_template(&self, changed: &Path) -> bool {
        let is_schema = changed.to_string_lossy().ends_with(".schema.json");
        let mut sources = self.templates.iter().filter(|path| !chart::is_chart(path));
        sources.any(|path| changed.starts_with(path)) && !is_schema
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
