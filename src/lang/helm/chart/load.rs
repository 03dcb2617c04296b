//! Parsing the files of a chart and of the charts in it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::builtin_objects::FileSet;
use super::metadata::Metadata;
use super::read::{first_document, values};
use super::schema::ChartSchema;
use super::schema_read::Fetched;
use super::source::{Bounds, Budget, ChartFile, ChartSource};
use super::{Stage, archive, dependencies, metadata};
use crate::error::GO_MESSAGE;
use dropforge_base::diagnostics::{Code, Diagnostic, Diagnostics};
use dropforge_base::text::{Source, Span, Text};
use dropforge_machine::bytecode::StoredValue;
use dropforge_value::{Data, DataMap};

type Errors = Vec<Box<Diagnostic>>;

/// The file of a chart's schema.
const SCHEMA: &str = "values.schema.json";
/// The place of fetched documents among the files of a chart: a JSON object with their texts by their URLs. Templates do not
/// see it.
pub(super) const FETCHED: &str = "values.schema.json#fetched";

/// A parsed chart with the charts in its directory `charts/`.
#[derive(Debug, Clone)]
pub struct Chart {
    /// The place of the chart among all charts of its source, from 0.
    pub(super) number: usize,
    pub(super) metadata: Metadata,
    /// The file that declares the dependencies: `Chart.yaml` or `requirements.yaml`.
    pub(super) declared: Option<Arc<Source>>,
    pub(super) values: DataMap,
    /// The text of `values.yaml`.
    pub(super) defaults: Option<Text>,
    /// The path of the chart's directory in diagnostics.
    pub(super) folder: Option<Arc<str>>,
    /// `values.schema.json`
    pub(super) schema: Option<Arc<ChartSchema>>,
    pub(super) templates: Vec<ChartTemplate>,
    pub(super) files: FileSet,
    /// The charts in `charts/`, sorted by the names of their files.
    pub(super) charts: Vec<Arc<Chart>>,
}

/// A file below `templates/`.
#[derive(Debug, Clone)]
pub(super) struct ChartTemplate {
    /// The path from the chart's directory.
    pub(super) path: String,
    pub(super) text: Text,
}

impl Chart {
    /// Parses the files of a chart.
    ///
    /// # Errors
    /// All errors of all files: `input.syntax`, `input.structure`, `syntax.not_utf8`, `limit.*`.
    pub fn load(source: &ChartSource) -> Result<Chart, Diagnostics> {
        let (bounds, is_unpacked) = (source.bounds, source.is_unpacked);
        let (budget, folder) = (Budget::new(bounds), source.folder.clone());
        let fetched = source.fetched()?;
        let (errors, charts, name) = (Vec::new(), 0, None);
        let mut loader = Loader { bounds, budget, errors, charts, is_unpacked, folder, name, fetched };
        for file in &source.files {
            if let Err(error) = loader.budget.take(&file.path, file.bytes().len() as u64) {
                return Err(vec![error].into());
            }
        }
        let chart = loader.chart(&source.files, "", 0);
        match chart {
            Some(chart) if loader.errors.is_empty() => match dependencies::check(&chart, bounds) {
                Ok(()) => Ok(chart),
                Err(error) => Err(error.into()),
            },
            _ => Err(Stage::Load.all(loader.errors)),
        }
    }

    /// Adds the URLs of documents that schemas of the chart and of the charts in it refer to, and that are not there.
    pub fn missing_schemas(&self, found: &mut BTreeSet<String>) {
        found.extend(self.schema.iter().flat_map(|schema| schema.missing()).cloned());
        self.charts.iter().for_each(|chart| chart.missing_schemas(found));
    }

    /// Returns the content of `Chart.yaml`.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// Returns the place of the name of a dependency, in `Chart.yaml` or `requirements.yaml`.
    pub fn place_of_dependency(&self, name: &str) -> Option<(&Arc<Source>, Span)> {
        let source = self.declared.as_ref()?;
        Some((source, metadata::place_of_dependency(source, name)?))
    }

    /// Returns the default values.
    pub fn values(&self) -> &DataMap {
        &self.values
    }

    /// Returns the charts in `charts/`.
    pub fn charts(&self) -> impl Iterator<Item = &Chart> {
        self.charts.iter().map(AsRef::as_ref)
    }

    /// Returns the files of the chart that templates can read.
    pub fn files(&self) -> &FileSet {
        &self.files
    }
}

/// Returns `true` for a name that is likely meant to be `Chart.yaml`.
pub fn is_like_chart_file(name: &str) -> bool {
    name != "Chart.yaml" && ["chart.yaml", "chart.yml", "charts.yaml"].iter().any(|one| name.eq_ignore_ascii_case(one))
}

/// Returns the path of what is below a directory.
pub(super) fn path_below(folder: &str, below: &str) -> Arc<str> {
    match (folder, below) {
        ("." | "", _) => below.into(),
        (_, "") => folder.into(),
        _ => [folder, "/", below].concat().into(),
    }
}

