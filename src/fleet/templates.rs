//! The compiled templates of a run.

use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;
use std::sync::Arc;

use super::cluster::Cluster;
use super::job::Stamp;
use super::kube::KubeSchemas;
use super::layers::{Layers, Overlay};
use super::missing::read_elsewhere;
use super::output_names::{document_name, output_name};
use super::plan::{Output, Plan};
use super::plan_digest::PlanDigest;
use super::selector::Selection;
use super::sets::{RunOutputs, RunSet, unfit_format};
use super::shared_values::SharedValues;
use super::splitter::Content;
use super::stamper::{self, Stamper};
use super::state::ReadLog;
use super::unread::ReadValues;
use crate::why::RecordedOutput;
use dropforge_base::diagnostics::{Code, Diagnostic, Diagnostics, Result, without_duplicates};
use dropforge_base::stdlib::small_sort::tree_map;
use dropforge_engine::{
    Artifact, Dialect, DirLoader, Engine, EngineBuilder, OutputSyntax, Template, TemplateFile, TemplateSet, dialect_of,
    language_extensions, unknown_language_in,
};
use dropforge_machine::compiler::Loader;
use dropforge_value::{Arena, DataMap, InputBuilder, Inputs, OutputFormat, Shapes};

/// Compiled templates by name, and files that are copied as they are.
#[derive(Debug, Default)]
pub struct Templates {
    templates: BTreeMap<String, Template>,
    /// Templates with a residual, for clusters over shared inputs that give the known values.
    over_known: BTreeMap<String, Template>,
    files: BTreeMap<String, Arc<[u8]>>,
    /// The names of templates and files that are executable.
    executable: HashSet<String>,
}

