//! The guard of specialised programs: which inputs, laid over the known ones, leave those as they are.

use std::rc::Rc;

use hashbrown::HashMap;

use super::Known;
use dropforge_value::{Data, DataMap, Map, Value};

/// Maximum number of shapes to remember.
const REMEMBERED: usize = 1 << 14;

/// The rules for inputs that are merged over others, some of which are known.
///
/// ```
/// use dropforge::specialise::{Demand, Guard, Known};
/// use dropforge::value::{Arena, Data, Value};
/// let image = Known::Fields(vec![("tag", Known::Value(Value::Int(1)))]);
/// let guard = Guard::new(&Known::Fields(vec![("image", image)]));
/// let (arena, mut admission) = (Arena::new(), guard.admission());
/// let own = |name| arena.map(&[("image", arena.map(&[(name, Value::Int(2))]))]);
/// assert!(admission.admits(own("name")));
/// assert!(!admission.admits(own("tag")));
///
/// // Inputs of their own may be divided into classes by some of their values.
/// let sizes = Demand::OneOf(vec![Data::Int(1), Data::Int(2)]);
/// let guard = guard.with(vec![("size".to_owned(), sizes)]);
/// let mut admission = guard.admission();
/// let own = |size| arena.map(&[("size", Value::Int(size))]);
/// assert_eq!(admission.class(own(2)), Some(&[1][..]));
/// assert_eq!(admission.class(own(3)), None);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Guard {
    /// The known inputs as a tree of maps. The first is the top level.
    maps: Vec<MapGuard>,
    /// The values to choose from.
    choices: Vec<Vec<Data>>,
}

/// The rules for a map.
#[derive(Debug, Clone, Default)]
struct MapGuard {
    rules: HashMap<String, EntryGuard>,
    /// The number of rules for entries that must be there.
    needed: usize,
    /// The keys, if there may be no others and in no other order.
    keys: Option<Vec<String>>,
}

/// The rule for an entry. Entries without a rule may be anything.
#[derive(Debug, Clone, Copy)]
enum EntryGuard {
    /// There may be none.
    Absent,
    /// It may be a map, which is merged over the one at this index.
    Merged(usize),
    /// It must be there.
    Needed(ValueGuard),
}

/// A check of a value.
#[derive(Debug, Clone, Copy)]
enum ValueGuard {
    /// A map with the rules at this index.
    Map(usize),
    Text,
    /// One of the values of a choice.
    OneOf(usize),
}

/// A demand on a value that inputs must give themselves.
#[derive(Debug, Clone, PartialEq)]
pub enum Demand {
    /// Any value.
    Any,
    /// A string.
    Text,
    /// One of these values, which are neither lists nor maps.
    OneOf(Vec<Data>),
    /// A map that has these entries. It may have others.
    Fields(Vec<(String, Demand)>),
    /// A map with these entries, in this order.
    Entries(Vec<(String, Demand)>),
}

impl Guard {
    /// Creates the guard of known inputs.
    pub fn new(known: &Known<'_>) -> Self {
        let mut guard = Self::default();
        guard.add(known);
        guard
    }

    /// Returns the guard of inputs that give these values themselves.
    pub fn with(&self, given: Vec<(String, Demand)>) -> Self {
        let mut guard = self.clone();
        if guard.maps.is_empty() {
            guard.maps.push(MapGuard::default());
        }
        guard.give(0, given);
        guard
    }

    fn add(&mut self, known: &Known<'_>) -> usize {
        let at = self.new_map();
        let Known::Fields(fields) = known else { return at };
        for (name, known) in fields {
            let rule = match known {
                Known::Open => continue,
                Known::Absent | Known::Value(_) | Known::Text | Known::Entries(_) => EntryGuard::Absent,
                Known::Fields(_) => EntryGuard::Merged(self.add(known)),
            };
            self.maps[at].rules.insert((*name).to_owned(), rule);
        }
        at
    }

    fn new_map(&mut self) -> usize {
        self.maps.push(MapGuard::default());
        self.maps.len() - 1
    }

