//! The inputs of a run: renderer, fleet, plan, options and observers.
//!
//! Rendering is behind the trait [`Stamp`], so runs do not depend on a template language.

use std::io;
use std::sync::atomic::AtomicBool;

use super::cluster::Cluster;
use super::fleet::{Fleet, FleetStream};
use super::last_run::LastRun;
use super::layers::{Layers, Overlay};
use super::output_files::Change;
use super::output_names::TemplatePaths;
use super::pieces::Piece;
use super::plan::Plan;
use super::shards::PlanShard;
use super::specialised::{Specialisation, Specialise};
use super::state::{ReadLog, RunOptions};
use crate::why::RecordedOutput;
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_base::mask::Mask;
use dropforge_base::stdlib::globs::Glob;
use dropforge_value::Mark;

/// A factory of renderers for the outputs of a plan. It includes the shared inputs.
///
/// ```
/// use dropforge::bulk::{Cluster, Overlay, Renderer, Stamp};
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
///     fn render(
///         &mut self,
///         _: Option<usize>,
///         _: &Cluster,
///         own: &Overlay<'_>,
///         text: &mut String,
///         results: &mut Vec<Result<usize>>,
///     ) -> Result<()> {
///         text.push_str(&own.to_map()?.len().to_string());
///         results.push(Ok(text.len()));
///         Ok(())
///     }
/// }
/// ```
pub trait Stamp: Sync {
    /// Creates the renderer of one thread, with its own memory and the shared inputs, and calls `body` with it once.
    #[doc(hidden)]
    fn work(&self, body: &mut dyn FnMut(&mut dyn Renderer));

    /// Returns the bytes of stack that [`Stamp::work`] takes beyond those of any thread.
    #[doc(hidden)]
    fn stack_bytes(&self) -> usize {
        0
    }

    /// Prepares for a run. Called before the threads of the run start, for some runs more than once.
    #[doc(hidden)]
    fn prepare(&self, job: &Job<'_>) {
        let _ = job;
    }

    /// Returns which templates a run specialises to the shared inputs, and why not the others.
    #[doc(hidden)]
    fn specialisation(&self, job: &Job<'_>) -> Specialisation {
        let _ = job;
        Specialisation::default()
    }

    /// Calls `each` with the text of every secret among the inputs of a cluster. Only outputs show them.
    #[doc(hidden)]
    fn each_secret(&self, layers: &Layers, cluster: &Cluster, each: &mut dyn FnMut(&str)) {
        layers.each_secret(Some(cluster), each);
    }

    /// Calls `each` with the name of every secret ([`Layers::each_secret_name`]).
    #[doc(hidden)]
    fn each_secret_name(&self, layers: &Layers, cluster: &Cluster, each: &mut dyn FnMut(&str)) {
        layers.each_secret_name(Some(cluster), each);
    }

    /// Returns `true` if the inputs of a cluster may have secrets.
    #[doc(hidden)]
    fn has_secrets(&self, layers: &Layers) -> bool {
        layers.has_secrets()
    }

    /// Returns the secrets of a cluster, for printers.
    #[doc(hidden)]
    fn mask(&self, layers: &Layers, cluster: &Cluster) -> Mask {
        Mask::of_each(|each| self.each_secret(layers, cluster, each))
    }

    /// Renders an output for a cluster again and records it, to find what came from secrets. `None` for one that cannot be
    /// recorded.
    #[doc(hidden)]
    fn record(&self, layers: &Layers, cluster: &Cluster, output: usize) -> Option<RecordedOutput> {
        let _ = (layers, cluster, output);
        None
    }

    /// Returns the first output that the recording of an output has as well.
    #[doc(hidden)]
    fn recording_of(&self, output: usize) -> usize {
        output
    }

    /// Renders all outputs for a cluster. Returns the text of each, or its error.
    ///
    /// # Errors
    /// The inputs of the cluster are invalid.
    #[doc(hidden)]
    fn texts(&self, layers: &Layers, cluster: &Cluster) -> Result<Vec<Result<String>>> {
        let own = layers.overlay(cluster)?;
        let (mut text, mut ends, mut rendered) = (String::new(), Vec::new(), Ok(()));
        on_stack(self.stack_bytes(), || {
            self.work(&mut |renderer| rendered = renderer.render(None, cluster, &own, &mut text, &mut ends));
        });
        rendered?;
        let mut start = 0;
        let mut part = |end: usize| text.get(std::mem::replace(&mut start, end)..end).unwrap_or("").to_owned();
        Ok(ends.into_iter().map(|end| end.map(&mut part)).collect())
    }
}

