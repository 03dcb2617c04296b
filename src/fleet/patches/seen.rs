//! What the patches of a run were for.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use crate::lock;
use dropforge_base::diagnostics::{Code, Diagnostic};
use dropforge_base::text::{Source, Span};

/// Maximum number of clusters whose objects are remembered for a warning.
const CLUSTERS: usize = 8;

/// A patch, or a document of one: its number, and the kind and the name that it is for.
pub(super) type Wanted = (usize, String);

/// What the patches of a run were for.
#[derive(Debug, Default)]
pub(super) struct Seen(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// The patches that were for no object so far, with the place that says what they are for.
    unused: BTreeMap<Wanted, (Arc<Source>, Span)>,
    used: BTreeSet<Wanted>,
    /// The objects of the first clusters.
    objects: BTreeSet<String>,
    clusters: usize,
}

impl Seen {
    /// Returns `true` if the objects of the next cluster have to be known.
    pub fn wants_objects(&self) -> bool {
        let mut state = lock(&self.0);
        state.clusters += 1;
        state.clusters <= CLUSTERS
    }

    /// Adds what the patches of a cluster were for.
    pub fn add<'o>(
        &self,
        wanted: impl Iterator<Item = (Wanted, bool, (Arc<Source>, Span))>,
        objects: impl Iterator<Item = &'o String>,
    ) {
        let mut state = lock(&self.0);
        for (wanted, is_used, place) in wanted {
            if is_used {
                state.unused.remove(&wanted);
                state.used.insert(wanted);
            } else if !state.used.contains(&wanted) {
                state.unused.entry(wanted).or_insert(place);
            }
        }
        state.objects.extend(objects.cloned());
    }

    /// Returns a warning for each patch that was for no object.
    pub fn warnings(&self) -> Vec<Box<Diagnostic>> {
        let state = lock(&self.0);
        let warning = |((_, target), (source, span)): (&Wanted, &(Arc<Source>, Span))| {
            let message = format!("a patch of `{target}` is for no object of the run");
            let warning = Diagnostic::warning(Code::UnfitPatch, message).at(source, *span, "");
            let names = || state.objects.iter().map(String::as_str);
            let warning = warning.with_suggestion(target, names());
            if names().next().is_none() {
                warning.with_note("there are no objects")
            } else {
                warning.with_available(names())
            }
        };
        state.unused.iter().map(warning).collect()
    }
}
