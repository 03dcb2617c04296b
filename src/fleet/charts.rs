//! A chart for every cluster of a fleet: each cluster is a release.
//!
//! A cluster's inputs are values, between the files of values and the options. The name of a release is that of the
//! cluster, unless all have the same. The outputs are the templates of the chart and of all charts in it; those that a
//! cluster does not enable are blank, so they make no files. In one stream, each cluster is one output: the text of
//! `helm template`.

use std::sync::Mutex;

mod forms;
mod mistakes;
mod repeats;
mod stamper;
mod values;

pub(crate) use self::forms::OwnInputs;
pub use self::mistakes::missing_in_chart;
pub use self::stamper::ChartStamper;

use super::cluster::Cluster;
use super::input::Format;
use super::job::Stamp;
use super::kube::KubeSchemas;
use super::layers::{Layers, Overlay};
use super::pattern::Pattern;
use super::plan::{Output, Plan};
use super::sets::{RunOutputs, RunSet};
use super::unread::ReadValues;
use super::view::{Merge, View};
use crate::lock;
use crate::why::RecordedOutput;
use dropforge_base::diagnostics::{Code, Diagnostic, Diagnostics, Result, Severity, with_article};
use dropforge_base::mask::Mask;
use dropforge_engine::chart::{ChartRender, ChartTemplate};
use dropforge_engine::recording::{Recorder, Why};
use dropforge_engine::{OutputSyntax, Template};
use dropforge_helm::chart::{Capabilities, Output as Documents, Plan as ReleasePlan, Release, Selection, UserValues};
use dropforge_machine::vm::Session;
use dropforge_value::{Data, DataMap, ReadPaths};

/// A chart as a template set, with everything that its releases share.
#[derive(Debug)]
pub struct ChartSet {
    /// The chart.
    pub template: ChartTemplate,
    /// The values without those of clusters.
    pub values: UserValues,
    /// Those of groups of clusters, with the files of their layers.
    pub groups: Vec<UserValues>,
    /// The release, apart from its name.
    pub release: Release,
    /// The version of Kubernetes and its APIs.
    pub capabilities: Capabilities,
    /// The documents to write.
    pub selection: Selection,
    /// The name of releases. Without it, clusters give the names.
    pub name: Option<Pattern>,
    /// The namespace of releases, if clusters give a part of it.
    pub namespace: Option<Pattern>,
    /// The version of Kubernetes, if clusters give it.
    pub kube_version: Option<Pattern>,
    /// The APIs that clusters give, beyond those of `capabilities`.
    pub api_versions: Vec<Pattern>,
    /// `true` if the values of a release stand below `releases` and its name in those of the cluster.
    pub is_one_of_many: bool,
    /// The dotted path of a release's namespace among the values, for clusters that have it.
    pub namespace_key: Option<String>,
    /// `true` for one output: the text of `helm template`.
    pub single: bool,
    /// The check of documents.
    pub check: DocumentCheck,
}

impl ChartSet {
    /// Returns the outputs of a run: one for each template, named by its path below `templates/`.
    pub fn outputs(&self) -> RunOutputs {
        let all = if self.single { vec![self.single_output()] } else { self.files() };
        let other = all.iter().find(|output| OutputSyntax::of_file(&output.name).is_none());
        let other = other.map(|output| output.template.clone());
        RunOutputs { all, other, plain_stream: self.single, ..RunOutputs::default() }
    }

    fn single_output(&self) -> Output {
        let name = &self.template.chart().metadata().name;
        planned(name.clone(), format!("{name}.yaml"))
    }

    fn files(&self) -> Vec<Output> {
        let chart = self.template.chart();
        let root = format!("{}/", chart.metadata().name);
        let file = |source: String| {
            let path = source.strip_prefix(&root).unwrap_or(&source);
            let (charts, file) = split_charts(path);
            // `templates/crds/` has templates, and `crds/` definitions.
            let is_written = self.selection.crds || !file.starts_with("crds/");
            let name = format!("{charts}{}", file.strip_prefix("templates/").unwrap_or(file));
            is_written.then(|| planned(source, name))
        };
        chart.sources().into_iter().filter_map(file).collect()
    }

    /// Returns the values that the chart knows, whose templates read `read`.
    fn known(&self, read: &ReadPaths, changes_maps: bool, templates: Vec<Template>) -> ReadValues {
        let chart = self.template.chart();
        let declared = chart.known_values(&ReadPaths::default(), false);
        let mut found = ReadValues::of(chart.known_values(read, changes_maps), declared, templates);
        self.namespace_key.iter().for_each(|path| found.add(path));
        found
    }

