//! A cache of compiled templates, packed charts and schemas, by the hashes of both texts.

use std::num::NonZero;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use blake3::Hash;
use lru::LruCache;
use serde_json::{Value as Json, json};

use super::pool::{Options, Scratch, error_json, error_line, failed};
use crate::content::{Content, Language, PACKED, release};
use crate::error::{CatalogError, Result};
use crate::fair::Load;
use crate::model::TemplateVersion;
use crate::parameters::{Schema, Violations};
use crate::review::{Finding, Review, review};
use crate::{checksum, validation};
use dropforge::bulk::why::RecordedOutput;
use dropforge::diagnostics::{Code, Diagnostic, Diagnostics, caught, panicked};
use dropforge::dialect::helm::chart::{Bounds, Capabilities, ChartSource, UserValues, from_base64};
use dropforge::engine::chart::{ChartRender, ChartTemplate};
use dropforge::engine::recording::Recorder;
use dropforge::engine::{Dialect, Engine, EngineBuilder, Template, TeraDialect, UnknownNames};
use dropforge::limits::Limits;
use dropforge::text::Source;
use dropforge::value::{Data, DataMap};
use dropforge::vm::Session;

/// Memory of an entry without its contents.
const ENTRY: usize = 3 << 10;

/// Name of templates in diagnostics.
pub(super) const NAME: &str = "template";

/// A compiled template and schema.
#[derive(Debug)]
pub struct Compiled {
    body: Body,
    schema: Schema,
    review: Review,
}

/// What a template is compiled to.
#[derive(Debug)]
pub(super) enum Body {
    /// A text.
    Template(Template),
    /// A packed chart.
    Chart(Box<Chart>),
}

/// The content of a version after it was checked.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// The schema of its parameters.
    pub schema: String,
    /// The checksum of its content.
    pub checksum: String,
    /// The result of checking the template against its schema.
    pub review: Review,
}

impl Compiled {
    /// The template or chart.
    pub(super) fn body(&self) -> &Body {
        &self.body
    }

    /// The violations of parameters. A chart checks them itself by its own schema, together with its defaults.
    ///
    /// # Errors
    /// Those of [`Schema::violations`].
    pub(super) fn violations(&self, parameters: &Json) -> Result<Violations> {
        match &self.body {
            Body::Chart(chart) if chart.has_own_schema => Ok(Violations::default()),
            _ => self.schema.violations(parameters),
        }
    }

    /// `true` if a value of a render may be secret.
    pub(super) fn has_secrets(&self) -> bool {
        self.schema.has_secrets() || matches!(&self.body, Body::Chart(chart) if chart.has_secrets())
    }

    /// The schema.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The memory that both take, in bytes. It is an estimate.
    fn memory(&self) -> usize {
        let inputs: usize = self.review.inputs.iter().map(|input| size_of::<String>() + input.len()).sum();
        let findings: usize = self.review.findings.iter().map(Finding::memory).sum();
        let body = match &self.body {
            Body::Template(template) => template.memory(),
            Body::Chart(chart) => chart.memory(),
        };
        ENTRY + body + self.schema.memory() + inputs + findings
    }

    /// The result of checking the template against its schema.
    pub fn review(&self) -> &Review {
        &self.review
    }
}

/// Counters of a renderer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stats {
    /// Renders begun.
    pub renders: u64,
    /// Jobs refused because too many were waiting, or waited for too long.
    pub refused: u64,
    /// Jobs running and waiting: renders, compilations, checks.
    pub load: Load,
    /// Templates compiled.
    pub compiled: u64,
    /// Cache hits.
    pub reused: u64,
    /// Bytes of cached templates and schemas.
    pub cached_bytes: usize,
}

/// A compiler with a cache.
#[derive(Debug)]
pub(super) struct Compiler {
    /// For templates that also render with Tera.
    plain: Engine,
    /// For templates that declare the dialect [`PLUS`].
    plus: Engine,
    cache: Mutex<Cache>,
    pub(super) renders: AtomicU64,
    compiled: AtomicU64,
    reused: AtomicU64,
}