impl Templates {
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
            (templates, errors) if errors.is_empty() => Ok(templates),
            (_, errors) => Err(errors.into()),
        }
    }

    /// Works like [`Templates::compile`], but returns the valid templates and the errors of the others.
    ///
    /// # Errors
    /// `file.read_failed` if the root of the set cannot be read.
    #[doc(hidden)]
    pub fn compile_valid(
        set: &TemplateSet,
        dialect: Option<Dialect>,
        builder: EngineBuilder,
    ) -> Result<(Self, Vec<Box<Diagnostic>>)> {
        Self::compile_logged(set, dialect, builder, &ReadLog::default())
    }

    /// Works like [`Templates::compile_valid`], and notes the files of templates.
    ///
    /// # Errors
    /// Same as [`Templates::compile_valid`].
    #[doc(hidden)]
    pub fn compile_logged(
        set: &TemplateSet,
        dialect: Option<Dialect>,
        builder: EngineBuilder,
        log: &ReadLog,
    ) -> Result<(Self, Vec<Box<Diagnostic>>)> {
        let loader = loader(&set.root, &builder)?;
        Ok(Self::compile_from(log.loader(loader), set, dialect, builder))
    }

    /// Works like [`Templates::compile_valid`], with another loader than that of the root.
    #[doc(hidden)]
    pub fn compile_from(
        loader: impl Loader + 'static,
        set: &TemplateSet,
        dialect: Option<Dialect>,
        builder: EngineBuilder,
    ) -> (Self, Vec<Box<Diagnostic>>) {
        let engine = builder.loader(loader).build();
        let language = |file: &TemplateFile| dialect.or_else(|| dialect_of(&file.name));
        let mut compiled = BTreeMap::new();
        for one in Dialect::ALL {
            let files = set.files.iter().filter(|file| language(file) == Some(one));
            let names: Vec<&str> = files.map(|file| file.name.as_str()).collect();
            compiled.extend(names.iter().copied().zip(engine.load_all(one, &names)));
        }
        let (mut templates, mut errors) = (BTreeMap::new(), Vec::new());
        for TemplateFile { name, .. } in &set.files {
            match compiled.remove(name.as_str()).unwrap_or_else(|| Err(unknown_language_in(&set.root, name).into())) {
                Ok(template) => {
                    templates.insert(name.clone(), template);
                }
                Err(more) => errors.extend(more.into_vec()),
            }
        }
        let executable = set.files.iter().filter(|file| file.executable).map(|file| file.name.clone()).collect();
        (Self { templates, executable, ..Self::default() }, without_duplicates(errors))
    }

    /// Opens the templates of an artifact.
    ///
    /// # Errors
    /// Errors of [`Artifact::template`].
    pub fn of_artifact(artifact: &Artifact) -> Result<Self> {
        let (mut templates, mut over_known) = (BTreeMap::new(), BTreeMap::new());
        for name in artifact.names() {
            let template = artifact.template(name)?;
            if template.residual().is_some() {
                over_known.insert(name.to_owned(), template.over_known());
            }
            templates.insert(name.to_owned(), template);
        }
        let executable = artifact.bundle().entries().iter().filter(|entry| entry.executable());
        let executable = executable.map(|entry| entry.name().to_owned()).collect();
        Ok(Self { templates, over_known, executable, ..Self::default() })
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
        self.over_known.extend(other.over_known);
        self.executable.extend(other.executable);
        Ok(())
    }

    /// Adds a file that is copied as it is.
    #[doc(hidden)]
    pub fn add_file(&mut self, name: String, bytes: Vec<u8>, executable: bool) {
        if executable {
            self.executable.insert(name.clone());
        }
        self.files.insert(name, bytes.into());
    }

    /// Returns the templates, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = &Template> {
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

    /// Returns the outputs of the templates `names`, and of all files that are copied. `format` is the one that was requested
    /// for documents, and `single` is `true` for one stream.
    ///
    /// # Errors
    /// `usage` for a format that does not apply, and for a stream of files that are not text.
    #[doc(hidden)]
    pub fn outputs(&self, names: Vec<String>, format: Option<OutputFormat>, single: bool) -> Result<RunOutputs> {
        let mut outputs = RunOutputs { plain_stream: true, ..RunOutputs::default() };
        for template in names {
            self.add_output(template, format.is_some(), &mut outputs);
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

    fn add_output(&self, template: String, requested: bool, outputs: &mut RunOutputs) {
        let extensions = language_extensions();
        let (file, executable) = (self.files.get(&template), self.executable.contains(&template));
        let documents = self.get(&template).filter(|template| template.gives_documents());
        outputs.plain_stream &= documents.is_some_and(|template| template.format().is_json());
        outputs.documents |= documents.is_some();
        let name = match documents.map(Template::format) {
            Some(format) => document_name(&template, &extensions, format, requested),
            None if file.is_some() => {
                outputs.copied.push(template.clone());
                template.clone()
            }
            None => {
                outputs.text.get_or_insert_with(|| template.clone());
                output_name(&template, &extensions)
            }
        };
        let bytes = file.filter(|bytes| str::from_utf8(bytes).is_err()).cloned();
        let output = Output { name, executable, template, bytes, release: None };
        if documents.is_none() && OutputSyntax::of_file(&output.name).is_none() {
            outputs.other.get_or_insert_with(|| output.template.clone());
        }
        outputs.all.push(output);
    }

    /// Creates a renderer of the templates and files `names` with the shared inputs of `layers`. The known inputs of an
    /// artifact are compared with the shared ones once.
    ///
    /// # Errors
    /// `template.unknown`.
    pub fn stamper<'f>(&'f self, names: impl IntoIterator<Item = &'f str>, layers: &'f Layers) -> Result<Stamper<'f>> {
        let names: Vec<&str> = names.into_iter().collect();
        let of_group = |values: &SharedValues| {
            let over_known = self.over_known_of(values.shared());
            let content = |name: &&str| match (self.files.get(*name), over_known.get(name)) {
                // The plan has the bytes of a file that is not text.
                (Some(file), _) => Ok(Content::File(str::from_utf8(file).unwrap_or(""))),
                (None, Some(template)) => Ok(Content::Template(template)),
                (None, None) => self.find(name).map(Content::Template),
            };
            names.iter().map(content).collect::<Result<Vec<_>>>()
        };
        Ok(Stamper::new(layers.all().map(of_group).collect::<Result<_>>()?, layers))
    }

    /// Returns the templates whose known inputs `shared` gives.
    fn over_known_of(&self, shared: &DataMap) -> BTreeMap<&str, &Template> {
        if self.over_known.is_empty() {
            return BTreeMap::new();
        }
        let (arena, names) = (Arena::new(), Arena::new());
        let shapes = Shapes::new(&names);
        // Values that nest too deep are an error of every cluster.
        let Ok(shared) = InputBuilder::new(&arena, &shapes).data_map(shared) else { return BTreeMap::new() };
        let agrees = |template: &Template| template.difference(Inputs::new(shared)).is_none();
        let all = self.over_known.iter().filter(|(_, template)| agrees(template));
        tree_map(all.map(|(name, template)| (name.as_str(), template)))
    }

    /// Returns the templates without the residuals of artifacts.
    #[doc(hidden)]
    pub fn general(self) -> Self {
        Self { over_known: BTreeMap::new(), ..self.with_each(Template::general) }
    }

    /// Sets the format of templates that produce documents, which have no residuals.
    #[doc(hidden)]
    pub fn with_format(self, format: OutputFormat) -> Self {
        self.with_each(|template| template.clone().with_format(format))
    }

    fn with_each(mut self, change: impl Fn(&Template) -> Template) -> Self {
        self.templates.values_mut().for_each(|template| *template = change(template));
        self
    }

    fn find(&self, name: &str) -> Result<&Template> {
        self.get(name).ok_or_else(|| not_found(name))
    }
}

