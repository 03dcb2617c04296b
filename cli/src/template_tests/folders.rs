//! Renders of single templates in folders.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use super::output::TestOutput;
use super::read::origin;
use super::suite::{PlacedText, SetValue, TestJob};
use crate::input::InputFiles;
use crate::layers::values_file;
use crate::options::LanguageArgs;
use crate::render;
use crate::schema::SchemaArgs;
use dropforge::bulk::values::Assignment;
use dropforge::bulk::{
    Cluster, Entry, Layers, Merge, ReadValues, dialect_of, discover, discover_with, engine, unknown_language,
};
use dropforge::diagnostics::{Diagnostic, Diagnostics, PROBLEM, Result as Checked};
use dropforge::engine::coverage::Coverage;
use dropforge::engine::{Engine, EngineBuilder, Template};
use dropforge::mask::Mask;
use dropforge::text::Span;
use dropforge::value::{Arena, Data, InputBuilder, Inputs, Shapes};
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
            found = sets.iter().filter_map(|set| unread(&read, &set.path, &set.value)).collect();
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
        let set = |one: &SetValue| Assignment::of_value(&one.path.text, one.value.clone(), &origin(&one.path));
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