/// The stack of a thread of a run.
const STACK: usize = 2 << 20;

/// Creates a thread with this number of bytes of stack beyond the usual ones.
pub(super) fn thread(more: usize) -> std::thread::Builder {
    std::thread::Builder::new().stack_size(STACK + more)
}

/// Calls `run` where it has so many bytes of stack beyond the usual ones.
fn on_stack(more: usize, run: impl FnOnce() + Send) {
    if more == 0 {
        return run();
    }
    std::thread::scope(|scope| {
        let spawned = thread(more).spawn_scoped(scope, run);
        if let Ok(Err(panic)) = spawned.map(std::thread::ScopedJoinHandle::join) {
            std::panic::resume_unwind(panic);
        }
    });
}

/// What a check found in a text.
#[derive(Debug, Default)]
pub struct Checked<'c> {
    /// The errors of the text.
    pub errors: Vec<Box<Diagnostic>>,
    /// The marks in valid YAML of the usual kind.
    pub marks: Option<&'c [Mark]>,
}

/// The renderer of one thread.
pub trait Renderer {
    /// Renders all outputs of the plan, in its order, for one cluster with the inputs `own`: that at `at` in the fleet, or `None`
    /// outside a run. Appends each text to `text`, and its end in `text` to `results`. For a template that fails, appends its
    /// error to `results` and nothing to `text`.
    ///
    /// # Errors
    /// The cluster's inputs are invalid.
    fn render(
        &mut self,
        at: Option<usize>,
        cluster: &Cluster,
        own: &Overlay<'_>,
        text: &mut String,
        results: &mut Vec<Result<usize>>,
    ) -> Result<()>;

    /// Checks the text of an output of the last render that goes to `path`.
    fn check(&mut self, output: usize, path: &str, text: &str) -> Checked<'_> {
        let _ = (output, path, text);
        Checked::default()
    }

    /// Adds the place in the template that wrote the invalid part of an output to the errors of [`Renderer::check`].
    fn show_writer(
        &mut self,
        cluster: &Cluster,
        own: &Overlay<'_>,
        (output, text): (usize, &str),
        errors: &mut [Box<Diagnostic>],
    ) {
        let _ = (cluster, own, output, text, errors);
    }

    /// Moves the documents of the last render to `to`, for a plan with a file for each document.
    fn take_pieces(&mut self, to: &mut Vec<Piece>) {
        let _ = to;
    }
}

/// Options of a run.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The number of threads, or 0 for one per core.
    pub threads: usize,
    /// Stop at the first cluster that fails.
    pub fail_fast: bool,
    /// Sync files to disk before the run ends.
    pub fsync: bool,
    /// After a run without failures, remove files of earlier runs that nothing makes any more.
    pub prune: bool,
    /// Report files in a preview that nothing makes any more, even without `prune`.
    #[doc(hidden)]
    pub deletions: bool,
    /// Note how many files earlier runs with the same options made and this one does not, if it is a run of the whole fleet
    /// without `prune`.
    #[doc(hidden)]
    pub leftovers: bool,
    /// Overwrite files that dropforge did not write.
    pub force: bool,
    /// The paths of the templates, which tell the files of this run from those of others in the state.
    #[doc(hidden)]
    pub templates: TemplatePaths,
    /// Prune even if more than half of the files would be removed.
    pub prune_force: bool,
    /// Write no separators between the outputs of a stream, for outputs that are JSON.
    #[doc(hidden)]
    pub plain_stream: bool,
    /// Fail clusters with outputs named `*.yaml`, `*.yml` or `*.json` that are not valid YAML or JSON.
    pub check_outputs: bool,
    /// Outputs whose paths match one of these are not checked.
    #[doc(hidden)]
    pub unchecked: Vec<Glob>,
    /// Write files for outputs of nothing but white space.
    pub keep_empty: bool,
    /// The order of the documents of a cluster in a stream.
    pub order: Order,
    /// Stamp a shard: write a part of the state instead of the state, and prune nothing.
    #[doc(hidden)]
    pub shard: Option<PlanShard>,
    /// When to specialise templates to the values that the clusters share.
    #[doc(hidden)]
    pub specialise: Specialise,
    /// The options of the command, for the state.
    #[doc(hidden)]
    pub run: Option<RunOptions>,
    /// The files that the run reads, for the state.
    #[doc(hidden)]
    pub read: ReadLog,
    /// All clusters of the fleet are rendered, so that what is for none of them has no effect.
    #[doc(hidden)]
    pub all_clusters: bool,
    /// The last run into the directory, to leave out one that would change nothing.
    #[doc(hidden)]
    pub last_run: Option<LastRun>,
}

