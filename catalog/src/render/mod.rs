//! Rendering of templates: a cache of compiled templates and schemas, and a pool of threads with limits, which callers
//! share in turns.

mod charts;
mod compiled;
mod layers;
mod pool;
mod request;
mod scratch;

use std::sync::Arc;

use crate::content::{Content, Language};
use crate::error::Result;
use crate::model::TemplateVersion;
use crate::objects::ParameterSet;
use crate::review::Review;
use compiled::Compiler;
use dropforge::bulk::why::{Answer, LinePlace};
use dropforge::bulk::{Layers, Variants};
use dropforge::mask::Mask;
use pool::Pool;
use scratch::Scratch;

pub use compiled::{Compiled, Prepared, Stats};
pub use layers::ParameterLayers;
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
#[cfg(test)]
mod tests;
