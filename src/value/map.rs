//! Maps: a shape (the keys, shared by all maps with the same keys in the same order) and a row of values.
//!
//! A shape interned in [`Shapes`] has an id that is unique in the process. A read site can cache (id, index) and find
//! the value again without comparing keys. Shapes created during a render are anonymous (id 0) and are searched.

use std::cell::{Cell, RefCell};
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU32, Ordering};

use hashbrown::DefaultHashBuilder;
use hashbrown::hash_table::HashTable;

use super::borrowed::Summary;
use super::outline::{KeyStep, Learned, Outline, Place, Reads, STEPS};
use super::read_paths::ReadPaths;
use super::{Arena, Text, Value};

/// Largest map that is searched linearly, which compares few keys besides their lengths. Larger ones are searched by their
/// sorted permutation.
const LINEAR: usize = 24;

/// Maximum number of shapes in one interner. Further shapes are anonymous, so hostile inputs cannot fill memory.
const INTERNED: usize = 4096;

/// The keys of a map in insertion order, and the permutation that sorts them.
#[derive(Debug, Clone, Copy)]
pub struct Shape<'v> {
    id: u32,
    keys: &'v [Text<'v>],
    sorted: &'v [u32],
}

impl<'v> Shape<'v> {
    /// Returns an anonymous shape, or `None` if a key is duplicated.
    pub fn without_duplicates(arena: &'v Arena, keys: &'v [Text<'v>]) -> Option<&'v Shape<'v>> {
        Self::with_id(arena, keys, 0)
    }

    /// Returns the indexes of `keys` in byte order of the keys.
    pub fn sorted_places(keys: &[Text<'_>]) -> Vec<u32> {
        let mut sorted: Vec<u32> = places(keys).collect();
        sort(keys, &mut sorted);
        sorted
    }

    /// Returns a shape with an id of `keys`, which `sorted` puts in order. `None` if it does not or if a key is
    /// duplicated.
    pub fn with_order(keys: &'v [Text<'v>], sorted: &'v [u32]) -> Option<Self> {
        let whole = keys.len() == sorted.len();
        (whole && is_sorted(keys, sorted)).then(|| Shape { id: fresh_id(), keys, sorted })
    }

    /// Returns an anonymous shape, or `None` if a key is duplicated. `order` is the order of an earlier shape: if it
    /// fits these keys, they need no sorting; otherwise it is replaced.
    pub fn guessed(arena: &'v Arena, keys: &'v [Text<'v>], order: &mut Vec<u32>) -> Option<&'v Shape<'v>> {
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

    /// Returns the keys in insertion order.
    pub const fn keys(&self) -> &'v [Text<'v>] {
        self.keys
    }

    /// Returns the id, unique in the process, or 0 for an anonymous shape.
    pub const fn id(&self) -> u32 {
        self.id
    }

    /// Returns the indexes of the keys in byte order of the keys.
    pub const fn sorted(&self) -> &'v [u32] {
        self.sorted
    }

    /// Returns the index of `key`.
    pub fn find(&self, key: &str) -> Option<usize> {
        if self.keys.len() <= LINEAR {
            return self.keys.iter().position(|candidate| candidate.as_str() == key);
        }
        let at = self.sorted.binary_search_by(|&at| self.keys[at as usize].as_str().cmp(key)).ok()?;
        Some(self.sorted[at] as usize)
    }
}

/// Returns the indexes of `keys`.
fn places(keys: &[Text<'_>]) -> std::ops::Range<u32> {
    0..u32::try_from(keys.len()).unwrap_or(u32::MAX)
}

/// Sorts indexes by the bytes of their keys. Returns `true` if no key is duplicated.
fn sort(keys: &[Text<'_>], places: &mut [u32]) -> bool {
    places.sort_unstable_by_key(|&at| keys[at as usize].as_str());
    is_sorted(keys, places)
}

/// Returns `true` if the keys at `places` ascend without duplicates.
fn is_sorted(keys: &[Text<'_>], places: &[u32]) -> bool {
    places.is_sorted_by(|&a, &b| keys[a as usize].as_str() < keys[b as usize].as_str())
}

/// A map value: a shape and one value for each of its keys.
#[derive(Debug, Clone, Copy)]
pub struct Map<'v> {
    shape: &'v Shape<'v>,
    values: &'v [Value<'v>],
    /// A copy of the shape's id, so that a read site does not load the shape.
    id: u32,
    summary: Summary,
}

impl<'v> Map<'v> {
    /// Returns a map with the keys of `shape`. Read sites rely on there being one value for each key.
    pub(super) fn new(shape: &'v Shape<'v>, values: &'v [Value<'v>]) -> Self {
        Self::summarized(shape, values, Summary::around(values))
    }

    /// Returns a map whose summary is already known.
    #[inline(always)]
    pub(super) fn summarized(shape: &'v Shape<'v>, values: &'v [Value<'v>], summary: Summary) -> Self {
        assert!(shape.keys.len() == values.len(), "a value for each key");
        Self { shape, values, id: shape.id, summary }
    }

