//! The keys that inputs had before, by place.
//!
//! Inputs resemble one another. An [`Outline`] belongs to a place in them, such as `service.ports[]`, and remembers the
//! sequences of keys of the maps found there, as a tree of [`KeyStep`]s. A map with a known sequence takes its shape without
//! hashing or sorting its keys.

use std::cell::Cell;
use std::fmt;

use super::read_paths::NodeId;
use super::{Arena, Shape};

/// Maximum number of steps and outlines of one interner. Further maps are read without them, so hostile inputs cannot
/// fill memory.
pub(super) const STEPS: u32 = 1 << 14;

/// Maximum number of keys that may follow one key.
const FOLLOWERS: usize = 8;

/// Length of the beginning of a key that is compared as one word.
const HEAD: usize = 8;

/// What is known of a place.
pub(super) struct Learned<'w> {
    /// Its outline, if there is one.
    pub outline: Cell<Option<&'w Outline<'w>>>,
    pub reads: Reads<'w>,
}

/// How much of a value is read.
#[derive(Debug, Clone, Copy)]
pub(super) enum Reads<'w> {
    All,
    /// The paths from these nodes of [`ReadPaths`](super::ReadPaths).
    Part(&'w [NodeId]),
    Nothing,
}

impl<'w> Learned<'w> {
    pub const fn new(reads: Reads<'w>) -> Self {
        Self { outline: Cell::new(None), reads }
    }

    /// Returns `true` if nothing of the value is read.
    #[inline(always)]
    pub const fn is_unread(&self) -> bool {
        matches!(self.reads, Reads::Nothing)
    }
}

/// Places link to one another, so they are not shown.
impl fmt::Debug for Learned<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Learned").field("reads", &self.reads).finish_non_exhaustive()
    }
}

/// A place in inputs. `None` within a map whose keys are not remembered.
pub(super) type Place<'p, 'w> = Option<&'p Learned<'w>>;

/// The maps and lists found at one place.
pub(super) struct Outline<'w> {
    /// The beginning of a map.
    pub start: KeyStep<'w>,
    /// The outline of the items of a list.
    pub items: Learned<'w>,
}

/// A key after certain other keys in a map.
pub(super) struct KeyStep<'w> {
    key: &'w str,
    /// The key and a quotation mark.
    quoted: &'w str,
    /// The first bytes of `quoted`, if a JSON string of this key has no escapes.
    head: u64,
    /// The bytes of a word that `head` fills.
    mask: u64,
    /// The key before it.
    before: Option<&'w KeyStep<'w>>,
    /// The key that followed last.
    next: Cell<Option<&'w KeyStep<'w>>>,
    /// All keys that followed, as a list linked by `sibling`.
    followers: Cell<Option<&'w KeyStep<'w>>>,
    sibling: Option<&'w KeyStep<'w>>,
    /// The shape of a map that ends here.
    pub shape: Cell<Option<&'w Shape<'w>>>,
    /// How much of the map is read.
    map: Reads<'w>,
    value: Learned<'w>,
}

impl<'w> Outline<'w> {
    /// Creates the outline of a place that is read as `reads` says, with items that are read as `items` says.
    pub fn new(reads: Reads<'w>, items: Reads<'w>) -> Self {
        Self { start: KeyStep::new("", None, None, [reads, Reads::All]), items: Learned::new(items) }
    }
}

