//! The compiled templates of a run and their renderer.
//!
//! Each thread converts the shared inputs once. A cluster's own inputs are converted once for all its templates, into
//! an arena that is reset for each cluster. Text is appended to one buffer.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use super::job::{Renderer, Stamp};
use super::kube::KubeSchemas;
use super::layers::{Layers, Merge, Overlay};
use super::pieces::Piece;
use super::plan::Plan;
use super::report::{Cause, cause};
use super::splitter::{Content, Splitter};
use crate::diagnostics::{Code, Diagnostic, Diagnostics, Result, without_duplicates};
use crate::engine::{
    Artifact, Dialect, DirLoader, Engine, EngineBuilder, OutputCheck, Template, TemplateFile, TemplateSet, dialect_of,
    unknown_language,
};
use crate::value::{Arena, InputBuilder, Inputs, OutputFormat, Shapes, Value};
use crate::vm::Session;

/// Compiled templates by name, and files that are copied as they are.
#[derive(Debug, Default)]
pub struct Forge {
    templates: BTreeMap<String, Template>,
    files: BTreeMap<String, Arc<[u8]>>,
    /// The names of templates and files that are executable.
    executable: HashSet<String>,
}

impl Forge {
    /// Compiles every file of `set` as `dialect`, or as the language of its name. `builder` provides limits and
    /// functions. Includes are jailed to the root of the set.
    ///
    /// # Errors
    /// All errors of all files, without duplicates.
    pub fn compile(
        set: &TemplateSet,
        dialect: Option<Dialect>,
        builder: EngineBuilder,
    ) -> std::result::Result<Self, Diagnostics> {
        match Self::compile_valid(set, dialect, builder)? {
            (forge, errors) if errors.is_empty() => Ok(forge),
            (_, errors) => Err(errors.into()),
        }
    }

    /// Works like [`Forge::compile`], but returns the valid templates and the errors of the others.
    ///
    /// # Errors
    /// `file.read_failed` if the root of the set cannot be read.
    pub fn compile_valid(
        set: &TemplateSet,
        dialect: Option<Dialect>,
        builder: EngineBuilder,
    ) -> Result<(Self, Vec<Box<Diagnostic>>)> {
        let engine = engine(&set.root, builder)?;
        let language = |file: &TemplateFile| dialect.or_else(|| dialect_of(&file.name));
        let mut compiled = BTreeMap::new();
        for one in Dialect::ALL {
            let files = set.files.iter().filter(|file| language(file) == Some(one));
            let names: Vec<&str> = files.map(|file| file.name.as_str()).collect();
            compiled.extend(names.iter().copied().zip(engine.load_all(one, &names)));
        }
        let (mut templates, mut errors) = (BTreeMap::new(), Vec::new());
        for TemplateFile { name, .. } in &set.files {
            match compiled.remove(name.as_str()).unwrap_or_else(|| Err(unknown_language(name).into())) {
                Ok(template) => {
                    templates.insert(name.clone(), template);
                }
                Err(more) => errors.extend(more.into_vec()),
            }
        }
        let executable = set.files.iter().filter(|file| file.executable).map(|file| file.name.clone()).collect();
        Ok((Self { templates, executable, ..Self::default() }, without_duplicates(errors)))
    }

    /// Opens the templates of an artifact.
    ///
    /// # Errors
    /// Errors of [`Artifact::template`].
    pub fn of_artifact(artifact: &Artifact) -> Result<Self> {
        let templates = artifact.names().map(|name| Ok((name.to_owned(), artifact.template(name)?)));
        let executable = artifact.bundle().entries().iter().filter(|entry| entry.executable());
        let executable = executable.map(|entry| entry.name().to_owned()).collect();
        Ok(Self { templates: templates.collect::<Result<_>>()?, executable, ..Self::default() })
    }

    /// Adds the templates of `other`.
    ///
    /// # Errors
    /// `plan.duplicate_output` if both have a template of the same name.
    pub fn add(&mut self, other: Self) -> Result<()> {
        if let Some(name) = other.templates.keys().find(|name| self.templates.contains_key(*name)) {
            return Err(Diagnostic::new(Code::DuplicateOutput, format!("two templates are named `{name}`")));
        }
        self.templates.extend(other.templates);
        self.executable.extend(other.executable);
        Ok(())
    }

    /// Adds a file that is copied as it is.
    pub fn add_file(&mut self, name: String, bytes: Vec<u8>, executable: bool) {
        if executable {
            self.executable.insert(name.clone());
        }
        self.files.insert(name, bytes.into());
    }

    /// Returns the content of the file called `name` that is copied as it is.
    pub fn file(&self, name: &str) -> Option<&Arc<[u8]>> {
        self.files.get(name)
    }

    /// Returns `true` if the owner may execute this template or file, and so its output.
    pub fn is_executable(&self, name: &str) -> bool {
        self.executable.contains(name)
    }

    /// Returns the templates, sorted by name.
    pub fn templates(&self) -> impl Iterator<Item = &Template> {
        self.templates.values()
    }