    fn give(&mut self, at: usize, given: Vec<(String, Demand)>) {
        for (name, given) in given {
            let below = match self.rule(at, &name) {
                Some(EntryGuard::Merged(below) | EntryGuard::Needed(ValueGuard::Map(below))) => Some(below),
                _ => None,
            };
            let check = match given {
                Demand::Any => continue,
                Demand::Text => ValueGuard::Text,
                Demand::OneOf(values) => {
                    self.choices.push(values);
                    ValueGuard::OneOf(self.choices.len() - 1)
                }
                Demand::Fields(given) => {
                    let below = below.unwrap_or_else(|| self.new_map());
                    self.give(below, given);
                    ValueGuard::Map(below)
                }
                Demand::Entries(given) => {
                    let below = below.unwrap_or_else(|| self.new_map());
                    self.maps[below].keys = Some(given.iter().map(|(key, _)| key.clone()).collect());
                    self.give(below, given);
                    ValueGuard::Map(below)
                }
            };
            let rules = &mut self.maps[at];
            if !matches!(rules.rules.insert(name, EntryGuard::Needed(check)), Some(EntryGuard::Needed(_))) {
                rules.needed += 1;
            }
        }
    }

    fn rule(&self, at: usize, name: &str) -> Option<EntryGuard> {
        self.maps.get(at)?.rules.get(name).copied()
    }

    /// Returns the guard for one thread.
    pub fn admission(&self) -> Admission<'_> {
        let last = vec![(ANONYMOUS, None); self.maps.len()];
        Admission { guard: self, last, seen: HashMap::new(), class: vec![0; self.choices.len()] }
    }

    /// Returns `true` if these inputs leave the known ones as they are: they neither set, replace nor remove them. A
    /// guard of inputs that [give values](Guard::with) admits none.
    pub fn admits_data(&self, own: &DataMap) -> bool {
        self.admits_entries(0, own)
    }

    fn admits_entries(&self, at: usize, own: &DataMap) -> bool {
        let needed = self.maps.get(at).is_some_and(|rules| rules.needed > 0 || rules.keys.is_some());
        !needed
            && own.iter().all(|(name, value)| match (self.rule(at, name), value) {
                (None, _) => true,
                (Some(EntryGuard::Merged(at)), Data::Map(map)) => self.admits_entries(at, map),
                (Some(_), _) => false,
            })
    }
}

/// The id of shapes without one of their own.
const ANONYMOUS: u32 = 0;

/// The entries of a map to look at, with their checks.
type Checks = Rc<[(usize, ValueGuard)]>;

/// A guard that remembers the shapes of maps.
#[derive(Debug)]
pub struct Admission<'g> {
    guard: &'g Guard,
    /// By rules: the shape of the last map, with its checks.
    last: Vec<(u32, Option<Checks>)>,
    /// By rules and shape: `None` if a map of this shape is not admitted.
    seen: HashMap<(usize, u32), Option<Checks>>,
    /// For each choice, the index of the value.
    class: Vec<u8>,
}

impl Admission<'_> {
    /// Works like [`Guard::admits_data`]. Anything but a map is not admitted.
    pub fn admits(&mut self, own: Value<'_>) -> bool {
        self.class(own).is_some()
    }

    /// Returns the class of inputs: for each choice, in the order in which they were added, the index of the value.
    /// `None` if the inputs are not admitted.
    pub fn class(&mut self, own: Value<'_>) -> Option<&[u8]> {
        let map = own.as_map()?;
        if self.admits_map(0, map) { Some(&self.class) } else { None }
    }

    /// Works like [`Guard::admits_data`].
    pub fn admits_data(&self, own: &DataMap) -> bool {
        self.guard.admits_data(own)
    }

    fn admits_map(&mut self, at: usize, map: &Map<'_>) -> bool {
        let Some(checks) = self.checks(at, map) else { return false };
        checks.iter().all(|(nth, check)| match (*check, map.values().get(*nth)) {
            (ValueGuard::Map(at), Some(Value::Map(map))) => self.admits_map(at, map),
            (ValueGuard::Text, Some(Value::Str(_))) => true,
            (ValueGuard::OneOf(choice), Some(value)) => self.choose(choice, *value),
            _ => false,
        })
    }

    /// Returns the checks of a map, or `None` if the keys alone are not admitted. Most maps have the shape of the last.
    fn checks(&mut self, at: usize, map: &Map<'_>) -> Option<Checks> {
        let id = map.shape_id();
        if let Some((last, checks)) = self.last.get(at)
            && *last == id
            && id != ANONYMOUS
        {
            return checks.clone();
        }
        let checks = self.find_checks(at, map);
        if let Some(last) = self.last.get_mut(at) {
            *last = (id, checks.clone());
        }
        checks
    }

    fn choose(&mut self, choice: usize, value: Value<'_>) -> bool {
        let (Some(values), Some(place)) = (self.guard.choices.get(choice), self.class.get_mut(choice)) else {
            return false;
        };
        let found = values.iter().position(|one| is_same(one, value)).and_then(|nth| u8::try_from(nth).ok());
        *place = found.unwrap_or(*place);
        found.is_some()
    }

    fn find_checks(&mut self, at: usize, map: &Map<'_>) -> Option<Checks> {
        let id = map.shape_id();
        if let Some(checks) = self.seen.get(&(at, id)) {
            return checks.clone();
        }
        let checks = self.look_into(at, map);
        // A shape without an id may have any keys.
        if id != ANONYMOUS && self.seen.len() < REMEMBERED {
            self.seen.insert((at, id), checks.clone());
        }
        checks
    }

    fn look_into(&self, at: usize, map: &Map<'_>) -> Option<Checks> {
        let rules = self.guard.maps.get(at)?;
        let names = || map.iter().map(|(name, _)| name);
        if rules.keys.as_ref().is_some_and(|keys| !names().eq(keys.iter().map(String::as_str))) {
            return None;
        }
        let (mut checks, mut found) = (Vec::new(), 0);
        for (nth, name) in names().enumerate() {
            match rules.rules.get(name) {
                None => {}
                Some(EntryGuard::Absent) => return None,
                Some(EntryGuard::Merged(at)) => checks.push((nth, ValueGuard::Map(*at))),
                Some(EntryGuard::Needed(check)) => {
                    found += 1;
                    checks.push((nth, *check));
                }
            }
        }
        (found == rules.needed).then(|| checks.into())
    }
}

