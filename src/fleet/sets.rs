//! Template sets as runs render them, and their outputs.

use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

use super::cluster::Cluster;
use super::job::Stamp;
use super::kube::KubeSchemas;
use super::layers::{Layers, Overlay};
use super::layout::Layout;
use super::pattern::Pattern;
use super::plan::{Output, Plan};
use super::plan_digest::PlanDigest;
use super::selector::Selection;
use super::unread::ReadValues;
use crate::why::RecordedOutput;
use dropforge_base::diagnostics::{Code, Diagnostic, Diagnostics, Result};
use dropforge_base::text::Source;
use dropforge_engine::{OutputSyntax, Template};

/// A compiled template set that a run renders: [`Templates`](super::Templates), or a [`ChartSet`](super::ChartSet), whose
/// templates depend on the values.
pub trait RunSet: Any + Debug + Send + Sync {
    /// Finds the values that the set reads. A run for one cluster without a name gives all of its values as `alone`.
    fn reads(&self, alone: Option<&Layers>) -> ReadValues;

    /// Creates the renderer of `outputs` with the shared values of `layers`, which also checks them by the schemas of
    /// `kinds`. If the layout of a plan has document fields, each document becomes a piece.
    ///
    /// # Errors
    /// `template.unknown`.
    fn stamper_of<'s>(
        &'s self,
        outputs: &'s [Output],
        plan: Option<&Plan>,
        layers: &'s Layers,
        kinds: Option<&'s KubeSchemas>,
    ) -> Result<Box<dyn Stamp + 's>>;

    /// Renders the output of a template for a cluster and records it.
    ///
    /// # Errors
    /// The inputs of the cluster are invalid; errors of a chart.
    fn record(
        &self,
        template: &str,
        layers: &Layers,
        cluster: &Cluster,
    ) -> std::result::Result<RecordedOutput, Diagnostics> {
        self.record_over(template, layers, (cluster, &layers.overlay(cluster)?))
    }

    /// Works like [`RunSet::record`], with the inputs `own` of the cluster.
    ///
    /// # Errors
    /// Same as [`RunSet::record`].
    fn record_over(
        &self,
        template: &str,
        layers: &Layers,
        cluster: (&Cluster, &Overlay<'_>),
    ) -> std::result::Result<RecordedOutput, Diagnostics>;

    /// Returns the templates that all values have in common. A chart has none.
    fn templates(&self) -> Vec<&Template> {
        Vec::new()
    }

    /// Returns the template called `name`, if it is one of [`RunSet::templates`].
    fn template(&self, name: &str) -> Option<&Template> {
        let _ = name;
        None
    }

    /// Returns a hash of everything that an output is made of, apart from values, or `None` if that is unknown.
    fn fingerprint(&self, template: &str) -> Option<u64> {
        let _ = template;
        None
    }

    /// Returns the values files that the set has of its own for a cluster. Those of a group of clusters are the same.
    fn values_files(&self, cluster: &Cluster) -> Vec<Arc<Source>> {
        let _ = cluster;
        Vec::new()
    }

    /// Returns `true` for a chart: its templates depend on the values, which it merges by rules of its own, and on one
    /// another.
    fn is_planned_by_values(&self) -> bool {
        false
    }

    /// Returns the names of releases, if the set has several.
    fn releases(&self) -> &[Pattern] {
        &[]
    }

    /// Tells which of the releases a cluster has.
    ///
    /// # Errors
    /// Errors of conditions.
    fn enabled(&self, layers: &Layers, cluster: &Cluster) -> Result<Vec<bool>> {
        let _ = (layers, cluster);
        Ok(Vec::new())
    }

    /// Adds everything that is compiled or copied to a digest, unless the files of the set are added by the caller.
    ///
    /// # Errors
    /// `artifact.name` for a name that an artifact cannot hold.
    fn add_to_digest(&self, digest: &mut PlanDigest) -> Result<()> {
        let _ = digest;
        Ok(())
    }

    /// Finds what is likely wrong with the templates for these values, apart from what fails to render: for all clusters
    /// if `all`, and otherwise for the first one, which the others resemble.
    ///
    /// # Errors
    /// Errors of compiling; errors of reading clusters.
    fn mistakes(
        &self,
        layers: &Layers,
        clusters: &Selection<'_>,
        all: bool,
    ) -> std::result::Result<Vec<Box<Diagnostic>>, Diagnostics> {
        let _ = (layers, clusters, all);
        Ok(Vec::new())
    }

    /// Returns `true` if a run renders all clusters once before it writes any, because errors between outputs refuse the run.
    fn is_checked_first(&self) -> bool {
        false
    }

    /// Returns the warnings about documents that rendering has found so far. `is_whole` says that all clusters were rendered,
    /// so that what was for none of them has no effect.
    fn warnings(&self, is_whole: bool) -> Vec<Box<Diagnostic>> {
        let _ = is_whole;
        Vec::new()
    }
}

/// The outputs of a run, and their forms.
#[derive(Debug, Default)]
pub struct RunOutputs {
    /// The outputs.
    pub all: Vec<Output>,
    /// The first template that produces text.
    pub(super) text: Option<String>,
    /// The first output that is neither YAML nor JSON.
    pub(super) other: Option<String>,
    /// The files that are copied.
    pub(super) copied: Vec<String>,
    /// `true` if a template produces documents.
    pub(super) documents: bool,
    /// `true` if a stream of the outputs needs no separators: all are written as JSON, or they have some.
    pub plain_stream: bool,
}

impl RunOutputs {
    /// Converts the layout for these outputs.
    ///
    /// # Errors
    /// `plan.bad_layout` for document fields if only some outputs are YAML or JSON; errors of
    /// [`Layout::of_documents`].
    pub(super) fn layout(&self, layout: Layout) -> Result<Layout> {
        let is_other = |output: &Output| OutputSyntax::of_file(&output.name).is_none();
        match (&self.other, layout.names_field()) {
            (None, _) => layout.of_documents(),
            (Some(text), Some(field)) if self.documents || !self.all.iter().all(is_other) => {
                let message = format!("`{{{field}}}` in the layout does not apply to `{text}`: it renders text");
                Err(Diagnostic::new(Code::BadLayout, message).with_help("stamp text templates separately"))
            }
            _ => Ok(layout),
        }
    }
}

/// Returns the error of an output format for the template `name`, which produces text.
pub fn unfit_format(name: &str) -> Box<Diagnostic> {
    let message = format!("`--output-format` does not apply to `{name}`: it renders text");
    Diagnostic::new(Code::Usage, message).with_help("only `cel` and `cel-yaml` templates render documents")
}
