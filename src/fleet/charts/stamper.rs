//! The renderer of a chart: each cluster is a release.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use super::forms::{Forms, Memory, OwnValues};
use super::repeats::{Known, Repeats};
use super::{ChartSet, own_values, show_chart_writers};
use crate::cluster::Cluster;
use crate::documents::first_content;
use crate::job::{Checked, Job, Renderer, Stamp};
use crate::kube::KubeSchemas;
use crate::layers::{Layers, Overlay};
use crate::pieces::{Piece, fields_of_text, in_document};
use crate::plan::Plan;
use crate::releases::RELEASES;
use crate::sets::RunSet as _;
use crate::specialised::Specialise;
use crate::why::RecordedOutput;
use dropforge_base::diagnostics::{Code, Diagnostic, Diagnostics, Result};
use dropforge_base::text::{Source, Span};
use dropforge_helm::chart::{Manifest, Output as Documents};
use dropforge_machine::vm::Session;
use dropforge_value::Data;
use dropforge_value::{Step, value_at};

/// The number of releases of a chart from which they share what is the same in all of one form.
const SHARING: usize = 16;

/// Renders a chart.
#[derive(Debug)]
pub struct ChartStamper<'c> {
    chart: &'c ChartSet,
    layers: &'c Layers,
    /// The document fields in the layout.
    fields: Vec<String>,
    kinds: Option<&'c KubeSchemas>,
    /// `true` if releases share what is the same, once a run has prepared for it.
    forms: OnceLock<bool>,
    /// The number of releases that shared the plan of a form.
    shared: AtomicUsize,
    repeats: Repeats,
}

impl<'c> ChartStamper<'c> {
    /// Creates a renderer of the outputs of a run.
    pub fn new(chart: &'c ChartSet, layers: &'c Layers, kinds: Option<&'c KubeSchemas>) -> Self {
        let (forms, shared, repeats) = (OnceLock::new(), AtomicUsize::new(0), Repeats::default());
        Self { chart, layers, fields: Vec::new(), kinds, forms, shared, repeats }
    }

    /// Prepares for `plan`. If its layout has document fields, each document becomes a piece.
    pub fn for_plan(self, plan: &Plan) -> Self {
        Self { fields: plan.layout().placeholders_of_fields().map(str::to_owned).collect(), ..self }
    }

    /// Returns the number of releases that shared the plan of a form.
    pub fn shared(&self) -> usize {
        self.shared.load(Ordering::Relaxed)
    }
}

impl Stamp for ChartStamper<'_> {
    fn prepare(&self, job: &Job<'_>) {
        self.forms.get_or_init(|| match job.options.specialise {
            Specialise::Always => true,
            Specialise::IfItPays => job.plan.clusters() >= SHARING,
            Specialise::Never => false,
        });
    }

    fn has_secrets(&self, layers: &Layers) -> bool {
        layers.has_secrets() || self.chart.template.chart().has_secrets()
    }

    fn each_secret(&self, layers: &Layers, cluster: &Cluster, each: &mut dyn FnMut(&str)) {
        layers.each_secret(Some(cluster), each);
        if let Ok(own) = layers.overlay(cluster) {
            self.chart.each_secret(cluster, &own, each);
        }
    }

    fn each_secret_name(&self, layers: &Layers, cluster: &Cluster, each: &mut dyn FnMut(&str)) {
        layers.each_secret_name(Some(cluster), each);
        self.chart.template.chart().each_secret_name(each);
    }

    fn record(&self, layers: &Layers, cluster: &Cluster, _: usize) -> Option<RecordedOutput> {
        self.chart.record("", layers, cluster).ok()
    }

    fn recording_of(&self, _: usize) -> usize {
        // All templates are rendered together.
        0
    }

    fn work(&self, body: &mut dyn FnMut(&mut dyn Renderer)) {
        let shares = self.forms.get().is_some_and(|forms| *forms).then_some(&self.repeats);
        let shared = work((self.chart, self.layers), (&self.fields, self.kinds, shares), body);
        self.shared.fetch_add(shared, Ordering::Relaxed);
    }
}

/// Calls `body` with the renderer of a chart in one thread. With `repeats`, releases share what is the same in all of one
/// form, and those of the same values. Returns the number of releases that shared a form.
pub(super) fn work(
    (chart, layers): (&ChartSet, &Layers),
    (fields, kinds, repeats): (&[String], Option<&KubeSchemas>, Option<&Repeats>),
    body: &mut dyn FnMut(&mut dyn Renderer),
) -> usize {
    // Many charts may be rendered together, each below the others on the stack.
    let memory = Box::new(Memory::default());
    let shapes = memory.shapes();
    let repeats = repeats.filter(|_| fields.is_empty());
    let shares = repeats.map(|repeats| (Forms::new(chart, &memory, &shapes), repeats));
    let sources = chart.outputs().all.into_iter().map(|output| output.template).collect();
    let (session, pieces, ends) = (Session::new(), Vec::new(), Vec::new());
    let mut releases = Releases { chart, layers, sources, fields, kinds, session, shares, shared: 0, pieces, ends };
    body(&mut releases);
    releases.shared
}