    /// Problems of templates that may still render, such as unknown filters and missing includes, without duplicates.
    pub fn lints(&self) -> Vec<Box<Diagnostic>> {
        without_duplicates(self.templates.values().flat_map(|template| template.lints().iter().cloned()).collect())
    }

    /// Returns the template called `name`.
    pub fn get(&self, name: &str) -> Option<&Template> {
        self.templates.get(name)
    }

    /// Returns the names of the templates that `name` includes, imports or extends.
    ///
    /// # Errors
    /// `template.unknown`.
    pub fn references(&self, name: &str) -> Result<Vec<String>> {
        self.find(name).map(|template| template.reaches().to_vec())
    }

    /// Creates a renderer of the templates and files `names` with the shared inputs of `layers`.
    ///
    /// # Errors
    /// `template.unknown`.
    pub fn stamper<'f>(&'f self, names: impl IntoIterator<Item = &'f str>, layers: &'f Layers) -> Result<Stamper<'f>> {
        let content = |name| match self.files.get(name) {
            // The plan has the bytes of a file that is not text.
            Some(file) => Ok(Content::File(str::from_utf8(file).unwrap_or(""))),
            None => self.find(name).map(Content::Template),
        };
        let contents = names.into_iter().map(content).collect::<Result<_>>()?;
        Ok(Stamper { contents, layers, names: Vec::new(), fields: Vec::new(), kinds: None })
    }

    /// Sets the format of templates that produce documents.
    pub fn with_format(self, format: OutputFormat) -> Self {
        let templates = self.templates.into_iter().map(|(name, template)| (name, template.with_format(format)));
        Self { templates: templates.collect(), ..self }
    }

    fn find(&self, name: &str) -> Result<&Template> {
        self.get(name).ok_or_else(|| Diagnostic::new(Code::UnknownTemplate, format!("template `{name}` not found")))
    }
}

/// Builds an engine whose includes are jailed to `root`.
///
/// # Errors
/// `file.read_failed`.
pub fn engine(root: &Path, builder: EngineBuilder) -> Result<Engine> {
    let loader = DirLoader::jailed(root)?.paths_from_here().source_bytes(builder.max_source_bytes());
    Ok(builder.loader(loader).build())
}

/// Renders a plan's templates with the engine.
#[derive(Debug)]
pub struct Stamper<'f> {
    contents: Vec<Content<'f>>,
    layers: &'f Layers,
    /// The names of the outputs, if each document becomes a piece.
    names: Vec<String>,
    /// The document fields in the layout.
    fields: Vec<String>,
    kinds: Option<&'f KubeSchemas>,
}

impl<'f> Stamper<'f> {
    /// Checks outputs also by the schemas of their Kubernetes kinds.
    pub fn with_kinds(self, kinds: Option<&'f KubeSchemas>) -> Self {
        Self { kinds, ..self }
    }

    /// Prepares for `plan`. If its layout has document fields, each document becomes a piece.
    pub fn for_plan(mut self, plan: &Plan) -> Self {
        self.fields = plan.layout().fields().map(str::to_owned).collect();
        if !self.fields.is_empty() {
            self.names = plan.outputs().iter().map(|output| output.name.clone()).collect();
        }
        self
    }
}

impl Stamp for Stamper<'_> {
    fn work(&self, body: &mut dyn FnMut(&mut dyn Renderer)) {
        let (arena, names) = (Arena::new(), Arena::new());
        let shapes = Shapes::new(&names);
        let shared = InputBuilder::new(&arena, &shapes).data_map(self.layers.shared());
        body(&mut Thread {
            contents: &self.contents,
            shared,
            merge: self.layers.merge(),
            shapes: &shapes,
            own: Arena::new(),
            session: Session::new(),
            explained: HashSet::new(),
            check: OutputCheck::default(),
            kinds: self.kinds,
            splitter: Splitter::new(&self.names, &self.fields),
        });
    }
}

/// The renderer of one thread.
struct Thread<'t, 'w> {
    contents: &'t [Content<'t>],
    /// The shared inputs, or the error of inputs that nest too deep.
    shared: Result<Value<'t>>,
    merge: Merge,
    shapes: &'t Shapes<'w>,
    /// The inputs of the current cluster.
    own: Arena,
    session: Session,
    /// Causes of errors that were already explained, by template. A run shows only the first error of a cause, and an
    /// explanation has to parse the template.
    explained: HashSet<(usize, Cause)>,
    check: OutputCheck,
    kinds: Option<&'t KubeSchemas>,
    splitter: Splitter<'t>,
}

impl Renderer for Thread<'_, '_> {
    fn render(&mut self, own: &Overlay<'_>, text: &mut String, results: &mut Vec<Result<usize>>) -> Result<()> {
        self.own.reset();
        let inputs = inputs_of(self.shared.clone()?, self.merge, own, &InputBuilder::new(&self.own, self.shapes))?;
        self.splitter.pieces.clear();
        for (at, content) in self.contents.iter().enumerate() {
            let result = match content.documents() {
                _ if self.splitter.fields.is_empty() => content.write(&mut self.session, inputs, text),
                Some(template) => self.splitter.documents(template, &mut self.session, inputs, at, text),
                None => self.splitter.split(*content, (&mut self.session, &mut self.check), inputs, at, text),
            };
            results.push(result.map(|()| text.len()).map_err(|mut error| {
                if let Content::Template(template) = content
                    && self.explained.insert((at, cause(&error)))
                {
                    template.explain(inputs, &mut error);
                }
                error
            }));
        }
        Ok(())
    }

