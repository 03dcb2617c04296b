//! Renders of single templates in folders.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use dropforge::bulk::values::Assignment;
use dropforge::bulk::{Cluster, Entry, Layers, Merge, dialect_of, discover, discover_with, engine, unknown_language};
use dropforge::diagnostics::{Diagnostics, Result as Checked};
use dropforge::engine::coverage::Coverage;
use dropforge::engine::{Engine, EngineBuilder, Template};
use dropforge::value::{Arena, InputBuilder, Inputs, Shapes};
use dropforge::vm::Session;

use super::output::Output;
use super::read::origin;
use super::target::Job;
use crate::input::InputFiles;
use crate::layers::values_file;
use crate::options::LanguageArgs;
use crate::render;
use crate::schema::SchemaArgs;

/// Templates that were compiled.
pub(super) struct Folders<'a> {
    language: &'a LanguageArgs,
    schema: &'a SchemaArgs,
    builder: Box<dyn Fn() -> Checked<EngineBuilder> + 'a>,
    engines: HashMap<PathBuf, Engine>,
    compiled: HashMap<PathBuf, Result<Template, Diagnostics>>,
    session: Session,
}

impl<'a> Folders<'a> {
    /// Creates a cache. `builder` makes engines with the options of the command.
    pub fn new(
        language: &'a LanguageArgs,
        schema: &'a SchemaArgs,
        builder: impl Fn() -> Checked<EngineBuilder> + 'a,
    ) -> Self {
        let (builder, session) = (Box::new(builder), Session::new());
        Self { language, schema, builder, engines: HashMap::new(), compiled: HashMap::new(), session }
    }

    /// Renders the templates of a test.
    pub fn render(
        &mut self,
        folder: &Path,
        job: &Job<'_>,
        coverage: Option<&Coverage>,
        files: &mut InputFiles,
    ) -> Vec<Output> {
        let inputs = self.inputs(folder, job, files);
        let render = |name: &String| {
            let text = match &inputs {
                Ok((layers, cluster)) => self.text(&folder.join(name), (layers, cluster), coverage),
                Err(errors) => Err(errors.clone()),
            };
            Output::new(name.clone(), text.map_err(Diagnostics::into_vec))
        };
        job.renders.iter().map(render).collect()
    }

    /// Returns the values of a test: files, the keys of the cluster over them, and those by path.
    fn inputs(&self, folder: &Path, job: &Job<'_>, files: &mut InputFiles) -> Result<(Layers, Cluster), Diagnostics> {
        let setup = &job.test.setup;
        let read = setup.values.iter().map(|file| values_file(&job.folder.join(&file.text), files));
        let (maps, places): (Vec<_>, Vec<_>) = read.collect::<Checked<Vec<_>>>()?.into_iter().unzip();
        let set = |(path, value): &(super::suite::Placed, _)| {
            Assignment::of_value(&path.text, Clone::clone(value), &origin(path))
        };
        let sets = setup.set.iter().map(set).collect::<Checked<Vec<_>>>()?;
        let layers = Layers::new(maps, sets, Merge::default()).with_places(places);
        let layers = self.schema.add_to(layers, &[folder.to_owned()], files)?;
        let name = setup.cluster.get("name").and_then(dropforge::value::Data::as_str).unwrap_or("");
        let cluster = Cluster::new(name, setup.cluster.clone());
        let unfit = layers.violations(Some(&cluster));
        if unfit.is_empty() { Ok((layers, cluster)) } else { Err(unfit.into()) }
    }

    /// Adds all templates below a folder to a coverage, as far as they compile.
    pub fn cover(&mut self, folder: &Path, coverage: &Coverage) {
        let is_wanted = |entry: Entry<'_>| match entry.is_dir {
            true => !entry.name.starts_with('.'),
            false => self.language.is_template(entry.name),
        };
        let Ok(set) = discover_with(&[folder.to_owned()], Some(folder), &is_wanted) else { return };
        let paths = set.files.iter().map(|file| folder.join(&file.name));
        paths.filter_map(|path| self.template(&path).ok()).for_each(|template| coverage.add(&template));
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
