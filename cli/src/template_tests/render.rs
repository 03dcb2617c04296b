//! Renders of single templates in folders, and of charts.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::asserts::PlacedText;
use super::output::TestOutput;
use super::read::origin;
use super::suite::{Setup, TestJob};
use crate::input::InputFiles;
use crate::layers::values_file;
use crate::options::LanguageArgs;
use crate::render;
use crate::schema::SchemaArgs;
use dropforge::bulk::values::Assignment;
use dropforge::bulk::{
    Cluster, Entry, Layers, Merge, ReadValues, dialect_of, discover, discover_with, engine, unknown_language,
};
use dropforge::diagnostics::{Code, Diagnostic, Diagnostics, PROBLEM, Result as Checked};
use dropforge::dialect::helm::chart::{Capabilities, ChartSource, Plan, Release, UserValues};
use dropforge::engine::chart::ChartTemplate;
use dropforge::engine::coverage::Coverage;
use dropforge::engine::{Engine, EngineBuilder, Template};
use dropforge::limits::Limits;
use dropforge::mask::Mask;
use dropforge::text::{Source, Span};
use dropforge::value::{Arena, Data, DataMap, InputBuilder, Inputs, Shapes, yaml};
use dropforge::vm::Session;

/// Templates that were compiled.
pub(super) struct Folders<'a> {
    language: &'a LanguageArgs,
    schema: &'a SchemaArgs,
    builder: Box<dyn Fn() -> Checked<EngineBuilder> + 'a>,
    engines: HashMap<PathBuf, Engine>,
    compiled: HashMap<PathBuf, Result<Template, Diagnostics>>,
    session: Session,
    /// The places of values of which a warning was given.
    warned: HashSet<(String, Span)>,
}

impl<'a> Folders<'a> {
    /// Creates a cache. `builder` makes engines with the options of the command.
    pub fn new(
        language: &'a LanguageArgs,
        schema: &'a SchemaArgs,
        builder: impl Fn() -> Checked<EngineBuilder> + 'a,
    ) -> Self {
        let (builder, session) = (Box::new(builder), Session::new());
        let (engines, compiled, warned) = (HashMap::new(), HashMap::new(), HashSet::new());
        Self { language, schema, builder, engines, compiled, session, warned }
    }

    /// Renders the templates of a test.
    pub fn render(
        &mut self,
        folder: &Path,
        job: &TestJob<'_>,
        coverage: Option<&Coverage>,
        files: &mut InputFiles,
    ) -> Vec<TestOutput> {
        let inputs = self.inputs(folder, job, files);
        let render = |name: &String| {
            let text = match &inputs {
                Ok((layers, cluster)) => self.text(&folder.join(name), (layers, cluster), coverage),
                Err(errors) => Err(errors.clone()),
            };
            TestOutput::new(name.clone(), text.map_err(Diagnostics::into_vec))
        };
        job.renders.iter().map(render).collect()
    }

    /// Returns a warning for each value in `set` that no template of the folder reads. Each value gets one.
    pub fn unread(&mut self, folder: &Path, job: &TestJob<'_>, files: &mut InputFiles) -> Vec<Box<Diagnostic>> {
        let (source, sets) = (&job.suite.source, &job.test.setup.set);
        let layers = Layers::new([], Vec::new(), Merge::default());
        let Ok(declared) = self.schema.add_to(layers, &[folder.to_owned()], files) else { return Vec::new() };
        let mut found = Vec::new();
        for paths in [job.renders.iter().map(|name| folder.join(name)).collect(), self.paths(folder)] {
            let Ok(templates) = paths.iter().map(|path| self.template(path)).collect::<Result<Vec<_>, _>>() else {
                return Vec::new();
            };
            let read = ReadValues::by(&templates).and_declared(&declared);
            found = sets.iter().filter_map(|(path, value)| unread(&read, path, value)).collect();
            if found.is_empty() {
                break;
            }
        }
        found.retain(|(span, _)| self.warned.insert((source.path().to_owned(), *span)));
        found.into_iter().map(|(span, warning)| warning.at(source, span, "")).collect()
    }

    /// Returns the secrets among the values of a test.
    pub fn mask(&self, folder: &Path, job: &TestJob<'_>, files: &mut InputFiles) -> Mask {
        let given = self.given(folder, job, files);
        given.map(|(layers, cluster)| layers.mask(Some(&cluster))).unwrap_or_default()
    }

    /// Returns the values of a test, which fit their schemas.
    fn inputs(
        &self,
        folder: &Path,
        job: &TestJob<'_>,
        files: &mut InputFiles,
    ) -> Result<(Layers, Cluster), Diagnostics> {
        let (layers, cluster) = self.given(folder, job, files)?;
        let unfit = layers.violations(Some(&cluster));
        if unfit.is_empty() { Ok((layers, cluster)) } else { Err(unfit.into()) }
    }