    /// Returns `true` if a number within does not fit 64 bits.
    pub(super) const fn is_long(&self) -> bool {
        self.summary.long
    }

    /// Nesting depth of lists and maps.
    #[inline(always)]
    #[doc(hidden)]
    pub const fn depth(&self) -> u16 {
        self.summary.depth
    }

    /// Returns the keys and their order.
    #[doc(hidden)]
    pub const fn shape(&self) -> &'v Shape<'v> {
        self.shape
    }

    /// Returns the shape's id.
    #[inline(always)]
    #[doc(hidden)]
    pub const fn shape_id(&self) -> u32 {
        self.id
    }

    /// Returns the values in insertion order.
    pub const fn values(&self) -> &'v [Value<'v>] {
        self.values
    }

    /// Returns the number of entries.
    pub const fn len(&self) -> usize {
        self.values.len()
    }

    /// Returns `true` if there are no entries.
    pub const fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    pub(super) const fn summary(&self) -> Summary {
        self.summary
    }

    /// Returns the value under `key`.
    pub fn get(&self, key: &str) -> Option<Value<'v>> {
        self.slot(key).copied()
    }

    /// Returns the place of the value under `key`.
    #[inline]
    #[doc(hidden)]
    pub fn slot(&self, key: &str) -> Option<&'v Value<'v>> {
        self.values.get(self.shape.find(key)?)
    }

    /// Returns the keys and the places of their values, in insertion order.
    #[doc(hidden)]
    pub fn slots(&self) -> impl ExactSizeIterator<Item = (&'v str, &'v Value<'v>)> + use<'v> {
        self.shape.keys.iter().map(Text::as_str).zip(self.values)
    }

    /// Returns the entries in insertion order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&'v str, Value<'v>)> + use<'v> {
        self.shape.keys.iter().map(Text::as_str).zip(self.values.iter().copied())
    }

    /// Returns the entry at `at` in byte order of the keys.
    #[doc(hidden)]
    pub fn sorted_entry(&self, at: usize) -> Option<(&'v Text<'v>, Value<'v>)> {
        let at = *self.shape.sorted.get(at)? as usize;
        Some((self.shape.keys.get(at)?, *self.values.get(at)?))
    }

    /// Returns the entries in byte order of the keys.
    pub fn iter_sorted(&self) -> impl Iterator<Item = (&'v str, Value<'v>)> + use<'v> {
        let map = *self;
        (0..map.len()).filter_map(move |at| map.sorted_entry(at)).map(|(key, value)| (key.as_str(), value))
    }
}

/// An interner of shapes. Maps with the same keys in the same order share one shape.
#[derive(Debug)]
pub struct Shapes<'w> {
    arena: &'w Arena,
    hasher: DefaultHashBuilder,
    table: RefCell<HashTable<&'w Shape<'w>>>,
    /// A hash of the ids of recently requested shapes, and the predicted next shape for each such hash.
    last: Cell<u32>,
    next: [Cell<Option<&'w Shape<'w>>>; 1 << GUESSES],
    /// The outline of whole inputs, and how many steps and outlines there may be in addition.
    inputs: Learned<'w>,
    room: Cell<u32>,
    /// What is read of inputs, if that is known.
    paths: Option<&'w ReadPaths>,
}

/// Number of predicted shapes, as a power of two.
const GUESSES: u32 = 8;

/// Largest shape id. Caches use higher numbers for other purposes.
const LAST_ID: u32 = (1 << 31) - 16;

static NEXT_ID: AtomicU32 = AtomicU32::new(1);

impl<'w> Shapes<'w> {
    /// Returns an interner whose shapes live in `arena`.
    pub fn new(arena: &'w Arena) -> Self {
        let (hasher, next) = (DefaultHashBuilder::default(), [const { Cell::new(None) }; 1 << GUESSES]);
        let (inputs, room) = (Learned::new(Reads::All), Cell::new(STEPS));
        Self { arena, hasher, table: RefCell::default(), last: Cell::default(), next, inputs, room, paths: None }
    }

