//! The renderer of a run's templates.
//!
//! Each thread converts the shared inputs once. A cluster's own inputs are converted once for all its templates, into
//! an arena that is reset for each cluster. Text is appended to one buffer.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::cluster::Cluster;
use super::job::{Checked, Job, Renderer, Stamp};
use super::kube::KubeSchemas;
use super::layers::{Layers, Overlay};
use super::pieces::Piece;
use super::plan::{Output, Plan};
use super::report::cause;
use super::shared_values::SharedValues;
use super::specialised::{Chooser, SharedInputs, Specialisation, Specialise, Specialised};
use super::splitter::{Content, Splitter};
use super::view::Merge;
use crate::why::RecordedOutput;
use dropforge_base::diagnostics::{Diagnostic, Identity, Result};
use dropforge_engine::recording::Recorder;
use dropforge_engine::{OutputCheck, Template};
use dropforge_machine::vm::Session;
use dropforge_value::{Arena, DataMap, InputBuilder, Inputs, ReadPaths, Shapes, Value};
use roaring::RoaringBitmap;

/// The number of clusters from which a run finds out what its templates read, so that the rest of the inputs is not
/// converted. That costs about as much as compiling the templates.
const CLUSTERS: usize = 1_000;

/// Maximum number of clusters to look at: a twelfth of the fleet, but at least an eighth of this. Looking at one costs more
/// than rendering a few templates for it.
const LOOKED_AT: usize = 128;

/// Maximum number of groups of clusters with specialised templates.
const GROUPS: usize = 16;

/// Renders a plan's templates with the engine.
#[derive(Debug)]
pub struct Stamper<'f> {
    /// The templates of each group of clusters, which its shared inputs may choose: first of clusters without a group.
    groups: Vec<Vec<Content<'f>>>,
    layers: &'f Layers,
    /// The names of the outputs, if each document becomes a piece.
    names: Vec<String>,
    /// The document fields in the layout.
    fields: Vec<String>,
    kinds: Option<&'f KubeSchemas>,
    /// The templates specialised to the shared inputs of each group, once a run has prepared them.
    specialised: OnceLock<Vec<Specialised>>,
    /// What the templates read, once a run has found out.
    reads: OnceLock<ReadPaths>,
    /// The number of renders with specialised templates.
    admitted: AtomicUsize,
}

impl<'f> Stamper<'f> {
    pub(super) fn new(groups: Vec<Vec<Content<'f>>>, layers: &'f Layers) -> Self {
        let (names, fields) = (Vec::new(), Vec::new());
        let (specialised, reads, admitted) = (OnceLock::new(), OnceLock::new(), AtomicUsize::new(0));
        Self { groups, layers, names, fields, kinds: None, specialised, reads, admitted }
    }

    /// Checks outputs also by the schemas of their Kubernetes kinds.
    #[doc(hidden)]
    pub fn with_kinds(self, kinds: Option<&'f KubeSchemas>) -> Self {
        Self { kinds, ..self }
    }

    /// Prepares for `plan`, of which these are the outputs to render. If its layout has document fields, each document becomes
    /// a piece.
    #[doc(hidden)]
    pub fn for_plan(mut self, plan: &Plan, outputs: &[Output]) -> Self {
        self.fields = plan.layout().placeholders_of_fields().map(str::to_owned).collect();
        if !self.fields.is_empty() {
            self.names = outputs.iter().map(|output| output.name.clone()).collect();
        }
        self
    }

    /// Returns the number of clusters that were rendered with specialised templates.
    #[doc(hidden)]
    pub fn admitted(&self) -> usize {
        self.admitted.load(Ordering::Relaxed)
    }

