//! Renders of charts.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use dropforge::diagnostics::{Code, Diagnostic, Diagnostics, Result};
use dropforge::dialect::helm::chart::{Capabilities, ChartSource, Plan, Release, UserValues};
use dropforge::engine::Engine;
use dropforge::engine::chart::ChartTemplate;
use dropforge::engine::coverage::Coverage;
use dropforge::limits::Limits;
use dropforge::text::Source;
use dropforge::value::{Data, DataMap, yaml};
use dropforge::vm::Session;

use super::output::Output;
use super::suite::Setup;
use super::target::Job;
use crate::input::InputFiles;

/// The file of a chart that tests may change.
const METADATA: &str = "Chart.yaml";

/// Charts that were read and compiled.
#[derive(Debug)]
pub(super) struct Charts<'e> {
    engine: &'e Engine,
    sources: HashMap<PathBuf, ChartSource>,
    /// Charts for some of their templates, and with changed metadata.
    compiled: HashMap<(PathBuf, Vec<String>, String), ChartTemplate>,
    session: Session,
}

impl<'e> Charts<'e> {
    pub fn new(engine: &'e Engine) -> Self {
        Self { engine, sources: HashMap::new(), compiled: HashMap::new(), session: Session::new() }
    }

    fn source(&mut self, chart: &Path) -> Result<&ChartSource> {
        if !self.sources.contains_key(chart) {
            let source = ChartSource::open(chart)?.in_folder(&chart.display().to_string());
            self.sources.insert(chart.to_owned(), source);
        }
        self.sources.get(chart).ok_or_else(|| internal(chart))
    }

    /// Returns the paths of the templates of a chart and of the charts in it, which are below their aliases.
    ///
    /// # Errors
    /// Errors of reading the chart.
    pub fn templates(&mut self, chart: &Path) -> std::result::Result<Vec<String>, Diagnostics> {
        let engine = self.engine;
        let plan = engine.chart(self.source(chart)?)?.chart().whole();
        let paths = plan.templates().iter().map(|template| below(&plan, template.name()));
        let mut paths: Vec<String> = paths.filter(|path| !is_partial(path)).map(str::to_owned).collect();
        paths.sort_unstable();
        Ok(paths)
    }

    /// Renders the templates of a test.
    pub fn render(
        &mut self,
        chart: &Path,
        job: &Job<'_>,
        coverage: Option<&Coverage>,
        files: &mut InputFiles,
    ) -> Vec<Output> {
        match self.texts(chart, job, coverage, files) {
            Ok(texts) => texts.into_iter().map(|(template, text)| Output::new(template, Ok(text))).collect(),
            Err(errors) => vec![Output::failed(errors.into_vec())],
        }
    }

    fn texts(
        &mut self,
        chart: &Path,
        job: &Job<'_>,
        coverage: Option<&Coverage>,
        files: &mut InputFiles,
    ) -> std::result::Result<Vec<(String, String)>, Diagnostics> {
        let setup = &job.test.setup;
        let values = values(job, files)?;
        let (release, capabilities) = (release(setup), capabilities(setup)?);
        let template = self.template(chart, job)?;
        let mut plan = template.chart().plan(&values, &release, &capabilities)?;
        if !job.renders.is_empty() {
            let whole = plan.clone();
            plan.retain(|template| {
                let path = below(&whole, template.name());
                is_partial(path) || job.renders.iter().any(|one| one == path)
            });
        }
        let render = match coverage {
            Some(coverage) => template.render_covered(&mut self.session, plan, coverage)?,
            None => template.render_in(&mut self.session, plan)?,
        };
        let path = |name: &str| below(render.plan(), name).to_owned();
        Ok(render.files().iter().map(|(name, text)| (path(name), text.as_str().to_owned())).collect())
    }

    /// Adds all templates of a chart to a coverage, as far as they compile.
    pub fn cover(&mut self, chart: &Path, coverage: &Coverage) {
        let compile = |source: &ChartSource| {
            let whole = self.engine.chart(source)?;
            let outline = whole.chart().outline(&UserValues::default())?;
            whole.compile(&outline)
        };
        // Those that do not compile fail their tests.
        if let Some(Ok(template)) = self.sources.get(chart).map(compile) {
            coverage.add(&template);
        }
    }