    /// Returns an interner for inputs that are read once: it does not learn which keys follow each other where.
    pub fn once(arena: &'w Arena) -> Self {
        Self { room: Cell::new(0), ..Self::new(arena) }
    }

    /// Returns an interner for inputs of which only `paths` are read. [`InputBuilder::json`](super::InputBuilder::json)
    /// and [`InputBuilder::data_map`](super::InputBuilder::data_map) put an empty value of the same kind in place of any
    /// other, and numbers, `true`, `false` and `null` as they are. Texts are checked as a whole nevertheless.
    ///
    /// ```
    /// use dropforge::{Dialect, Engine};
    /// use dropforge::value::{Arena, InputBuilder, ReadPaths, Shapes};
    /// let template = Engine::new().compile(Dialect::Tera, "t", "{{ image.tag }}")?;
    /// let mut paths = ReadPaths::default();
    /// template.program().add_reads(&mut paths);
    /// let (arena, names) = (Arena::new(), Arena::new());
    /// let shapes = Shapes::reading(&names, &paths);
    /// let inputs = InputBuilder::new(&arena, &shapes).json(r#"{"image": {"tag": "v1", "note": "new"}, "owners": ["a"]}"#)?;
    /// assert_eq!(serde_json::to_string(&inputs.to_data())?, r#"{"image":{"tag":"v1","note":""},"owners":[]}"#);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn reading(arena: &'w Arena, paths: &'w ReadPaths) -> Self {
        let mut shapes = Self::new(arena);
        if !paths.everything {
            let start = arena.bump().alloc_slice_copy(&[ReadPaths::ROOT]);
            (shapes.paths, shapes.inputs) = (Some(paths), Learned::new(Reads::Part(start)));
        }
        shapes
    }

    /// Returns how much is read of the value at a key of a map, or of the items of a list if `key` is `None`.
    fn below(&self, reads: Reads<'w>, key: Option<&str>) -> Reads<'w> {
        let (Some(paths), Reads::Part(nodes)) = (self.paths, reads) else { return reads };
        match paths.below(nodes, key) {
            found if found.is_empty() => Reads::Nothing,
            found if paths.are_whole(&found) => Reads::All,
            found => Reads::Part(self.arena.bump().alloc_slice_copy(&found)),
        }
    }

    /// Returns `true` if there is no room for another shape or outline.
    pub(super) fn is_full(&self) -> bool {
        self.room.get() == 0 || self.table.borrow().len() >= INTERNED
    }

    /// Returns the place of whole inputs.
    pub(super) fn inputs(&self) -> Place<'_, 'w> {
        Some(&self.inputs)
    }

    /// Returns the outline of a place. `None` if there is none, and no room for one.
    #[inline(always)]
    pub(super) fn outline(&self, place: Place<'_, 'w>) -> Option<&'w Outline<'w>> {
        let learned = place?;
        learned.outline.get().or_else(|| self.new_outline(learned))
    }

    #[cold]
    fn new_outline(&self, learned: &Learned<'w>) -> Option<&'w Outline<'w>> {
        self.room.set(self.room.get().checked_sub(1)?);
        let items = self.below(learned.reads, None);
        learned.outline.set(Some(self.arena.bump().alloc(Outline::new(learned.reads, items))));
        learned.outline.get()
    }

    /// Returns the step from `step` to `key`. `None` if there is none, and no room for one.
    pub(super) fn follow(&self, step: &'w KeyStep<'w>, key: &str) -> Option<&'w KeyStep<'w>> {
        step.follow(key, self.arena, &self.room, || self.below(step.map(), Some(key)))
    }

    /// Returns the shared shape of `keys`, or `None` if a key is duplicated or the interner is full.
    ///
    /// Inputs resemble one another: the shape that followed last time is tried first, without hashing the keys.
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
        let copy = |key: &&str| self.arena.copy_text(key).classified();
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

/// Returns an unused shape id, or 0 (anonymous) when all are used up.
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
            // Few keys, so that guesses and duplicates are both frequent.
            let keys: Vec<_> = (0..random.usize(0..4)).map(|_| arena.copy_text(&random.u8(0..6).to_string())).collect();
            let keys: &[_] = arena.bump().alloc_slice_copy(&keys);
            let sorted =
                |shape: Option<&Shape<'_>>| shape.map(|shape| (shape.keys().to_vec().len(), shape.sorted().to_vec()));
            let guessed = Shape::guessed(&arena, keys, &mut order);
            assert_eq!(sorted(guessed), sorted(Shape::without_duplicates(&arena, keys)), "{keys:?}");
        }
    }
}
