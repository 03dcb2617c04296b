//! Rendering of templates: a cache of compiled templates and schemas, and a pool of threads with limits, which callers
//! share in turns.

mod charts;
mod check;
mod compiled;
mod options;
mod pool;
#[cfg(test)]
mod pool_tests;
mod renderer;
mod request;
mod scratch;
#[cfg(test)]
mod tests;
mod why;

pub use compiled::{Compiled, Prepared};
pub use options::Options;
pub use renderer::{Renderer, Stats};
pub use request::{RenderOutcome, RenderRequest};
pub(crate) use why::StoredPlace;
