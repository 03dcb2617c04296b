//! One run: what is rendered, for which clusters, with which values. It owns nothing of the process, prints nothing, and
//! can be made many times.

use std::collections::HashSet;
use std::io;
use std::io::Write;
use std::path::Path;

use super::cluster::Cluster;
use super::finish::finish_shards;
use super::fleet::Fleet;
use super::job::{Job, Options, RunMode, Stamp, Watch, unfit};
use super::kube::KubeSchemas;
use super::layers::Layers;
use super::layout::Layout;
use super::output_names::TemplatePaths;
use super::plan::Plan;
use super::report::{Failure, Report};
use super::selector::Selector;
use super::sets::{RunOutputs, RunSet};
use super::stamp::{preview, stamp, stream};
use super::stream_file::{StreamFile, compare, kept_old, of_one_file};
use super::streamed::{stamp_batches, stream_batches};
use super::unread::ReadValues;
use dropforge_base::diagnostics::{Code, Result};
use dropforge_base::files;
use dropforge_base::text::Source;

/// One run, from reading to the report. A single render is a run for one cluster without a name.
///
/// ```
/// # let temp = tempfile::tempdir()?;
/// # let (templates, out) = (temp.path().join("templates"), temp.path().join("out"));
/// # std::fs::create_dir(&templates)?;
/// # std::fs::write(templates.join("app.yaml.tera"), "name: {{ name }}\nimage: {{ image }}\n")?;
/// # use dropforge::bulk::*;
/// # use dropforge::Engine;
/// # use dropforge::text::Source;
/// # let set = discover(&[templates], None, &|name| dialect_of(name).is_some())?;
/// # let templates = Templates::compile(&set, None, Engine::builder())?;
/// # let names = outputs(&set.files, &mut |name| templates.references(name))?;
/// # let fleet = Source::new("fleet.csv", "name,image\neu-1,web:1\n");
/// # let fleet = Fleet::read(&fleet, Format::Csv, &FleetOptions::default())?;
/// let outputs = templates.outputs(names, None, false)?;
/// let run = Run { fleet, ..Run::new(Box::new(templates), outputs, Layout::parse(DEFAULT_LAYOUT)?)? };
/// let plan = run.plan().map_err(Failure::diagnostics)?;
/// let options = Options { templates: run.paths.clone(), ..Options::default() };
/// let report = run.stamp(&plan, &options, Watch::none(), RunTarget::Directory(&out), RunMode::Write)?;
/// assert_eq!((report.created, report.failed), (1, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Run {
    /// What is rendered.
    pub set: Box<dyn RunSet>,
    /// The outputs of the set.
    pub outputs: RunOutputs,
    /// The paths of the templates, by which states name them.
    pub paths: TemplatePaths,
    /// The clusters. Empty if they are read batch by batch.
    pub fleet: Fleet,
    /// Selects clusters.
    pub selector: Selector,
    /// The path of a cluster's name among its values, if it is given.
    pub name_key: Option<String>,
    /// The shared values.
    pub values: Layers,
    /// The layout of output paths, converted for the outputs.
    pub layout: Layout,
    /// The schemas of Kubernetes kinds that outputs are checked by.
    pub kinds: Option<KubeSchemas>,
}

impl Run {
    /// Creates a run without clusters and shared values.
    ///
    /// # Errors
    /// `plan.bad_layout` if the layout does not fit the outputs.
    pub fn new(set: Box<dyn RunSet>, outputs: RunOutputs, layout: Layout) -> Result<Self> {
        Ok(Self {
            layout: outputs.layout(layout)?,
            set,
            outputs,
            paths: TemplatePaths::default(),
            fleet: Fleet::default(),
            selector: Selector::default(),
            name_key: None,
            values: Layers::default(),
            kinds: None,
        })
    }

    /// Selects the clusters, and checks all names and paths.
    ///
    /// # Errors
    /// Errors of [`Plan::new`].
    pub fn plan(&self) -> std::result::Result<Plan, Vec<Failure>> {
        let enabled = |cluster: &Cluster| self.set.enabled(&self.values, cluster);
        let outputs = (self.outputs.all.clone(), self.layout.clone());
        Plan::of_releases(&self.fleet, (&self.values, &self.selector), outputs, (self.set.releases(), &enabled))
    }

    /// Finds the values that the run reads.
    pub fn reads(&self) -> ReadValues {
        let is_alone = self.layout.is_of_one();
        let read = self.set.reads(is_alone.then_some(&self.values));
        // The values of one release have no names of clusters.
        match is_alone && self.set.is_planned_by_values() {
            true => read,
            false => read.and_plan(&self.selector, &self.layout, self.name_key.as_deref()),
        }
    }