impl ChartFile {
    /// Returns the value that loading a chart reads from the file: metadata, dependencies, default values, or `true` for a
    /// schema if the chart [fits its schemas](Chart::fits_by_default). `None` for other files, and those with errors.
    pub fn read(&self, fits_by_default: bool) -> Option<Data> {
        let source = || Some(Source::new(&*self.path, self.content.text("", &self.path).ok()?));
        match super::archive::place(&self.path).1 {
            "Chart.yaml" | "requirements.yaml" => first_document(&source()?).ok(),
            "values.yaml" => values(&source()?).ok().map(Data::Map),
            SCHEMA => fits_by_default.then_some(Data::Bool(true)),
            _ => None,
        }
    }
}

/// Collects errors over all charts.
struct Loader {
    bounds: Bounds,
    budget: Budget,
    errors: Errors,
    /// The number of charts so far.
    charts: usize,
    /// `true` if packed charts are directories.
    is_unpacked: bool,
    /// The path of the outermost chart's directory in diagnostics. `None` within an archive.
    folder: Option<Arc<str>>,
    /// The name of the outermost chart if it has no directory, once it is known.
    name: Option<String>,
    /// Documents of other servers that schemas refer to.
    fetched: Fetched,
}

/// The files of a chart by their role.
#[derive(Default)]
struct Sorted<'f> {
    chart: Option<&'f ChartFile>,
    requirements: Option<&'f ChartFile>,
    values: Option<&'f ChartFile>,
    schema: Option<&'f ChartFile>,
    templates: Vec<&'f ChartFile>,
    /// Files in `charts/`, by the first component of their path in it.
    charts: BTreeMap<&'f str, Vec<&'f ChartFile>>,
    others: Vec<&'f ChartFile>,
}

impl<'f> Sorted<'f> {
    fn of(files: &'f [ChartFile]) -> Self {
        let mut sorted = Sorted::default();
        for file in files {
            match file.path.as_str() {
                "Chart.yaml" => sorted.chart = Some(file),
                "requirements.yaml" => sorted.requirements = Some(file),
                "values.yaml" => sorted.values = Some(file),
                SCHEMA => sorted.schema = Some(file),
                "Chart.lock" | FETCHED => {}
                path if path.starts_with("templates/") => sorted.templates.push(file),
                path => match path.strip_prefix("charts/") {
                    Some(rest) if !rest.ends_with(".prov") => {
                        let name = rest.split('/').next().unwrap_or(rest);
                        sorted.charts.entry(name).or_default().push(file);
                    }
                    _ => sorted.others.push(file),
                },
            }
        }
        sorted
    }
}

impl Loader {
    /// Parses a chart whose files are below `at`, for messages. Nesting is bounded.
    fn chart(&mut self, files: &[ChartFile], at: &str, depth: usize) -> Option<Chart> {
        let sorted = Sorted::of(files);
        let number = self.charts;
        self.charts += 1;
        let metadata = self.metadata(&sorted, at);
        if at.is_empty() && self.folder.is_none() {
            self.name = metadata.as_ref().map(|metadata| metadata.name.clone());
        }
        let (defaults, values) = sorted.values.and_then(|file| self.values(file, at)).unzip();
        let values = values.unwrap_or_default();
        let templates = sorted.templates.iter().filter_map(|file| self.template(file, at)).collect();
        let charts = self.charts(&sorted.charts, at, depth);
        let metadata = metadata?;
        let declared = sorted.requirements.or(sorted.chart).and_then(|file| self.source(file, at));
        let requirements = sorted.requirements.filter(|_| metadata.api_version == "v1");
        let others = sorted.others.into_iter().chain(requirements);
        let files = FileSet::of(others.cloned());
        let schema = sorted.schema.and_then(|file| self.schema(file, &files, at)).map(Arc::new);
        let folder = self.path(at.trim_end_matches('/'));
        Some(Chart { number, metadata, declared, values, defaults, folder, schema, templates, files, charts })
    }

    fn metadata(&mut self, sorted: &Sorted<'_>, at: &str) -> Option<Metadata> {
        let Some(file) = sorted.chart else {
            let whose = if at.is_empty() { String::new() } else { format!("{at}: ") };
            let mut error = Stage::Load.error(Code::InputStructure, format!("{whose}Chart.yaml file is missing"));
            let is_it = |file: &&&ChartFile| !file.path.contains('/') && is_like_chart_file(&file.path);
            if let Some(file) = sorted.others.iter().find(is_it) {
                error = error.with_help(format!("rename `{at}{}` to `Chart.yaml`", file.path));
            }
            self.errors.push(error);
            return None;
        };
        let mut metadata = self.parsed(file, at, Metadata::read)?;
        if let Some(file) = sorted.requirements {
            metadata.require(self.parsed(file, at, Metadata::read_requirements)?);
        }
        let problems = match metadata::unsupported(&metadata) {
            Some(problem) => vec![problem],
            None => metadata::problems(&metadata),
        };
        let is_valid = problems.is_empty();
        if !is_valid {
            let source = self.source(file, at)?;
            self.errors.extend(problems.into_iter().map(|problem| problem.error(&source)));
        }
        is_valid.then_some(metadata)
    }

