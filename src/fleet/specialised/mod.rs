//! Templates specialised to the values that a fleet shares.
//!
//! Some clusters of the fleet are looked at first, to find the shared values that clusters seldom change. Each template
//! is then specialised to those. A guard, which knows the shapes of clusters' inputs, decides for each cluster between
//! the specialised templates and the original ones, so that outputs and errors are always those of the original.

mod classes;
mod division;
mod form;
mod plan;
mod seen;

pub use self::plan::{General, SharedInputs, Size, Specialisation, Specialise, TemplatePlan};

use std::collections::HashSet;
use std::time::Instant;

use self::classes::Uses;
use self::classes::{Class, Classes};
use self::division::Division;
use self::form::{Form, over};
use self::plan::PAYS;
use crate::layers::{Layers, Overlay};
use crate::shared_values::SharedValues;
use crate::splitter::Content;
use crate::view::Merge;
use dropforge_engine::Template;
use dropforge_machine::specialise::{Admission, Demand, Guard, Known, TIME};
use dropforge_value::{Arena, DataMap, InputBuilder, Map, Shapes, Value};
use hashbrown::HashMap;

/// Maximum number of specialised templates of a run.
const TEMPLATES: usize = 64;

/// Maximum memory of the specialised templates of a run, in bytes.
const MEMORY: usize = 64 << 20;

/// The number of clusters for which all classes pay.
const ALWAYS: usize = 1 << 24;

/// Maximum number of sets to ask for.
const ASKED: usize = 128;

/// The templates of a run, specialised.
#[derive(Debug, Default)]
pub struct Specialised {
    guard: Guard,
    /// By output.
    templates: Vec<Option<Template>>,
    classes: Option<OfClasses>,
    pub plan: Specialisation,
}

/// The templates specialised to classes of clusters.
#[derive(Debug, Default)]
struct OfClasses {
    guard: Guard,
    /// The leaves in the order of the guard's choices.
    order: Vec<usize>,
    /// By output.
    templates: Vec<HashMap<Class, Template>>,
}

impl OfClasses {
    /// Returns the template of an output for a class of the guard.
    fn template(&self, output: usize, class: &[u8]) -> Option<&Template> {
        let templates = self.templates.get(output)?;
        let mut own: Class = templates.keys().next()?.clone();
        for (leaf, value) in self.order.iter().zip(class) {
            if let Some(Some(place)) = own.get_mut(*leaf) {
                *place = *value;
            }
        }
        templates.get(&own)
    }
}

/// What is left of the budgets of a run.
struct Budget {
    started: Instant,
    templates: usize,
    memory: usize,
}

impl Budget {
    /// Specialises a template, within the budgets.
    fn specialise(&mut self, template: &Template, known: &Known<'_>) -> Result<Template, General> {
        if self.templates == 0 || self.started.elapsed() > TIME {
            return Err(General::Budget);
        }
        let made = template.specialise(known).ok_or(General::Program)?;
        self.memory = self.memory.checked_sub(made.memory()).ok_or(General::Budget)?;
        self.templates -= 1;
        Ok(made)
    }
}

impl Specialised {
    /// Specialises templates, by output, to the shared inputs of `run`. Files that are copied have none. `look` returns the own
    /// inputs of some clusters.
    pub fn of(templates: &[Option<&Template>], run: SharedInputs<'_>, look: impl FnOnce() -> Vec<DataMap>) -> Self {
        let mut all = Self { templates: vec![None; templates.len()], ..Self::default() };
        let general = General::of_run(&run);
        let (arena, keys) = (Arena::new(), Arena::new());
        let shapes = Shapes::new(&keys);
        let builder = InputBuilder::new(&arena, &shapes);
        let shared = if general.is_none() { builder.data_map(run.values.base()).ok() } else { None };
        let Some(shared) = shared.as_ref().and_then(|shared| shared.as_map()) else {
            let general = general.unwrap_or(General::NothingShared);
            templates.iter().flatten().for_each(|template| all.plan.add(template, Err(general), 0));
            return all;
        };
        let own = look();
        all.divide(templates, &run, &own.iter().collect::<Vec<_>>(), shared);
        all
    }