    /// Returns the values of a cluster's group.
    fn values_of(&self, cluster: &Cluster) -> &UserValues {
        cluster.of_group(&self.values, &self.groups)
    }

    /// Renders the release of a cluster as a whole: in a run, of that at this place in the fleet.
    fn documents(
        &self,
        session: &mut Session,
        (at, release): (Option<usize>, (&Identity, &Cluster)),
        own: (DataMap, bool),
    ) -> std::result::Result<Documents, Diagnostics> {
        let render = self.render(session, release, own)?;
        let output = render.output()?;
        self.check.check(&render, at, release.1.name())?;
        Ok(output)
    }

    /// Works like [`ChartSet::documents`] for a release whose documents depend on its values alone. Returns `None` for
    /// others, and for one that fails.
    fn constant_documents(
        &self,
        session: &mut Session,
        release: (&Identity, &Cluster),
        own: (DataMap, bool),
    ) -> Option<Documents> {
        let plan = self.plan(session, release, own).ok()?;
        self.template.render_constant(session, plan)?.output().ok()
    }

    /// Renders the templates for a cluster with the inputs `own`.
    pub(super) fn rendered(
        &self,
        layers: &Layers,
        cluster: &Cluster,
        own: &Overlay<'_>,
    ) -> std::result::Result<ChartRender, Diagnostics> {
        let identity = self.identity(layers, cluster)?;
        self.render(&mut Session::new(), (&identity, cluster), own_values(cluster, own)?)
    }

    /// Plans the release of a cluster with the inputs `own`: its values are merged and its templates chosen.
    pub(super) fn planned(
        &self,
        layers: &Layers,
        cluster: &Cluster,
        own: &Overlay<'_>,
    ) -> std::result::Result<ReleasePlan, Diagnostics> {
        let identity = self.identity(layers, cluster)?;
        self.plan(&Session::new(), (&identity, cluster), own_values(cluster, own)?)
    }

    fn render(
        &self,
        session: &mut Session,
        release: (&Identity, &Cluster),
        own: (DataMap, bool),
    ) -> std::result::Result<ChartRender, Diagnostics> {
        let plan = self.plan(session, release, own)?;
        self.template.render_in(session, plan)
    }

    /// Plans the release of a cluster.
    fn plan(
        &self,
        session: &Session,
        (identity, cluster): (&Identity, &Cluster),
        (own, is_table): (DataMap, bool),
    ) -> std::result::Result<ReleasePlan, Diagnostics> {
        let values = self.values_of(cluster).with_cluster(own, is_table)?;
        let namespace = self.namespace(identity, values.values())?;
        let release = Release { name: identity.name.clone(), namespace, ..self.release.clone() };
        release.check_name()?;
        self.template.plan(session, &values, &release, identity.capabilities(self))
    }

    /// Returns the namespace of the release of a cluster, unless its values give one.
    pub(super) fn namespace_of(&self, layers: &Layers, cluster: &Cluster) -> String {
        self.identity(layers, cluster).map(|identity| identity.namespace).unwrap_or_default()
    }

    /// Returns the paths of the values of clusters in the names of releases.
    pub(super) fn inputs(&self) -> impl Iterator<Item = &str> {
        let patterns = [&self.name, &self.namespace, &self.kube_version];
        patterns.into_iter().flatten().chain(&self.api_versions).flat_map(Pattern::inputs)
    }

    /// Returns the identity of the release of a cluster.
    ///
    /// # Errors
    /// Errors of [`Pattern::text_for`]; `usage` for a version that is none.
    fn identity(&self, layers: &Layers, cluster: &Cluster) -> Result<Identity> {
        let empty = DataMap::default();
        let view = if self.inputs().next().is_none() {
            View::new(&empty, &empty, Merge::Deep)
        } else {
            layers.view(cluster)?
        };
        let text = |pattern: &Option<Pattern>| {
            pattern.as_ref().map(|pattern| pattern.text_for(cluster.name(), &view)).transpose()
        };
        let kube_version = text(&self.kube_version)?.unwrap_or_default();
        let mut apis = Vec::new();
        for pattern in &self.api_versions {
            apis.extend(pattern.items_for(cluster.name(), &view)?);
        }
        let capabilities = match (kube_version.as_str(), apis.is_empty()) {
            ("", true) => None,
            ("", false) => Some(self.capabilities.clone()),
            (version, _) => Some(self.capabilities.clone().with_kube_version(version)?),
        };
        let capabilities = capabilities.map(|own| own.with_apis(apis.iter().cloned()));
        Ok(Identity {
            name: text(&self.name)?.unwrap_or_else(|| cluster.name().to_owned()),
            namespace: text(&self.namespace)?.unwrap_or_else(|| self.release.namespace.clone()),
            kube: format!("{kube_version} {}", apis.join(",")),
            capabilities,
        })
    }

