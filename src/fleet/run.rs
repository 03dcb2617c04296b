//! One run: what is rendered, for which clusters, with which values. It owns nothing of the process, prints nothing, and
//! can be made many times.

use super::charts::FleetChart;
use super::deletions::TemplatePaths;
use super::fleet::Fleet;
use super::forge::Forge;
use super::job::{Job, Options, Watch};
use super::kube::KubeSchemas;
use super::layers::Layers;
use super::layout::Layout;
use super::output_names::{document_name, output_name};
use super::plan::{Output, Plan};
use super::report::{Failure, Report};
use super::selector::Selector;
use super::stamper::Stamper;
use super::target::{RunMode, RunTarget};
use super::unread::ReadValues;
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
