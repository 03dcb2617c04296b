//! Releases of a fleet by the forms of their values.
//!
//! Values of one form have the same keys ([`form`]). When a form has been seen a few times, its plan is made, and each
//! template is run with all open values unknown. A template that succeeds has the same text in every release of the form: it
//! is rendered, split and checked once. For a release only the other templates run, over shared values.
//!
//! Templates may add keys to the map of their chart, which others see. A template that does runs for each release, and the
//! texts of those that are the same in all releases may not depend on these keys.
//!
//! Whatever goes wrong, the release is rendered as a whole, so that texts and errors are always those of one render.

use std::cell::OnceCell;

use super::{ChartSet, Identity, own_values};
use crate::cluster::Cluster;
use crate::layers::{Layers, Overlay};
use crate::selector::Selection;
use dropforge_base::diagnostics::{Diagnostics, Result};
use dropforge_engine::chart::OpenChart;
use dropforge_helm::chart::{OpenBase, OpenPlan, Plan, Printed, Printer, Release, floats, form};
use dropforge_machine::vm::Session;
use dropforge_value::{Arena, Data, DataMap, InputBuilder, Numbers, Shapes, Type, Value};
use hashbrown::{HashMap, HashSet};

/// Maximum number of forms of one thread that have a plan, and the bytes of their values after which no more get one.
const FORMS: usize = 64;
const BYTES: usize = 16 << 20;

/// Maximum number of forms to remember.
const REMEMBERED: usize = 1 << 12;

/// Releases of a form that are rendered as a whole before it gets a plan.
const FIRST: usize = 1;

/// Failures of a form after which its releases are rendered as a whole.
const FAILURES: usize = 8;

/// The memory of the forms of one thread: their plans, their values, the names in them.
#[derive(Debug)]
pub struct Memory<'f> {
    plans: [OnceCell<OpenPlan<'f>>; FORMS],
    values: Arena,
    names: Arena,
}

impl Default for Memory<'_> {
    fn default() -> Self {
        Self { plans: [const { OnceCell::new() }; FORMS], values: Arena::new(), names: Arena::new() }
    }
}

impl Memory<'_> {
    /// Returns the interner of shapes.
    pub fn shapes(&self) -> Shapes<'_> {
        Shapes::new(&self.names)
    }
}

/// The forms of the releases of one thread.
pub(super) struct Forms<'t, 'w, 'f> {
    chart: &'f ChartSet,
    memory: &'t Memory<'f>,
    shapes: &'t Shapes<'w>,
    known: HashMap<Vec<u8>, FormState<'t>>,
    /// The number of plans.
    plans: usize,
    /// The values of the current release.
    own: Arena,
    /// The printer of documents that are not the same in all releases.
    printer: Printer,
}

/// What is known of a form.
enum FormState<'t> {
    /// The number of its releases so far.
    Seen(usize),
    /// The number of failures so far, too.
    Ready(Box<Ready<'t>>, usize),
    /// Its releases share nothing.
    Never,
}

/// The reason why a release is rendered as a whole.
enum Whole {
    /// It failed, or its values do not fit.
    Failed,
    /// Its templates add these keys to the maps of charts.
    Adds(Vec<String>),
}

/// A form with a plan.
struct Ready<'t> {
    plan: &'t OpenPlan<'t>,
    chart: OpenChart<'t>,
    /// The templates that are the same in all releases, in the order of rendering.
    skips: Vec<bool>,
    /// The documents of those.
    printed: Printed,
    crds: String,
    /// The texts of those by output. Empty for one output.
    texts: Vec<String>,
    /// The keys that templates add to the maps of charts, sorted.
    added: Vec<String>,
}

/// A release: its own values, and whether they come from a table.
pub(super) struct OwnValues<'c> {
    pub cluster: &'c Cluster,
    pub identity: Identity,
    pub values: DataMap,
    pub is_table: bool,
}