    /// Returns the values of a test: files, the keys of the cluster over them, and those by path.
    fn given(&self, folder: &Path, job: &TestJob<'_>, files: &mut InputFiles) -> Checked<(Layers, Cluster)> {
        let setup = &job.test.setup;
        let read = setup.values.iter().map(|file| values_file(&job.folder.join(&file.text), "-", files));
        let (maps, places): (Vec<_>, Vec<_>) = read.collect::<Checked<Vec<_>>>()?.into_iter().unzip();
        let set =
            |(path, value): &(PlacedText, _)| Assignment::of_value(&path.text, Clone::clone(value), &origin(path));
        let sets = setup.set.iter().map(set).collect::<Checked<Vec<_>>>()?;
        let layers = Layers::new(maps, sets, Merge::default()).with_places(places);
        let layers = self.schema.add_to(layers, &[folder.to_owned()], files)?;
        let name = setup.cluster.get("name").and_then(Data::as_str).unwrap_or("");
        Ok((layers, Cluster::new(name, setup.cluster.clone())))
    }

    /// Adds all templates below a folder to a coverage, as far as they compile.
    pub fn cover(&mut self, folder: &Path, coverage: &Coverage) {
        let templates = self.paths(folder).into_iter().filter_map(|path| self.template(&path).ok());
        templates.for_each(|template| coverage.add(&template));
    }

    /// Returns the paths of all templates below a folder.
    fn paths(&self, folder: &Path) -> Vec<PathBuf> {
        let is_wanted = |entry: Entry<'_>| match entry.is_dir {
            true => !entry.name.starts_with('.'),
            false => self.language.is_template(entry.name),
        };
        let found = discover_with(&[folder.to_owned()], Some(folder), &is_wanted);
        found.map_or_else(|_| Vec::new(), |set| set.files.iter().map(|file| folder.join(&file.name)).collect())
    }

    fn text(
        &mut self,
        path: &Path,
        (layers, cluster): (&Layers, &Cluster),
        coverage: Option<&Coverage>,
    ) -> Result<String, Diagnostics> {
        let template = self.template(path)?;
        let values = layers.merged(cluster)?;
        let (arena, names) = (Arena::new(), Arena::new());
        let shapes = Shapes::new(&names);
        let inputs = Inputs::new(InputBuilder::new(&arena, &shapes).data_map(&values)?);
        let mut text = String::new();
        let rendered = match coverage {
            Some(coverage) => template.render_covered(&mut self.session, inputs, &mut text, coverage),
            None => template.render_inputs(&mut self.session, inputs, &mut text),
        };
        match rendered {
            Ok(()) => Ok(text),
            Err(error) => Err(render::explained(&template, inputs, (layers, Some(cluster)), error).into()),
        }
    }

    fn template(&mut self, path: &Path) -> Result<Template, Diagnostics> {
        if let Some(known) = self.compiled.get(path) {
            return known.clone();
        }
        let compiled = self.compile(path);
        self.compiled.insert(path.to_owned(), compiled.clone());
        compiled
    }

    fn compile(&mut self, path: &Path) -> Result<Template, Diagnostics> {
        let set = discover(&[path.to_owned()], self.language.include_root.as_deref(), &|_| true)?;
        let name = set.files.first().map_or("", |file| file.name.as_str());
        let dialect = self.language.lang.or_else(|| dialect_of(name)).ok_or_else(|| unknown_language(name))?;
        if !self.engines.contains_key(&set.root) {
            let built = engine(&set.root, (self.builder)()?)?;
            self.engines.insert(set.root.clone(), built);
        }
        match self.engines.get(&set.root) {
            Some(engine) => engine.load(dialect, name),
            None => Err(unknown_language(name).into()),
        }
    }
}

/// Returns the place of a value in `set` that nothing reads, and the warning about it.
fn unread(read: &ReadValues, path: &PlacedText, value: &Data) -> Option<(Span, Box<Diagnostic>)> {
    let set = Assignment::of_value(&path.text, value.clone(), &origin(path)).ok()?;
    let mut warning = read.unread(&Layers::new([], vec![set], Merge::default())).into_iter().next()?;
    // The label says what gives the value.
    if let Some(problem) = warning.fields.remove(PROBLEM) {
        warning.message = problem;
    }
    Some((path.span, warning))
}

/// The file of a chart that tests may change.
const METADATA: &str = "Chart.yaml";

/// Charts that were read and compiled.
#[derive(Debug)]
pub(super) struct Charts<'e> {
    engine: &'e Engine,
    sources: HashMap<PathBuf, ChartSource>,
    /// The charts as they are, and the paths of their templates.
    charts: HashMap<PathBuf, (ChartTemplate, Rc<[String]>)>,
    /// Charts for some of their templates, and with changed metadata.
    compiled: HashMap<(PathBuf, Vec<String>, String), ChartTemplate>,
    session: Session,
}

