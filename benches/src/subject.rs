//! One engine on one workload: its runs and its output.

use std::fmt::Write;

/// An engine set up for a workload. Built once, checked once, run many times.
pub trait Subject {
    /// Returns the engine's name.
    fn engine(&self) -> &'static str;

    /// Runs one unit of the workload. All setup is done before.
    fn run(&mut self);

    /// Returns the output of one unit, comparable between engines.
    fn output(&mut self) -> String;
}

/// The target for our time relative to another engine's.
#[derive(Debug, Clone, Copy)]
pub enum Bar {
    /// The other engine takes at least this many times our time.
    Faster(f64),
    /// We take at most this many times the other engine's time.
    AtMost(f64),
}

/// Several engines on one task.
pub struct Workload {
    /// The workload's name on the command line.
    pub id: &'static str,
    /// The workload's name in tables.
    pub title: &'static str,
    /// The output expected of every engine.
    pub expected: String,
    /// The engines, ours first.
    pub subjects: Vec<Box<dyn Subject>>,
    /// Targets against other engines, by name.
    pub bars: Vec<(&'static str, Bar)>,
}

impl Workload {
    /// Compares every engine's output with the expected one.
    ///
    /// # Panics
    /// Panics if one differs.
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
    /// Returns the ratio of our time to another's in the form that this target states.
    pub fn ratio(self, ours: f64, theirs: f64) -> f64 {
        match self {
            Bar::Faster(_) => theirs / ours,
            Bar::AtMost(_) => ours / theirs,
        }
    }

    /// Returns `true` if `ratio` meets the target.
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