    /// Parses a YAML file into a structure.
    fn parsed<T>(&mut self, file: &ChartFile, at: &str, read: fn(&Data) -> Result<T, Vec<String>>) -> Option<T> {
        let source = self.source(file, at)?;
        let data = match &file.value {
            Some(value) => self.stored(value)?,
            None => self.or_errors(&file.path, first_document(&source))?,
        };
        match read(&data) {
            Ok(value) => Some(value),
            Err(messages) => {
                let error = |message: String| {
                    let message = format!("cannot load {}: error unmarshaling JSON: {message}", file.path);
                    Stage::Load.error(Code::InputStructure, message).at(&source, Span::default(), "")
                };
                self.errors.extend(messages.into_iter().map(error));
                None
            }
        }
    }

    /// Returns the text and the values of `values.yaml`.
    fn values(&mut self, file: &ChartFile, at: &str) -> Option<(Text, DataMap)> {
        let text = self.text(file, at)?;
        let values = match &file.value {
            Some(value) => self.stored(value)?.into_map(),
            None => {
                let source = self.source(file, at)?;
                self.or_errors("values.yaml", values(&source))
            }
        };
        Some((text, values.unwrap_or_default()))
    }

    fn schema(&mut self, file: &ChartFile, files: &FileSet, at: &str) -> Option<ChartSchema> {
        let fits_by_default = match &file.value {
            Some(value) => self.stored(value)? == Data::Bool(true),
            None => false,
        };
        Some(ChartSchema::new(self.source(file, at)?, (files.clone(), self.fetched.clone()), fits_by_default))
    }

    /// Returns the value that an artifact has of a file.
    fn stored(&mut self, value: &StoredValue) -> Option<Data> {
        value.data().map_err(|error| self.errors.push(error)).ok()
    }

    fn template(&mut self, file: &ChartFile, at: &str) -> Option<ChartTemplate> {
        Some(ChartTemplate { path: file.path.clone(), text: self.text(file, at)? })
    }

    fn charts(&mut self, charts: &BTreeMap<&str, Vec<&ChartFile>>, at: &str, depth: usize) -> Vec<Arc<Chart>> {
        let mut found = Vec::new();
        for (name, files) in charts.iter().filter(|(name, _)| !name.starts_with(['_', '.'])) {
            if depth >= self.bounds.depth {
                let message = format!("charts nest deeper than {} levels", self.bounds.depth);
                self.errors.push(Stage::Load.error(Code::LimitDepth, message));
                break;
            }
            let at = format!("{at}charts/{name}/");
            let (folder, is_archive) = (self.folder.clone(), name.ends_with(".tgz"));
            self.folder.take_if(|_| is_archive);
            let chart = if is_archive && !self.is_unpacked {
                self.packed(files, &at, depth)
            } else {
                let prefix = format!("charts/{name}/");
                let files: Vec<ChartFile> = files.iter().filter_map(|file| file.below(&prefix)).collect();
                self.chart(&files, &at, depth + 1)
            };
            self.folder = folder;
            found.extend(chart.map(Arc::new));
        }
        found
    }

    fn packed(&mut self, files: &[&ChartFile], at: &str, depth: usize) -> Option<Chart> {
        let [file] = files else {
            self.fail(format!("error unpacking subchart tar in {at}: expected one file"));
            return None;
        };
        match archive::unpacked_files(file.bytes(), &mut self.budget) {
            Ok(files) => self.chart(&files, at, depth + 1),
            Err(error) => {
                self.errors.push(error.with_note(format!("the archive is `{}`", file.path)));
                None
            }
        }
    }

    fn source(&mut self, file: &ChartFile, at: &str) -> Option<Arc<Source>> {
        let (name, text) = (format!("{at}{}", file.path), self.text(file, at)?);
        // Templates are named in this way, too.
        let of_name = || self.name.as_deref().map(|chart| path_below(chart, &name));
        Some(Source::found_at(self.path(&name).or_else(of_name), name, text))
    }

    /// Returns the path in diagnostics of what has this path from the outermost chart.
    fn path(&self, below: &str) -> Option<Arc<str>> {
        self.folder.as_deref().map(|folder| path_below(folder, below))
    }

    fn text(&mut self, file: &ChartFile, at: &str) -> Option<Text> {
        file.content.text(at, &file.path).map_err(|error| self.errors.push(error)).ok()
    }

    fn fail(&mut self, message: String) {
        self.errors.push(Stage::Load.error(Code::InputStructure, message));
    }

    fn or_errors<T>(&mut self, file: &str, result: Result<T, Errors>) -> Option<T> {
        let errors = match result {
            Ok(value) => return Some(value),
            Err(errors) => errors,
        };
        for error in errors {
            let why = error.fields.get(GO_MESSAGE).unwrap_or(&error.message).clone();
            let go = format!("cannot load {file}: cannot unmarshal yaml document: {why}");
            self.errors.push(error.with_field(GO_MESSAGE, go));
        }
        None
    }
}