/// The language, and the hashes of content and schema.
type Key = (Language, Hash, Hash);

#[derive(Debug)]
struct Cache {
    by_checksum: LruCache<Key, (Arc<Compiled>, usize)>,
    /// Memory of the entries.
    bytes: usize,
    /// Maximum memory of the entries.
    most: usize,
}

impl Compiler {
    /// Creates a compiler for templates that can access only their parameters, and what `extended` adds to the engines.
    pub(super) fn new(options: &Options, extended: impl Fn(EngineBuilder) -> EngineBuilder) -> Self {
        let Options { fuel, memory, output_bytes, deadline, .. } = *options;
        let limits = Limits { fuel, time: Some(deadline), memory, output_bytes, ..Limits::default() };
        let cached = NonZero::new(options.cached).unwrap_or(NonZero::<usize>::MIN);
        let cache = Cache { by_checksum: LruCache::new(cached), bytes: 0, most: options.cached_bytes };
        let engine = |dialect| {
            let builder = Engine::builder().limits(limits.clone()).tera(dialect);
            extended(builder.unknown_names(UnknownNames::Late)).build()
        };
        Self {
            plain: engine(TeraDialect::Plain),
            plus: engine(TeraDialect::Plus),
            cache: Mutex::new(cache),
            renders: AtomicU64::new(0),
            compiled: AtomicU64::new(0),
            reused: AtomicU64::new(0),
        }
    }

    /// The current counters, with those of the pool.
    pub(super) fn stats(&self, refused: u64, load: Load) -> Stats {
        let [renders, compiled, reused] =
            [&self.renders, &self.compiled, &self.reused].map(|counter| counter.load(Ordering::Relaxed));
        Stats { renders, refused, load, compiled, reused, cached_bytes: self.lock().bytes }
    }

    /// Returns a compiled version.
    ///
    /// # Errors
    /// Those of [`Compiler::compiled`].
    pub(super) fn compiled_version(&self, version: &TemplateVersion) -> Result<Arc<Compiled>> {
        self.compiled(version.language, &version.template_content, &version.parameters_schema)
    }

    /// Checks the content of a version to create.
    ///
    /// # Errors
    /// Those of [`Compiler::compiled`].
    pub(super) fn prepared(&self, content: &Content) -> Result<Prepared> {
        let (language, text) = (content.language, &content.text);
        let (schema, checksum, compiled) = match language {
            Language::Tera => {
                let schema = content.schema.clone().unwrap_or_default();
                let compiled = self.compiled(language, text, &schema)?;
                (schema, language.checksum(text), compiled)
            }
            Language::Helm => {
                let chart = Unpacked::read(text)?;
                let schema = content.schema.clone().unwrap_or_else(|| chart.schema().to_owned());
                let compiled = self.cached((language, text, &schema), || self.compile_chart(&chart, &schema))?;
                (schema, chart.checksum, compiled)
            }
        };
        Ok(Prepared { schema, checksum, review: compiled.review().clone() })
    }

    /// Returns a compiled template and schema, from the cache if possible.
    ///
    /// # Errors
    /// `invalid_template_syntax`, `invalid_template_content`, `invalid_parameters_schema`.
    pub(super) fn compiled(&self, language: Language, content: &str, schema: &str) -> Result<Arc<Compiled>> {
        self.cached((language, content, schema), || match language {
            Language::Tera => self.compile(content, schema),
            Language::Helm => self.compile_chart(&Unpacked::read(content)?, schema),
        })
    }