    fn check(&mut self, output: usize, path: &str, text: &str) -> Vec<Box<Diagnostic>> {
        // Texts were checked as a whole before they were split, and documents have our own writer.
        let is_checked = !self.splitter.fields.is_empty()
            || self.contents.get(output).is_some_and(|content| content.documents().is_some());
        let errors = if is_checked { Vec::new() } else { self.check.errors_of_file(path, text) };
        match self.kinds {
            Some(kinds) if errors.is_empty() => kinds.errors_of_file(path, text),
            _ => errors,
        }
    }

    fn show_writer(&mut self, own: &Overlay<'_>, output: usize, text: &str, errors: &mut [Box<Diagnostic>]) {
        self.own.reset();
        let builder = InputBuilder::new(&self.own, self.shapes);
        let Ok(inputs) = self.shared.clone().and_then(|shared| inputs_of(shared, self.merge, own, &builder)) else {
            return;
        };
        if let Some(Content::Template(template)) = self.contents.get(output) {
            template.show_writer(&mut self.session, inputs, text, errors);
        }
    }

    fn take_pieces(&mut self, to: &mut Vec<Piece>) {
        to.append(&mut self.splitter.pieces);
    }
}

/// Returns the inputs `own` of a cluster over the shared ones.
fn inputs_of<'v, 'w: 'v>(
    shared: Value<'v>,
    merge: Merge,
    own: &'v Overlay<'_>,
    builder: &InputBuilder<'v, 'w>,
) -> Result<Inputs<'v>> {
    let own = match own {
        Overlay::Json(text) => builder.json(text)?,
        Overlay::Map(map) => builder.data_map(map)?,
        Overlay::Whole(map) => return Ok(Inputs::new(builder.data_map(map)?)),
    };
    Ok(match merge {
        Merge::Deep => builder.merged(shared, own),
        Merge::Replace => Inputs::layered(shared, own),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Skipped;

    fn forge(files: &[(&str, &str)]) -> (tempfile::TempDir, TemplateSet) {
        let temp = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(temp.path().join(name), text).unwrap();
        }
        let file = |name: &str| TemplateFile { name: name.to_owned(), explicit: false, executable: false };
        let files = files.iter().map(|(name, _)| file(name)).collect();
        let set = TemplateSet { root: temp.path().to_owned(), files, skipped: Skipped::default() };
        (temp, set)
    }

    #[test]
    fn all_errors_of_all_files_each_once() {
        let (_temp, set) = forge(&[
            ("a.tera", "{% include \"bad.tera\" %}"),
            ("b.tera", "{% include \"bad.tera\" %}{{ 1 | nope }}"),
            ("bad.tera", "{{ }}"),
            ("c.txt", ""),
        ]);
        let errors = Forge::compile(&set, None, Engine::builder()).unwrap_err();
        let places: Vec<String> =
            errors.iter().map(|error| error.primary().map_or(String::new(), |at| at.source.name().into())).collect();
        assert_eq!(places.iter().filter(|place| *place == "bad.tera").count(), 1, "{errors}");
        assert_eq!(places.iter().filter(|place| place.is_empty()).count(), 1, "{errors}");
    }

    #[test]
    fn own_inputs_lie_over_the_shared_ones() {
        let (_temp, set) = forge(&[("a.tera", "{{ x.n }}{{ y }}{{ _p }}")]);
        let forge = Forge::compile(&set, None, Engine::builder()).unwrap();
        let map = |text| serde_json::from_str::<crate::value::Data>(text).unwrap().into_map().unwrap();
        let shared = map(r#"{"x": {"n": 1, "m": 2}, "y": 3, "_p": "."}"#);
        let clusters = [r#"{"x": {"n": 5}}"#, r#"{"y": 7}"#, r#"{"x": {}}"#, r#"{"_p": null}"#].map(Overlay::Json);
        for (merge, expected) in [(Merge::Deep, "53.17.13."), (Merge::Replace, "53.17.13")] {
            let layers = Layers::new([shared.clone()], Vec::new(), merge);
            let stamper = forge.stamper(["a.tera"], &layers).unwrap();
            let (mut text, mut results) = (String::new(), Vec::new());
            stamper.work(&mut |renderer| {
                clusters.iter().for_each(|own| renderer.render(own, &mut text, &mut results).unwrap());
            });
            assert_eq!(text, expected);
            // A removed name is missing; a name that is replaced lacks the shared names below it.
            let failed: Vec<usize> = (0..4).filter(|at| results[*at].is_err()).collect();
            assert_eq!(failed, if merge == Merge::Deep { vec![3] } else { vec![2] });
        }
    }
}