impl<'e> Charts<'e> {
    pub fn new(engine: &'e Engine) -> Self {
        Self {
            engine,
            sources: HashMap::new(),
            charts: HashMap::new(),
            compiled: HashMap::new(),
            session: Session::new(),
        }
    }

    fn source(&mut self, chart: &Path) -> Checked<&ChartSource> {
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
    pub fn templates(&mut self, chart: &Path) -> Result<Rc<[String]>, Diagnostics> {
        Ok(self.chart(chart)?.1.clone())
    }

    /// Returns a chart as it is, with the paths of its templates.
    fn chart(&mut self, chart: &Path) -> Result<&(ChartTemplate, Rc<[String]>), Diagnostics> {
        let engine = self.engine;
        if !self.charts.contains_key(chart) {
            let template = engine.chart(self.source(chart)?)?;
            let plan = template.chart().whole();
            let paths = plan.templates().iter().map(|template| below(&plan, template.name()));
            let mut paths: Vec<String> = paths.filter(|path| !is_partial(path)).map(str::to_owned).collect();
            paths.sort_unstable();
            self.charts.insert(chart.to_owned(), (template, paths.into()));
        }
        self.charts.get(chart).ok_or_else(|| internal(chart).into())
    }

    /// Renders the templates of a test.
    pub fn render(
        &mut self,
        chart: &Path,
        job: &TestJob<'_>,
        coverage: Option<&Coverage>,
        files: &mut InputFiles,
    ) -> Vec<TestOutput> {
        match self.texts(chart, job, coverage, files) {
            Ok(texts) => texts.into_iter().map(|(template, text)| TestOutput::new(template, Ok(text))).collect(),
            Err(errors) => vec![TestOutput::failed(errors.into_vec())],
        }
    }

    fn texts(
        &mut self,
        chart: &Path,
        job: &TestJob<'_>,
        coverage: Option<&Coverage>,
        files: &mut InputFiles,
    ) -> Result<Vec<(String, String)>, Diagnostics> {
        let setup = &job.test.setup;
        let values = values(job, files)?;
        let (release, capabilities) = (release(setup), capabilities(setup)?);
        let template = self.template(chart, job)?;
        let mut plan = template.plan(&self.session, &values, &release, &capabilities)?;
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

    /// Returns the secrets among the values of a test.
    pub fn mask(&mut self, chart: &Path, job: &TestJob<'_>, files: &mut InputFiles) -> Mask {
        let values = values(job, files);
        let given = values.and_then(|values| Ok((self.template(chart, job)?, values)));
        let Ok((template, values)) = given else { return Mask::none() };
        let decrypted = Layers::default().with_places(files.decrypted_places());
        Mask::of_each(|each| {
            template.chart().each_secret(&values, each);
            decrypted.each_secret(None, each);
        })
    }

    /// Adds all templates of a chart to a coverage, as far as they compile.
    pub fn cover(&mut self, chart: &Path, coverage: &Coverage) {
        let compile = |whole: ChartTemplate| {
            let outline = whole.outline(&UserValues::default())?;
            whole.compile(&outline)
        };
        // Those that do not compile fail their tests.
        if let Ok(template) = self.chart(chart).map(|(whole, _)| whole.apart()).and_then(compile) {
            coverage.add(&template);
        }
    }

    /// Returns the chart of a test. Its programs have the templates of the test.
    fn template(&mut self, chart: &Path, job: &TestJob<'_>) -> Result<ChartTemplate, Diagnostics> {
        let metadata = job.test.setup.chart.clone();
        let key = (chart.to_owned(), job.renders.clone(), yaml::to_string(&Data::Map(metadata.clone())));
        if let Some(known) = self.compiled.get(&key) {
            return Ok(known.clone());
        }
        let template = match metadata.is_empty() {
            true => self.chart(chart)?.0.apart(),
            false => self.engine.chart(&changed(self.source(chart)?.clone(), metadata)?)?,
        };
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
fn changed(source: ChartSource, metadata: DataMap) -> Result<ChartSource, Diagnostics> {
    let file = source.files().iter().find(|file| file.path() == METADATA);
    let Some(file) = file.filter(|_| !metadata.is_empty()) else { return Ok(source) };
    let text = Source::new(METADATA, String::from_utf8_lossy(file.bytes()).into_owned());
    let read = yaml::read_data(&text, &Limits::default())?;
    let mut map = read.into_map().unwrap_or_default();
    map.extend(metadata);
    Ok(source.with_content(METADATA, &yaml::to_string(&Data::Map(map))))
}

/// Returns the values of a test: files, the keys of the cluster, and those by path.
fn values(job: &TestJob<'_>, files: &mut InputFiles) -> Result<UserValues, Diagnostics> {
    let (setup, mut values) = (&job.test.setup, UserValues::default());
    for file in &setup.values {
        let source = files.regular_values(&job.folder.join(&file.text))?;
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

fn capabilities(setup: &Setup) -> Checked<Capabilities> {
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
