//! A chart for every cluster of a fleet: each cluster is a release.
//!
//! A cluster's inputs are values, between the files of values and the options. The name of a release is that of the
//! cluster, unless all have the same. The outputs are the templates of the chart and of all charts in it; those that a
//! cluster does not enable are blank, so they make no files. In one stream, each cluster is one output: the text of
//! `helm template`.

mod forms;

use std::sync::Arc;

use self::forms::{Forms, Memory, Own};
use super::chart_check::DocumentCheck;
use super::cluster::Cluster;
use super::documents::first_content;
use super::input::Format;
use super::job::Renderer;
use super::kube::KubeSchemas;
use super::layers::Overlay;
use super::pieces::{Piece, fields_of_text, in_document};
use super::plan::Output;
use crate::why::RecordedOutput;
use dropforge_base::diagnostics::{Code, Diagnostic, Diagnostics, Result, with_article};
use dropforge_base::text::{Source, Span};
use dropforge_engine::chart::{ChartRender, ChartTemplate};
use dropforge_engine::recording::{Recorder, Why};
use dropforge_helm::chart::{Capabilities, Manifest, Output as Documents, Plan, Release, Selection, UserValues};
use dropforge_machine::vm::Session;
use dropforge_value::assign::{Step, value_at};
use dropforge_value::{Data, DataMap};

/// A chart with everything that its releases share.
#[derive(Debug)]
pub struct FleetChart {
    /// The chart.
    pub template: ChartTemplate,
    /// The values without those of clusters.
    pub values: UserValues,
    /// The release, apart from its name.
    pub release: Release,
    /// The version of Kubernetes and its APIs.
    pub capabilities: Capabilities,
    /// The documents to write.
    pub selection: Selection,
    /// The name of all releases. Without it, clusters give the names.
    pub name: Option<String>,
    /// The dotted path of a release's namespace among the values, for clusters that have it.
    pub namespace_key: Option<String>,
    /// `true` for one output: the text of `helm template`.
    pub single: bool,
    /// The check of documents.
    pub check: DocumentCheck,
}

impl FleetChart {
    /// Returns the outputs of the plan of a run: one for each template, named by its path below `templates/`.
    pub fn outputs(&self) -> Vec<Output> {
        let chart = self.template.chart();
        let output = |template: String, name: String| Output { template, name, executable: false, bytes: None };
        if self.single {
            let name = chart.metadata().name.clone();
            return vec![output(name.clone(), format!("{name}.yaml"))];
        }
        let root = format!("{}/", chart.metadata().name);
        let planned = |source: String| {
            let path = source.strip_prefix(&root).unwrap_or(&source);
            let (charts, file) = split_charts(path);
            // `templates/crds/` has templates, and `crds/` definitions.
            let is_written = self.selection.crds || !file.starts_with("crds/");
            let name = format!("{charts}{}", file.strip_prefix("templates/").unwrap_or(file));
            is_written.then(|| output(source, name))
        };
        chart.sources().into_iter().filter_map(planned).collect()
    }

    /// Renders the release of a cluster as a whole.
    fn documents(
        &self,
        session: &mut Session,
        cluster: &str,
        own: (DataMap, bool),
    ) -> std::result::Result<Documents, Diagnostics> {
        let render = self.render(session, cluster, own)?;
        let output = render.output()?;
        self.check.check(&render, cluster)?;
        Ok(output)
    }

    /// Renders the templates for a cluster with the inputs `own`.
    pub(super) fn rendered(
        &self,
        cluster: &Cluster,
        own: &Overlay<'_>,
    ) -> std::result::Result<ChartRender, Diagnostics> {
        self.render(&mut Session::new(), cluster.name(), own_values(cluster, own)?)
    }

    fn render(
        &self,
        session: &mut Session,
        cluster: &str,
        own: (DataMap, bool),
    ) -> std::result::Result<ChartRender, Diagnostics> {
        self.template.render_in(session, self.plan(cluster, own)?)
    }

