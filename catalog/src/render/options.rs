//! Limits of a renderer.

use std::time::Duration;

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
