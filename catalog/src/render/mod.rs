//! Rendering of templates: a cache of compiled templates and schemas, and a pool of threads with limits.

mod compiled;
mod pool;
#[cfg(test)]
mod tests;
mod trial;

use std::sync::Arc;
use std::time::Duration;

pub use compiled::Compiled;
pub(super) use trial::documents;
pub use trial::{Outcome, Trial};

use super::refusal::Result;
use super::review::Review;
use compiled::Compiler;
use pool::Pool;

/// Limits of a renderer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Number of threads.
    pub threads: usize,
    /// Maximum number of waiting renders.
    pub queue: usize,
    /// Maximum steps of one render.
    pub fuel: u64,
    /// Maximum bytes allocated by one render.
    pub memory: u64,
    /// Maximum bytes of one rendered text.
    pub output_bytes: usize,
    /// Maximum time a render waits, and then runs.
    pub deadline: Duration,
    /// Maximum number of cached templates.
    pub cached: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            threads: std::thread::available_parallelism().map_or(2, std::num::NonZero::get),
            queue: 256,
            fuel: 20_000_000,
            memory: 64 << 20,
            output_bytes: 4 << 20,
            deadline: Duration::from_secs(5),
            cached: 1024,
        }
    }
}

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
/// # Ok::<(), dropforge_catalog::Refusal>(())
/// ```
#[derive(Debug, Clone)]
pub struct Renderer {
    compiler: Arc<Compiler>,
    pool: Arc<Pool>,
}

/// Counters of a renderer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Figures {
    /// Renders accepted.
    pub trials: u64,
    /// Renders running or waiting.
    pub under_way: usize,
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
    pub fn figures(&self) -> Figures {
        let ((trials, under_way), (compiled, reused)) = (self.pool.figures(), self.compiler.figures());
        Figures { trials, under_way, compiled, reused }
    }

    /// Validates, matches and renders on a thread of the pool. Each step runs even if another fails. Requires a `tokio`
    /// runtime with timers.
    ///
    /// # Errors
    /// Those of [`Renderer::compiled`], and `renders_busy` if the queue stays full until the deadline.
    pub async fn try_out(&self, trial: Trial) -> Result<Outcome> {
        let compiler = self.compiler.clone();
        self.pool.run(move |room| compiler.try_out(&trial, room)).await?
    }
}