    fn divide(&mut self, templates: &[Option<&Template>], run: &SharedInputs<'_>, own: &[&DataMap], shared: &Map<'_>) {
        let names: HashSet<&str> =
            templates.iter().flatten().flat_map(|template| template.program().inputs()).collect();
        let division = Division::new(run.values, &names, own.iter().copied());
        let mut sorted: Vec<&str> = names.into_iter().collect();
        sorted.sort_unstable();
        let sorted: Vec<String> = sorted.into_iter().map(str::to_owned).collect();
        let known = division.known(shared, sorted.iter().map(String::as_str));
        self.guard = Guard::new(&known);
        self.plan.divided(&known, &division, run.values);
        let mut budget = Budget { started: Instant::now(), templates: TEMPLATES, memory: MEMORY };
        let mut made = |template: &&Template| {
            if reads(template, &known) { budget.specialise(template, &known) } else { Err(General::NothingShared) }
        };
        let made: Vec<_> = templates.iter().map(|template| template.as_ref().map(&mut made)).collect();
        // Inputs with defaults filled in are not those that classes look at.
        if run.classes && !run.values.fills() {
            self.classify(templates, (run, own), (&known, &made), &mut budget);
        }
        for (nth, (template, made)) in templates.iter().zip(made).enumerate() {
            let (Some(template), Some(made)) = (template, made) else { continue };
            let classes = self.classes.as_ref().and_then(|classes| classes.templates.get(nth)).map_or(0, HashMap::len);
            self.plan.add(template, made.as_ref().map_err(|general| *general), classes);
            self.templates[nth] = made.ok();
        }
    }

    /// Specialises the templates to classes of clusters, as far as they pay.
    fn classify(
        &mut self,
        templates: &[Option<&Template>],
        (run, own): (&SharedInputs<'_>, &[&DataMap]),
        (known, made): (&Known<'_>, &[Option<Result<Template, General>>]),
        budget: &mut Budget,
    ) {
        let of = |(template, made): (&Option<&Template>, &Option<Result<Template, General>>)| match (template, made) {
            (_, Some(Ok(made))) => Uses::of(made.program()),
            (Some(template), Some(Err(General::NothingShared))) => Uses::of(template.program()),
            _ => Uses::default(),
        };
        let uses: Vec<Uses> = templates.iter().zip(made).map(of).collect();
        let clusters = if run.specialise == Specialise::Always { ALWAYS } else { run.clusters };
        let scale = (clusters, budget.templates);
        let classes =
            Classes::choose(own, &uses, scale, &|keys| is_open(known, keys), &|keys| is_merged(run.values, keys));
        if classes.is_empty() {
            return;
        }
        let values = classes.values();
        let (arena, keys) = (Arena::new(), Arena::new());
        let shapes = Shapes::new(&keys);
        let values = InputBuilder::new(&arena, &shapes).data_map(&values).ok();
        let values = values.as_ref().and_then(|values| values.as_map());
        let form = Form::of(&classes);
        let mut all = OfClasses::default();
        let given = form.given(&classes, &mut all.order);
        all.guard = self.guard.with(if let Demand::Fields(given) = given { given } else { Vec::new() });
        for (template, own) in templates.iter().zip(&classes.templates) {
            let mut made = HashMap::new();
            for (template, class) in own.iter().filter_map(|class| Some(((*template)?, class))) {
                let value = |leaf: usize| values?.get(&Classes::name(leaf, (*class.get(leaf)?)?));
                if let Ok(one) = budget.specialise(template, &over(known, form.known(&value))) {
                    made.insert(class.clone(), one);
                }
            }
            all.templates.push(made);
        }
        self.plan.classified(&classes);
        self.classes = Some(all);
    }

    /// Returns the template of an output for a cluster with the inputs `own`. `None` for the original.
    pub fn template(&self, output: usize, own: &DataMap) -> Option<&Template> {
        self.templates.get(output)?.as_ref().filter(|_| self.guard.admits_data(own))
    }

    /// Returns the memory that the specialised templates take, in bytes. It is an estimate.
    pub fn memory(&self) -> usize {
        self.templates.iter().flatten().map(Template::memory).sum()
    }

    /// Returns the choice of templates for one thread. `None` if no template is specialised. `contents` are the originals.
    pub(crate) fn chooser<'t>(&'t self, contents: &'t [Content<'t>]) -> Option<Chooser<'t>> {
        let is_any = self.templates.iter().any(Option::is_some) || self.classes.is_some();
        is_any.then(|| Chooser::new(self, contents))
    }
}

/// A template for many sets of inputs over shared ones: its original and, if there are enough sets for it to pay, the
/// template specialised to what they share.
///
/// ```
/// use dropforge::bulk::{Layers, Merge, Variants};
/// use dropforge::Engine;
/// use dropforge::value::{Data, DataMap};
/// let template = Engine::new().compile_named("t.tera", "{{ name }}{% if env == 'prod' %}!{% endif %}")?;
/// let map = |name: &str, value: &str| DataMap::from_iter([(name.to_owned(), Data::Str(value.to_owned()))]);
/// let layers = Layers::new([map("env", "prod")], Vec::new(), Merge::Deep);
/// let set = |at: usize| Some(map("name", &at.to_string()));
/// let variants = Variants::new(&template, &layers, 1_000, &set);
/// let words = |own: &DataMap| variants.template(own).program().words().len();
/// assert!(words(&map("name", "a")) < template.program().words().len());
/// assert_eq!(words(&map("env", "dev")), template.program().words().len());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Variants {
    template: Template,
    specialised: Specialised,
}

impl Variants {
    /// The least number of sets for which specialising pays.
    pub const LEAST: usize = PAYS;

