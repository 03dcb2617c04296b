//! Releases that repeat: with the values of an earlier one they have its text, unless a template depends on other things,
//! such as the time or random numbers.

use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex};

use hashbrown::{HashMap, HashSet};
use xxhash_rust::xxh3::xxh3_128_with_seed;

use super::forms::OwnValues;
use crate::lock;
use dropforge_value::{Data, DataMap};

/// Maximum number of releases to remember.
const REMEMBERED: usize = 1 << 12;
/// Maximum number of bytes of the texts of one chart.
const BYTES: usize = 4 << 20;

/// The releases of a chart, for all threads.
#[derive(Debug)]
pub(super) struct Repeats {
    seed: u64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Hashes of the releases so far.
    seen: HashSet<u128>,
    texts: HashMap<u128, Arc<Repeated>>,
    bytes: usize,
    /// `true` if the templates depend on other things than values.
    varies: bool,
}

/// The text of releases with the same values.
#[derive(Debug)]
pub(super) struct Repeated {
    values: DataMap,
    text: String,
    /// The ends of the outputs.
    ends: Vec<usize>,
}

impl Repeated {
    /// Appends the text, and the ends of its outputs in it.
    pub fn write(&self, text: &mut String, mut end: impl FnMut(usize)) {
        let start = text.len();
        text.push_str(&self.text);
        self.ends.iter().for_each(|own| end(start + own));
    }
}

/// What is known of a release.
pub(super) enum Known {
    /// It is the first of its kind, or it is never the same.
    Nothing,
    /// There was one with these values.
    Again(u128),
    Text(Arc<Repeated>),
}

impl Default for Repeats {
    fn default() -> Self {
        // Nobody can craft values with the hash of others.
        Self { seed: RandomState::new().hash_one(0), state: Mutex::default() }
    }
}

impl Repeats {
    /// Looks a release up, and notes it.
    pub fn find(&self, own: &OwnValues<'_>) -> Known {
        let mut state = lock(&self.state);
        let Some(key) = self.key(own).filter(|_| !state.varies) else { return Known::Nothing };
        if let Some(known) = state.texts.get(&key) {
            return if known.values == own.values { Known::Text(known.clone()) } else { Known::Nothing };
        }
        let has_room = state.bytes < BYTES && state.seen.len() < REMEMBERED;
        match state.seen.contains(&key) {
            true if has_room => Known::Again(key),
            false if has_room => {
                state.seen.insert(key);
                Known::Nothing
            }
            _ => Known::Nothing,
        }
    }

    /// Keeps the text of a release, for those with the same values.
    pub fn keep(&self, key: u128, values: DataMap, text: &str, ends: Vec<usize>) {
        let mut state = lock(&self.state);
        state.bytes += text.len();
        state.texts.insert(key, Arc::new(Repeated { values, text: text.to_owned(), ends }));
    }

    /// Notes that releases with the same values differ.
    pub fn vary(&self) {
        lock(&self.state).varies = true;
    }

    /// Returns the number of texts.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        lock(&self.state).texts.len()
    }

    /// Returns a hash of all that a text is made of.
    fn key(&self, own: &OwnValues<'_>) -> Option<u128> {
        let identity = &own.identity;
        let texts = [&identity.name, &identity.namespace, &identity.kube].map(String::as_str);
        let all = (own.cluster.group(), own.is_table, texts, Data::Map(own.values.clone()));
        Some(xxh3_128_with_seed(&rmp_serde::to_vec(&all).ok()?, self.seed))
    }
}
