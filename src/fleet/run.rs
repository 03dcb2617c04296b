//! One run: what is rendered, for which clusters, with which values. It owns nothing of the process, prints nothing, and
//! can be made many times.

use std::io;
use std::io::Write;
use std::path::Path;

use super::charts::FleetChart;
use super::deletions::TemplatePaths;
use super::fleet::{Fleet, FleetStream};
use super::forge::Forge;
use super::job::{FilePreview, Job, Options, Stamp, Watch};
use super::kube::KubeSchemas;
use super::layers::Layers;
use super::layout::Layout;
use super::output_files::Change;
use super::output_names::{document_name, output_name};
use super::plan::{Output, Plan};
use super::report::{Failure, Report};
use super::selector::Selector;
use super::shards::finish_shards;
use super::sinks::OnPreview;
use super::stamp::{preview, stamp, stream};
use super::stamper::Stamper;
use super::stream_file::StreamFile;
use super::streamed::StreamJob;
use super::unread::ReadValues;
use super::workers::cannot_write;
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_engine::{OutputSyntax, Template, language_extensions};
use dropforge_value::OutputFormat;

/// What a run renders.
#[derive(Debug)]
pub enum RunSet {
    /// Templates, and files that are copied.
    Templates(Forge),
    /// A chart, which makes all outputs.
    Chart(Box<FleetChart>),
}

/// One run, from reading to the report. A single render is a run for one cluster without a name.
///
/// ```
/// # let temp = tempfile::tempdir()?;
/// # let (templates, out) = (temp.path().join("templates"), temp.path().join("out"));
/// # std::fs::create_dir(&templates)?;
/// # std::fs::write(templates.join("app.yaml.tera"), "name: {{ name }}\nimage: {{ image }}\n")?;
/// # use dropforge::bulk::*;
/// # use dropforge::engine::Engine;
/// # use dropforge::text::Source;
/// # let set = discover(&[templates], None, &|name| dialect_of(name).is_some())?;
/// # let forge = Forge::compile(&set, None, Engine::builder())?;
/// # let names = outputs(&set.files, &mut |name| forge.references(name))?;
/// # let fleet = Source::new("fleet.csv", "name,image\neu-1,web:1\n");
/// # let fleet = Fleet::read(&fleet, Format::Csv, &FleetOptions::default())?;
/// let outputs = RunOutputs::of_templates(&forge, names, None, false)?;
/// let run = Run { fleet, ..Run::new(RunSet::Templates(forge), outputs, Layout::parse(DEFAULT_LAYOUT)?)? };
/// let plan = run.plan().map_err(Failure::diagnostics)?;
/// let options = Options { templates: run.paths.clone(), ..Options::default() };
/// let report = run.stamp(&plan, &options, Watch::none(), RunTarget::Directory(&out), RunMode::Write)?;
/// assert_eq!((report.created, report.failed), (1, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Run {
    /// What is rendered.
    pub set: RunSet,
    /// The outputs of the set.
    pub outputs: RunOutputs,
    /// The paths of the templates, by which manifests name them.
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
    pub fn new(set: RunSet, outputs: RunOutputs, layout: Layout) -> Result<Self> {
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

    /// Returns the templates and copied files, unless a chart makes the outputs.
    pub fn templates(&self) -> Option<&Forge> {
        match &self.set {
            RunSet::Templates(forge) => Some(forge),
            RunSet::Chart(_) => None,
        }
    }

    /// Returns the chart that makes all outputs.
    pub fn chart(&self) -> Option<&FleetChart> {
        match &self.set {
            RunSet::Templates(_) => None,
            RunSet::Chart(chart) => Some(chart),
        }
    }

    /// Returns the template called `name`.
    pub fn template(&self, name: &str) -> Option<&Template> {
        self.templates()?.get(name)
    }

    /// Selects the clusters, and checks all names and paths.
    ///
    /// # Errors
    /// Errors of [`Plan::new`].
    pub fn plan(&self) -> std::result::Result<Plan, Vec<Failure>> {
        Plan::new(&self.fleet, &self.values, &self.selector, self.outputs.all.clone(), self.layout.clone())
    }

    /// Finds the values that the run reads.
    pub fn reads(&self) -> ReadValues {
        let read = match &self.set {
            RunSet::Templates(forge) => ReadValues::by(forge.templates()),
            // The values of one release are all shared.
            RunSet::Chart(chart) if self.layout.is_of_one() => return ReadValues::by_chart(chart, Some(&self.values)),
            RunSet::Chart(chart) => ReadValues::by_chart(chart, None),
        };
        read.and_plan(&self.selector, &self.layout, self.name_key.as_deref())
    }

    /// Creates a renderer of all outputs, whatever the layout.
    ///
    /// # Errors
    /// `template.unknown`.
    pub fn renderer(&self) -> Result<Stamper<'_>> {
        self.renderer_of(&self.outputs.all)
    }

    fn renderer_of<'r>(&'r self, outputs: &'r [Output]) -> Result<Stamper<'r>> {
        match &self.set {
            RunSet::Templates(forge) => {
                forge.stamper(outputs.iter().map(|output| output.template.as_str()), &self.values)
            }
            RunSet::Chart(chart) => Ok(Stamper::of_chart(chart, &self.values)),
        }
    }

    /// Creates the renderer of a plan.
    ///
    /// # Errors
    /// `template.unknown`.
    pub fn stamper<'r>(&'r self, plan: &'r Plan) -> Result<Stamper<'r>> {
        Ok(self.renderer_of(plan.outputs())?.for_plan(plan).with_kinds(self.kinds.as_ref()))
    }

    /// Returns the job of a plan, for functions that take one.
    pub fn job<'r>(&'r self, plan: &'r Plan, options: &'r Options, watch: Watch<'r>) -> Job<'r> {
        Job { fleet: &self.fleet, layers: &self.values, plan, options, watch }
    }

    /// Stamps a plan of this run, or a part of it.
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
        let report = target.run(&self.stamper(plan)?, &self.job(plan, options, watch), &self.selector, mode)?;
        let is_copied = |output: &&Output| self.templates().is_some_and(|forge| forge.file(&output.template).is_some());
        let copied = plan.outputs().iter().filter(is_copied).map(|output| output.template.clone()).collect();
        Ok(Report { copied, ..report })
    }
}