    /// Returns what the cache has for a language, a content and a schema, or else adds what `compile` makes.
    ///
    /// # Errors
    /// Those of `compile`.
    fn cached(
        &self,
        (language, content, schema): (Language, &str, &str),
        compile: impl FnOnce() -> Result<Compiled>,
    ) -> Result<Arc<Compiled>> {
        let key = (language, blake3::hash(content.as_bytes()), blake3::hash(schema.as_bytes()));
        if let Some((compiled, _)) = self.lock().by_checksum.get(&key) {
            self.reused.fetch_add(1, Ordering::Relaxed);
            return Ok(compiled.clone());
        }
        self.compiled.fetch_add(1, Ordering::Relaxed);
        let compiled = caught(compile).unwrap_or_else(|_| Err(syntax_error(&panicked("compiling").into())));
        let compiled = Arc::new(compiled?);
        self.lock().insert(key, &compiled);
        Ok(compiled)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Cache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn compile(&self, content: &str, schema: &str) -> Result<Compiled> {
        // The name has no extension, so nothing is escaped.
        let source = Source::new(NAME, content);
        let engine = if declares_plus(content) { &self.plus } else { &self.plain };
        let template =
            engine.compile_source(Dialect::Tera, &source, Some(false)).map_err(|errors| syntax_error(&errors))?;
        let schema = Schema::parse(schema)?;
        let review = review(&template, &schema, engine.registry(Dialect::Tera));
        Ok(Compiled { body: Body::Template(template), schema, review })
    }

    fn compile_chart(&self, chart: &Unpacked, schema: &str) -> Result<Compiled> {
        let (chart, review) = Chart::compile(&self.plain, chart, schema)?;
        Ok(Compiled { body: Body::Chart(Box::new(chart)), schema: Schema::parse(schema)?, review })
    }
}

/// The dialect of templates that use filters beyond Tera.
const PLUS: &str = "tera+";

/// Returns `true` if a template begins with the comment `{# dialect: tera+ #}`. To Brokkr it is a comment, so a version
/// and its checksum say which filters its text uses.
fn declares_plus(content: &str) -> bool {
    let comment = content.trim_start().strip_prefix("{#").and_then(|rest| rest.split_once("#}"));
    let dialect = comment.and_then(|(comment, _)| {
        comment.trim_matches(|c: char| c == '-' || c.is_whitespace()).strip_prefix("dialect:")
    });
    dialect.is_some_and(|dialect| dialect.trim() == PLUS)
}

impl Cache {
    /// Adds an entry. Those that were not used for the longest time make room for it.
    fn insert(&mut self, key: Key, compiled: &Arc<Compiled>) {
        let bytes = compiled.memory();
        if bytes > self.most {
            return;
        }
        self.bytes += bytes;
        if let Some((_, (_, old))) = self.by_checksum.push(key, (compiled.clone(), bytes)) {
            self.bytes -= old;
        }
        while self.bytes > self.most
            && let Some((_, (_, old))) = self.by_checksum.pop_lru()
        {
            self.bytes -= old;
        }
    }
}

fn syntax_error(errors: &Diagnostics) -> CatalogError {
    let first = errors.first().map_or_else(String::new, error_line);
    let all: Vec<Json> = errors.iter().map(error_json).collect();
    CatalogError::invalid("invalid_template_syntax", format!("Invalid Tera syntax: {first}"))
        .with_details(json!({ "diagnostics": all }))
}

/// Limits on the files of a chart.
const BOUNDS: Bounds = Bounds { total_bytes: 32 << 20, file_bytes: 5 << 20, files: 5_000, depth: 32, charts: 1_000 };
/// Maximum bytes of all files that are parsed when a chart is opened: values, metadata and schemas.
const PARSED: usize = 4 << 20;
/// The names of these files.
const PARSED_NAMES: [&str; 4] = ["Chart.yaml", "values.yaml", "values.schema.json", "requirements.yaml"];
/// The schema of a chart without one.
const ANY_SCHEMA: &str = "{}";
/// Memory of a byte of a parsed file, about.
const PARSED_MEMORY: usize = 16;
/// The number of programs that a chart may keep, one for each set of enabled charts, about.
const PROGRAMS: usize = 4;

/// A chart that is ready to render.
#[derive(Debug)]
pub(super) struct Chart {
    template: ChartTemplate,
    /// `true` if the schema of the parameters is the chart's, which is also checked with the defaults.
    pub(super) has_own_schema: bool,
    memory: usize,
}

/// An unpacked chart.
#[derive(Debug)]
pub(super) struct Unpacked {
    source: ChartSource,
    /// The SHA-256 of the packed chart.
    pub(super) checksum: String,
}

impl Unpacked {
    /// Unpacks a chart in base64, with the charts packed in it.
    ///
    /// # Errors
    /// `invalid_template_content`.
    pub(super) fn read(content: &str) -> Result<Self> {
        let wrong = |error: Box<Diagnostic>| invalid("invalid_template_content", &error.into());
        let packed = from_base64(content, PACKED).map_err(wrong)?;
        let source = ChartSource::archive(&packed, BOUNDS).and_then(|source| source.unpacked()).map_err(wrong)?;
        if parsed_bytes(&source) > PARSED {
            let message =
                format!("the values, metadata and schemas of a chart are larger than {PARSED} bytes together");
            return Err(CatalogError::invalid("invalid_template_content", message));
        }
        Ok(Self { source, checksum: checksum(packed) })
    }

