//! Releases of a project in tests. They are rendered for one cluster as `stamp` does, with layers, values and patches.

use std::collections::HashMap;
use std::path::PathBuf;
use std::rc::Rc;

use clap::Args;

use super::output::TestOutput;
use super::suite::{PlacedText, SetValue, TestJob};
use crate::exit::Failed;
use crate::fleet::{FleetArgs, ReadingArgs};
use crate::input::InputFiles;
use crate::options::{AllowArgs, LanguageArgs, SetArgs, ValueArgs};
use crate::project::key;
use crate::releases::{Definitions, ReleasesOption};
use crate::run::{RunArgs, RunDefaults};
use crate::schema::SchemaArgs;
use crate::stderr::Stderr;
use crate::values::find;
use dropforge::bulk::values::{SetKind, merge};
use dropforge::bulk::{Cluster, Fleet, Run};
use dropforge::diagnostics::{Code, Diagnostic, Diagnostics, Result as Checked};
use dropforge::mask::Mask;
use dropforge::value::Data;

/// The clusters and the releases that a project file gives.
#[derive(Debug, Args)]
#[command(next_help_heading = "Releases of a project")]
pub(super) struct EstateArgs {
    /// Read clusters from a file, a directory or a glob, for tests with `release` and `cluster`
    #[arg(long, value_name = "FLEET", add = key("").path())]
    fleet: Vec<String>,
    #[command(flatten)]
    reading: ReadingArgs,
    /// Read shared values of clusters from a file
    #[arg(long = "values", value_name = "FILE", add = key(""))]
    values: Vec<PathBuf>,
    /// Read releases (`[[release]]`) from this project file
    #[arg(long, value_name = "FILE", hide = true, add = key("").named("release").tables())]
    releases: Option<PathBuf>,
}

/// The options of the command that decide what releases render.
#[derive(Clone, Copy)]
pub(super) struct EstateOptions<'e> {
    pub args: &'e EstateArgs,
    pub language: &'e LanguageArgs,
    pub allow: &'e AllowArgs,
    pub schema: &'e SchemaArgs,
}

/// The releases of the project.
pub(super) struct Estate<'e> {
    options: EstateOptions<'e>,
    stderr: &'e Stderr,
    fleet: Option<Rc<Fleet>>,
    templates: HashMap<String, Rc<[String]>>,
    /// What was rendered, by all that it depends on. Tests of a suite often differ only in their assertions.
    rendered: HashMap<String, Rc<Rendered>>,
}

/// What a release renders for a cluster.
struct Rendered {
    /// The texts of its templates, or their errors.
    outputs: Result<Vec<Output>, Diagnostics>,
    is_chart: bool,
    mask: Mask,
}

/// A template with its text, or the errors of rendering it.
type Output = (String, Result<String, Box<Diagnostic>>);

impl<'e> Estate<'e> {
    pub fn new(options: EstateOptions<'e>, stderr: &'e Stderr) -> Self {
        Self { options, stderr, fleet: None, templates: HashMap::new(), rendered: HashMap::new() }
    }

    /// Returns the names of the templates of a release.
    ///
    /// # Errors
    /// Errors of the project file and of the release; an error at `release` if there is none.
    pub fn templates(&mut self, release: &str, files: &mut InputFiles) -> Result<Rc<[String]>, Diagnostics> {
        if let Some(known) = self.templates.get(release) {
            return Ok(known.clone());
        }
        let (run, is_chart) = self.run(release, Vec::new(), (Vec::new(), Vec::new()), files)?;
        let names = run.outputs.all.iter().map(|output| own_name(release, &output.template, is_chart).to_owned());
        let names: Rc<[String]> = names.collect();
        self.templates.insert(release.to_owned(), names.clone());
        Ok(names)
    }

    /// Renders the templates of a test.
    pub fn render(&mut self, release: &str, job: &TestJob<'_>, files: &mut InputFiles) -> Vec<TestOutput> {
        let rendered = match self.rendered(release, job, files) {
            Ok(rendered) => rendered,
            Err(errors) => return vec![TestOutput::failed(errors.into_vec())],
        };
        let outputs = match &rendered.outputs {
            Ok(outputs) => outputs.iter(),
            Err(errors) => return vec![TestOutput::failed(errors.clone().into_vec())],
        };
        let is_wanted = |name: &String| job.renders.is_empty() || job.renders.contains(name);
        let output = |(name, text): &Output| match text {
            Ok(text) if rendered.is_chart => TestOutput::of_chart(name.clone(), text.clone()),
            text => TestOutput::new(name.clone(), text.clone().map_err(|error| vec![error])),
        };
        outputs.filter(|(name, _)| is_wanted(name)).map(output).collect()
    }

    /// Returns the secrets among the values of a test.
    pub fn mask(&mut self, release: &str, job: &TestJob<'_>, files: &mut InputFiles) -> Mask {
        self.rendered(release, job, files).map(|rendered| rendered.mask.clone()).unwrap_or_default()
    }

    fn rendered(
        &mut self,
        release: &str,
        job: &TestJob<'_>,
        files: &mut InputFiles,
    ) -> Result<Rc<Rendered>, Diagnostics> {
        let (cluster, setup) = (self.cluster(job, files)?, &job.test.setup);
        let values: Vec<PathBuf> = setup.values.iter().map(|file| job.folder.join(&file.text)).collect();
        let sets: Vec<(SetKind, String)> = setup.set.iter().map(|set| assignment(release, set)).collect();
        let key = format!("{release}\n{}\n{:?}\n{values:?}\n{sets:?}", cluster.name(), cluster.inputs()?);
        if let Some(known) = self.rendered.get(&key) {
            return Ok(known.clone());
        }
        let (run, is_chart) = self.run(release, vec![cluster], (values, sets), files)?;
        let rendered = Rc::new(render(&run, release, is_chart)?);
        self.rendered.insert(key, rendered.clone());
        Ok(rendered)
    }