    /// Creates a renderer of all outputs as a whole.
    ///
    /// # Errors
    /// `template.unknown`.
    pub fn renderer(&self) -> Result<Box<dyn Stamp + '_>> {
        self.set.stamper_of(&self.outputs.all, None, &self.values, None)
    }

    /// Creates the renderer of a plan.
    ///
    /// # Errors
    /// `template.unknown`.
    pub fn stamper<'r>(&'r self, plan: &'r Plan) -> Result<Box<dyn Stamp + 'r>> {
        self.set.stamper_of(plan.outputs(), Some(plan), &self.values, self.kinds.as_ref())
    }

    /// Returns the job of a plan, for functions that take one.
    pub fn job<'r>(&'r self, plan: &'r Plan, options: &'r Options, watch: Watch<'r>) -> Job<'r> {
        Job { fleet: &self.fleet, layers: &self.values, plan, options, watch }
    }

    /// Returns the report of a run that errors between outputs refuse, which writes nothing.
    ///
    /// # Errors
    /// Errors of reading clusters.
    fn refused(&self, stamper: &dyn Stamp, job: &Job<'_>) -> Result<Option<Report>> {
        if !self.set.is_checked_first() {
            return Ok(None);
        }
        let job = Job { watch: Watch { done: &|| {}, ..job.watch }, ..*job };
        let report = stream(stamper, &job, &mut io::sink())?;
        let is_between = |failure: &Failure| failure.diagnostic.code == Code::DuplicateOutput;
        Ok(report.failures.iter().any(is_between).then(|| {
            let failures = report.failures.into_iter().filter(is_between).collect();
            let warnings = vec!["nothing was written".to_owned()];
            Report { clusters: report.clusters, failed: report.failed, failures, warnings, ..Report::default() }
        }))
    }

    /// Stamps a plan of this run, or a part of it. A run that would change nothing is left out, if its options name the last one.
    ///
    /// # Errors
    /// Errors of the target; `usage` if it does not have the mode. Failures of single clusters are in the report.
    pub fn stamp(
        &self,
        plan: &Plan,
        options: &Options,
        watch: Watch<'_>,
        target: RunTarget<'_>,
        mode: RunMode<'_>,
    ) -> Result<Report> {
        let last_run = match (&target, &mode) {
            (RunTarget::Directory(out), RunMode::Write) => options.last_run.as_ref().map(|last_run| (last_run, *out)),
            _ => None,
        };
        let known = last_run.map_or(Ok(None), |(last_run, out)| last_run.unchanged(out))?;
        let is_known = known.is_some();
        let (stamper, job) = (self.stamper(plan)?, self.job(plan, options, watch));
        let refused = || if matches!(mode, RunMode::Write) { self.refused(&*stamper, &job) } else { Ok(None) };
        let report = match known {
            Some(report) => report,
            None => {
                let report = match refused()? {
                    Some(report) => report,
                    None => target.run(&*stamper, &job, &self.selector, mode)?,
                };
                let unchecked = self.kinds.as_ref().map(KubeSchemas::warnings).unwrap_or_default();
                Report { found: self.set.warnings(options.all_clusters), unchecked, ..report }
            }
        };
        if let Some((last_run, out)) = last_run.filter(|_| !is_known) {
            // Texts of clusters may have secrets. Files of the project that define releases have none.
            let read = options.read.files();
            let is_shown = |source: &Source| source.name().ends_with(".toml") && read.contains_key(source.name());
            // Without a note the next run is only slower.
            let _ = last_run.keep(out, &report, &is_shown);
        }
        let copied: HashSet<&String> = self.outputs.copied.iter().collect();
        let names = plan.outputs().iter().map(|output| &output.template);
        Ok(Report { copied: names.filter(|name| copied.contains(name)).cloned().collect(), ..report })
    }
}

/// The place that a run writes to.
pub enum RunTarget<'t> {
    /// A directory with a file for each output.
    Directory(&'t Path),
    /// One file for the whole fleet.
    File(&'t Path),
    /// One stream for the whole fleet.
    Stream(&'t mut (dyn Write + Send)),
    /// A place in an object store, or packs.
    #[cfg(feature = "remote")]
    Remote(super::remote::RemoteTarget<'t>),
}

impl RunTarget<'_> {
    /// Stamps, previews or finishes a run. `selector` selects clusters that are read batch by batch.
    ///
    /// # Errors
    /// Errors of the place, and of the run; `usage` if the place does not have this mode.
    pub(super) fn run(
        self,
        renderer: &dyn Stamp,
        job: &Job<'_>,
        selector: &Selector,
        mode: RunMode<'_>,
    ) -> Result<Report> {
        match (self, mode) {
            (Self::Directory(out), RunMode::Write) => stamp(renderer, job, out),
            (Self::Directory(out), RunMode::Preview(each)) => preview(renderer, job, out, each),
            (Self::Directory(out), RunMode::Batches(mut fleet)) => {
                stamp_batches(renderer, job, selector, &mut fleet, out)
            }
            (Self::Directory(out), RunMode::Finish { plan, count }) => finish_shards(job, plan, count, out),
            (Self::File(path), RunMode::Write) => write_file(path, |out| stream(renderer, job, out)),
            (Self::File(path), RunMode::Batches(mut fleet)) => {
                write_file(path, |out| stream_batches(renderer, job, selector, &mut fleet, out))
            }
            (Self::File(path), RunMode::Preview(each)) => {
                compare(&path.display().to_string(), content(path)?, each, (renderer, job))
            }
            (Self::Stream(out), RunMode::Write) => stream(renderer, job, out),
            (Self::Stream(out), RunMode::Batches(mut fleet)) => {
                stream_batches(renderer, job, selector, &mut fleet, out)
            }
            #[cfg(feature = "remote")]
            (Self::Remote(target), mode) => target.run(renderer, job, selector, mode),
            _ => Err(unfit()),
        }
    }
}

/// Writes one file, atomically. It stays as it is if the run is incomplete.
fn write_file(path: &Path, run: impl FnOnce(&mut StreamFile) -> Result<Report>) -> Result<Report> {
    let mut file = StreamFile::create(path)?;
    let report = run(&mut file)?;
    match report.is_complete() && report.errors.is_empty() {
        true => Ok(of_one_file(report, file.finish()?)),
        false => Ok(kept_old(&path.display().to_string(), report)),
    }
}

/// Returns the content of a file, if it exists.
fn content(path: &Path) -> Result<Option<Vec<u8>>> {
    match files::read(path, u64::MAX) {
        Ok(old) => Ok(Some(old)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(files::unreadable(path, error)),
    }
}
