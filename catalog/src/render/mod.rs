//! Rendering of templates: a cache of compiled templates and schemas, and a pool of threads with limits.

mod compiled;
mod options;
mod pool;
mod renderer;
mod request;
#[cfg(test)]
mod tests;

pub use compiled::Compiled;
pub use options::Options;
pub use renderer::{Renderer, Stats};
pub(super) use request::count_documents;
pub use request::{RenderOutcome, RenderRequest};
