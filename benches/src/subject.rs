//! One engine on one workload: run, and what the run came to.

use std::fmt::Write;

/// An engine set up for a workload. Made once, checked once, run many times.
pub trait Subject {
    /// The engine's name.
    fn engine(&self) -> &'static str;

    /// One unit of the workload. What it takes to set up is done before.
    fn run(&mut self);

    /// What one unit comes to, comparable between engines.
    fn output(&mut self) -> String;
}

/// What has to hold between our time and a peer's.
#[derive(Debug, Clone, Copy)]
pub enum Bar {
    /// The peer takes at least this many times our time.
    Faster(f64),
    /// We take at most this many times the peer's time.
    AtMost(f64),
}

/// Engines side by side on one task.
pub struct Workload {
    /// What the command line calls it.
    pub id: &'static str,
    /// What a table calls it.
    pub title: &'static str,
    /// What every engine has to produce.
    pub expected: String,
    /// The engines, ours first.
    pub subjects: Vec<Box<dyn Subject>>,
    /// Peers' names with what is asked of us beside them.
    pub bars: Vec<(&'static str, Bar)>,
}

impl Workload {
    /// Compares every engine's output with what is expected.
    ///
    /// # Panics
    /// When one differs: then there is nothing to time.
    pub fn check(&mut self) {
        for subject in &mut self.subjects {
            let output = subject.output();
            if output != self.expected {
                panic!("{} {}: {}", self.id, subject.engine(), first_difference(&self.expected, &output));
            }
        }
    }
}

impl Bar {
    /// The ratio of a time of ours to a peer's as this bar states it.
    pub fn ratio(self, ours: f64, theirs: f64) -> f64 {
        match self {
            Bar::Faster(_) => theirs / ours,
            Bar::AtMost(_) => ours / theirs,
        }
    }

    /// Whether `ratio` is good enough.
    pub fn reached(self, ratio: f64) -> bool {
        match self {
            Bar::Faster(bar) => ratio >= bar,
            Bar::AtMost(bar) => ratio <= bar,
        }
    }
}

fn first_difference(expected: &str, output: &str) -> String {
    let mut lines = expected.lines().zip(output.lines()).enumerate();
    let mut message = format!("{} bytes expected, {} bytes came", expected.len(), output.len());
    if let Some((at, (wanted, got))) = lines.find(|(_, (wanted, got))| wanted != got) {
        let _ = write!(message, "; line {}:\n  expected {wanted:?}\n  came     {got:?}", at + 1);
    }
    message
}