    /// Plans the release of a cluster.
    fn plan(&self, cluster: &str, (own, is_table): (DataMap, bool)) -> std::result::Result<Plan, Diagnostics> {
        let values = self.values.with_cluster(own, is_table)?;
        let namespace = self.namespace(values.values())?;
        let name = self.name.as_deref().unwrap_or(cluster).to_owned();
        let release = Release { name, namespace, ..self.release.clone() };
        release.check_name()?;
        self.template.chart().plan(&values, &release, &self.capabilities)
    }

    fn namespace(&self, values: &DataMap) -> Result<String> {
        let Some(path) = &self.namespace_key else { return Ok(self.release.namespace.clone()) };
        let mut keys = path.split('.');
        let first = keys.next().and_then(|key| values.get(key));
        match keys.try_fold(first, |value, key| Some(value?.get(key))).flatten() {
            None | Some(Data::Null) => Ok(self.release.namespace.clone()),
            Some(Data::Str(name)) => Ok(name.clone()),
            Some(other) => {
                let message = format!("the namespace at `{path}` is {}, not a string", with_article(other.kind()));
                Err(Diagnostic::new(Code::InputType, message))
            }
        }
    }
}

/// Calls `body` with the renderer of a chart in one thread. With `forms`, releases share what is the same in all of one
/// form. Returns the number of releases that did.
pub(super) fn work(
    chart: &FleetChart,
    (fields, kinds, forms): (&[String], Option<&KubeSchemas>, bool),
    body: &mut dyn FnMut(&mut dyn Renderer),
) -> usize {
    let memory = Memory::default();
    let shapes = memory.shapes();
    let forms = if forms && fields.is_empty() { Some(Forms::new(chart, &memory, &shapes)) } else { None };
    let sources = chart.outputs().into_iter().map(|output| output.template).collect();
    let (session, pieces, ends) = (Session::new(), Vec::new(), Vec::new());
    let mut releases = Releases { chart, sources, fields, kinds, session, forms, shared: 0, pieces, ends };
    body(&mut releases);
    releases.shared
}

/// The renderer of a chart in one thread.
struct Releases<'t, 'w, 'f> {
    chart: &'f FleetChart,
    /// The templates of the outputs.
    sources: Vec<String>,
    /// The document fields in the layout.
    fields: &'t [String],
    kinds: Option<&'t KubeSchemas>,
    session: Session,
    forms: Option<Forms<'t, 'w, 'f>>,
    /// The number of releases that shared the plan of a form.
    shared: usize,
    pieces: Vec<Piece>,
    ends: Vec<usize>,
}

impl<'t, 'f: 't> Renderer for Releases<'t, '_, 'f> {
    /// Renders a cluster. All errors of a release are results.
    fn render(
        &mut self,
        cluster: &Cluster,
        own: &Overlay<'_>,
        text: &mut String,
        results: &mut Vec<Result<usize>>,
    ) -> Result<()> {
        self.pieces.clear();
        if let Err(errors) = self.release(cluster, own, text, results) {
            results.extend(errors.into_vec().into_iter().map(|error| Err(self.of_template(error))));
        }
        Ok(())
    }

    /// Checks an output by the schemas of its kinds. Rendering found out that it is YAML.
    fn check(&mut self, _: usize, path: &str, text: &str) -> Vec<Box<Diagnostic>> {
        self.kinds.map(|kinds| kinds.errors_of_file(path, text)).unwrap_or_default()
    }

    fn show_writer(
        &mut self,
        cluster: &Cluster,
        own: &Overlay<'_>,
        (_, text): (usize, &str),
        errors: &mut [Box<Diagnostic>],
    ) {
        if let Ok(render) = self.chart.rendered(cluster, own) {
            show_chart_writers(render, text, errors);
        }
    }

    fn take_pieces(&mut self, to: &mut Vec<Piece>) {
        to.append(&mut self.pieces);
    }
}

impl<'t, 'f: 't> Releases<'t, '_, 'f> {
    fn release(
        &mut self,
        cluster: &Cluster,
        overlay: &Overlay<'_>,
        text: &mut String,
        results: &mut Vec<Result<usize>>,
    ) -> std::result::Result<(), Diagnostics> {
        let (values, is_table) = own_values(cluster, overlay)?;
        let mut own = Own { name: cluster.name(), values, is_table };
        if let Some(forms) = &mut self.forms
            && !self.chart.check.wants_more()
        {
            self.ends.clear();
            let rendered = forms.render(&mut self.session, &mut own, &self.sources, (text, &mut self.ends));
            if rendered.is_some() {
                self.shared += 1;
                results.extend(self.ends.drain(..).map(Ok));
                return Ok(());
            }
        }
        let documents = self.chart.documents(&mut self.session, own.name, (own.values, own.is_table));
        let documents = documents.map_err(|errors| located(errors, cluster, overlay))?;
        self.write(&documents, text, results)
    }