    /// Returns the specialised templates of all groups. Only the largest groups have some.
    fn specialised(&self, job: &Job<'_>) -> &[Specialised] {
        self.specialised.get_or_init(|| {
            let groups = job.plan.groups(job.fleet, self.groups.len());
            let mut sizes: Vec<u64> = groups.iter().map(RoaringBitmap::len).collect();
            sizes.sort_unstable_by(|one, other| other.cmp(one));
            let least = sizes.get(GROUPS).copied().unwrap_or(0);
            let of = |((contents, values), clusters): ((&Vec<Content<'_>>, &SharedValues), &RoaringBitmap)| {
                let specialise = if clusters.len() > least { job.options.specialise } else { Specialise::Never };
                let count = usize::try_from(clusters.len()).unwrap_or(usize::MAX);
                let templates: Vec<_> = contents.iter().map(Content::template).collect();
                let run = SharedInputs { values, clusters: count, specialise, classes: true };
                Specialised::of(&templates, run, || looked_at(job, clusters))
            };
            self.groups.iter().zip(self.layers.all()).zip(&groups).map(of).collect()
        })
    }
}

impl Stamp for Stamper<'_> {
    fn prepare(&self, job: &Job<'_>) {
        self.specialised(job);
        if job.plan.clusters() >= CLUSTERS {
            self.reads.get_or_init(|| {
                let mut reads = ReadPaths::default();
                let templates = self.groups.iter().flatten().filter_map(Content::template);
                templates.for_each(|template| template.program().add_reads(&mut reads));
                reads
            });
        }
    }

    fn record(&self, layers: &Layers, cluster: &Cluster, output: usize) -> Option<RecordedOutput> {
        let contents = self.groups.get(group_of(cluster, self.groups.len()))?;
        match contents.get(output)? {
            Content::Template(template) => record(template, layers, (cluster, &layers.overlay(cluster).ok()?)).ok(),
            Content::File(_) => Some(RecordedOutput::copied()),
        }
    }

    fn work(&self, body: &mut dyn FnMut(&mut dyn Renderer)) {
        let (arena, names) = (Arena::new(), Arena::new());
        let shapes = self.reads.get().map_or_else(|| Shapes::new(&names), |reads| Shapes::reading(&names, reads));
        let specialised = self.specialised.get().map_or(&[][..], Vec::as_slice);
        let groups = self.groups.iter().zip(self.layers.all()).enumerate();
        let mut thread = Thread {
            groups: groups.map(|(at, (contents, values))| Group::new(contents, values, specialised.get(at))).collect(),
            arena: &arena,
            merge: self.layers.merge(),
            shapes: &shapes,
            own: Arena::new(),
            session: Session::new(),
            explained: HashSet::new(),
            check: OutputCheck::default(),
            is_used: false,
            kinds: self.kinds,
            splitter: Splitter::new(&self.names, &self.fields),
            admitted: 0,
        };
        body(&mut thread);
        self.admitted.fetch_add(thread.admitted, Ordering::Relaxed);
    }

    fn specialisation(&self, job: &Job<'_>) -> Specialisation {
        // That of the largest group stands for all.
        let groups = job.plan.groups(job.fleet, self.groups.len());
        let largest = groups.iter().enumerate().max_by_key(|(_, clusters)| clusters.len());
        let all = largest.and_then(|(at, _)| self.specialised(job).get(at));
        all.map(|all| all.plan.clone()).unwrap_or_default()
    }
}

/// Returns the number of the cluster's group among `count`, or that of clusters without one.
fn group_of(cluster: &Cluster, count: usize) -> usize {
    if cluster.group() < count { cluster.group() } else { 0 }
}

/// A group of clusters with the same layers, in one thread.
struct Group<'t> {
    contents: &'t [Content<'t>],
    values: &'t SharedValues,
    /// The shared inputs, once a cluster of the group was rendered, or the error of inputs that nest too deep.
    shared: Option<Result<Value<'t>>>,
    /// The specialised templates.
    faster: Option<Chooser<'t>>,
}

impl<'t> Group<'t> {
    fn new(contents: &'t [Content<'t>], values: &'t SharedValues, specialised: Option<&'t Specialised>) -> Self {
        Self { contents, values, shared: None, faster: specialised.and_then(|all| all.chooser(contents)) }
    }

    /// Returns the shared inputs.
    fn shared<'w: 't>(&mut self, builder: &InputBuilder<'t, 'w>) -> Result<Value<'t>> {
        self.shared.get_or_insert_with(|| builder.data_map(self.values.shared())).clone()
    }
}

/// The renderer of one thread.
struct Thread<'t, 'w> {
    /// The groups by their numbers.
    groups: Vec<Group<'t>>,
    /// The shared inputs of groups.
    arena: &'t Arena,
    merge: Merge,
    shapes: &'t Shapes<'w>,
    /// The inputs of the current cluster.
    own: Arena,
    session: Session,
    /// Causes of errors that were already explained, by template. A run shows only the first error of a cause, and an
    /// explanation has to parse the template.
    explained: HashSet<(usize, Identity<String>)>,
    check: OutputCheck,
    /// `true` from the second cluster on.
    is_used: bool,
    kinds: Option<&'t KubeSchemas>,
    splitter: Splitter<'t>,
    /// The number of renders with specialised templates.
    admitted: usize,
}

