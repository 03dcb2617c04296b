//! Renders of charts.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::output::TestOutput;
use super::read::origin;
use super::suite::{SetValue, Setup, TestJob};
use super::target::is_hidden;
use crate::chart::with_documents;
use crate::input::InputFiles;
use dropforge::bulk::Layers;
use dropforge::bulk::values::Assignment;
use dropforge::diagnostics::{Code, Diagnostic, Diagnostics, Result as Checked};
use dropforge::dialect::helm::chart::{Capabilities, ChartSource, Plan, Release, UserValues, floats, overlay};
use dropforge::engine::Engine;
use dropforge::engine::chart::ChartTemplate;
use dropforge::engine::coverage::Coverage;
use dropforge::mask::Mask;
use dropforge::value::{Data, DataMap, Step};
use dropforge::vm::Session;

/// Charts that were read and compiled.
#[derive(Debug)]
pub(super) struct Charts<'e> {
    engine: &'e Engine,
    skips_schemas: bool,
    sources: HashMap<PathBuf, ChartSource>,
    /// The charts as they are, and the paths of their templates.
    charts: HashMap<PathBuf, (ChartTemplate, Rc<[String]>)>,
    /// Charts for some of their templates.
    compiled: HashMap<(PathBuf, Vec<String>), ChartTemplate>,
    session: Session,
}

impl<'e> Charts<'e> {
    /// Creates a cache. With `skips_schemas`, values are not checked.
    pub fn new(engine: &'e Engine, skips_schemas: bool) -> Self {
        Self {
            engine,
            skips_schemas,
            sources: HashMap::new(),
            charts: HashMap::new(),
            compiled: HashMap::new(),
            session: Session::new(),
        }
    }

    fn source(&mut self, chart: &Path) -> Checked<&ChartSource> {
        if !self.sources.contains_key(chart) {
            let source = ChartSource::open(chart)?.in_folder(&chart.display().to_string());
            self.sources.insert(chart.to_owned(), with_documents(source, chart, &BTreeMap::new())?);
        }
        self.sources.get(chart).ok_or_else(|| internal(chart))
    }