impl Options {
    /// Returns the options of the command with the files that it has read so far.
    pub(super) fn run_and_files(&self, fleet: &Fleet) -> Option<RunOptions> {
        let mut run = self.run.clone()?;
        if let Some(read) = &mut run.read {
            read.extend(self.read.files());
            // Those of one cluster count for its digest. Here they would change with each cluster that does.
            fleet.own_files().for_each(|name| _ = read.remove(name));
        }
        Some(run)
    }
}

/// The order of the documents of a cluster in a stream.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Order {
    /// As the templates make them, sorted by template name.
    #[default]
    Template,
    /// By kind, as Helm installs them. Documents of one kind keep their order. Streams of JSON are not sorted.
    Install,
}

impl std::str::FromStr for Order {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        match text {
            "install" => Ok(Self::Install),
            "none" => Ok(Self::Template),
            _ => Err("expected `install` or `none`".to_owned()),
        }
    }
}

/// Observes a run and stops it.
#[derive(Clone, Copy)]
pub struct Watch<'w> {
    /// Set to end the run once clusters in progress are done.
    pub stop: &'w AtomicBool,
    /// Called after each cluster, from any thread.
    pub done: &'w (dyn Fn() + Sync),
}

impl Watch<'static> {
    /// Returns a watch that does nothing.
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
    /// The shared inputs and assignments.
    pub layers: &'j Layers,
    /// The outputs and their paths.
    pub plan: &'j Plan,
    /// The options.
    pub options: &'j Options,
    /// The observer.
    pub watch: Watch<'j>,
}

impl Job<'_> {
    /// Returns `true` if the inputs of a cluster may have secrets.
    pub(super) fn has_secrets(&self, stamp: &dyn Stamp) -> bool {
        stamp.has_secrets(self.layers) || self.fleet.has_secrets()
    }

    /// Returns the number of threads to use.
    pub(super) fn threads(&self) -> usize {
        let all = || std::thread::available_parallelism().map_or(1, usize::from);
        let threads = if self.options.threads == 0 { all() } else { self.options.threads };
        threads.min(self.plan.clusters()).clamp(1, 1_024)
    }
}

/// The effect that a run would have on one file.
#[derive(Debug)]
pub struct FilePreview<'t> {
    /// The path below the output directory.
    pub path: &'t str,
    /// The cluster that makes the file, or an empty string for one file for all clusters.
    pub cluster: &'t str,
    /// The path of the template that makes the file, or an empty string if it is unknown.
    pub template: &'t str,
    /// The change, or `None` if nothing makes the file any more.
    pub change: Option<Change>,
    /// The current content. Empty if there is no file.
    pub old: &'t str,
    /// The new content.
    pub new: &'t str,
}

/// The receiver of previews.
pub(crate) type OnPreview<'e> = &'e mut (dyn FnMut(&FilePreview<'_>) -> io::Result<()> + Send);

/// What a run does with its outputs.
pub enum RunMode<'m> {
    /// Writes them.
    Write,
    /// Passes on the changes that writing would make.
    Preview(OnPreview<'m>),
    /// Writes those of clusters that are read batch by batch, instead of the fleet of the run.
    Batches(FleetStream<'m>),
    /// Writes the state after all shards of a plan are done.
    Finish {
        /// The digest of the plan.
        plan: &'m str,
        /// The number of shards.
        count: u32,
    },
}

/// Returns the error of a place without a mode.
pub(super) fn unfit() -> Box<Diagnostic> {
    Diagnostic::new(Code::Usage, "the destination does not have this mode of a run")
}