    /// Returns the chart of a test. Its programs have the templates of the test.
    fn template(&mut self, chart: &Path, job: &Job<'_>) -> std::result::Result<ChartTemplate, Diagnostics> {
        let metadata = job.test.setup.chart.clone();
        let key = (chart.to_owned(), job.renders.clone(), yaml::to_string(&Data::Map(metadata.clone())));
        if let Some(known) = self.compiled.get(&key) {
            return Ok(known.clone());
        }
        let source = self.source(chart)?.clone();
        let template = self.engine.chart(&changed(source, metadata)?)?;
        self.compiled.insert(key, template.clone());
        Ok(template)
    }
}

/// Returns the path of a template from the directory of the outermost chart.
fn below<'n>(plan: &Plan, name: &'n str) -> &'n str {
    let root = plan.charts().first().and_then(|chart| name.strip_prefix(chart.path()));
    root.and_then(|rest| rest.strip_prefix('/')).unwrap_or(name)
}

/// Returns `true` for a template that only defines others.
fn is_partial(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| name.starts_with('_')) || path.ends_with(".tpl")
}

/// Returns a chart with changed metadata.
fn changed(source: ChartSource, metadata: DataMap) -> std::result::Result<ChartSource, Diagnostics> {
    let file = source.files().iter().find(|file| file.path() == METADATA);
    let Some(file) = file.filter(|_| !metadata.is_empty()) else { return Ok(source) };
    let text = Source::new(METADATA, String::from_utf8_lossy(file.bytes()).into_owned());
    let read = yaml::read_data(&text, &Limits::default())?;
    let mut map = read.into_map().unwrap_or_default();
    map.extend(metadata);
    Ok(source.with_content(METADATA, &yaml::to_string(&Data::Map(map))))
}

/// Returns the values of a test: files, the keys of the cluster, and those by path.
fn values(job: &Job<'_>, files: &mut InputFiles) -> std::result::Result<UserValues, Diagnostics> {
    let (setup, mut values) = (&job.test.setup, UserValues::default());
    for file in &setup.values {
        let source = files.read(&job.folder.join(&file.text), "-")?;
        values.file(source.name(), source.text())?;
    }
    if !setup.cluster.is_empty() {
        values.of_fleet([]);
        values = values.with_cluster(setup.cluster.clone(), false)?;
    }
    for (path, value) in &setup.set {
        let set = values.set_value(&path.text, value.clone());
        set.map_err(|error| error.at(&job.suite.source, path.span, ""))?;
    }
    Ok(values)
}

/// Returns the release. Its defaults are those of helm-unittest.
fn release(setup: &Setup) -> Release {
    let given = &setup.release;
    let cluster = setup.cluster.get("name").and_then(Data::as_str).map(str::to_owned);
    let name = given.name.clone().or(cluster);
    Release {
        name: name.unwrap_or_else(|| "RELEASE-NAME".to_owned()),
        namespace: given.namespace.clone().unwrap_or_else(|| "NAMESPACE".to_owned()),
        is_upgrade: given.upgrade.unwrap_or(false),
        revision: given.revision.unwrap_or(0),
        ..Release::default()
    }
}

fn capabilities(setup: &Setup) -> Result<Capabilities> {
    let given = &setup.capabilities;
    let capabilities = Capabilities::default().with_apis(given.apis.iter().cloned());
    match (&given.major, &given.minor) {
        (Some(major), Some(minor)) => capabilities.with_kube_version(&format!("v{major}.{minor}.0")),
        _ => Ok(capabilities),
    }
}

fn internal(chart: &Path) -> Box<Diagnostic> {
    Diagnostic::new(Code::Internal, format!("the chart `{}` was not read", chart.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partials_are_told_from_other_templates() {
        for (path, partial) in [
            ("templates/a.yaml", false),
            ("templates/sub/_b.tpl", true),
            ("templates/helpers.tpl", true),
            ("charts/x/templates/NOTES.txt", false),
        ] {
            assert_eq!(is_partial(path), partial, "{path}");
        }
    }
}
