//! Releases: the charts and the sets of templates of a project, each with its values, for the clusters that want them; their
//! checks, and their values for one cluster.

mod patches;
mod read;

use std::any::Any;
use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use dropforge::bulk;
use dropforge::bulk::{
    ChartSet, Cluster, Condition, DocumentCheck, FileUse, Fleet, LayerGroups, LayerList, LayerPath, Layers, Options,
    Patches, Release, ReleaseSet, ReleaseValues, ReleaseView, Run, ValuesFile, Watch, dialect_of, discover, engine,
};
use dropforge::diagnostics::{Code, Diagnostic, Diagnostics, Result};
use dropforge::dialect::helm::chart::UserValues;
use dropforge::engine::Dialect;

use crate::chart::{self, ReleasesArgs};
use crate::check::{CheckArgs, Findings};
use crate::exit::Failed;
use crate::fleet::{FleetArgs, check_selection};
use crate::input::{InputFiles, refuse_other_url};
use crate::layers::{assignments, is_missing_layer, values_file};
use crate::locked_charts;
use crate::options::{LanguageArgs, SetArgs, ValueArgs};
use crate::run::{ReadSet, RunArgs, RunDefaults};
use crate::schema::SchemaArgs;
use crate::stderr::Stderr;
use patches::PatchDefinition;
use read::Definition;

pub(crate) use read::{is_key, wrong_type};

/// Options of a release in a project file.
#[derive(Debug, Args)]
pub(crate) struct ReleaseOptions {
    #[command(flatten)]
    chart: ReleasesArgs,
    #[command(flatten)]
    language: LanguageArgs,
    /// Do not check values against the schemas of the chart
    #[arg(long, visible_alias = "skip-schema-validation")]
    no_schema: bool,
}

/// Options of commands that render releases.
#[derive(Debug, Default, Args)]
pub(crate) struct ReleasesOption {
    /// Read releases (`[[release]]`) from this project file
    #[arg(long, value_name = "FILE", hide = true, add = crate::project::key("").named("release").tables())]
    pub(crate) releases: Option<PathBuf>,
    /// Render only these releases: web, team=shop
    ///
    /// A release is selected by its name or by a label.
    #[arg(short = 'r', long = "release", value_name = "RELEASE")]
    pub(crate) only: Vec<String>,
    /// Values files over those of each release.
    #[arg(skip)]
    pub(crate) values: Vec<PathBuf>,
    /// Render another version of a chart than that of the lock: ingress=4.12.0
    #[arg(long, value_name = "CHART=VERSION", hide_short_help = true)]
    pub(crate) with: Vec<String>,
}

impl ReleasesOption {
    /// Creates the option for one release.
    pub(crate) fn of(releases: Option<PathBuf>, only: &str) -> Self {
        Self { releases, only: vec![only.to_owned()], ..Self::default() }
    }
}

/// The releases that a run renders, as they are defined.
#[derive(Default)]
pub(crate) struct Definitions {
    all: Vec<Definition>,
    /// Others are left out.
    is_part: bool,
}

impl Definitions {
    /// Reads the releases that the options select.
    ///
    /// # Errors
    /// All errors of the project file; `usage` for a selection of nothing.
    pub(crate) fn read(option: &ReleasesOption, files: &mut InputFiles) -> std::result::Result<Self, Failed> {
        let Some(path) = &option.releases else {
            return match option.only.first() {
                None => Ok(Self::default()),
                Some(_) => Err(Diagnostic::new(Code::Usage, "there are no releases")
                    .with_help("`-r` selects those that `[[release]]` defines in a project file")
                    .into()),
            };
        };
        let mut all = read::read(path, files).map_err(Failed::usage)?;
        for only in &option.only {
            let before: Vec<String> = all.iter().map(|one| one.name.text().to_owned()).collect();
            let is_it = |one: &Definition| match only.split_once('=') {
                Some((key, value)) => one.labels.iter().any(|(own, text)| own == key && text == value),
                None => one.name.text() == only,
            };
            all.retain(is_it);
            if all.is_empty() {
                let message = match only.contains('=') {
                    true => format!("no release is selected by `-r {only}`"),
                    false => format!("no release is named `{only}`"),
                };
                let near =
                    Diagnostic::new(Code::Usage, message).with_suggestion(only, before.iter().map(String::as_str));
                return Err(near.with_available(before).into());
            }
        }
        for path in &option.values {
            let path = LayerPath::parse(&path.to_string_lossy())?;
            all.iter_mut().for_each(|one| one.values.push(path.clone()));
        }
        let remote = all.iter_mut().filter_map(|one| Some((one.remote.as_ref()?, &mut one.chart)));
        locked_charts::find(remote, (path, &option.with), files).map_err(Failed::from)?;
        Ok(Self { all, is_part: !option.only.is_empty() })
    }

