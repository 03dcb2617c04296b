//! Maps with keys other than text.

use std::borrow::Cow;

use super::{Arena, Extended, Key, Value};
use dropforge_base::stdlib::small_sort::SmallSort as _;

/// A map in insertion order with null, boolean, integer and text keys. An integer is the same key in every variant of
/// [`Value`]. Maps with only text keys are [`Map`](super::Map)s.
#[derive(Debug, Clone, Copy)]
pub struct Entries<'v> {
    keys: &'v [Value<'v>],
    values: &'v [Value<'v>],
    /// The permutation that sorts the keys.
    sorted: &'v [u32],
}

/// The reason that keys cannot form a map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadKey {
    /// The key at this index is of a kind that cannot be a key.
    Kind(usize),
    /// The key at this index is a duplicate of an earlier one.
    Twice(usize),
}

impl<'v> Entries<'v> {
    /// Returns a map from `keys` to `values`. Excess keys or values are ignored.
    ///
    /// # Errors
    /// The first key of a wrong kind, or the first duplicate.
    ///
    /// ```
    /// use dropforge::value::{Arena, BadKey, Entries, Value};
    /// let arena = Arena::new();
    /// let entries = Entries::new(&arena, &[Value::Int(1), Value::Bool(true)], &[Value::Null; 2]).unwrap();
    /// assert!(entries.get(Value::Uint(1)).is_some());
    /// assert_eq!(Entries::new(&arena, &[Value::Int(1), Value::Uint(1)], &[Value::Null; 2]).err(), Some(BadKey::Twice(1)));
    /// ```
    pub fn new(arena: &'v Arena, keys: &[Value<'v>], values: &[Value<'v>]) -> Result<Self, BadKey> {
        let len = keys.len().min(values.len());
        let (keys, values) = (keys.get(..len).unwrap_or(&[]), values.get(..len).unwrap_or(&[]));
        if let Some(at) = keys.iter().position(|key| EntryKey::of(*key).is_none()) {
            return Err(BadKey::Kind(at));
        }
        let sorted = arena.bump().alloc_slice_fill_iter(0..u32::try_from(len).unwrap_or(u32::MAX));
        let key = |at: u32| keys.get(at as usize).and_then(|key| EntryKey::of(*key));
        // A stable sort, so that the earlier of two equal keys comes first.
        sorted.small_sort_by_key(|at| key(*at));
        let twice = sorted.windows(2).filter_map(|pair| match pair {
            [a, b] if key(*a) == key(*b) => Some(*b as usize),
            _ => None,
        });
        match twice.min() {
            Some(at) => Err(BadKey::Twice(at)),
            None => Ok(Self {
                keys: arena.bump().alloc_slice_copy(keys),
                values: arena.bump().alloc_slice_copy(values),
                sorted,
            }),
        }
    }

    /// Returns the number of entries.
    pub const fn len(&self) -> usize {
        self.keys.len()
    }

    /// Returns `true` if there are no entries.
    pub const fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Returns the keys in insertion order.
    pub const fn keys(&self) -> &'v [Value<'v>] {
        self.keys
    }

    /// Returns the values in insertion order.
    pub const fn values(&self) -> &'v [Value<'v>] {
        self.values
    }

    /// Keys and values in insertion order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (Value<'v>, Value<'v>)> + ExactSizeIterator + use<'v> {
        self.keys.iter().copied().zip(self.values.iter().copied())
    }

    /// Returns the value under `key`. A float with an integral value finds that integer.
    pub fn get(&self, key: Value<'_>) -> Option<Value<'v>> {
        let wanted = EntryKey::sought(key)?;
        let place = |at: &u32| self.keys.get(*at as usize).and_then(|key| EntryKey::of(*key));
        let found = self.sorted.binary_search_by(|at| place(at).cmp(&Some(wanted))).ok()?;
        self.values.get(*self.sorted.get(found)? as usize).copied()
    }

    /// Returns the entries in byte order of their keys' texts, for formats that only have text keys. Of several keys
    /// with one text the last wins.
    pub(super) fn by_text(&self) -> Vec<(Key<'v>, Value<'v>)> {
        let with_text = |(key, value)| {
            let key = Key::of(key);
            (key.to_text(), key, value)
        };
        let mut entries: Vec<_> = self.iter().rev().map(with_text).collect();
        entries.small_sort_by(|(a, ..), (b, ..)| a.cmp(b));
        entries.dedup_by(|(later, ..), (first, ..)| later == first);
        entries.into_iter().map(|(_, key, value)| (key, value)).collect()
    }

    /// Returns the entries with their keys as text, in byte order of these texts. Of several keys with one text the
    /// last wins.
    pub fn as_texts(&self) -> impl Iterator<Item = (Cow<'v, str>, Value<'v>)> + use<'v> {
        self.by_text().into_iter().map(|(key, value)| (key.to_text(), value))
    }
}

