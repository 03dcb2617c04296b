//! The renderer.

use std::sync::Arc;

use super::compiled::{Compiled, Compiler};
use super::options::Options;
use super::pool::Pool;
use super::request::{RenderOutcome, RenderRequest};
use crate::error::Result;
use crate::review::Review;

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

/// Counters of a renderer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stats {
    /// Renders accepted.
    pub renders: u64,
    /// Renders running or waiting.
    pub in_progress: usize,
    /// Templates compiled.
    pub compiled: u64,
    /// Cache hits.
    pub reused: u64,
}

impl Renderer {
    /// Creates a renderer. Its threads end when the last clone is dropped.
    pub fn new(options: &Options) -> Self {
        Self { compiler: Arc::new(Compiler::new(options)), pool: Arc::new(Pool::new(options)) }
    }

    /// Returns a compiled template and schema, from the cache if possible.
    ///
    /// # Errors
    /// `invalid_template_syntax`, `invalid_parameters_schema`.
    pub fn compiled(&self, content: &str, schema: &str) -> Result<Arc<Compiled>> {
        self.compiler.compiled(content, schema)
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
        let ((renders, in_progress), (compiled, reused)) = (self.pool.stats(), self.compiler.stats());
        Stats { renders, in_progress, compiled, reused }
    }

    /// Validates, matches and renders on a thread of the pool. Each step runs even if another fails. Requires a `tokio`
    /// runtime with timers.
    ///
    /// # Errors
    /// Those of [`Renderer::compiled`], and `renders_busy` if the queue stays full until the deadline.
    pub async fn render(&self, request: RenderRequest) -> Result<RenderOutcome> {
        let compiler = self.compiler.clone();
        self.pool.run(move |scratch| compiler.render(&request, scratch)).await?
    }
}