    /// Returns the schema of the chart's parameters: its own, or one that accepts anything.
    pub(super) fn schema(&self) -> &str {
        self.own_schema().filter(|schema| !schema.trim().is_empty()).unwrap_or(ANY_SCHEMA)
    }

    /// Returns the text of the chart's own schema.
    fn own_schema(&self) -> Option<&str> {
        let file = self.source.files().iter().find(|file| file.path() == "values.schema.json");
        file.and_then(|file| std::str::from_utf8(file.bytes()).ok())
    }
}

fn parsed_bytes(source: &ChartSource) -> usize {
    let is_parsed = |path: &str| PARSED_NAMES.contains(&path.rsplit('/').next().unwrap_or(path));
    source.files().iter().filter(|file| is_parsed(file.path())).map(|file| file.bytes().len()).sum()
}

impl Chart {
    /// Opens a chart and compiles its templates for the charts that are enabled by default.
    ///
    /// # Errors
    /// `invalid_template_syntax`.
    pub(super) fn compile(engine: &Engine, chart: &Unpacked, schema: &str) -> Result<(Self, Review)> {
        let (source, has_own_schema) = (&chart.source, chart.own_schema() == Some(schema));
        let wrong = |errors: Diagnostics| invalid("invalid_template_syntax", &errors);
        let template = engine.chart(source).map_err(wrong)?;
        let plan = template.outline(&UserValues::default()).map_err(wrong)?;
        let program = template.compile(&plan).map_err(wrong)?;
        let files: usize = source.files().iter().map(|file| file.path().len() + file.bytes().len()).sum();
        let memory = 2 * files + PARSED_MEMORY * parsed_bytes(source) + PROGRAMS * program.memory();
        let findings = program.lints().iter().map(|lint| finding(lint)).collect();
        Ok((Self { template, has_own_schema, memory }, Review { inputs: Vec::new(), findings }))
    }

    /// Returns the memory that the chart takes, in bytes. It is an estimate.
    pub(super) fn memory(&self) -> usize {
        self.memory
    }

    /// Renders the text of `helm template` for a release of this name, whose values are the parameters.
    ///
    /// # Errors
    /// `invalid_parameters` if they do not fit the schemas of the charts; `template_render_failed`; `invalid_name`.
    pub(super) fn render(&self, name: &str, parameters: &str, scratch: &mut Scratch) -> Result<String> {
        let render = self.rendered(name, parameters, scratch)?;
        let text = render.output().map_err(not_rendered)?.text();
        validation::yaml(&text)?;
        Ok(text)
    }

