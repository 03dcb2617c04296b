//! One template for many sets of inputs, specialised as the templates of a run are.

use super::layers::Layers;
use super::specialised::{PAYS, SharedInputs, Specialisation, Specialise, Specialised};
use dropforge_engine::Template;
use dropforge_value::DataMap;

/// A template for many sets of inputs over shared ones: its original and, if there are enough sets for it to pay, the
/// template specialised to what they share.
///
/// ```
/// use dropforge::bulk::{Layers, Merge, Variants};
/// use dropforge::engine::Engine;
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
        let run = SharedInputs { layers, clusters: count, specialise: Specialise::default(), classes: false };
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

/// Maximum number of sets to ask for.
const ASKED: usize = 128;
