//! What a run is given: what renders, what is stamped, how, and who looks on.
//!
//! How a template is rendered is [`Stamp`]'s business, so the runs know no template language.

use std::collections::HashSet;
use std::sync::atomic::AtomicBool;

use super::documents::Piece;
use super::fleet::Fleet;
use super::layers::{Layers, Overlay};
use super::plan::Plan;
use super::write::Change;
use crate::diagnostics::Result;

/// What renders the outputs of a plan. The shared layer is part of it.
///
/// ```
/// use dropforge::bulk::{Overlay, Renderer, Stamp};
/// use dropforge::diagnostics::Result;
///
/// /// One output: the number of the cluster's own inputs.
/// struct Count;
/// impl Stamp for Count {
///     fn work(&self, body: &mut dyn FnMut(&mut dyn Renderer)) {
///         body(&mut Count);
///     }
/// }
/// impl Renderer for Count {
///     fn render(&mut self, own: &Overlay<'_>, text: &mut String, results: &mut Vec<Result<usize>>) -> Result<()> {
///         text.push_str(&own.to_map()?.len().to_string());
///         results.push(Ok(text.len()));
///         Ok(())
///     }
/// }
/// ```
pub trait Stamp: Sync {
    /// Sets up what a thread needs for itself (a machine, its memory, the shared inputs) and calls `body` with
    /// it, once; it is kept from cluster to cluster.
    fn work(&self, body: &mut dyn FnMut(&mut dyn Renderer));
}

/// What one thread renders with.
pub trait Renderer {
    /// Renders all outputs of the plan, in its order, for one cluster: appends each text to `text`, and to
    /// `results` where it ends there, or why it failed (then nothing of it stays in `text`).
    ///
    /// # Errors
    /// Where the cluster's inputs cannot be used at all.
    fn render(&mut self, own: &Overlay<'_>, text: &mut String, results: &mut Vec<Result<usize>>) -> Result<()>;

    /// Moves the documents of what was rendered last to `to`, for a plan whose layout takes fields of documents. What
    /// gives no documents has none.
    fn take_pieces(&mut self, to: &mut Vec<Piece>) {
        let _ = to;
    }
}

/// How a run goes about it.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Threads; 0 takes as many as the machine has.
    pub threads: usize,
    /// Stop at the first cluster that fails.
    pub fail_fast: bool,
    /// Make files survive a loss of power.
    pub fsync: bool,
    /// After a run without failures remove what the run before wrote and this one has no place for.
    pub prune: bool,
    /// Prune even where most files would go.
    pub prune_force: bool,
    /// In one stream, put nothing between the outputs: they are lines or documents of JSON.
    pub plain_stream: bool,
}

/// How a run is watched and stopped from outside.
#[derive(Clone, Copy)]
pub struct Watch<'w> {
    /// Set to end the run after the clusters that are under way.
    pub stop: &'w AtomicBool,
    /// Called after each cluster, from any thread.
    pub done: &'w (dyn Fn() + Sync),
}

impl Watch<'static> {
    /// Nobody watches.
    pub fn none() -> Self {
        static NEVER: AtomicBool = AtomicBool::new(false);
        Self { stop: &NEVER, done: &|| {} }
    }
}

/// Everything a run works on.
#[derive(Clone, Copy)]
pub struct Job<'j> {
    /// The clusters.
    pub fleet: &'j Fleet,
    /// What they share, and what is set over them.
    pub layers: &'j Layers,
    /// What is stamped and where it goes.
    pub plan: &'j Plan,
    /// How.
    pub options: &'j Options,
    /// Who looks on.
    pub watch: Watch<'j>,
}

impl Job<'_> {
    pub(super) fn name(&self, at: usize) -> String {
        let cluster = self.plan.cluster(at).and_then(|at| self.fleet.clusters().get(at));
        cluster.map_or(String::new(), |cluster| cluster.name().to_owned())
    }

    pub(super) fn threads(&self) -> usize {
        let all = || std::thread::available_parallelism().map_or(1, usize::from);
        let threads = if self.options.threads == 0 { all() } else { self.options.threads };
        threads.min(self.plan.clusters()).clamp(1, 1_024)
    }

    pub(super) fn planned(&self) -> HashSet<String> {
        let mut planned = HashSet::new();
        self.plan.each_path(self.fleet, |path| {
            planned.insert(path.to_owned());
        });
        planned
    }
}

/// One output as a run that only looks reports it.
#[derive(Debug)]
pub struct Looked<'t> {
    /// Its path below the output directory.
    pub path: &'t str,
    /// What a real run would do; `None` for a file that pruning would remove.
    pub change: Option<Change>,
    /// What the file holds now; empty where there is none or it is no text.
    pub old: &'t str,
    /// What it would hold.
    pub new: &'t str,
}
