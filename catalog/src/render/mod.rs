//! Rendering a catalog's templates: compiled templates and schemas are kept by the checksums of their texts, and trials
//! run on threads of their own, within bounds.

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

/// The bounds of a renderer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// How many trials run at once.
    pub threads: usize,
    /// How many wait for that.
    pub queue: usize,
    /// Steps of one render.
    pub fuel: u64,
    /// Bytes that one render makes.
    pub memory: u64,
    /// Bytes of one rendered text.
    pub output_bytes: usize,
    /// How long a trial waits, and how long it then renders.
    pub deadline: Duration,
    /// How many compiled templates are kept.
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

/// Compiles templates, keeps what was compiled, and renders. Cheap to clone, shared between threads.
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

/// What a renderer has done so far, and what it is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Figures {
    /// Trials that were taken on.
    pub trials: u64,
    /// Trials that run or wait to be run.
    pub under_way: usize,
    /// Templates that were compiled.
    pub compiled: u64,
    /// Compiled templates that were kept and used again.
    pub reused: u64,
}

impl Renderer {
    /// A renderer within these bounds. Its threads end when it and its clones are gone.
    pub fn new(options: &Options) -> Self {
        Self { compiler: Arc::new(Compiler::new(options)), pool: Arc::new(Pool::new(options)) }
    }

    /// What stands in a template and its schema.
    ///
    /// # Errors
    /// `invalid_template_syntax`, `invalid_parameters_schema`.
    pub fn compiled(&self, content: &str, schema: &str) -> Result<Arc<Compiled>> {
        self.compiler.compiled(content, schema)
    }

    /// A template and its schema, checked against each other.
    ///
    /// # Errors
    /// As [`Renderer::compiled`].
    pub fn review(&self, content: &str, schema: &str) -> Result<Review> {
        self.compiled(content, schema).map(|compiled| compiled.review().clone())
    }

    /// What it has done so far, and what it is doing.
    pub fn figures(&self) -> Figures {
        let ((trials, under_way), (compiled, reused)) = (self.pool.figures(), self.compiler.figures());
        Figures { trials, under_way, compiled, reused }
    }

    /// Matches, validates and renders, each whatever the others say; on a thread of the renderer's own. To be called
    /// where `tokio` keeps the time.
    ///
    /// # Errors
    /// As [`Renderer::compiled`]; `renders_busy` where there is no place for it for as long as the deadline.
    pub async fn try_out(&self, trial: Trial) -> Result<Outcome> {
        let compiler = self.compiler.clone();
        self.pool.run(move |room| compiler.try_out(&trial, room)).await?
    }
}