/// The form in which keys are compared. Variants are in key order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EntryKey<'v> {
    /// Null.
    Null,
    /// A boolean.
    Bool(bool),
    /// An integer.
    Number(i128),
    /// Text.
    Text(&'v str),
}

impl<'v> EntryKey<'v> {
    /// Returns the key of a value, or `None` for a value that is no key.
    pub fn of(value: Value<'v>) -> Option<Self> {
        Some(match value {
            Value::Null => EntryKey::Null,
            Value::Bool(truth) => EntryKey::Bool(truth),
            Value::Int(n) => EntryKey::Number(n.into()),
            Value::Uint(n) => EntryKey::Number(n.into()),
            Value::Str(text) => EntryKey::Text(text.as_str()),
            _ => return None,
        })
    }

    /// Returns the key that a lookup of `value` searches for: a float with an integral value finds that integer.
    fn sought(value: Value<'v>) -> Option<Self> {
        match value {
            Value::Float(n) if n.fract() == 0.0 && n.abs() < 1e38 => Some(EntryKey::Number(n as i128)),
            value => Self::of(value),
        }
    }
}

impl Arena {
    /// Returns a map value with keys other than text.
    #[doc(hidden)]
    pub fn entries<'v>(&'v self, entries: Entries<'v>) -> Value<'v> {
        self.extended(Extended::Entries(entries))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_one_key_whatever_holds_it() {
        let arena = Arena::new();
        let keys = [arena.text("1"), Value::Uint(1), Value::Bool(true), Value::Int(-1), Value::Uint(u64::MAX)];
        let values: Vec<_> = (0..5).map(Value::Int).collect();
        let entries = Entries::new(&arena, &keys, &values).unwrap();
        let got = |key| entries.get(key).and_then(|value| if let Value::Int(n) = value { Some(n) } else { None });
        assert_eq!([got(arena.text("1")), got(Value::Int(1)), got(Value::Float(1.0))], [Some(0), Some(1), Some(1)]);
        assert_eq!([got(Value::Bool(true)), got(Value::Float(-1.0))], [Some(2), Some(3)]);
        assert_eq!(got(Value::Uint(u64::MAX)), Some(4));
        for missing in [Value::Float(1.5), Value::Float(f64::NAN), Value::Float(1e300), Value::Null, Value::Int(2)] {
            assert_eq!(got(missing), None, "{missing:?}");
        }
        // 2^64 - 1 is not a float; the nearest float is another number.
        assert_eq!(got(Value::Float(u64::MAX as f64)), None);
        assert_eq!(Entries::new(&arena, &[Value::Float(1.0)], &[Value::Null]).err(), Some(BadKey::Kind(0)));
    }

    #[test]
    fn texts_of_keys_are_sorted_and_the_last_of_a_text_counts() {
        let arena = Arena::new();
        let keys = [Value::Int(2), arena.text("2"), Value::Int(10), Value::Bool(false)];
        let values: Vec<_> = (0..4).map(Value::Int).collect();
        let entries = arena.entries(Entries::new(&arena, &keys, &values).unwrap());
        let data = serde_json::to_string(&entries.to_data()).unwrap();
        assert_eq!(data, r#"{"10":2,"2":1,"false":3}"#);
        let mut text = String::new();
        let _ = super::super::write_json(entries, super::super::JsonStyle::Compact, &mut text, &mut Ok::<_, ()>);
        assert_eq!(text, data);
    }

    #[test]
    fn entries_match_a_linear_search() {
        let arena = Arena::new();
        let mut random = fastrand::Rng::with_seed(5);
        let same = |a: Value<'_>, b: Value<'_>| EntryKey::of(a) == EntryKey::of(b);
        for _ in 0..2000 {
            let mut key = || match random.u8(0..5) {
                0 => Value::Bool(random.bool()),
                1 => Value::Int(random.i64(-4..8)),
                2 => Value::Uint(random.u64(0..8)),
                3 => Value::Uint(u64::MAX - random.u64(0..3)),
                _ => arena.text(&random.u8(0..9).to_string()),
            };
            let keys: Vec<_> = (0..8).map(|_| key()).collect();
            let len = random.usize(0..=keys.len());
            let (keys, values) = (&keys[..len], (0..8).map(Value::Int).collect::<Vec<_>>());
            let twice = (0..len).find(|at| keys[..*at].iter().any(|key| same(*key, keys[*at])));
            match Entries::new(&arena, keys, &values) {
                Err(bad) => assert_eq!(Some(bad), twice.map(BadKey::Twice), "{keys:?}"),
                Ok(entries) => {
                    assert_eq!((twice, entries.len()), (None, len), "{keys:?}");
                    for (at, key) in keys.iter().enumerate() {
                        assert!(matches!(entries.get(*key), Some(Value::Int(n)) if n == at as i64), "{keys:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_number_without_sign_is_plain_data() {
        assert_eq!(Value::Uint(5).to_data(), super::super::Data::Int(5));
        assert_eq!(Value::Uint(u64::MAX).to_data(), super::super::Data::Uint(u64::MAX));
    }
}
