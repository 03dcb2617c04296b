//! Maps: a shape (keys, once for all maps that have the same keys in the same order) and a row of values.
//!
//! A shape that was interned in [`Shapes`] has an id of its own in the whole process; a read site can
//! remember (id, index) and find the value again without comparing keys. Shapes made during a render are
//! anonymous (id 0) and are searched.

use std::cell::{Cell, RefCell};
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU32, Ordering};

use hashbrown::DefaultHashBuilder;
use hashbrown::hash_table::HashTable;

use super::{Arena, Text, Value, Within};

/// Maps of up to this many keys are searched from the front, larger ones by their sorted permutation.
const LINEAR: usize = 8;

/// Distinct shapes one interner keeps; beyond it shapes are anonymous, so hostile inputs cannot fill memory.
const INTERNED: usize = 4096;

/// The keys of a map in order of insertion, with the permutation that sorts them.
#[derive(Debug, Clone, Copy)]
pub struct Shape<'v> {
    id: u32,
    keys: &'v [Text<'v>],
    sorted: &'v [u32],
}

impl<'v> Shape<'v> {
    /// An anonymous shape; `None` where a key comes twice.
    pub(crate) fn without_duplicates(arena: &'v Arena, keys: &'v [Text<'v>]) -> Option<&'v Shape<'v>> {
        Self::with_id(arena, keys, 0)
    }

    /// The indexes of `keys` in the order of their bytes.
    pub(crate) fn sorted_places(keys: &[Text<'_>]) -> Vec<u32> {
        let mut sorted: Vec<u32> = places(keys).collect();
        sort(keys, &mut sorted);
        sorted
    }

    /// A shape with an id of `keys` that lie in the order `sorted`; `None` where they do not, or one comes twice.
    pub(crate) fn with_order(keys: &'v [Text<'v>], sorted: &'v [u32]) -> Option<Self> {
        let whole = keys.len() == sorted.len();
        (whole && is_sorted(keys, sorted)).then(|| Shape { id: fresh_id(), keys, sorted })
    }

    /// An anonymous shape; `None` where a key comes twice. `order` is the order that keys like these had: where it is that
    /// of these, too, they need no sorting, else it becomes that.
    pub(crate) fn guessed(arena: &'v Arena, keys: &'v [Text<'v>], order: &mut Vec<u32>) -> Option<&'v Shape<'v>> {
        if order.len() != keys.len() || !is_sorted(keys, order) {
            order.clear();
            order.extend(places(keys));
            if !sort(keys, order) {
                return None;
            }
        }
        let sorted = arena.bump().alloc_slice_copy(order);
        Some(arena.bump().alloc(Shape { id: 0, keys, sorted }))
    }

    fn with_id(arena: &'v Arena, keys: &'v [Text<'v>], id: u32) -> Option<&'v Shape<'v>> {
        let sorted = arena.bump().alloc_slice_fill_iter(places(keys));
        sort(keys, sorted).then(|| &*arena.bump().alloc(Shape { id, keys, sorted }))
    }

    fn has_keys(&self, keys: &[&str]) -> bool {
        self.keys.len() == keys.len() && self.keys.iter().zip(keys).all(|(own, key)| own.as_str() == *key)
    }

    /// The keys in order of insertion.
    pub const fn keys(&self) -> &'v [Text<'v>] {
        self.keys
    }

    /// The process-wide id, or 0 for an anonymous shape.
    pub const fn id(&self) -> u32 {
        self.id
    }

    /// The indexes of the keys in the order of their bytes.
    pub const fn sorted(&self) -> &'v [u32] {
        self.sorted
    }

    /// The index of `key`.
    pub fn find(&self, key: &str) -> Option<usize> {
        if self.keys.len() <= LINEAR {
            return self.keys.iter().position(|candidate| candidate.as_str() == key);
        }
        let at = self.sorted.binary_search_by(|&at| self.keys[at as usize].as_str().cmp(key)).ok()?;
        Some(self.sorted[at] as usize)
    }
}

/// The indexes of `keys`.
fn places(keys: &[Text<'_>]) -> std::ops::Range<u32> {
    0..u32::try_from(keys.len()).unwrap_or(u32::MAX)
}

/// Sorts indexes by the bytes of their keys, and says whether no key comes twice.
fn sort(keys: &[Text<'_>], places: &mut [u32]) -> bool {
    places.sort_unstable_by_key(|&at| keys[at as usize].as_str());
    is_sorted(keys, places)
}

/// Whether the keys at `places` ascend, and none comes twice.
fn is_sorted(keys: &[Text<'_>], places: &[u32]) -> bool {
    places.is_sorted_by(|&a, &b| keys[a as usize].as_str() < keys[b as usize].as_str())
}

/// A map value: a shape and one value for each of its keys.
#[derive(Debug, Clone, Copy)]
pub struct Map<'v> {
    shape: &'v Shape<'v>,
    values: &'v [Value<'v>],
    /// The shape's id, here so that a read site need not go to the shape.
    id: u32,
    within: Within,
}

impl<'v> Map<'v> {
    /// A map of `shape`'s keys with `values`. Read sites rely on there being one for each key.
    pub(super) fn new(shape: &'v Shape<'v>, values: &'v [Value<'v>]) -> Self {
        Self::around(shape, values, Within::around(values))
    }

    /// The same, where it is known what holds of them together.
    #[inline(always)]
    pub(super) fn around(shape: &'v Shape<'v>, values: &'v [Value<'v>], within: Within) -> Self {
        assert!(shape.keys.len() == values.len(), "a value for each key");
        Self { shape, values, id: shape.id, within }
    }