    /// Returns the paths of the templates of a chart and of the charts in it, which are below their aliases, and of its
    /// definitions of resources.
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
            let crds = self.source(chart)?.files().iter().map(|file| file.path()).filter(|path| is_crd(path));
            let mut paths: Vec<String> = paths.chain(crds).map(str::to_owned).collect();
            paths.sort_unstable();
            self.charts.insert(chart.to_owned(), (template, paths.into()));
        }
        self.charts.get(chart).ok_or_else(|| internal(chart).into())
    }

    /// Returns the reason not to test the chart in a chart that a route leads to: the values of the chart disable it.
    pub fn disabled(&mut self, chart: &Path, route: &str) -> Option<String> {
        let (template, _) = self.chart(chart).ok()?;
        let mut values = UserValues::default();
        values.of_test();
        let plan = template.outline(&values).ok()?;
        let is_enabled =
            route.is_empty() || plan.charts().iter().any(|one| below(&plan, one.path()) == route.trim_end_matches('/'));
        (!is_enabled)
            .then(|| format!("`{}` is disabled by the values of the chart around it", route.trim_end_matches('/')))
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
            Ok(texts) => texts.into_iter().map(|(template, text)| TestOutput::of_chart(template, text)).collect(),
            Err(errors) => vec![TestOutput::failed(errors.into_vec())],
        }
    }

    /// Returns the outputs by the paths of their templates, sorted.
    fn texts(
        &mut self,
        chart: &Path,
        job: &TestJob<'_>,
        coverage: Option<&Coverage>,
        files: &mut InputFiles,
    ) -> Result<Vec<(String, String)>, Diagnostics> {
        let setup = &job.test.setup;
        let values = self.values(job, files)?;
        let (release, capabilities) = (release(setup), capabilities(setup)?);
        let template = self.template(chart, job)?;
        let mut plan = template.plan(&self.session, &values, &release, &capabilities)?;
        let version = |key: &str| setup.chart.get(key).and_then(Data::as_str);
        plan.set_versions(version("version"), version("appVersion"));
        let is_wanted = |path: &str| job.renders.is_empty() || job.renders.iter().any(|one| one == path);
        if !job.renders.is_empty() {
            let whole = plan.clone();
            plan.retain(|template| {
                let path = below(&whole, template.name());
                is_hidden(path) || is_wanted(path)
            });
        }
        let render = match coverage {
            Some(coverage) => template.render_covered(&mut self.session, plan, coverage)?,
            None => template.render_in(&mut self.session, plan)?,
        };
        let path = |name: &str| below(render.plan(), name).to_owned();
        let texts = render.files().iter().map(|(name, text)| (path(name), text.as_str().to_owned()));
        let mut texts: Vec<(String, String)> = texts.filter(|(path, _)| is_wanted(path)).collect();
        if setup.crds {
            let crds = self.source(chart)?.files().iter().filter(|file| is_crd(file.path()));
            texts.extend(crds.map(|file| (file.path().to_owned(), String::from_utf8_lossy(file.bytes()).into_owned())));
        }
        texts.sort_unstable();
        Ok(texts)
    }

    /// Returns the values of a test: files, the keys of the cluster, those by path of the suite and then those of the
    /// test. Maps merge.
    fn values(&self, job: &TestJob<'_>, files: &mut InputFiles) -> Result<UserValues, Diagnostics> {
        let (setup, mut values) = (&job.test.setup, UserValues::default());
        values.of_test();
        values.skip_schemas(self.skips_schemas);
        for file in &setup.values {
            let source = files.regular_values(&job.folder.join(&file.text))?;
            if job.route.is_empty() {
                values.file(source.name(), source.text())?;
                continue;
            }
            let mut alone = UserValues::default();
            alone.file(source.name(), source.text())?;
            values.map(routed(&job.route, alone.values().clone()));
        }
        if !setup.cluster.is_empty() {
            values.of_fleet([]);
            values = values.with_cluster(setup.cluster.clone(), false)?;
        }
        for of_one in setup.set.chunk_by(|a, b| a.is_of_test == b.is_of_test) {
            let mut map = DataMap::default();
            for SetValue { path, of_chart, .. } in of_one {
                let at = |error: Box<Diagnostic>| error.at(&job.suite.source, path.span, "");
                let one = Assignment::of_value(&path.text, Data::Null, &origin(path)).map_err(at)?;
                put(&mut map, &one.path, of_chart.clone());
            }
            floats(&mut map);
            values.map(routed(&job.route, map));
        }
        Ok(values)
    }

    /// Returns the secrets among the values of a test.
    pub fn mask(&mut self, chart: &Path, job: &TestJob<'_>, files: &mut InputFiles) -> Mask {
        let values = self.values(job, files);
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
            let mut values = UserValues::default();
            values.of_test();
            let outline = whole.outline(&values)?;
            whole.compile(&outline)
        };
        // Those that do not compile fail their tests.
        if let Ok(template) = self.chart(chart).map(|(whole, _)| whole.apart()).and_then(compile) {
            coverage.add(&template);
        }
    }

    /// Returns the chart of a test. Its programs have the templates of the test.
    fn template(&mut self, chart: &Path, job: &TestJob<'_>) -> Result<ChartTemplate, Diagnostics> {
        let key = (chart.to_owned(), job.renders.clone());
        if let Some(known) = self.compiled.get(&key) {
            return Ok(known.clone());
        }
        let template = self.chart(chart)?.0.apart();
        self.compiled.insert(key, template.clone());
        Ok(template)
    }
}

/// Returns the path of a template from the directory of the outermost chart.
fn below<'n>(plan: &Plan, name: &'n str) -> &'n str {
    let root = plan.charts().first().and_then(|chart| name.strip_prefix(chart.path()));
    root.and_then(|rest| rest.strip_prefix('/')).unwrap_or(name)
}

/// Returns `true` for a definition of resources.
fn is_crd(path: &str) -> bool {
    let mut rest = path;
    while let Some((_, below)) = rest.strip_prefix("charts/").and_then(|below| below.split_once('/')) {
        rest = below;
    }
    rest.starts_with("crds/") && [".yaml", ".yml", ".json"].iter().any(|ending| rest.ends_with(ending))
}

/// Maximum index of a list that a path makes.
const MAX_INDEX: usize = 65_536;

/// Puts a value below the keys and indexes of a path. Maps merge.
fn put(map: &mut DataMap, path: &[Step], value: Data) {
    let Some((Step::Key(key), rest)) = path.split_first() else { return };
    let below = map.entry(key.clone()).or_insert(Data::Null);
    put_into(below, rest, value);
}