/// The outputs of a run, and their forms.
#[derive(Debug)]
pub struct RunOutputs {
    /// The outputs.
    pub all: Vec<Output>,
    /// The first template that produces text.
    text: Option<String>,
    /// The first output that is neither YAML nor JSON.
    other: Option<String>,
    /// The files that are copied.
    copied: Vec<String>,
    /// `true` if a template produces documents.
    documents: bool,
    /// `true` if a stream of the outputs needs no separators: all are written as JSON, or they have some.
    pub plain_stream: bool,
}

impl RunOutputs {
    /// Names the outputs of templates and copied files. `format` is the one that was requested for documents, and `single`
    /// is `true` for one stream.
    ///
    /// # Errors
    /// `usage` for a format that does not apply, and for a stream of files that are not text.
    pub fn of_templates(forge: &Forge, names: Vec<String>, format: Option<OutputFormat>, single: bool) -> Result<Self> {
        let mut outputs =
            Self { all: Vec::new(), text: None, other: None, copied: Vec::new(), documents: false, plain_stream: true };
        for template in names {
            outputs.add(template, forge, format.is_some());
        }
        if let Some(output) = outputs.all.iter().find(|output| single && output.bytes.is_some()) {
            let message = format!("`{}` is not text, and a stream holds only text", output.template);
            return Err(Diagnostic::new(Code::Usage, message).with_help("use `-o DIR`, or leave it out with `--copy`"));
        }
        let one_format = single && format.is_some_and(OutputFormat::is_json);
        let text = outputs.text.as_ref().filter(|_| one_format || !outputs.documents);
        match text.or_else(|| outputs.copied.first().filter(|_| one_format)) {
            Some(text) if format.is_some() => Err(unfit_format(text)),
            _ => Ok(outputs),
        }
    }

    /// Returns the outputs of a chart.
    pub fn of_chart(chart: &FleetChart) -> Self {
        let all = chart.outputs();
        let other = all.iter().find(|output| OutputSyntax::of_file(&output.name).is_none());
        let other = other.map(|output| output.template.clone());
        Self { all, text: None, other, copied: Vec::new(), documents: false, plain_stream: chart.single }
    }

    fn add(&mut self, template: String, forge: &Forge, requested: bool) {
        let extensions = language_extensions();
        let documents = forge.get(&template).filter(|template| template.gives_documents());
        self.plain_stream &= documents.is_some_and(|template| template.format().is_json());
        self.documents |= documents.is_some();
        let name = match documents.map(Template::format) {
            Some(format) => document_name(&template, &extensions, format, requested),
            None if forge.file(&template).is_some() => {
                self.copied.push(template.clone());
                template.clone()
            }
            None => {
                self.text.get_or_insert_with(|| template.clone());
                output_name(&template, &extensions)
            }
        };
        let bytes = forge.file(&template).filter(|bytes| str::from_utf8(bytes).is_err()).cloned();
        let output = Output { name, executable: forge.is_executable(&template), template, bytes };
        if documents.is_none() && OutputSyntax::of_file(&output.name).is_none() {
            self.other.get_or_insert_with(|| output.template.clone());
        }
        self.all.push(output);
    }