impl<'t, 'w, 'f: 't> Forms<'t, 'w, 'f> {
    pub fn new(chart: &'f ChartSet, memory: &'t Memory<'f>, shapes: &'t Shapes<'w>) -> Self {
        Self { chart, memory, shapes, known: HashMap::new(), plans: 0, own: Arena::new(), printer: Printer::default() }
    }

    /// Renders a release by its form: appends the text of each of `outputs` to `text`, and its end to `ends`. `None` if the
    /// release has to be rendered as a whole. Then nothing is appended.
    pub fn render(
        &mut self,
        session: &mut Session,
        own: &mut OwnValues<'_>,
        outputs: &[String],
        (text, ends): (&mut String, &mut Vec<usize>),
    ) -> Option<()> {
        if !own.is_table {
            floats(&mut own.values);
        }
        let (form, open) = form(&own.values);
        // The values mean the same in a table and elsewhere only if they have the same kinds.
        let mut form = [form, vec![u8::from(own.is_table)]].concat();
        form.extend(own.cluster.group().to_le_bytes());
        form.extend_from_slice(own.identity.kube.as_bytes());
        if !self.known.contains_key(&form) && self.known.len() >= REMEMBERED {
            return None;
        }
        let state = self.known.entry(form).or_insert(FormState::Seen(0));
        if let FormState::Seen(releases) = state {
            *releases += 1;
            if *releases <= FIRST {
                return None;
            }
            let has_room = self.memory.values.allocated_bytes() < BYTES;
            *state = match self.memory.plans.get(self.plans).filter(|_| has_room) {
                Some(place) => {
                    self.plans += 1;
                    let ready = Ready::new(self.chart, (self.memory, self.shapes, place), session, own, outputs);
                    ready.map_or(FormState::Never, |ready| FormState::Ready(Box::new(ready), 0))
                }
                None => FormState::Never,
            };
        }
        let FormState::Ready(ready, failures) = state else { return None };
        match ready.render(self.chart, (session, &mut self.printer), (&mut self.own, self.shapes), own, &open) {
            Ok(rendered) => {
                ready.write(self.chart, &rendered, outputs, text, ends);
                return Some(());
            }
            Err(_) if *failures + 1 >= FAILURES => *state = FormState::Never,
            Err(Whole::Failed) => *failures += 1,
            Err(Whole::Adds(added)) => {
                *failures += 1;
                let again = ready.with(self.chart, (self.memory, self.shapes), session, (own, outputs), added);
                match again {
                    Some(again) => **ready = again,
                    None => *state = FormState::Never,
                }
            }
        }
        None
    }
}

/// Returns the value at a dotted path.
fn at<'d>(values: &'d DataMap, path: &str) -> Option<&'d Data> {
    let mut keys = path.split('.');
    let first = values.get(keys.next()?);
    keys.try_fold(first?, |value, key| value.get(key))
}

impl ChartSet {
    /// Returns the release of a cluster, and whether its namespace is its own. `None` if something is wrong with it.
    fn open_release(&self, own: &OwnValues<'_>, given: &DataMap) -> Option<(Release, bool)> {
        let name = own.identity.name.clone();
        let given_by_cluster = self.namespace_key.as_deref().and_then(|path| at(&own.values, path));
        let namespace = match given_by_cluster {
            Some(Data::Str(namespace)) => namespace.clone(),
            Some(_) => return None,
            None => self.namespace(&own.identity, given).ok()?,
        };
        let release = Release { name, namespace, ..self.release.clone() };
        release.check_name().ok()?;
        let is_own = self.namespace.as_ref().is_some_and(|namespace| !namespace.is_constant());
        Some((release, is_own || given_by_cluster.is_some()))
    }
}

impl<'t> Ready<'t> {
    /// Makes the plan of the form of a release. `None` if its releases share nothing.
    fn new<'f: 't>(
        chart: &'f ChartSet,
        (memory, shapes, place): (&'t Memory<'f>, &'t Shapes<'_>, &'t OnceCell<OpenPlan<'f>>),
        session: &mut Session,
        own: &OwnValues<'_>,
        outputs: &[String],
    ) -> Option<Self> {
        let shared = (chart.values_of(own.cluster), &chart.release, own.identity.capabilities(chart));
        let (known, limits) = (chart.template.chart(), chart.template.engine().limits());
        let plan = known.open_plan(&session.context(limits), &own.values, own.is_table, shared)?;
        let plan: &'t OpenPlan<'t> = place.get_or_init(|| plan);
        Self::of(chart, plan, (memory, shapes), session, (own, outputs), Vec::new())
    }