    /// How deep lists and maps nest.
    #[inline(always)]
    pub(crate) const fn depth(&self) -> u16 {
        self.within.depth
    }

    /// The keys and their order.
    pub const fn shape(&self) -> &'v Shape<'v> {
        self.shape
    }

    /// The shape's id.
    #[inline(always)]
    pub(crate) const fn shape_id(&self) -> u32 {
        self.id
    }

    /// The values, in order of insertion.
    pub const fn values(&self) -> &'v [Value<'v>] {
        self.values
    }

    /// How many entries there are.
    pub const fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there is no entry.
    pub const fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    pub(super) const fn within(&self) -> Within {
        self.within
    }

    /// The value under `key`.
    pub fn get(&self, key: &str) -> Option<Value<'v>> {
        self.values.get(self.shape.find(key)?).copied()
    }

    /// The entries in order of insertion.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&'v str, Value<'v>)> + use<'v> {
        self.shape.keys.iter().map(Text::as_str).zip(self.values.iter().copied())
    }

    /// The entry at `at` in the order of the keys' bytes.
    pub fn sorted_entry(&self, at: usize) -> Option<(&'v Text<'v>, Value<'v>)> {
        let at = *self.shape.sorted.get(at)? as usize;
        Some((self.shape.keys.get(at)?, *self.values.get(at)?))
    }

    /// The entries in the order of the keys' bytes.
    pub fn iter_sorted(&self) -> impl Iterator<Item = (&'v str, Value<'v>)> + use<'v> {
        let map = *self;
        (0..map.len()).filter_map(move |at| map.sorted_entry(at)).map(|(key, value)| (key.as_str(), value))
    }
}

/// Interns shapes, so that maps with the same keys in the same order share one.
#[derive(Debug)]
pub struct Shapes<'w> {
    arena: &'w Arena,
    hasher: DefaultHashBuilder,
    table: RefCell<HashTable<&'w Shape<'w>>>,
    /// The last bits of the ids of the shapes asked for last, and, by those, the shape that was asked for next.
    last: Cell<u32>,
    next: [Cell<Option<&'w Shape<'w>>>; 1 << GUESSES],
}

/// How many guesses are kept of which shape comes next, as a power of two.
const GUESSES: u32 = 8;

/// Ids stop here; those above stand for other things in caches.
const LAST_ID: u32 = u32::MAX - 16;

static NEXT_ID: AtomicU32 = AtomicU32::new(1);

impl<'w> Shapes<'w> {
    /// An interner whose shapes live in `arena`.
    pub fn new(arena: &'w Arena) -> Self {
        let (hasher, next) = (DefaultHashBuilder::default(), [const { Cell::new(None) }; 1 << GUESSES]);
        Self { arena, hasher, table: RefCell::default(), last: Cell::default(), next }
    }

    /// The shared shape of `keys`; `None` where a key comes twice or the interner is full.
    ///
    /// Inputs are like one another: the shape that came next the last time is tried first, without a hash.
    pub(super) fn intern(&self, keys: &[&str]) -> Option<&'w Shape<'w>> {
        let last = self.last.get();
        let guess = &self.next[(last.wrapping_mul(0x9E37_79B1) >> (u32::BITS - GUESSES)) as usize];
        let shape = match guess.get() {
            Some(shape) if shape.has_keys(keys) => shape,
            _ => self.look_up(keys)?,
        };
        guess.set(Some(shape));
        self.last.set(last << 10 ^ shape.id);
        Some(shape)
    }

    #[inline(never)]
    fn look_up(&self, keys: &[&str]) -> Option<&'w Shape<'w>> {
        let hash = self.hash(keys.iter().copied());
        let mut table = self.table.borrow_mut();
        if let Some(shape) = table.find(hash, |shape| shape.has_keys(keys)) {
            return Some(shape);
        }
        if table.len() >= INTERNED {
            return None;
        }
        // Keys are written again and again: what they are is found out here.
        let copy = |key: &&str| {
            let text = self.arena.copy_text(key);
            text.known(text.is_word())
        };
        let copied = self.arena.bump().alloc_slice_fill_iter(keys.iter().map(copy));
        let shape = Shape::with_id(self.arena, copied, fresh_id())?;
        table.insert_unique(hash, shape, |shape| self.hash(shape.keys.iter().map(Text::as_str)));
        Some(shape)
    }

    fn hash<'k>(&self, keys: impl Iterator<Item = &'k str>) -> u64 {
        let mut hasher = self.hasher.build_hasher();
        keys.for_each(|key| key.hash(&mut hasher));
        hasher.finish()
    }
}

/// An id that no other shape of this process has; 0 (anonymous) when they are used up.
fn fresh_id() -> u32 {
    NEXT_ID.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |id| (id < LAST_ID).then_some(id + 1)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guess_of_the_order_never_changes_the_shape() {
        let arena = Arena::new();
        let mut random = fastrand::Rng::with_seed(7);
        let mut order = Vec::new();
        for _ in 0..2000 {
            // Few keys, so that guesses are right at times, and keys come twice at times.
            let keys: Vec<_> = (0..random.usize(0..4)).map(|_| arena.copy_text(&random.u8(0..6).to_string())).collect();
            let keys: &[_] = arena.bump().alloc_slice_copy(&keys);
            let sorted =
                |shape: Option<&Shape<'_>>| shape.map(|shape| (shape.keys().to_vec().len(), shape.sorted().to_vec()));
            let guessed = Shape::guessed(&arena, keys, &mut order);
            assert_eq!(sorted(guessed), sorted(Shape::without_duplicates(&arena, keys)), "{keys:?}");
        }
    }
}
