//! The choice of templates for a cluster.

use hashbrown::HashMap;

use super::Specialised;
use crate::layers::Overlay;
use crate::splitter::Content;
use dropforge_machine::specialise::Admission;
use dropforge_value::Value;

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