    /// Reads all releases, for their names alone. There may be none.
    ///
    /// # Errors
    /// All errors of the project file.
    pub(crate) fn read_all(option: &ReleasesOption, files: &mut InputFiles) -> std::result::Result<Self, Failed> {
        let all = match &option.releases {
            Some(path) => read::read(path, files).map_err(Failed::usage)?,
            None => Vec::new(),
        };
        Ok(Self { all, is_part: false })
    }

    /// Returns `true` if there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Returns the paths of charts.
    pub(crate) fn charts(&self) -> impl Iterator<Item = &Path> {
        self.all.iter().filter_map(|one| one.chart.as_deref())
    }

    /// Returns the charts of repositories and registries.
    #[cfg(feature = "remote")]
    pub(crate) fn remote(&self) -> impl Iterator<Item = &locked_charts::RemoteChart> {
        self.all.iter().filter_map(|one| one.remote.as_ref())
    }

    /// Returns the values files of each release, and then the file of each patch that has one.
    fn files(&self) -> impl Iterator<Item = LayerList<'_>> {
        let values = self.all.iter().map(|one| (FileUse::Values, one.values.as_slice()));
        values.chain(self.all.iter().flat_map(|one| &one.patches).filter_map(PatchDefinition::file))
    }

    /// Returns the release that a `--set` option names: `web:image.tag=v2`, and the rest of it.
    fn of_set<'s>(&self, text: &'s str) -> Option<(usize, &'s str)> {
        let own = |one: &Definition| text.strip_prefix(one.name.text())?.strip_prefix(':');
        self.all.iter().enumerate().find_map(|(at, one)| Some((at, own(one)?)))
    }

    /// Returns the `--set` options that are for all releases, with `None`, or for one.
    pub(crate) fn sets_of(&self, sets: &SetArgs, release: Option<usize>) -> SetArgs {
        let own = |(kind, text): &(_, String)| match self.of_set(text) {
            Some((at, rest)) => (release == Some(at)).then(|| (*kind, rest.to_owned())),
            None => release.is_none().then(|| (*kind, text.clone())),
        };
        SetArgs(sets.0.iter().filter_map(own).collect())
    }
}