    /// Names the template of an error: that of its place, or else the chart. The place of a schema is the last one.
    fn of_template(&self, mut error: Box<Diagnostic>) -> Box<Diagnostic> {
        if error.template.is_none() {
            let mut files = error.labels.iter().filter(|label| !label.source.is_made());
            let file = if error.code == Code::UnfitValues { files.next_back() } else { files.next() };
            let place = file.map(|label| label.source.name().to_owned());
            error.template = Some(place.unwrap_or_else(|| self.chart.template.chart().metadata().name.clone()));
        }
        error
    }

    fn write(
        &mut self,
        documents: &Documents,
        text: &mut String,
        results: &mut Vec<Result<usize>>,
    ) -> std::result::Result<(), Diagnostics> {
        let selection = self.chart.selection;
        if self.chart.single {
            text.push_str(&documents.text_of(selection));
            results.push(Ok(text.len()));
            return Ok(());
        }
        let mut by_output: Vec<Vec<&Manifest>> = vec![Vec::new(); self.sources.len()];
        for manifest in documents.selected(selection) {
            let at = self.sources.binary_search(&manifest.source).ok();
            match at.and_then(|at| by_output.get_mut(at)) {
                Some(manifests) => manifests.push(manifest),
                None => return Err(unplanned(&manifest.source).into()),
            }
        }
        let mut errors = Vec::new();
        for (output, manifests) in by_output.iter().enumerate() {
            for (nth, manifest) in manifests.iter().enumerate() {
                manifest.print(text);
                errors.extend(self.piece(manifest, output, nth + 1, text.len()).err());
            }
            results.push(Ok(text.len()));
        }
        if errors.is_empty() { Ok(()) } else { Err(errors.into()) }
    }

    /// Adds the piece of a document that ends at `end`, for a layout with fields of documents.
    fn piece(&mut self, manifest: &Manifest, output: usize, document: usize, end: usize) -> Result<()> {
        if self.fields.is_empty() {
            return Ok(());
        }
        let text = manifest.text.as_str();
        // Helm prints documents of comments alone, which have no fields.
        let blank = first_content(text).is_none();
        let paths = self.fields.iter().filter(|_| !blank).map(String::as_str);
        let fields = fields_of_text(text, paths).map_err(|mut error| {
            error.template = Some(manifest.source.clone());
            in_document(error, document)
        })?;
        self.pieces.push(Piece { output, end, document, fields, blank });
        Ok(())
    }
}

/// Adds to errors about values the place of one that the cluster gives.
fn located(errors: Diagnostics, cluster: &Cluster, own: &Overlay<'_>) -> Diagnostics {
    let locate = |error: Box<Diagnostic>| match place_of(&error, cluster, own) {
        Some((source, span)) => error.first_at(&source, span, "given here"),
        None => error,
    };
    errors.into_vec().into_iter().map(locate).collect::<Vec<_>>().into()
}

/// Returns the place of a value that does not fit a schema, if the cluster gives it.
fn place_of(error: &Diagnostic, cluster: &Cluster, own: &Overlay<'_>) -> Option<(Arc<Source>, Span)> {
    let pointer = error.fields.get("pointer").filter(|_| error.code == Code::UnfitValues)?;
    let own = Data::Map(own_values(cluster, own).ok()?.0);
    let path = Step::of_pointer(pointer, own.as_map()?);
    value_at(&own, &path).filter(|_| !path.is_empty())?;
    let place = cluster.place()?;
    Some((place.source().clone(), place.find(&path)?))
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

#[cold]
fn unplanned(source: &str) -> Box<Diagnostic> {
    Diagnostic::new(Code::Internal, format!("`{source}` is not a planned output"))
        .with_help("this is a bug in dropforge; report it")
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

#[cfg(test)]
mod tests;
