//! Limits of a renderer.

use std::time::Duration;

/// Limits of a renderer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Number of threads that one caller can keep busy. There is one more, so that no caller delays all others.
    pub threads: usize,
    /// Maximum number of waiting jobs: renders, compilations, checks.
    pub queue: usize,
    /// Maximum number of waiting jobs of one caller.
    pub own_queue: usize,
    /// Maximum steps of one render.
    pub fuel: u64,
    /// Maximum bytes allocated by one render and the check of its text. All threads together hold at most this for each
    /// of them, and the rendered texts.
    pub memory: u64,
    /// Maximum bytes of one rendered text.
    pub output_bytes: usize,
    /// Maximum time from accepting a job to its end, waiting included.
    pub deadline: Duration,
    /// Maximum number of cached templates.
    pub cached: usize,
    /// Maximum bytes of the memory of cached templates and schemas.
    pub cached_bytes: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            threads: std::thread::available_parallelism().map_or(2, std::num::NonZero::get),
            queue: 256,
            own_queue: 64,
            fuel: 20_000_000,
            memory: 64 << 20,
            output_bytes: 4 << 20,
            deadline: Duration::from_secs(5),
            cached: 1024,
            cached_bytes: 64 << 20,
        }
    }
}