    /// Specialises `template` for `count` sets of inputs over the shared ones of `layers`. `inputs` returns those of a
    /// set; it is asked only for some sets, and `None` counts as empty.
    pub fn new(template: &Template, layers: &Layers, count: usize, inputs: &dyn Fn(usize) -> Option<DataMap>) -> Self {
        let run = SharedInputs {
            values: layers.of_one(None),
            clusters: count,
            specialise: Specialise::default(),
            classes: false,
        };
        let asked = count.min(ASKED);
        // Sets from all parts of the list. Each set is checked when it is rendered, so those that are left out may have
        // any inputs.
        let own = (0..asked).map(|nth| inputs(nth * count / asked).unwrap_or_default());
        let specialised = Specialised::of(&[Some(template)], run, || own.collect());
        Self { template: template.clone(), specialised }
    }

    /// Returns the template for a set with these inputs of its own. Text and errors are the same.
    pub fn template(&self, own: &DataMap) -> &Template {
        self.specialised.template(0, own).unwrap_or(&self.template)
    }

    /// Returns the sizes of both templates, or the reason why there is only one.
    pub fn specialisation(&self) -> &Specialisation {
        &self.specialised.plan
    }

    /// Returns the memory that the specialised template takes, in bytes. It is an estimate.
    pub fn memory(&self) -> usize {
        self.specialised.memory()
    }
}

/// Returns `true` if nothing is known of the value at a path.
fn is_open(known: &Known<'_>, keys: &[String]) -> bool {
    let mut known = known;
    for key in keys {
        known = match known {
            Known::Fields(_) => known.field(key),
            other => return matches!(other, Known::Open),
        };
    }
    matches!(known, Known::Open)
}

/// Returns `true` if a map of a cluster at a path is merged with a shared one.
fn is_merged(layers: &SharedValues, keys: &[String]) -> bool {
    let mut shared = keys.split_first().and_then(|(name, rest)| Some((layers.shared().get(name)?, rest)));
    while let Some((value, [key, rest @ ..])) = shared {
        shared = value.get(key).map(|value| (value, rest));
    }
    layers.merge() == Merge::Deep && shared.is_some_and(|(value, _)| value.as_map().is_some())
}

/// Returns `true` if a template reads an input of which a value is known.
fn reads(template: &Template, known: &Known<'_>) -> bool {
    template.program().inputs().into_iter().any(|name| match known.field(name) {
        Known::Value(_) => true,
        Known::Fields(fields) | Known::Entries(fields) => !fields.is_empty(),
        Known::Open | Known::Absent | Known::Text => false,
    })
}

/// Chooses templates on one thread: those of the cluster's class, those that are specialised only to the shared inputs,
/// or the originals.
pub(crate) struct Chooser<'t> {
    all: &'t Specialised,
    admission: Admission<'t>,
    classes: Option<Admission<'t>>,
    /// The templates by output. The first are those that are specialised only to the shared inputs.
    sets: Vec<Vec<Content<'t>>>,
    /// The index of the set of each class.
    of_class: HashMap<Vec<u8>, usize>,
}

impl<'t> Chooser<'t> {
    pub(super) fn new(all: &'t Specialised, contents: &'t [Content<'t>]) -> Self {
        let classes = all.classes.as_ref().map(|classes| classes.guard.admission());
        let faster = |(at, content): (usize, &Content<'t>)| match all.templates.get(at) {
            Some(Some(template)) => Content::Template(template),
            _ => *content,
        };
        let sets = vec![contents.iter().enumerate().map(faster).collect()];
        Self { all, admission: all.guard.admission(), classes, sets, of_class: HashMap::new() }
    }

    /// Returns the templates for a cluster with the inputs `own`, converted as `given`. `None` for the originals.
    pub fn choose(&mut self, own: &Overlay<'_>, given: Value<'_>) -> Option<&[Content<'t>]> {
        if let Overlay::Whole { own, .. } = own {
            return if self.admission.admits_data(own) { self.sets.first().map(Vec::as_slice) } else { None };
        }
        let set = match self.classes.as_mut().and_then(|classes| classes.class(given)) {
            Some(class) => match self.of_class.get(class) {
                Some(set) => *set,
                None => {
                    let class = class.to_vec();
                    self.add(class)
                }
            },
            None if self.admission.admits(given) => 0,
            None => return None,
        };
        self.sets.get(set).map(Vec::as_slice)
    }

    /// Adds the set of a class. Returns its index.
    fn add(&mut self, class: Vec<u8>) -> usize {
        let of = |output: usize| self.all.classes.as_ref()?.template(output, &class);
        let first = self.sets.first().map_or(&[][..], Vec::as_slice);
        let set = first.iter().enumerate().map(|(nth, content)| of(nth).map_or(*content, Content::Template));
        let set: Vec<_> = set.collect();
        self.sets.push(set);
        self.of_class.insert(class, self.sets.len() - 1);
        self.sets.len() - 1
    }
}