impl Renderer for Thread<'_, '_> {
    fn render(
        &mut self,
        _: Option<usize>,
        cluster: &Cluster,
        own: &Overlay<'_>,
        text: &mut String,
        results: &mut Vec<Result<usize>>,
    ) -> Result<()> {
        self.own.reset();
        if std::mem::replace(&mut self.is_used, true) {
            self.check.remember();
        }
        let builder = InputBuilder::new(&self.own, self.shapes);
        let count = self.groups.len();
        let Some(group) = self.groups.get_mut(group_of(cluster, count)) else { return Ok(()) };
        let shared = group.shared(&InputBuilder::new(self.arena, self.shapes))?;
        let given = converted(own, &builder)?;
        let faster = group.faster.as_mut().and_then(|faster| faster.choose(own, given));
        self.admitted += usize::from(faster.is_some());
        let inputs = inputs_of(shared, self.merge, own, given, &builder);
        self.splitter.pieces.clear();
        for (at, content) in group.contents.iter().enumerate() {
            let faster = faster.and_then(|faster| faster.get(at)).unwrap_or(content);
            let result = match faster.documents() {
                _ if self.splitter.fields.is_empty() => faster.write(&mut self.session, inputs, text),
                Some(template) => self.splitter.documents(template, &mut self.session, inputs, at, text),
                None => {
                    let check = (&mut self.session, &mut self.check);
                    self.splitter.split((*content, *faster), check, inputs, at, text)
                }
            };
            results.push(result.map(|()| text.len()).map_err(|mut error| {
                if let Content::Template(template) = content
                    && self.explained.insert((at, cause(&error).owned()))
                {
                    template.explain(inputs, &mut error);
                }
                error
            }));
        }
        Ok(())
    }

    fn check(&mut self, output: usize, path: &str, text: &str) -> Checked<'_> {
        // Texts were checked as a whole before they were split, and documents have our own writer.
        let is_checked = !self.splitter.fields.is_empty()
            || self.content(output).is_some_and(|content| content.documents().is_some());
        let errors = if is_checked { Vec::new() } else { self.check.errors_of_file(path, text) };
        let errors = match self.kinds {
            Some(kinds) if errors.is_empty() => kinds.errors_of_file(path, text),
            _ => errors,
        };
        Checked { errors, marks: self.check.marks().filter(|_| !is_checked) }
    }

    fn show_writer(
        &mut self,
        cluster: &Cluster,
        own: &Overlay<'_>,
        (output, text): (usize, &str),
        errors: &mut [Box<Diagnostic>],
    ) {
        self.own.reset();
        let builder = InputBuilder::new(&self.own, self.shapes);
        let count = self.groups.len();
        let Some(group) = self.groups.get_mut(group_of(cluster, count)) else { return };
        let shared = group.shared(&InputBuilder::new(self.arena, self.shapes));
        let given = shared.and_then(|shared| Ok((shared, converted(own, &builder)?)));
        let Ok(inputs) = given.map(|(shared, given)| inputs_of(shared, self.merge, own, given, &builder)) else {
            return;
        };
        if let Some(Content::Template(template)) = group.contents.get(output) {
            template.show_writer(&mut self.session, inputs, text, errors);
        }
    }

    fn take_pieces(&mut self, to: &mut Vec<Piece>) {
        to.append(&mut self.splitter.pieces);
    }
}

impl<'t> Thread<'t, '_> {
    /// Returns the template of an output. It gives documents in all groups, or in none.
    fn content(&self, output: usize) -> Option<&'t Content<'t>> {
        self.groups.first()?.contents.get(output)
    }
}