    /// Makes the form again, with further keys that templates add to the maps of charts.
    fn with(
        &self,
        chart: &ChartSet,
        memory: (&'t Memory<'_>, &'t Shapes<'_>),
        session: &mut Session,
        own: (&OwnValues<'_>, &[String]),
        added: Vec<String>,
    ) -> Option<Self> {
        Self::of(chart, self.plan, memory, session, own, joined(&self.added, added))
    }

    fn of(
        chart: &ChartSet,
        plan: &'t OpenPlan<'t>,
        (memory, shapes): (&'t Memory<'_>, &'t Shapes<'_>),
        session: &mut Session,
        (own, outputs): (&OwnValues<'_>, &[String]),
        mut added: Vec<String>,
    ) -> Option<Self> {
        let builder = InputBuilder::new(&memory.values, shapes);
        for _ in 0..FAILURES {
            let program = chart.template.compile(plan.plan()).ok()?;
            let changes_maps = program.program().start().mutable;
            let base = OpenBase::new(plan, &builder, (changes_maps, &added)).ok()??;
            let of = OpenChart { program, base };
            let (same, more) = same_texts(chart, (plan, &of), session, shapes, own)?;
            if more.is_empty() {
                return Self::sharing(chart, (plan, of), same, outputs, added);
            }
            added = joined(&added, more);
        }
        None
    }

    /// Prints the documents that are the same in all releases.
    fn sharing(
        chart: &ChartSet,
        (plan, of): (&'t OpenPlan<'t>, OpenChart<'t>),
        same: Vec<Option<String>>,
        outputs: &[String],
        added: Vec<String>,
    ) -> Option<Self> {
        let skips: Vec<bool> = same.iter().map(Option::is_some).collect();
        let named = of.base.names().map(str::to_owned).zip(same).filter_map(|(name, text)| Some((name, text?)));
        let printed = Printed::of(named).ok()?;
        let crds = if chart.selection.crds { plan.plan().printed_crds() } else { Vec::new() };
        let mut texts = Vec::new();
        if !chart.single {
            texts.resize(outputs.len(), String::new());
            let crds = crds.iter().map(|(source, text)| (source.as_str(), text.as_str()));
            for (source, text) in crds.chain(printed.texts(chart.selection)) {
                texts.get_mut(outputs.binary_search_by(|output| output.as_str().cmp(source)).ok()?)?.push_str(text);
            }
        }
        let crds = crds.into_iter().map(|(_, text)| text).collect();
        Some(Self { plan, chart: of, skips, printed, crds, texts, added })
    }

    /// Returns the documents of the templates that are not the same in all releases of the form.
    fn render(
        &self,
        chart: &ChartSet,
        (session, printer): (&mut Session, &mut Printer),
        (arena, shapes): (&mut Arena, &Shapes<'_>),
        own: &OwnValues<'_>,
        open: &[&Data],
    ) -> std::result::Result<Printed, Whole> {
        let (release, _) = chart.open_release(own, self.plan.given()).ok_or(Whole::Failed)?;
        if !self.plan.admits(&session.context(chart.template.engine().limits()), open) {
            return Err(Whole::Failed);
        }
        arena.reset();
        let builder = InputBuilder::new(arena, shapes);
        let data: Result<Vec<Value<'_>>> = open.iter().map(|data| builder.data(data)).collect();
        let data = data.map_err(|_| Whole::Failed)?.into_iter();
        let values: Vec<_> = data.map(|value| Numbers::Sized.all(builder.arena(), value)).collect();
        let [name, namespace] = [&release.name, &release.namespace].map(|text| builder.arena().text(text));
        let inputs = self.chart.base.release(&builder, &values, (&release, name, namespace), false);
        let done = self.chart.run(session, &builder, &inputs, (&self.skips, false)).map_err(|_| Whole::Failed)?;
        match done.added {
            Some(added) if added.is_empty() => {}
            Some(added) => return Err(Whole::Adds(added)),
            None => return Err(Whole::Failed),
        }
        let rendered = self.chart.base.names().zip(done.texts).zip(&self.skips).filter(|(_, skip)| !**skip);
        printer.print(rendered.map(|((name, text), _)| (name, text))).map_err(|_| Whole::Failed)
    }

    /// Appends the texts of outputs.
    fn write(&self, chart: &ChartSet, own: &Printed, outputs: &[String], text: &mut String, ends: &mut Vec<usize>) {
        if chart.single {
            self.printed.print(own, &self.crds, chart.selection, text);
            ends.push(text.len());
            return;
        }
        let mut by_output: HashMap<&str, Vec<&str>> = HashMap::new();
        own.texts(chart.selection).for_each(|(source, text)| by_output.entry(source).or_default().push(text));
        for (output, same) in outputs.iter().zip(&self.texts) {
            text.push_str(same);
            by_output.get(output.as_str()).into_iter().flatten().for_each(|document| text.push_str(document));
            ends.push(text.len());
        }
    }
}

/// Returns the texts of templates, in the order of rendering, or `None` for those that have to run for each release of the
/// form of `own`; and keys that they add to the maps of charts. `None` for all if a template changes other values.
fn same_texts(
    chart: &ChartSet,
    (plan, of): (&OpenPlan<'_>, &OpenChart<'_>),
    session: &mut Session,
    shapes: &Shapes<'_>,
    own: &OwnValues<'_>,
) -> Option<(Vec<Option<String>>, Vec<String>)> {
    let (release, is_own_namespace) = chart.open_release(own, plan.given())?;
    let (count, mut arena) = (of.base.names().count(), Arena::new());
    let (mut found, mut added) = (Vec::with_capacity(count), Vec::new());
    for at in 0..count {
        arena.reset();
        let builder = InputBuilder::new(&arena, shapes);
        let unknown = arena.unknown(Type::Dynamic);
        let known = |text: &str, is_own: bool| if is_own { unknown } else { arena.text(text) };
        let name = known(&release.name, chart.name.as_ref().is_none_or(|name| !name.is_constant()));
        let namespace = known(&release.namespace, is_own_namespace);
        let open = vec![unknown; form(&own.values).1.len()];
        let inputs = of.base.release(&builder, &open, (&release, name, namespace), true);
        let skips: Vec<bool> = (0..count).map(|other| other != at).collect();
        let text = match of.run(session, &builder, &inputs, (&skips, true)) {
            Ok(done) => {
                added.extend(done.added?);
                done.texts.into_iter().nth(at).filter(|_| !done.changes)
            }
            Err(_) => None,
        };
        found.push(text);
    }
    Some((found, added))
}

/// Returns the inputs of a cluster, or `None` if it does not have the release.
pub(crate) type OwnInputs<'o> = &'o dyn for<'c> Fn(&'c Cluster) -> Result<Option<Overlay<'c>>>;

/// Returns two lists as one, sorted and without duplicates.
fn joined(some: &[String], mut more: Vec<String>) -> Vec<String> {
    more.extend_from_slice(some);
    more.sort_unstable();
    more.dedup();
    more
}

impl ChartSet {
    /// Calls `each` with the plan of the first release of each form, and the name of its cluster. Values of one form have the
    /// same keys and booleans. Releases without a plan are left out, and so are the forms after many.
    ///
    /// # Errors
    /// Errors of reading clusters; the first error of `each`.
    pub fn each_form(
        &self,
        layers: &Layers,
        clusters: &Selection<'_>,
        each: &mut dyn FnMut(&str, Plan) -> std::result::Result<(), Diagnostics>,
    ) -> std::result::Result<(), Diagnostics> {
        self.each_form_of((layers, &|cluster| layers.overlay(cluster).map(Some)), clusters, each)
    }

    /// Works like [`ChartSet::each_form`], with the inputs that `own` returns. `None` for a cluster without the release.
    ///
    /// # Errors
    /// Same as [`ChartSet::each_form`].
    pub(in crate::charts) fn each_form_of(
        &self,
        (layers, own): (&Layers, OwnInputs<'_>),
        clusters: &Selection<'_>,
        each: &mut dyn FnMut(&str, Plan) -> std::result::Result<(), Diagnostics>,
    ) -> std::result::Result<(), Diagnostics> {
        let (mut forms, session) = (HashSet::new(), Session::new());
        let mut first = Ok(());
        clusters.each(&mut |_, cluster| {
            if first.is_err() || forms.len() >= FORMS {
                return Ok(());
            }
            // A run tells what is wrong with the values of a cluster.
            let Ok(Some(own)) = own(cluster) else { return Ok(()) };
            let Ok((values, is_table)) = own_values(cluster, &own) else { return Ok(()) };
            if forms.insert((form(&values).0, is_table, cluster.group()))
                && let Ok(identity) = self.identity(layers, cluster)
                && let Ok(plan) = self.plan(&session, (&identity, cluster), (values, is_table))
            {
                first = each(cluster.name(), plan);
            }
            Ok(())
        })?;
        first
    }
}