    /// Renders as [`Chart::render`] does, and records what wrote each part of the text.
    ///
    /// # Errors
    /// Those of [`Chart::render`].
    pub(super) fn record(
        &self,
        name: &str,
        parameters: &str,
        recorder: Recorder,
        scratch: &mut Scratch,
    ) -> Result<(RecordedOutput, String)> {
        let render = self.rendered(name, parameters, scratch)?;
        let text = render.output().map_err(not_rendered)?.text();
        let recording = render.record(&mut scratch.session, recorder).map_err(first_not_rendered)?;
        Ok((RecordedOutput::of_chart(render, recording), text))
    }

    /// `true` if a schema of a chart marks a value secret.
    pub(super) fn has_secrets(&self) -> bool {
        self.template.chart().has_secrets()
    }

    /// Calls `each` with the secrets among the values that parameters give.
    pub(super) fn each_secret(&self, parameters: &str, each: &mut dyn FnMut(&str)) {
        let values = values(parameters).ok().and_then(|own| UserValues::default().with_cluster(own, false).ok());
        if let Some(values) = values {
            self.template.chart().each_secret(&values, each);
        }
    }

    fn rendered(&self, name: &str, parameters: &str, scratch: &mut Scratch) -> Result<ChartRender> {
        let (release, values) = (release(name)?, values(parameters)?);
        let session = &mut scratch.session;
        let plan = |session: &Session| {
            let values = UserValues::default().with_cluster(values, false)?;
            self.template.plan(session, &values, &release, &Capabilities::default())
        };
        let render = plan(session).and_then(|plan| self.template.render_in(session, plan));
        render.map_err(first_not_rendered)
    }
}

/// Returns the values in the text of parameters.
fn values(parameters: &str) -> Result<DataMap> {
    let map = Data::of_json(parameters).ok().and_then(Data::into_map);
    map.ok_or_else(|| CatalogError::invalid("invalid_parameters", "the parameters of a chart are a map"))
}

/// Formats an error in one line with its file and position.
fn line_of(error: &Diagnostic) -> String {
    let file = error.primary().map_or("", |label| label.source.name());
    match error_line(error) {
        line if file.is_empty() => line,
        line => format!("{file}: {line}"),
    }
}

/// Converts a lint of a chart's templates.
fn finding(lint: &Diagnostic) -> Finding {
    let finding = Finding::from_diagnostic(lint, lint.code.name());
    let file = lint.primary().map_or("", |label| label.source.name());
    Finding { message: format!("{file}: {}", finding.message), ..finding }
}

/// The first error of a render.
fn first_not_rendered(errors: Diagnostics) -> CatalogError {
    match errors.into_vec().into_iter().next() {
        Some(first) => not_rendered(first),
        None => CatalogError::invalid("template_render_failed", "Template rendering failed"),
    }
}

/// The error of a render. Values that do not fit the schemas of the charts are invalid parameters.
fn not_rendered(error: Box<Diagnostic>) -> CatalogError {
    if error.code != Code::UnfitValues {
        let line = line_of(&error);
        return CatalogError { message: format!("Template rendering failed: {line}"), ..failed(error) };
    }
    let lines: Vec<_> =
        error.notes.iter().map(|note| crate::review::shortened(note, crate::review::MAX_MESSAGE)).collect();
    CatalogError::invalid("invalid_parameters", "invalid parameters")
        .with_details(json!({ "validation_errors": lines, "violations": [] }))
}

/// The error of a chart that cannot be created.
fn invalid(code: &str, errors: &Diagnostics) -> CatalogError {
    let first = errors.first().map_or_else(String::new, line_of);
    let all: Vec<_> = errors.iter().map(error_json).collect();
    CatalogError::invalid(code, format!("Invalid Helm chart: {first}")).with_details(json!({ "diagnostics": all }))
}