    /// Converts the layout for these outputs.
    ///
    /// # Errors
    /// `plan.bad_layout` for document fields if only some outputs are YAML or JSON; errors of
    /// [`Layout::of_documents`].
    fn layout(&self, layout: Layout) -> Result<Layout> {
        let is_other = |output: &Output| OutputSyntax::of_file(&output.name).is_none();
        match (&self.other, layout.names_field()) {
            (None, _) => layout.of_documents(),
            (Some(text), Some(field)) if self.documents || !self.all.iter().all(is_other) => {
                let message = format!("`{{{field}}}` in the layout does not apply to `{text}`: it renders text");
                Err(Diagnostic::new(Code::BadLayout, message).with_help("stamp text templates separately"))
            }
            _ => Ok(layout),
        }
    }
}

/// Returns the error of an output format for the template `name`, which produces text.
pub fn unfit_format(name: &str) -> Box<Diagnostic> {
    let message = format!("`--output-format` does not apply to `{name}`: it renders text");
    Diagnostic::new(Code::Usage, message).with_help("only `cel` and `cel-yaml` templates render documents")
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

/// What a run does with its outputs.
pub enum RunMode<'m> {
    /// Writes them.
    Write,
    /// Passes on the changes that writing would make.
    Preview(OnPreview<'m>),
    /// Writes those of clusters that are read batch by batch, instead of the fleet of the run.
    Batches(FleetStream<'m>),
    /// Writes the manifest after all shards of a plan are done.
    Finish {
        /// The digest of the plan.
        plan: &'m str,
        /// The number of shards.
        count: u32,
    },
}

impl RunTarget<'_> {
    /// Stamps, previews or finishes a run. `selector` selects clusters that are read batch by batch.
    ///
    /// # Errors
    /// Errors of the place, and of the run; `usage` if the place does not have this mode.
    pub(super) fn run<S: Stamp>(
        self,
        renderer: &S,
        job: &Job<'_>,
        selector: &Selector,
        mode: RunMode<'_>,
    ) -> Result<Report> {
        let &Job { layers, plan, options, watch, .. } = job;
        let batches = StreamJob { layers, selector, plan, options, watch };
        match (self, mode) {
            (Self::Directory(out), RunMode::Write) => stamp(renderer, job, out),
            (Self::Directory(out), RunMode::Preview(each)) => preview(renderer, job, out, each),
            (Self::Directory(out), RunMode::Batches(mut fleet)) => batches.stamp(renderer, &mut fleet, out),
            (Self::Directory(out), RunMode::Finish { plan, count }) => finish_shards(job, plan, count, out),
            (Self::File(path), RunMode::Write) => write_file(path, |out| stream(renderer, job, out)),
            (Self::File(path), RunMode::Batches(mut fleet)) => {
                write_file(path, |out| batches.stream(renderer, &mut fleet, out))
            }
            (Self::File(path), RunMode::Preview(each)) => {
                compare(&path.display().to_string(), content(path)?, each, |out| stream(renderer, job, out))
            }
            (Self::Stream(out), RunMode::Write) => stream(renderer, job, out),
            (Self::Stream(out), RunMode::Batches(mut fleet)) => batches.stream(renderer, &mut fleet, out),
            #[cfg(feature = "remote")]
            (Self::Remote(target), mode) => target.run(renderer, &batches, job, mode),
            _ => Err(unfit()),
        }
    }
}

/// Returns the error of a place without a mode.
pub(super) fn unfit() -> Box<Diagnostic> {
    Diagnostic::new(Code::Usage, "the destination does not have this mode of a run")
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
    match std::fs::read(path) {
        Ok(old) => Ok(Some(old)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => {
            let message = format!("cannot read `{}`: {error}", path.display());
            Err(Diagnostic::new(Code::ReadFailed, message).caused_by(error))
        }
    }
}

/// Compares a stream with the `old` content of one file or object. Both texts are held in memory.
pub(super) fn compare(
    path: &str,
    old: Option<Vec<u8>>,
    each: OnPreview<'_>,
    run: impl FnOnce(&mut Vec<u8>) -> Result<Report>,
) -> Result<Report> {
    let mut new = Vec::new();
    let report = run(&mut new)?;
    let change = match &old {
        Some(old) if *old == new => return Ok(of_one_file(report, Change::Unchanged)),
        Some(_) => Change::Update,
        None => Change::Create,
    };
    let old = old.unwrap_or_default();
    let (old, new) = (String::from_utf8_lossy(&old), String::from_utf8_lossy(&new));
    each(&FilePreview { path, cluster: "", template: "", change: Some(change), old: &old, new: &new })
        .map_err(cannot_write)?;
    Ok(of_one_file(report, change))
}

/// Converts the report of a stream, which counts outputs, to the report of one file.
pub(super) fn of_one_file(report: Report, change: Change) -> Report {
    let count = |other: Change| usize::from(change == other);
    let (created, updated) = (count(Change::Create), count(Change::Update));
    Report { created, updated, unchanged: count(Change::Unchanged), ..report }
}

/// Returns the report of a run that left the file or object at `path` as it was.
pub(super) fn kept_old(path: &str, report: Report) -> Report {
    let warning = format!("kept the old `{path}` because the run is incomplete");
    Report { created: 0, warnings: vec![warning], ..report }
}