impl RunArgs<'_> {
    /// Reads the layers of clusters and the values files of releases, and puts the clusters into groups with the same ones.
    ///
    /// # Errors
    /// Errors of reading them.
    pub(crate) fn groups(
        &self,
        definitions: &Definitions,
        fleet: &mut Fleet,
        files: &mut InputFiles,
    ) -> std::result::Result<Vec<LayerGroups>, Failed> {
        let layers = self.fleet.map_or(Ok(Vec::new()), |args| args.layer_paths())?;
        let layers = std::iter::once((FileUse::Layer, layers.as_slice()));
        let lists: Vec<LayerList<'_>> = layers.chain(definitions.files()).collect();
        let mut read = |of: FileUse, path: &str, may_be_missing: bool| {
            let path = Path::new(path);
            if is_missing_layer(path, may_be_missing, files) {
                return Ok(None);
            }
            match dialect_of(&path.to_string_lossy()).filter(|_| of != FileUse::Layer) {
                Some(dialect) => self.values_template(path, dialect, files).map(ValuesFile::Template).map(Some),
                None if of == FileUse::Patch => {
                    refuse_other_url(path, "patches")?;
                    files.values(path, "patches").map(ValuesFile::Text).map(Some)
                }
                None => {
                    let (map, place) = values_file(path, "--layer -", files)?;
                    Ok(Some(ValuesFile::Map(map, place)))
                }
            }
        };
        Ok(LayerGroups::read_all(&lists, fleet, &mut read)?)
    }

    /// Compiles a template of values.
    fn values_template(
        &self,
        path: &Path,
        dialect: Dialect,
        files: &mut InputFiles,
    ) -> Result<dropforge::engine::Template> {
        let set = discover(&[path.to_owned()], None, &|_| true)?;
        files.note_templates(&set);
        let name = set.files.first().map_or("", |file| file.name.as_str());
        let engine = engine(&set.root, self.values.allow.grant(self.language.engine())?)?;
        let template = engine.load(dialect, name).map_err(|errors| {
            let mut all = errors.into_vec();
            let mut first = all.remove(0);
            first.also.extend(all);
            first
        })?;
        for source in template.program().sources() {
            files.log().note(source.name(), source.text().as_bytes());
        }
        Ok(template)
    }

    /// Opens the releases.
    ///
    /// # Errors
    /// Errors of reading and compiling, with the release.
    pub(crate) fn release_set(
        &self,
        definitions: &Definitions,
        groups: Vec<LayerGroups>,
        files: &mut InputFiles,
        stderr: &Stderr,
    ) -> std::result::Result<ReadSet, Failed> {
        let (mut releases, mut groups) = (Vec::new(), groups);
        let mut of_patches = groups.split_off(definitions.all.len().min(groups.len())).into_iter();
        for (at, (one, groups)) in definitions.all.iter().zip(groups).enumerate() {
            let sets = definitions.sets_of(&self.values.sets, Some(at));
            let release = self.release(one, groups, &sets, files, stderr)?;
            let patches = patches::patches(&one.patches, &one.source, &mut of_patches)?;
            releases.push(Release { patches, ..release });
        }
        let (set, outputs, mut paths) = ReleaseSet::new(releases, (self.warnings.strict, definitions.is_part));
        if definitions.is_part {
            paths.only(definitions.all.iter().map(|one| one.name.text().to_owned()).collect());
        }
        Ok((Box::new(set), outputs, paths))
    }

    fn release(
        &self,
        one: &Definition,
        groups: LayerGroups,
        sets: &SetArgs,
        files: &mut InputFiles,
        stderr: &Stderr,
    ) -> std::result::Result<Release, Failed> {
        one.chart.iter().chain(&one.templates).for_each(|path| files.give(path));
        let (in_chart, assigned) = (one.chart.is_some(), assignments(sets, files)?);
        let values = ReleaseValues { files: groups, in_chart, sets: assigned };
        let (set, outputs, paths) = match &one.chart {
            Some(path) => {
                let chart = self.chart_of(one, path, (&values.files, sets), files)?;
                let outputs = chart.outputs();
                let paths = chart::paths(path, &outputs.all, files);
                (Box::new(chart) as _, outputs, paths)
            }
            None => self.templates_of(&one.templates, &one.options.language, files, stderr)?,
        };
        let when = one.when.as_ref().map(|(text, span)| Condition::parse(text, &one.source, *span)).transpose()?;
        Ok(Release { name: one.name.clone(), set, outputs, paths, when, values, patches: Patches::default() })
    }

    fn chart_of(
        &self,
        one: &Definition,
        path: &Path,
        (groups, sets): (&LayerGroups, &SetArgs),
        files: &mut InputFiles,
    ) -> std::result::Result<ChartSet, Diagnostics> {
        if !chart::is_chart(path) {
            // The error of a chart that is not there, or is none.
            std::fs::metadata(path).map_err(|error| dropforge::files::unreadable(path, error)).and_then(|_| {
                let message = format!("`{}` is not a chart: it has no `Chart.yaml`", path.display());
                Err(Diagnostic::new(Code::Usage, message).at(&one.source, one.span, ""))
            })?;
        }
        let mut values = Vec::new();
        for of_group in groups.files() {
            let mut own = UserValues::default();
            for file in of_group {
                // Those after a template are merged for each cluster.
                let ValuesFile::Map(_, place) = file else { break };
                own.file(place.source().name(), place.source().text())?;
            }
            chart::assign(&mut own, sets, files)?;
            own.skip_schemas(one.options.no_schema || self.schema.is_off());
            values.push(own);
        }
        let template = chart::open(path, self.values.allow.grant(self.language.engine())?, files)?;
        let set = one.options.chart.chart(template, values, None)?;
        let check = DocumentCheck::new(false);
        let name = Some(one.name.clone());
        Ok(ChartSet { name, single: self.target.is_single(), is_one_of_many: true, check, ..set })
    }
}

