//! A map stored as a list, for code that only iterates over it.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};

/// String entries in order.
pub struct Pairs(Vec<(String, String)>);

impl<'p> IntoIterator for &'p Pairs {
    type Item = &'p (String, String);
    type IntoIter = std::slice::Iter<'p, (String, String)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Entries)
    }
}

struct Entries;

impl<'de> Visitor<'de> for Entries {
    type Value = Pairs;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map of texts")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs, A::Error> {
        let mut pairs = Vec::with_capacity(map.size_hint().unwrap_or_default());
        while let Some(pair) = map.next_entry()? {
            pairs.push(pair);
        }
        Ok(Pairs(pairs))
    }
}