/// The renderer of a chart in one thread.
struct Releases<'t, 'w, 'f> {
    chart: &'f ChartSet,
    layers: &'f Layers,
    /// The templates of the outputs.
    sources: Vec<String>,
    /// The document fields in the layout.
    fields: &'t [String],
    kinds: Option<&'t KubeSchemas>,
    session: Session,
    /// What releases share, unless each is rendered by itself.
    shares: Option<(Forms<'t, 'w, 'f>, &'t Repeats)>,
    /// The number of releases that shared the plan of a form.
    shared: usize,
    pieces: Vec<Piece>,
    ends: Vec<usize>,
}

impl<'t, 'f: 't> Renderer for Releases<'t, '_, 'f> {
    /// Renders a cluster. All errors of a release are results.
    fn render(
        &mut self,
        at: Option<usize>,
        cluster: &Cluster,
        own: &Overlay<'_>,
        text: &mut String,
        results: &mut Vec<Result<usize>>,
    ) -> Result<()> {
        self.pieces.clear();
        if let Err(errors) = self.release((at, cluster), own, text, results) {
            results.extend(errors.into_vec().into_iter().map(|error| Err(self.of_template(error))));
        }
        Ok(())
    }

    /// Checks an output by the schemas of its kinds. Rendering found out that it is YAML.
    fn check(&mut self, _: usize, path: &str, text: &str) -> Checked<'_> {
        let errors = self.kinds.map(|kinds| kinds.errors_of_file(path, text)).unwrap_or_default();
        Checked { errors, marks: None }
    }

    fn show_writer(
        &mut self,
        cluster: &Cluster,
        own: &Overlay<'_>,
        (_, text): (usize, &str),
        errors: &mut [Box<Diagnostic>],
    ) {
        if let Ok(render) = self.chart.rendered(self.layers, cluster, own) {
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
        (at, cluster): (Option<usize>, &Cluster),
        overlay: &Overlay<'_>,
        text: &mut String,
        results: &mut Vec<Result<usize>>,
    ) -> std::result::Result<(), Diagnostics> {
        let (values, is_table) = own_values(cluster, overlay)?;
        let identity = self.chart.identity(self.layers, cluster)?;
        let mut own = OwnValues { cluster, identity, values, is_table };
        if self.shares.is_some() && !self.chart.check.wants(at) && self.share(&mut own, text, results) {
            return Ok(());
        }
        let release = (&own.identity, cluster);
        let documents = self.chart.documents(&mut self.session, (at, release), (own.values, own.is_table));
        let below = self.chart.is_one_of_many.then_some(own.identity.name.as_str());
        let documents = documents.map_err(|errors| located(errors, (cluster, below), overlay))?;
        self.write(&documents, text, results)
    }

    /// Renders a release by its form, or as one before it. Returns `false` if it has to be rendered by itself.
    fn share(&mut self, own: &mut OwnValues<'_>, text: &mut String, results: &mut Vec<Result<usize>>) -> bool {
        let Some((forms, repeats)) = &mut self.shares else { return false };
        self.ends.clear();
        if forms.render(&mut self.session, own, &self.sources, (text, &mut self.ends)).is_some() {
            self.shared += 1;
            results.extend(self.ends.drain(..).map(Ok));
            return true;
        }
        let key = match repeats.find(own) {
            Known::Nothing => return false,
            Known::Text(known) => {
                known.write(text, |end| results.push(Ok(end)));
                return true;
            }
            Known::Again(key) => key,
        };
        let (repeats, release) = (*repeats, (&own.identity, own.cluster));
        let values = own.values.clone();
        let documents = self.chart.constant_documents(&mut self.session, release, (values.clone(), own.is_table));
        let (start, first) = (text.len(), results.len());
        if let Some(documents) = documents
            && self.write(&documents, text, results).is_ok()
        {
            let ends = results.iter().skip(first).filter_map(|end| end.as_ref().ok()).map(|end| end - start).collect();
            repeats.keep(key, values, text.get(start..).unwrap_or_default(), ends);
            return true;
        }
        repeats.vary();
        text.truncate(start);
        results.truncate(first);
        false
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
        self.pieces.push(Piece { output, end, document, fields, blank, ..Piece::default() });
        Ok(())
    }
}

/// Adds to errors about values the place of one that the cluster gives.
fn located(errors: Diagnostics, cluster: (&Cluster, Option<&str>), own: &Overlay<'_>) -> Diagnostics {
    let locate = |error: Box<Diagnostic>| match place_of(&error, cluster, own) {
        Some((source, span)) => error.first_at(&source, span, "given here"),
        None => error,
    };
    errors.into_vec().into_iter().map(locate).collect::<Vec<_>>().into()
}

/// Returns the place of a value that does not fit a schema, if the cluster gives it.
fn place_of(
    error: &Diagnostic,
    (cluster, release): (&Cluster, Option<&str>),
    own: &Overlay<'_>,
) -> Option<(Arc<Source>, Span)> {
    let pointer = error.fields.get("pointer").filter(|_| error.code == Code::UnfitValues)?;
    let own = Data::Map(own_values(cluster, own).ok()?.0);
    let path = Step::of_pointer(pointer, own.as_map()?);
    value_at(&own, &path).filter(|_| !path.is_empty())?;
    let below = release.into_iter().flat_map(|name| [RELEASES, name]).map(|key| Step::Key(key.to_owned()));
    let (place, path) = (cluster.place()?, below.chain(path).collect::<Vec<_>>());
    Some((place.source().clone(), place.find(&path)?))
}

#[cold]
fn unplanned(source: &str) -> Box<Diagnostic> {
    Diagnostic::new(Code::Internal, format!("`{source}` is not a planned output"))
        .with_help("this is a bug in dropforge; report it")
}
