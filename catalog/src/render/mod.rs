//! Rendering of templates: a cache of compiled templates and schemas, and a pool of threads with limits, which callers
//! share in turns; layers of parameters.

mod compiled;
mod pool;
mod request;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::content::{Content, Language};
use crate::error::{CatalogError, ErrorKind, Result};
use crate::model::TemplateVersion;
use crate::objects::ParameterSet;
use crate::review::Review;
use compiled::Compiler;
use dropforge::bulk::input::Place;
use dropforge::bulk::why::{Answer, LinePlace};
use dropforge::bulk::{Cluster, Fleet, Format, LayerGroups, LayerPath, Layers, Merge, Variants, input};
use dropforge::diagnostics::{Code, Diagnostic};
use dropforge::mask::Mask;
use dropforge::text::Source;
use dropforge::value::{Data, DataMap};
use pool::{Pool, Scratch, error_json, error_line};

pub use compiled::{Compiled, Prepared, Stats};
pub use pool::Options;
pub use request::{RenderOutcome, RenderRequest};

/// Compiles, caches and renders templates. Cheap to clone and shared between threads.
///
/// ```
/// use dropforge_catalog::render::{Options, Renderer};
/// let renderer = Renderer::new(&Options::default());
/// let schema = r#"{"properties": {"name": {"type": "string"}}}"#;
/// assert!(renderer.compiled("name: {{ name }}", schema).is_ok());
/// assert_eq!(renderer.compiled("{{ name", schema).unwrap_err().code, "invalid_template_syntax");
/// let review = renderer.review("name: {{ nmae }}", schema)?;
/// assert_eq!(review.findings[0].help.as_deref(), Some("did you mean `name`?"));
/// # Ok::<(), dropforge_catalog::CatalogError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Renderer {
    compiler: Arc<Compiler>,
    pool: Arc<Pool>,
}

impl Renderer {
    /// Creates a renderer. Its threads end when the last clone is dropped.
    pub fn new(options: &Options) -> Self {
        Self::of(Compiler::new(options, |builder| builder), options)
    }

    fn of(compiler: Compiler, options: &Options) -> Self {
        Self { compiler: Arc::new(compiler), pool: Arc::new(Pool::new(options)) }
    }

    /// Returns a compiled template in Tera and its schema, from the cache if possible.
    ///
    /// # Errors
    /// `invalid_template_syntax`, `invalid_parameters_schema`.
    pub fn compiled(&self, content: &str, schema: &str) -> Result<Arc<Compiled>> {
        self.compiler.compiled(Language::Tera, content, schema)
    }

    /// Returns a compiled version, from the cache if possible.
    ///
    /// # Errors
    /// `invalid_template_syntax`, `invalid_template_content`, `invalid_parameters_schema`.
    pub fn compiled_version(&self, version: &TemplateVersion) -> Result<Arc<Compiled>> {
        self.compiler.compiled_version(version)
    }

    /// Returns the secrets of a render.
    pub(crate) fn mask(&self, request: &RenderRequest) -> Mask {
        self.compiler.mask(request)
    }

    /// Checks the content of a version to create, and finds the schema of a chart.
    ///
    /// # Errors
    /// Those of [`Renderer::compiled_version`].
    pub fn prepared(&self, content: &Content) -> Result<Prepared> {
        self.compiler.prepared(content)
    }

    /// Checks a template against its schema.
    ///
    /// # Errors
    /// Those of [`Renderer::compiled`].
    pub fn review(&self, content: &str, schema: &str) -> Result<Review> {
        self.compiled(content, schema).map(|compiled| compiled.review().clone())
    }

    /// The current counters.
    pub fn stats(&self) -> Stats {
        let (refused, load) = (self.pool.refused(), self.pool.load());
        self.compiler.stats(refused, load)
    }

    /// Validates, matches and renders on a thread of the pool. Each step runs even if another fails. Requires a `tokio`
    /// runtime with timers.
    ///
    /// # Errors
    /// Those of [`Renderer::compiled`], and `renders_busy` if too much is waiting, or the deadline was over before it
    /// had its time.
    pub async fn render(&self, request: RenderRequest) -> Result<RenderOutcome> {
        self.render_then(request, |_, outcome| Ok(outcome)).await
    }