    /// Calls `each` with the secrets among the values of a cluster, which need not fit the schemas.
    pub(super) fn each_secret(&self, cluster: &Cluster, own: &Overlay<'_>, each: &mut dyn FnMut(&str)) {
        let Ok((own, is_table)) = own_values(cluster, own) else { return };
        // An excerpt may show a value that an option overrides.
        for given in [self.values_of(cluster), &UserValues::default()] {
            if let Ok(values) = given.with_cluster(own.clone(), is_table) {
                self.template.chart().each_secret(&values, each);
            }
        }
    }

    fn namespace(&self, identity: &Identity, values: &DataMap) -> Result<String> {
        let Some(path) = &self.namespace_key else { return Ok(identity.namespace.clone()) };
        let mut keys = path.split('.');
        let first = keys.next().and_then(|key| values.get(key));
        match keys.try_fold(first, |value, key| Some(value?.get(key))).flatten() {
            None | Some(Data::Null) => Ok(identity.namespace.clone()),
            Some(Data::Str(name)) => Ok(name.clone()),
            Some(other) => {
                let message = format!("the namespace at `{path}` is {}, not a string", with_article(other.kind()));
                Err(Diagnostic::new(Code::InputType, message))
            }
        }
    }
}

/// What the release of a cluster is called, and where it runs.
#[derive(Debug, Clone)]
struct Identity {
    name: String,
    /// The namespace, unless the values give one.
    namespace: String,
    /// The version of Kubernetes and the APIs that the cluster gives.
    kube: String,
    /// The version of Kubernetes and its APIs, if the cluster gives any of them.
    capabilities: Option<Capabilities>,
}

impl Identity {
    fn capabilities<'i>(&'i self, chart: &'i ChartSet) -> &'i Capabilities {
        self.capabilities.as_ref().unwrap_or(&chart.capabilities)
    }
}

/// Returns the output of a template.
fn planned(template: String, name: String) -> Output {
    Output { template, name, executable: false, bytes: None, release: None }
}

impl RunSet for ChartSet {
    /// Finds the values that the chart knows, with all charts in it: those that its templates read, and those that
    /// `values.yaml`, a schema or the condition of a dependency names. All count if the chart does not compile as a whole.
    /// If these names have all shared values of `alone`, nothing is compiled, and those that only templates read are left
    /// out.
    fn reads(&self, alone: Option<&Layers>) -> ReadValues {
        if let Some(given) = alone {
            let named = self.known(&ReadPaths::default(), false, Vec::new());
            if named.has_all(given) {
                return named;
            }
        }
        match self.template.compile(&self.template.chart().whole()) {
            Ok(template) => {
                self.known(template.read_paths(), template.program().start().mutable, vec![template.clone()])
            }
            Err(_) => {
                let mut all = ReadPaths::default();
                all.mark_whole(ReadPaths::ROOT);
                self.known(&all, false, Vec::new())
            }
        }
    }

    fn stamper_of<'s>(
        &'s self,
        _: &'s [Output],
        plan: Option<&Plan>,
        layers: &'s Layers,
        kinds: Option<&'s KubeSchemas>,
    ) -> Result<Box<dyn Stamp + 's>> {
        let stamper = ChartStamper::new(self, layers, kinds);
        Ok(Box::new(if let Some(plan) = plan { stamper.for_plan(plan) } else { stamper }))
    }

    fn is_planned_by_values(&self) -> bool {
        true
    }

    fn mistakes(
        &self,
        layers: &Layers,
        clusters: &crate::Selection<'_>,
        all: bool,
    ) -> std::result::Result<Vec<Box<Diagnostic>>, Diagnostics> {
        let mut found = self.mistaken_values(clusters)?;
        found.extend(self.mistakes_of((layers, &|cluster| layers.overlay(cluster).map(Some)), clusters, all)?);
        Ok(found)
    }

    fn warnings(&self, _: bool) -> Vec<Box<Diagnostic>> {
        self.check.warnings()
    }

    /// Records all templates, which are rendered together.
    fn record_over(
        &self,
        _: &str,
        layers: &Layers,
        (cluster, own): (&Cluster, &Overlay<'_>),
    ) -> std::result::Result<RecordedOutput, Diagnostics> {
        let mask = Mask::of_each(|each| {
            layers.each_secret(Some(cluster), each);
            self.each_secret(cluster, own, each);
        });
        let rendered = self.rendered(layers, cluster, own);
        let render = rendered.map_err(|errors| errors.without(&mask))?;
        let recording = render.record(&mut Session::new(), Recorder::default().hiding(mask))?;
        Ok(RecordedOutput::of_chart(render, recording))
    }
}