/// Checks the releases of a project: renders them for all clusters.
///
/// # Errors
/// Errors of reading and compiling; `usage` for a selector that selects nothing.
pub(crate) fn check(
    args: &CheckArgs,
    threads: usize,
    files: &mut InputFiles,
    stderr: &Stderr,
) -> std::result::Result<Findings, Failed> {
    let fleet = args.values.fleet_args();
    // Warnings are findings here, so the default ones are asked for.
    let defaults = RunDefaults::default();
    let of_releases = defaults.of_releases((&args.releases, &fleet), (args.values.values(), &args.schema))?;
    let options = Options { threads, ..of_releases.options.clone() };
    let reader = RunArgs { language: &args.language, options, ..of_releases };
    let run = reader.read(files, stderr)?;
    let plan = run.plan()?;
    check_selection(&run.selector, &run.fleet, &run.values, plan.clusters())?;
    let report = bulk::stream(&*run.stamper(&plan)?, &run.job(&plan, &reader.options, Watch::none()), &mut io::sink())?;
    let mut findings = Findings::default();
    findings.templates = plan.outputs().len();
    findings.failures.extend(report.failures);
    findings.found.extend(report.errors);
    findings.found.extend(run.set.warnings(run.selector.is_empty() && !fleet.is_one()));
    let clusters = plan.selection(&run.fleet);
    findings.failures.extend(run.values.kind_changes(&clusters)?);
    if findings.failures.iter().all(|failure| failure.diagnostic.code == Code::KindChange) {
        let read = run.reads().and_declared(&run.values);
        findings.found.extend(read.unread(&run.values));
        // What does not compile has failed in a cluster.
        findings.found.extend(run.set.mistakes(&run.values, &clusters, true).unwrap_or_default());
        findings.failures.extend(read.unread_by_clusters(&run.values, &clusters)?);
    }
    run.values.hide_in_failures(&run.fleet, &mut findings.failures)?;
    Ok(findings)
}

/// Reads the values that the selected release gets for the only cluster of a fleet.
///
/// # Errors
/// Errors of reading; `usage` if several releases are selected.
pub(crate) fn view(
    (releases, fleet): (&ReleasesOption, &FleetArgs),
    (values, schema): (&ValueArgs, &SchemaArgs),
    files: &mut InputFiles,
    stderr: &Stderr,
) -> std::result::Result<(ReleaseView, Layers, Cluster), Failed> {
    let defaults = RunDefaults::default();
    let reader = defaults.of_releases((releases, fleet), (values, schema))?;
    let Run { set, values: layers, fleet, .. } = reader.read(files, stderr)?;
    let cluster = fleet.reader().cluster(0)?.clone();
    let set: Box<dyn Any> = set;
    let Ok(set) = set.downcast::<ReleaseSet>() else {
        return Err(Diagnostic::new(Code::Usage, "there are no releases").into());
    };
    let names: Vec<&str> = set.names().collect();
    if names.len() > 1 {
        let error = Diagnostic::new(Code::Usage, "`-r` selects several releases").with_available(names);
        return Err(error.with_help("name one of them: `-r NAME`").into());
    }
    let Some(view) = set.view(0, &layers, &cluster)? else {
        return Err(Diagnostic::new(Code::Usage, "there are no releases").into());
    };
    if !view.is_enabled {
        let name = names.first().copied().unwrap_or_default();
        stderr.warning(&format!("the cluster `{}` does not want the release `{name}`", cluster.name()));
    }
    Ok((view, layers, cluster))
}