/// Compares short texts: most that differ in nothing else differ in their ends.
fn is_same_text(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.last() == b.last() && a == b
}

/// Returns `true` if two values are the same for every instruction.
fn is_same(one: &Data, value: Value<'_>) -> bool {
    match (one, value) {
        (Data::Null, Value::Null) => true,
        (Data::Bool(a), Value::Bool(b)) => *a == b,
        (Data::Int(a), Value::Int(b)) => *a == b,
        (Data::Uint(a), Value::Uint(b)) => *a == b,
        (Data::Float(a), Value::Float(b)) => a.to_bits() == b.to_bits(),
        (Data::Str(a), Value::Str(b)) => is_same_text(a.as_bytes(), b.as_str().as_bytes()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropforge_value::{Arena, InputBuilder, Shapes};

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

    #[test]
    fn classes_are_found_by_shape_and_values() {
        let (arena, names) = (Arena::new(), Arena::new());
        let shapes = Shapes::new(&names);
        let builder = InputBuilder::new(&arena, &shapes);
        let envs = Demand::OneOf(vec![Data::Str("dev".into()), Data::Str("prod".into())]);
        let cluster =
            Demand::Fields(vec![("env".to_owned(), envs), ("spot".to_owned(), Demand::OneOf(vec![Data::Null]))]);
        let labels = Demand::Entries(vec![("a".to_owned(), Demand::Text), ("b".to_owned(), Demand::Any)]);
        let known = Known::Fields(vec![("org", Known::Value(Value::Null))]);
        let guard = Guard::new(&known).with(vec![("cluster".to_owned(), cluster), ("labels".to_owned(), labels)]);
        let mut admission = guard.admission();
        let cases: [(&str, Option<&[u8]>); 11] = [
            (r#"{"cluster":{"env":"prod","spot":null},"labels":{"a":"x","b":1}}"#, Some(&[1, 0])),
            (r#"{"labels":{"a":"","b":[]},"cluster":{"spot":null,"n":1,"env":"dev"},"more":1}"#, Some(&[0, 0])),
            (r#"{"cluster":{"env":"dev","spot":null},"labels":{"a":"x","b":1},"org":1}"#, None),
            (r#"{"cluster":{"env":"test","spot":null},"labels":{"a":"x","b":1}}"#, None),
            (r#"{"cluster":{"env":"dev","spot":false},"labels":{"a":"x","b":1}}"#, None),
            (r#"{"cluster":{"env":"dev"},"labels":{"a":"x","b":1}}"#, None),
            (r#"{"cluster":{"env":"dev","spot":null},"labels":{"a":1,"b":1}}"#, None),
            (r#"{"cluster":{"env":"dev","spot":null},"labels":{"b":"x","a":"x"}}"#, None),
            (r#"{"cluster":{"env":"dev","spot":null},"labels":{"a":"x","b":1,"c":1}}"#, None),
            (r#"{"cluster":{"env":"dev","spot":null},"labels":[]}"#, None),
            (r#"{"cluster":{"env":"dev","spot":null}}"#, None),
        ];
        for (text, expected) in cases.into_iter().chain(cases) {
            assert_eq!(admission.class(builder.json(text).unwrap()), expected, "{text}");
        }
    }
}