/// Splits the path of a file within a chart into the folders of dependencies, each `charts/NAME/`, and the path within
/// the last of them.
fn split_charts(path: &str) -> (&str, &str) {
    let mut file = path;
    while let Some((_, rest)) = file.strip_prefix("charts/").and_then(|rest| rest.split_once('/')) {
        file = rest;
    }
    path.split_at(path.len() - file.len())
}

/// Returns the inputs of a cluster alone, and `true` if they come from a table.
fn own_values(cluster: &Cluster, own: &Overlay<'_>) -> Result<(DataMap, bool)> {
    let values = match own {
        Overlay::Whole { own, .. } => own.clone(),
        other => other.to_map()?,
    };
    let is_table = cluster.place().is_some_and(|place| matches!(place.format(), Format::Csv | Format::Tsv));
    Ok((values.into_owned(), is_table))
}

/// Adds the lines of templates to errors in `text`, which has documents of the render with the comments that name their
/// templates. Renders again to find them.
pub fn show_chart_writers(render: ChartRender, text: &str, errors: &mut [Box<Diagnostic>]) {
    let Ok(recording) = render.record(&mut Session::new(), Recorder::default()) else { return };
    let recorded = RecordedOutput::of_chart(render, recording);
    for error in errors {
        let why = error.primary().and_then(|label| recorded.why(text, label.span.start as usize));
        error.labels.extend(why.map(Why::into_labels).unwrap_or_default());
    }
}

/// A check of the documents of all releases of a fleet.
#[derive(Debug, Default)]
pub struct DocumentCheck {
    strict: bool,
    found: Mutex<FirstFound>,
}

/// The place in the fleet of the first cluster that was checked, and what was found in its release.
#[derive(Debug, Default)]
struct FirstFound {
    at: Option<usize>,
    warnings: Vec<Box<Diagnostic>>,
}

impl DocumentCheck {
    /// Creates a check. With `strict`, every release is checked, and findings are errors. Otherwise only that of the first cluster
    /// counts, and findings are warnings: releases of one chart resemble each other.
    pub fn new(strict: bool) -> Self {
        Self { strict, ..Self::default() }
    }

    /// Checks the release of a cluster at a place in the fleet, or outside a run.
    ///
    /// # Errors
    /// All findings, if the check is strict.
    fn check(&self, render: &ChartRender, at: Option<usize>, cluster: &str) -> std::result::Result<(), Diagnostics> {
        if !self.wants(at) {
            return Ok(());
        }
        let mut found = render.warnings();
        if self.strict {
            found.iter_mut().for_each(|error| error.severity = Severity::Error);
            return if found.is_empty() { Ok(()) } else { Err(found.into()) };
        }
        let mut first = lock(&self.found);
        if first.is_before(at) {
            let warnings = found.into_iter().map(|warning| warning.for_cluster(cluster)).collect();
            *first = FirstFound { at, warnings };
        }
        Ok(())
    }

    /// Returns `true` if the release of a cluster has to be checked.
    pub(super) fn wants(&self, at: Option<usize>) -> bool {
        self.strict || lock(&self.found).is_before(at)
    }

    /// Returns the warnings.
    pub fn warnings(&self) -> Vec<Box<Diagnostic>> {
        lock(&self.found).warnings.clone()
    }
}

impl FirstFound {
    /// Returns `true` for a cluster before the first one that was checked.
    fn is_before(&self, at: Option<usize>) -> bool {
        at.is_some_and(|at| self.at.is_none_or(|first| at < first))
    }
}

#[cfg(test)]
mod tests;