fn put_into(place: &mut Data, path: &[Step], value: Data) {
    match path.split_first() {
        None => match (&mut *place, value.try_into_map()) {
            (Data::Map(old), Ok(new)) => overlay(old, new),
            (_, Ok(new)) => *place = Data::Map(new),
            (_, Err(value)) => *place = value,
        },
        Some((Step::Key(_), _)) => {
            if !matches!(place, Data::Map(_)) {
                *place = Data::Map(DataMap::default());
            }
            if let Data::Map(map) = place {
                put(map, path, value);
            }
        }
        Some((Step::Index(at), rest)) => {
            if !matches!(place, Data::List(_)) {
                *place = Data::List(Vec::new());
            }
            let at = (*at).min(MAX_INDEX);
            if let Data::List(items) = place {
                items.resize(items.len().max(at + 1), Data::Null);
                items.get_mut(at).into_iter().for_each(|item| put_into(item, rest, value.clone()));
            }
        }
    }
}

/// Returns the names of the charts of a route.
fn charts_of(route: &str) -> impl DoubleEndedIterator<Item = &str> {
    route
        .split('/')
        .filter(|part| !part.is_empty())
        .enumerate()
        .filter(|(at, _)| at % 2 == 1)
        .map(|(_, name)| name)
        .collect::<Vec<_>>()
        .into_iter()
}

/// Returns the values of a chart in a chart as values of the outermost. Global ones are those of all.
fn routed(route: &str, values: DataMap) -> DataMap {
    charts_of(route).rev().fold(values, |values, name| {
        let global = values.get("global").map(|global| ("global".to_owned(), global.clone()));
        global.into_iter().chain([(name.to_owned(), Data::Map(values))]).collect()
    })
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

/// Returns the cluster. It has only the APIs that are given, as for helm-unittest.
fn capabilities(setup: &Setup) -> Checked<Capabilities> {
    let given = &setup.capabilities;
    let objects = setup.objects.clone();
    let known = Capabilities { api_versions: given.apis.clone(), objects, ..Capabilities::default() };
    if given.major.is_none() && given.minor.is_none() {
        return Ok(known);
    }
    let major = given.major.as_ref().unwrap_or(&known.kube_version.major);
    let minor = given.minor.as_ref().unwrap_or(&known.kube_version.minor);
    let version = format!("v{major}.{minor}.0");
    known.with_kube_version(&version)
}

fn internal(chart: &Path) -> Box<Diagnostic> {
    Diagnostic::new(Code::Internal, format!("the chart `{}` was not read", chart.display()))
}

#[cfg(test)]
mod tests {
    use dropforge::limits::Limits;
    use dropforge::text::Source;
    use dropforge::value::yaml;

    use super::*;

    #[test]
    fn values_of_a_chart_in_a_chart_are_below_its_name() {
        let read = |text: &str| {
            yaml::read_data(&Source::new("a", text), &Limits::default()).ok().and_then(Data::into_map).unwrap()
        };
        let found = routed("charts/a/charts/b/", read("{x: 1, global: {g: 2}}"));
        assert_eq!(found, read("{global: {g: 2}, a: {global: {g: 2}, b: {x: 1, global: {g: 2}}}}"));
        assert_eq!(routed("", read("{x: 1}")), read("{x: 1}"));
    }

    #[test]
    fn values_by_path_merge_and_make_lists() {
        let mut map = DataMap::default();
        for (path, value) in [("a", "{x: {y: 1}}"), ("a.x.z", "2"), ("l[1].k", "v"), ("l[0]", "w"), ("a.x.y.deep", "3")]
        {
            let path = Assignment::of_value(path, Data::Null, "").unwrap().path;
            put(&mut map, &path, yaml::read_data(&Source::new("v", value), &Limits::default()).unwrap());
        }
        let wanted = "{a: {x: {y: {deep: 3}, z: 2}}, l: [w, {k: v}]}";
        assert_eq!(Data::Map(map), yaml::read_data(&Source::new("w", wanted), &Limits::default()).unwrap());
    }

    #[test]
    fn definitions_of_resources_are_found() {
        for (path, wanted) in [
            ("crds/a.yaml", true),
            ("crds/sub/a.yml", true),
            ("charts/x/crds/a.json", true),
            ("charts/x/charts/y/crds/a.yaml", true),
            ("charts/x/templates/crds/a.yaml", false),
            ("templates/crds/a.yaml", false),
            ("crds/README.md", false),
        ] {
            assert_eq!(is_crd(path), wanted, "{path}");
        }
    }
}
