//! The maps of a JSON list, one after the other, without building their values.

use std::ops::Range;

use super::json_lexer::{Keys, LEVELS, entries, white};

/// The number of keys of a map up to which each is compared with all before it. More are sorted at the end of the map.
const FEW: usize = 16;

/// Reads the items of a JSON list, which are maps without a key that is given twice.
///
/// ```
/// use dropforge::value::JsonItems;
/// let text = r#"[{"name": "eu-1", "n": [1]}, {"name": "us-1"}]"#;
/// let (mut items, mut keys) = (JsonItems::of(text).unwrap(), Vec::new());
/// let first = items.next_item(|key, value| keys.push((key, value))).flatten().unwrap();
/// assert_eq!((&text[first], keys), (r#"{"name": "eu-1", "n": [1]}"#, vec![("name", "\"eu-1\""), ("n", "[1]")]));
/// assert!(items.next_item(|_, _| ()).flatten().is_some());
/// assert_eq!(items.next_item(|_, _| ()), Some(None));
/// ```
#[derive(Debug)]
pub struct JsonItems<'t> {
    text: &'t str,
    rest: &'t [u8],
    is_begun: bool,
    keys: UniqueKeys<'t>,
}

impl<'t> JsonItems<'t> {
    /// Begins to read a text. `None` if it is no list.
    pub fn of(text: &'t str) -> Option<Self> {
        let rest = white(text.as_bytes()).strip_prefix(b"[")?;
        Some(Self { text, rest, is_begun: false, keys: UniqueKeys::default() })
    }

    /// Calls `each` with the keys and the texts of the entries of the next item, and returns the place of the item. Returns
    /// `Some(None)` at the end of the text, and `None` if it is not valid JSON, if the item is no map, if a map in it has a
    /// key twice or with an escape, or if it nests too deep.
    pub fn next_item(&mut self, each: impl FnMut(&'t str, &'t str)) -> Option<Option<Range<usize>>> {
        let rest = match (white(self.rest), self.is_begun) {
            ([b']', end @ ..], _) => return white(end).is_empty().then_some(None),
            ([b',', after @ ..], true) => white(after),
            (rest, is_begun) => (!is_begun).then_some(rest)?,
        };
        self.is_begun = true;
        // The list and the map are levels, too.
        self.rest = entries(self.text, rest, LEVELS - 2, &mut self.keys, each)?;
        Some(Some(self.text.len() - rest.len()..self.text.len() - self.rest.len()))
    }
}

/// Refuses keys that a map has twice, and those with an escape.
#[derive(Debug, Default)]
struct UniqueKeys<'t> {
    /// The keys of the open maps, the innermost last.
    keys: Vec<&'t [u8]>,
    /// The number of keys before those of each open map.
    starts: Vec<usize>,
}

impl<'t> Keys<'t> for UniqueKeys<'t> {
    fn open(&mut self) {
        self.starts.push(self.keys.len());
    }

    fn see(&mut self, key: &'t [u8]) -> Option<()> {
        let own = self.keys.get(self.starts.last().copied()?..)?;
        let is_known = own.len() < FEW && own.contains(&key);
        self.keys.push(key);
        (!is_known && !key.contains(&b'\\')).then_some(())
    }

    fn close(&mut self) -> Option<()> {
        let start = self.starts.pop()?;
        let own = self.keys.get_mut(start..)?;
        let are_unique = own.len() <= FEW || {
            own.sort_unstable();
            own.windows(2).all(|pair| pair.first() != pair.last())
        };
        self.keys.truncate(start);
        are_unique.then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Data;

    /// Reads a list item by item.
    fn items(text: &str) -> Option<Vec<&str>> {
        let (mut items, mut found) = (JsonItems::of(text)?, Vec::new());
        while let Some(range) = items.next_item(|_, _| ())? {
            found.push(text.get(range)?);
        }
        Some(found)
    }

    /// The items by the reader of whole files.
    fn check(text: &str) {
        let whole = Data::of_json_with_unique_keys(text).ok();
        let found = items(text).map(|items| items.into_iter().map(|item| Data::of_json(item).unwrap()).collect());
        match (whole, found.map(Data::List)) {
            (whole, Some(found)) => assert_eq!(whole, Some(found), "{text}"),
            (Some(Data::List(ref items)), None) => {
                assert!(text.contains('\\') || items.iter().any(|item| item.as_map().is_none()), "{text}");
            }
            (_, None) => {}
        }
    }

    #[test]
    fn items_are_those_of_the_whole_list() {
        let many = |count: usize, last: usize| {
            let keys: Vec<_> = (0..count).chain([last]).map(|n| format!("\"k{n}\":{{\"a\":{n}}}")).collect();
            format!("[{{{}}}]", keys.join(","))
        };
        for count in [1, FEW - 2, FEW - 1, FEW, FEW + 1, 40] {
            for last in [0, count / 2, count - 1, count] {
                let text = many(count, last);
                check(&text);
                assert_eq!(items(&text).is_some(), last == count, "{text}");
            }
        }
        let deep = |levels: usize| format!("[{{\"a\":{}{}}}]", "[".repeat(levels), "]".repeat(levels));
        (120..130).for_each(|levels| check(&deep(levels)));
        let samples = [
            " [ ] ",
            "[{},{ } , {\"a\":{\"a\":[{\"a\":1},{\"a\":2}],\"b\":{}}}]\n",
            "[{\"a\":{\"b\":1,\"b\":2}}]",
            "[{\"a\":1,\"\\u0061\":2}]",
            "[{\"a\":\"\\\"}]\",\"é\":1e5}]",
            "[{},]",
            "[,{}]",
            "[{}{}]",
            "[{}] x",
            "[1]",
            "{}",
        ];
        let with = ["\"", "\\", "{", "}", "[", "]", ",", ":", "0", "a", "\u{1}", " "];
        for text in samples {
            check(text);
            for (at, c) in text.char_indices() {
                let (before, after) = (&text[..at], &text[at + c.len_utf8()..]);
                with.iter().for_each(|other| check(&format!("{before}{other}{after}")));
                check(&format!("{before}{after}"));
                check(before);
            }
        }
    }
}