/// Returns the error of a name that no template has.
pub(super) fn not_found(name: &str) -> Box<Diagnostic> {
    Diagnostic::new(Code::UnknownTemplate, format!("template `{name}` not found"))
}

impl RunSet for Templates {
    fn reads(&self, _: Option<&Layers>) -> ReadValues {
        ReadValues::by(self.iter())
    }

    fn stamper_of<'s>(
        &'s self,
        outputs: &'s [Output],
        plan: Option<&Plan>,
        layers: &'s Layers,
        kinds: Option<&'s KubeSchemas>,
    ) -> Result<Box<dyn Stamp + 's>> {
        let stamper = self.stamper(outputs.iter().map(|output| output.template.as_str()), layers)?.with_kinds(kinds);
        Ok(Box::new(if let Some(plan) = plan { stamper.for_plan(plan, outputs) } else { stamper }))
    }

    fn record_over(
        &self,
        template: &str,
        layers: &Layers,
        cluster: (&Cluster, &Overlay<'_>),
    ) -> std::result::Result<RecordedOutput, Diagnostics> {
        match self.files.contains_key(template) {
            true => Ok(RecordedOutput::copied()),
            false => Ok(stamper::record(self.find(template)?, layers, cluster)?),
        }
    }

    fn templates(&self) -> Vec<&Template> {
        self.iter().collect()
    }

    fn template(&self, name: &str) -> Option<&Template> {
        self.get(name)
    }

    /// Finds inputs that are read in place of a field of a loop variable.
    fn mistakes(
        &self,
        layers: &Layers,
        clusters: &Selection<'_>,
        all: bool,
    ) -> std::result::Result<Vec<Box<Diagnostic>>, Diagnostics> {
        let parts: HashSet<&str> = self.iter().flat_map(Template::reaches).map(String::as_str).collect();
        let outputs = self.iter().filter(|template| !parts.contains(template.name()));
        let first = clusters.first();
        Ok(read_elsewhere(outputs, layers, if all { clusters } else { &first })?)
    }

    /// Hashes the copied file, or the template and what it includes, imports or extends.
    fn fingerprint(&self, template: &str) -> Option<u64> {
        let mut hasher = DefaultHasher::new();
        self.executable.contains(template).hash(&mut hasher);
        if let Some(copied) = self.files.get(template) {
            copied.hash(&mut hasher);
            return Some(hasher.finish());
        }
        let sources = self.get(template)?.program().sources();
        for source in sources {
            (source.name(), source.text()).hash(&mut hasher);
        }
        (!sources.is_empty()).then(|| hasher.finish())
    }

    fn add_to_digest(&self, digest: &mut PlanDigest) -> Result<()> {
        for template in self.iter() {
            digest.bytes(&template.encoded()?);
        }
        for (name, content) in &self.files {
            digest.text(name);
            digest.bytes(content);
        }
        Ok(())
    }
}

/// Builds an engine whose includes are jailed to `root`.
///
/// # Errors
/// `file.read_failed`.
pub fn engine(root: &Path, builder: EngineBuilder) -> Result<Engine> {
    let loader = loader(root, &builder)?;
    Ok(builder.loader(loader).build())
}

fn loader(root: &Path, builder: &EngineBuilder) -> Result<DirLoader> {
    Ok(DirLoader::jailed(root)?.paths_from_here().source_bytes(builder.max_source_bytes()))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use dropforge_engine::Skipped;

    /// Returns a folder with these files, and their set.
    pub fn folder(files: &[(&str, &str)]) -> (tempfile::TempDir, TemplateSet) {
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
        let (_temp, set) = folder(&[
            ("a.tera", "{% include \"bad.tera\" %}"),
            ("b.tera", "{% include \"bad.tera\" %}{{ 1 | nope }}"),
            ("bad.tera", "{{ }}"),
            ("c.txt", ""),
        ]);
        let errors = Templates::compile(&set, None, Engine::builder()).unwrap_err();
        let places: Vec<String> =
            errors.iter().map(|error| error.primary().map_or(String::new(), |at| at.source.name().into())).collect();
        assert_eq!(places.iter().filter(|place| *place == "bad.tera").count(), 1, "{errors}");
        assert_eq!(places.iter().filter(|place| place.is_empty()).count(), 1, "{errors}");
    }
}