/// Renders a template for a cluster and records it.
///
/// # Errors
/// The inputs of the cluster are invalid.
pub(super) fn record(
    template: &Template,
    layers: &Layers,
    (cluster, own): (&Cluster, &Overlay<'_>),
) -> Result<RecordedOutput> {
    let (arena, names) = (Arena::new(), Arena::new());
    let shapes = Shapes::new(&names);
    let builder = InputBuilder::new(&arena, &shapes);
    let (shared, given) = (builder.data_map(layers.of(cluster).shared())?, converted(own, &builder)?);
    let inputs = inputs_of(shared, layers.merge(), own, given, &builder);
    let recorder = Recorder::default().hiding(layers.mask(Some(cluster)));
    let (recording, result) = template.record_with(recorder, &mut Session::new(), inputs);
    let (text, error) = result.map_or_else(|error| (String::new(), Some(error)), |text| (text, None));
    let mut recorded = RecordedOutput::of_template(text, recording);
    recorded.error = error.map(|mut error| {
        recorded.mask().hide_in(&mut error);
        error
    });
    Ok(recorded)
}

/// Converts the inputs of a cluster: its own, or all of them.
pub(super) fn converted<'v, 'w: 'v>(own: &'v Overlay<'_>, builder: &InputBuilder<'v, 'w>) -> Result<Value<'v>> {
    match own {
        Overlay::Json(text) => builder.json(text),
        Overlay::Map(map) => builder.data_map(map),
        Overlay::Whole { all, .. } => builder.data_map(all),
    }
}

/// Returns the inputs of a cluster, converted as `given`, over the shared ones.
pub(super) fn inputs_of<'v, 'w: 'v>(
    shared: Value<'v>,
    merge: Merge,
    own: &Overlay<'_>,
    given: Value<'v>,
    builder: &InputBuilder<'v, 'w>,
) -> Inputs<'v> {
    if let Overlay::Whole { .. } = own { Inputs::new(given) } else { over(shared, given, merge, builder) }
}

/// Returns the inputs of a cluster over the shared ones.
pub(super) fn over<'v, 'w: 'v>(
    shared: Value<'v>,
    own: Value<'v>,
    merge: Merge,
    builder: &InputBuilder<'v, 'w>,
) -> Inputs<'v> {
    match merge {
        Merge::Deep => builder.merged(shared, own),
        Merge::Replace => Inputs::layered(shared, own),
    }
}

/// Returns the inputs of some of `clusters`, from all parts of the fleet, with empty lists.
fn looked_at(job: &Job<'_>, all: &RoaringBitmap) -> Vec<DataMap> {
    let (clusters, mut reader) = (usize::try_from(all.len()).unwrap_or(usize::MAX), job.fleet.reader());
    let count = (clusters / 12).clamp(LOOKED_AT / 8, LOOKED_AT).min(clusters);
    let mut maps = |nth: usize| {
        let cluster = reader.cluster(all.select(u32::try_from(nth * clusters / count).ok()?)? as usize).ok()?;
        cluster.maps().ok().map(Cow::into_owned)
    };
    (0..count).filter_map(&mut maps).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Templates;
    use crate::templates::tests::folder;
    use dropforge_engine::Engine;

    #[test]
    fn own_inputs_lie_over_the_shared_ones() {
        let (_temp, set) = folder(&[("a.tera", "{{ x.n }}{{ y }}{{ _p }}")]);
        let templates = Templates::compile(&set, None, Engine::builder()).unwrap();
        let map = |text| serde_json::from_str::<dropforge_value::Data>(text).unwrap().into_map().unwrap();
        let shared = map(r#"{"x": {"n": 1, "m": 2}, "y": 3, "_p": "."}"#);
        let clusters = [r#"{"x": {"n": 5}}"#, r#"{"y": 7}"#, r#"{"x": {}}"#, r#"{"_p": null}"#].map(Overlay::Json);
        for (merge, expected) in [(Merge::Deep, "53.17.13."), (Merge::Replace, "53.17.13")] {
            let layers = Layers::new([shared.clone()], Vec::new(), merge);
            let stamper = templates.stamper(["a.tera"], &layers).unwrap();
            let (mut text, mut results) = (String::new(), Vec::new());
            stamper.work(&mut |renderer| {
                let cluster = Cluster::new("", Default::default());
                clusters.iter().for_each(|own| renderer.render(None, &cluster, own, &mut text, &mut results).unwrap());
            });
            assert_eq!(text, expected);
            // A removed name is missing; a name that is replaced lacks the shared names below it.
            let failed: Vec<usize> = (0..4).filter(|at| results[*at].is_err()).collect();
            assert_eq!(failed, if merge == Merge::Deep { vec![3] } else { vec![2] });
        }
    }
}