    /// Returns the cluster of a test: one of the fleet, or a new one, with the keys that the test gives.
    fn cluster(&mut self, job: &TestJob<'_>, files: &mut InputFiles) -> Result<Cluster, Diagnostics> {
        let (setup, source) = (&job.test.setup, &job.suite.source);
        let fleet = self.fleet(files)?;
        let of_keys = setup.cluster.get("name").and_then(Data::as_str);
        let known = match (&setup.cluster_name, of_keys) {
            (Some(PlacedText { text, span }), _) => {
                Some(find(&fleet, text).map_err(|error| error.at(source, *span, ""))?)
            }
            (None, Some(name)) => find(&fleet, name).ok(),
            (None, None) => {
                let message = format!("test `{}` names no cluster", job.test.name);
                let error = Diagnostic::new(Code::TestStructure, message);
                let error = error.at(source, job.test.span, "");
                return Err(error.with_help("write `cluster: NAME`, or the keys of a cluster").into());
            }
        };
        if let (Some(known), true) = (&known, setup.cluster.is_empty()) {
            return Ok(known.clone());
        }
        let mut own = known.as_ref().map(Cluster::inputs).transpose()?.unwrap_or_default().into_owned();
        merge(&mut own, setup.cluster.clone());
        let name = known.as_ref().map(Cluster::name).or(of_keys).unwrap_or_default().to_owned();
        Ok(Cluster::new(name, own))
    }

    fn fleet(&mut self, files: &mut InputFiles) -> Checked<Rc<Fleet>> {
        if let Some(known) = &self.fleet {
            return Ok(known.clone());
        }
        let EstateArgs { fleet, reading, .. } = self.options.args;
        let fleet = Rc::new(if fleet.is_empty() { Fleet::default() } else { reading.read(fleet, files)? });
        self.fleet = Some(fleet.clone());
        Ok(fleet)
    }

    /// Reads a release for clusters, with values files and assignments over its own. Also tells if it is a chart.
    fn run(
        &self,
        release: &str,
        clusters: Vec<Cluster>,
        (values, sets): (Vec<PathBuf>, Vec<(SetKind, String)>),
        files: &mut InputFiles,
    ) -> Result<(Run, bool), Diagnostics> {
        let EstateOptions { args, language, allow, schema } = self.options;
        let releases = ReleasesOption { values, ..ReleasesOption::of(args.releases.clone(), release) };
        let fleet = FleetArgs::of_clusters(clusters, args.reading.clone());
        let shared = ValueArgs {
            values: args.values.clone(),
            env_prefix: Vec::new(),
            sets: SetArgs(sets),
            allow: allow.clone(),
        };
        let defaults = RunDefaults::default();
        let reader = defaults.of_releases((&releases, &fleet), (&shared, schema))?;
        let run = RunArgs { language, ..reader }.read(files, self.stderr).map_err(errors)?;
        let is_chart = Definitions::read(&releases, files).map_err(errors)?.charts().next().is_some();
        Ok((run, is_chart))
    }
}

fn errors(failed: Failed) -> Diagnostics {
    let of_clusters = failed.failures.into_iter().map(|failure| failure.diagnostic);
    failed.diagnostics.into_iter().chain(of_clusters).collect::<Vec<_>>().into()
}

/// Returns a value by path as an assignment to a release.
fn assignment(release: &str, set: &SetValue) -> (SetKind, String) {
    let json = serde_json::to_string(&set.value).unwrap_or_default();
    (SetKind::Json, format!("{release}:{}={json}", set.path.text))
}

/// Returns the name of a template in its release: the path below the chart, or below the folder of templates.
fn own_name<'n>(release: &str, template: &'n str, is_chart: bool) -> &'n str {
    let name = template.strip_prefix(release).and_then(|rest| rest.strip_prefix(": ")).unwrap_or(template);
    let below = name.split_once('/').map(|(_, below)| below);
    below.filter(|_| is_chart).unwrap_or(name)
}

/// Renders the only release of a run for its only cluster.
fn render(run: &Run, release: &str, is_chart: bool) -> Result<Rendered, Diagnostics> {
    let cluster = run.fleet.reader().cluster(0)?.clone();
    let stamper = run.renderer()?;
    let mask = Mask::of_each(|each| stamper.each_secret(&run.values, &cluster, each));
    let unfit = run.values.violations(Some(&cluster));
    if !unfit.is_empty() {
        return Ok(Rendered { outputs: Err(unfit.into()), is_chart, mask });
    }
    let outputs = &run.outputs.all;
    let outputs = match stamper.texts(&run.values, &cluster) {
        Err(error) => Err(error.into()),
        // The errors of a whole release: of its values, its patches, or of all templates of a chart.
        Ok(texts) if texts.len() != outputs.len() => {
            Err(texts.into_iter().filter_map(Result::err).collect::<Vec<_>>().into())
        }
        Ok(texts) => {
            let names = outputs.iter().map(|output| own_name(release, &output.template, is_chart).to_owned());
            Ok(names.zip(texts).collect())
        }
    };
    Ok(Rendered { outputs, is_chart, mask })
}