    /// Renders as [`Renderer::render`] does, and continues with the outcome on the same thread.
    pub(crate) async fn render_then<R: Send + 'static>(
        &self,
        request: RenderRequest,
        then: impl FnOnce(&RenderRequest, RenderOutcome) -> Result<R> + Send + 'static,
    ) -> Result<R> {
        let compiler = self.compiler.clone();
        let job = move |scratch: &mut Scratch| then(&request, compiler.render(&request, scratch)?);
        self.pool.run(job).await?
    }

    /// Renders again, and finds what wrote a place in a text that was stored, on a thread of the pool. The text comes with
    /// its name.
    ///
    /// # Errors
    /// Same as [`Renderer::render`]; `line_not_found`, `line_not_rendered`, `render_too_long`.
    pub(crate) async fn why(
        &self,
        request: RenderRequest,
        (name, text): (String, String),
        place: LinePlace,
    ) -> Result<Answer> {
        let compiler = self.compiler.clone();
        self.pool.run(move |scratch| compiler.why(&request, (&name, &text), place, scratch)).await?
    }

    /// Specialises a template to shared parameters for many sets, on a thread of the pool. `None` if that does not pay, or
    /// exceeds the limits of a render.
    ///
    /// # Errors
    /// Same as [`Renderer::render`].
    pub(crate) async fn variants(
        &self,
        template: TemplateVersion,
        shared: Arc<Layers>,
        sets: Arc<[ParameterSet]>,
    ) -> Result<Option<Variants>> {
        let compiler = self.compiler.clone();
        let job = move |scratch: &mut Scratch| compiler.variants(&template, &shared, &sets, scratch);
        let variants = self.pool.run(job).await??;
        Ok(variants.filter(|variants| variants.specialisation().specialised() > 0))
    }

    /// Runs anything that computes on a thread of the pool, when it is the caller's turn.
    ///
    /// # Errors
    /// `renders_busy` if too much is waiting, or the job did not end before the deadline.
    pub(crate) async fn run<R: Send + 'static>(
        &self,
        job: impl FnOnce(&mut Scratch) -> R + Send + 'static,
    ) -> Result<R> {
        self.pool.run(job).await
    }
}

#[cfg(test)]
mod pool_tests;

/// Shared parameters, layers over them, and the files of the layers.
#[derive(Debug)]
pub struct ParameterLayers {
    shared: (DataMap, Place),
    layers: Vec<LayerPath>,
    files: BTreeMap<String, (DataMap, Place)>,
    merge: Merge,
}

impl ParameterLayers {
    /// Reads the paths of layers, low to high, and the files that they stand for: each is a map of parameters, or a text. The
    /// format of a text follows from the name of its file.
    ///
    /// # Errors
    /// `invalid_layers`.
    pub fn new(shared: DataMap, layers: &[String], files: BTreeMap<String, Data>, merge: Merge) -> Result<Self> {
        let layers = layers.iter().map(|path| LayerPath::parse(path)).collect::<dropforge::diagnostics::Result<_>>();
        let files = files.into_iter().map(|(path, content)| Ok((path.clone(), file(&path, content)?)));
        let nowhere = Place::file(&Source::new("shared", ""), Format::Json);
        Ok(Self {
            shared: (shared, nowhere),
            layers: layers.map_err(invalid)?,
            files: files.collect::<dropforge::diagnostics::Result<_>>().map_err(invalid)?,
            merge,
        })
    }

    /// Returns the parameters of a set, `own`, merged over the layers and the shared ones. `{cluster}` in the path of a layer
    /// is `name`.
    ///
    /// # Errors
    /// `invalid_layers` for a missing file, and for a path that cannot be filled in.
    fn merged(&self, name: &str, own: DataMap) -> Result<DataMap> {
        let mut fleet = Fleet::new(vec![Cluster::new(name, own)]).map_err(invalid)?;
        let mut read = |path: &str, may_be_missing: bool| match self.files.get(path) {
            Some(file) => Ok(Some(file.clone())),
            None if may_be_missing => Ok(None),
            None => Err(self.missing(path)),
        };
        let groups = LayerGroups::read(&self.layers, &mut fleet, &mut read);
        let groups = groups.map_err(|failures| {
            let first = failures.into_iter().next().map(|failure| failure.diagnostic);
            invalid(first.unwrap_or_else(|| Diagnostic::new(Code::Internal, "the layers cannot be read")))
        })?;
        let layers = groups.over(vec![self.shared.clone()], Vec::new(), self.merge);
        layers.merged(fleet.reader().cluster(0).map_err(invalid)?).map_err(invalid)
    }

    fn missing(&self, path: &str) -> Box<Diagnostic> {
        let names = || self.files.keys().map(String::as_str);
        let error = Diagnostic::new(Code::ReadFailed, format!("`files` has no `{path}`"));
        error.with_suggestion(path, names()).with_available(names())
    }
}

/// Reads a file of a layer.
fn file(path: &str, content: Data) -> dropforge::diagnostics::Result<(DataMap, Place)> {
    let format = match Format::of_name(path) {
        Some(format @ (Format::Json | Format::Toml | Format::Env)) => format,
        _ => Format::Yaml,
    };
    if let Data::Str(text) = &content {
        let source = Source::new(path, text.as_str());
        return Ok((input::map(&source, format)?, Place::file(&source, format)));
    }
    let map = content.try_into_map().map_err(|other| {
        let message = format!("`{path}` must be a map or the text of a file, found {}", other.kind());
        Diagnostic::new(Code::InputType, message)
    })?;
    Ok((map, Place::file(&Source::new(path, ""), format)))
}

fn invalid(error: Box<Diagnostic>) -> CatalogError {
    CatalogError::new(ErrorKind::Unprocessable, "invalid_layers", error_line(&error))
        .with_details(serde_json::json!({ "diagnostics": [error_json(&error)] }))
}

#[cfg(test)]
mod tests;