impl<'w> KeyStep<'w> {
    fn new(quoted: &'w str, before: Option<&'w Self>, sibling: Option<&'w Self>, [map, value]: [Reads<'w>; 2]) -> Self {
        let (head, mask) = head(quoted.as_bytes());
        let (next, followers, shape) = Default::default();
        let key = quoted.strip_suffix('"').unwrap_or("");
        Self { key, quoted, head, mask, before, next, followers, sibling, shape, map, value: Learned::new(value) }
    }

    /// Returns how much of the map is read.
    pub fn map(&self) -> Reads<'w> {
        self.map
    }

    /// Returns the key.
    #[inline(always)]
    pub fn key(&self) -> &'w str {
        self.key
    }

    /// Returns the expected next key.
    #[inline(always)]
    pub fn expected(&self) -> Option<&'w KeyStep<'w>> {
        self.next.get()
    }

    /// Returns the length of the key and its closing quotation mark if JSON text continues with them.
    #[inline(always)]
    pub fn begins(&self, text: &[u8]) -> Option<usize> {
        let first = text.first_chunk::<HEAD>()?;
        let is_same = u64::from_le_bytes(*first) & self.mask == self.head;
        let length = self.quoted.len();
        (is_same && (length <= HEAD || self.has_tail(text))).then_some(length)
    }

    #[inline(always)]
    fn has_tail(&self, text: &[u8]) -> bool {
        text.get(HEAD..self.quoted.len()) == self.quoted.as_bytes().get(HEAD..)
    }

    /// Returns the place of the value.
    #[inline(always)]
    pub fn place(&self) -> Place<'_, 'w> {
        Some(&self.value)
    }

    /// Returns the step to `key`, which is created if `room` has any left. `reads` is the part of its value that is read.
    pub fn follow(
        &'w self,
        key: &str,
        arena: &'w Arena,
        room: &Cell<u32>,
        reads: impl FnOnce() -> Reads<'w>,
    ) -> Option<&'w KeyStep<'w>> {
        let all = || std::iter::successors(self.followers.get(), |step| step.sibling);
        let next = match all().find(|step| step.key() == key) {
            Some(known) => known,
            None if all().count() >= FOLLOWERS || room.get() == 0 => return None,
            None => {
                room.set(room.get() - 1);
                let mut quoted = bumpalo::collections::String::with_capacity_in(key.len() + 1, arena.bump());
                quoted.push_str(key);
                quoted.push('"');
                let quoted = quoted.into_bump_str();
                let sibling = self.followers.get();
                let step = &*arena.bump().alloc(KeyStep::new(quoted, Some(self), sibling, [self.map, reads()]));
                self.followers.set(Some(step));
                step
            }
        };
        self.next.set(Some(next));
        Some(next)
    }

    /// Returns the keys up to this one.
    pub fn keys(&'w self) -> Vec<&'w str> {
        // The start has no key.
        let steps = std::iter::successors(Some(self), |step| step.before).filter(|step| step.before.is_some());
        let mut keys: Vec<_> = steps.map(KeyStep::key).collect();
        keys.reverse();
        keys
    }
}

/// Returns the first bytes of a key with its quotation mark and a mask for them, or what no text has if the key has
/// escapes in JSON.
fn head(quoted: &[u8]) -> (u64, u64) {
    let Some((_, key)) = quoted.split_last() else { return (1, 0) };
    if key.iter().any(|byte| matches!(byte, 0..0x20 | b'"' | b'\\')) {
        return (1, 0);
    }
    let mut bytes = [[0; HEAD]; 2];
    let [head, mask] = &mut bytes;
    for ((head, mask), byte) in head.iter_mut().zip(mask).zip(quoted) {
        (*head, *mask) = (*byte, u8::MAX);
    }
    (u64::from_le_bytes(bytes[0]), u64::from_le_bytes(bytes[1]))
}

#[cfg(test)]
mod tests {
    use super::super::{Data, InputBuilder, Shapes};
    use super::*;

    /// Reads texts one after another, twice, and compares them with what serde_json reads.
    fn check(texts: &[String]) {
        let (mut arena, names) = (Arena::new(), Arena::new());
        let shapes = Shapes::new(&names);
        for text in texts.iter().chain(texts) {
            arena.reset();
            let owned: Data = serde_json::from_str(text).unwrap();
            let builder = InputBuilder::new(&arena, &shapes);
            let doors = [builder.json(text), builder.data(&owned), builder.serialize(&owned)];
            for read in doors {
                assert_eq!(read.unwrap().to_data(), owned, "{text}");
            }
        }
    }

    #[test]
    fn keys_of_any_kind_follow_in_any_order() {
        let keys =
            ["", "a", "ab", "seven77", "eight888", "nine99999", "nine9999x", "a\"b", "a\\", "a\nb", "é", "x/y.z"];
        let mut random = fastrand::Rng::with_seed(3);
        let mut object = || {
            let mut keys = keys;
            random.shuffle(&mut keys);
            let count = random.usize(0..keys.len());
            let entry = |(at, key): (usize, &&str)| format!("{} : {at}", serde_json::to_string(key).unwrap());
            let entries: Vec<_> = keys.iter().take(count).enumerate().map(entry).collect();
            format!("{{ {} }}", entries.join(", "))
        };
        let texts: Vec<_> = (0..300).map(|_| format!("[{},{},{{\"in\":{}}}]", object(), object(), object())).collect();
        check(&texts);
        check(&["{\"a\":1,\"a\":{\"b\":1,\"b\":2}}", "{\"\\u0061\":1}", "{\"a\":1}"].map(str::to_owned));
    }

    #[test]
    fn there_is_room_for_some_keys_only() {
        let map = |from: usize| {
            let entries: Vec<_> = (from..from + 40).map(|at| format!("\"key {at}\":[{{\"a\":{at}}}]")).collect();
            format!("{{{}}}", entries.join(","))
        };
        let texts: Vec<_> = (0..600).map(|at| map(at * 40)).collect();
        check(&texts);
        let names = Arena::new();
        let (arena, shapes) = (Arena::new(), Shapes::new(&names));
        for text in &texts {
            InputBuilder::new(&arena, &shapes).json(text).unwrap();
        }
        assert!(names.allocated_bytes() < 8 << 20, "{}", names.allocated_bytes());
    }
}
