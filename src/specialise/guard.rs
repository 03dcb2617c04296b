//! The guard of specialised programs: which inputs, laid over the known ones, leave those as they are.

use std::rc::Rc;

use hashbrown::HashMap;

use super::Known;
use crate::value::{Data, DataMap, Map, Value};

/// Maximum number of shapes to remember.
const REMEMBERED: usize = 1 << 14;

/// The rules for inputs that are merged over others, some of which are known.
///
/// ```
/// use dropforge::specialise::{Guard, Known};
/// use dropforge::value::{Arena, Value};
/// let image = Known::Fields(vec![("tag", Known::Value(Value::Int(1)))]);
/// let guard = Guard::new(&Known::Fields(vec![("image", image)]));
/// let (arena, mut admission) = (Arena::new(), guard.admission());
/// let own = |name| arena.map(&[("image", arena.map(&[(name, Value::Int(2))]))]);
/// assert!(admission.admits(own("name")));
/// assert!(!admission.admits(own("tag")));
/// ```
#[derive(Debug, Default)]
pub struct Guard {
    /// The known inputs as a tree of maps. The first is the top level.
    maps: Vec<HashMap<String, Rule>>,
}

/// The rule for an entry. Entries without a rule may be anything.
#[derive(Debug, Clone, Copy)]
enum Rule {
    /// There may be none.
    Absent,
    /// It may be a map, which is merged over the one at this index.
    Merged(usize),
}

impl Guard {
    /// Creates the guard of known inputs.
    pub fn new(known: &Known<'_>) -> Self {
        let mut guard = Self::default();
        guard.add(known);
        guard
    }

    fn add(&mut self, known: &Known<'_>) -> usize {
        let at = self.maps.len();
        self.maps.push(HashMap::new());
        let Known::Fields(fields) = known else { return at };
        for (name, known) in fields {
            let rule = match known {
                Known::Open => continue,
                Known::Absent | Known::Value(_) => Rule::Absent,
                Known::Fields(_) => Rule::Merged(self.add(known)),
            };
            self.maps[at].insert((*name).to_owned(), rule);
        }
        at
    }

    fn rule(&self, at: usize, name: &str) -> Option<Rule> {
        self.maps.get(at)?.get(name).copied()
    }

    /// Returns the guard for one thread.
    pub fn admission(&self) -> Admission<'_> {
        Admission { guard: self, seen: HashMap::new() }
    }

    /// Returns `true` if these inputs leave the known ones as they are: they neither set, replace nor remove them.
    pub fn admits_data(&self, own: &DataMap) -> bool {
        self.admits_entries(0, own)
    }

    fn admits_entries(&self, at: usize, own: &DataMap) -> bool {
        own.iter().all(|(name, value)| match (self.rule(at, name), value) {
            (None, _) => true,
            (Some(Rule::Merged(at)), Data::Map(map)) => self.admits_entries(at, map),
            (Some(_), _) => false,
        })
    }
}

/// The entries of a map that are maps to look into, each with the index of its rules.
type Inner = Rc<[(usize, usize)]>;

/// A guard that remembers the shapes of maps.
#[derive(Debug)]
pub struct Admission<'g> {
    guard: &'g Guard,
    /// By rules and shape: `None` if a map of this shape is not admitted.
    seen: HashMap<(usize, u32), Option<Inner>>,
}

impl Admission<'_> {
    /// Works like [`Guard::admits_data`]. Anything but a map is not admitted.
    pub fn admits(&mut self, own: Value<'_>) -> bool {
        own.as_map().is_some_and(|map| self.admits_map(0, map))
    }

    /// Works like [`Guard::admits_data`].
    pub fn admits_data(&self, own: &DataMap) -> bool {
        self.guard.admits_data(own)
    }

    fn admits_map(&mut self, at: usize, map: &Map<'_>) -> bool {
        let Some(inner) = self.inner(at, map) else { return false };
        let mut maps = inner.iter().map(|(nth, at)| (map.values().get(*nth).and_then(Value::as_map), *at));
        maps.all(|(map, at)| map.is_some_and(|map| self.admits_map(at, map)))
    }

    /// Returns the maps to look into, or `None` if the keys alone are not admitted.
    fn inner(&mut self, at: usize, map: &Map<'_>) -> Option<Inner> {
        let id = map.shape().id();
        if let Some(inner) = self.seen.get(&(at, id)) {
            return inner.clone();
        }
        let inner = self.look_into(at, map);
        // A shape without an id may have any keys.
        if id != 0 && self.seen.len() < REMEMBERED {
            self.seen.insert((at, id), inner.clone());
        }
        inner
    }

    fn look_into(&self, at: usize, map: &Map<'_>) -> Option<Inner> {
        let mut inner = Vec::new();
        for (nth, (name, _)) in map.iter().enumerate() {
            match self.guard.rule(at, name) {
                None => {}
                Some(Rule::Absent) => return None,
                Some(Rule::Merged(at)) => inner.push((nth, at)),
            }
        }
        Some(inner.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::{Arena, InputBuilder, Shapes};

    #[test]
    fn inputs_that_change_what_is_known_are_not_admitted() {
        let (arena, names) = (Arena::new(), Arena::new());
        let shapes = Shapes::new(&names);
        let builder = InputBuilder::new(&arena, &shapes);
        let image = Known::Fields(vec![("tag", Known::Value(Value::Int(1))), ("name", Known::Open)]);
        let known = [("image", image), ("owner", Known::Absent), ("org", Known::Value(Value::Null))];
        let guard = Guard::new(&Known::Fields(known.into()));
        let mut admission = guard.admission();
        let cases = [
            (r#"{"name":"a"}"#, true),
            (r#"{"name":"a","image":{"name":"x"}}"#, true),
            (r#"{"name":"a","image":{"tag":2}}"#, false),
            (r#"{"name":"a","image":{"tag":null}}"#, false),
            (r#"{"name":"a","image":null}"#, false),
            (r#"{"name":"a","image":[]}"#, false),
            (r#"{"name":"a","image":{}}"#, true),
            (r#"{"owner":null}"#, false),
            (r#"{"org":{}}"#, false),
            (r#"{}"#, true),
        ];
        for (text, expected) in cases.into_iter().chain(cases) {
            assert_eq!(admission.admits(builder.json(text).unwrap()), expected, "{text}");
            let data: Data = serde_json::from_str(text).unwrap();
            assert_eq!(admission.admits_data(data.as_map().unwrap()), expected, "{text}");
        }
    }
}
