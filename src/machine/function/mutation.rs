//! Maps that a run changes.
//!
//! A map value is immutable and may be shared: inputs by the renders of a fleet, constants by all runs of a program. A
//! language with functions that change maps keeps the changed content beside them, in a table of the run. The table's key
//! is the identity of a map: its place in memory. So a change is visible through every copy of the value, wherever it is
//! (slots, lists, other maps), nothing is written to inputs, and nothing survives the run.
//!
//! The identity of maps:
//!
//! * A copy of a value is the same map. So is a map that a path, a loop or an index takes out of another value.
//! * Every construction makes another map, even of equal or no entries: each empty map has an identity of its own.
//! * A merge of layers makes a map for each pair of maps that it merges, once, before the render. A map that only one
//!   layer has stays the same map.
//! * The content that [`Cx::current`] returns is for reading. It is another map, which changes of the original do not
//!   reach, so a language never hands it on as a value.
//! * Top-level inputs are names, not entries of a map: a path that begins at an input reads the input.
//!
//! Reads of the machine itself, the attribute steps of paths, see changes. Everything else that reads maps calls
//! [`Cx::current`], [`Cx::entry`] or [`Cx::settled`]. A map may come to contain itself; [`Cx::settled`] fails for it with
//! the limit on the depth of values.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use hashbrown::{DefaultHashBuilder, HashMap};
use indexmap::{IndexMap, IndexSet};

use super::context::Cx;
use super::growing::Held;
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_value::{Extended, Map, Type, Value};

/// Bytes charged for an entry of a changed map: the entry and its place in the index, which grow by doubling.
const ENTRY: usize = 96;

/// Bytes charged for the first change of a map: its place among the changed ones, and its index.
const CHANGED: usize = 256;

/// The changed maps of a run.
#[derive(Debug, Default)]
pub(super) struct Mutations<'v> {
    /// Allocated with the first change, because most runs have none.
    changes: OnceCell<Rc<RefCell<Changes<'v>>>>,
}

#[derive(Debug, Default)]
struct Changes<'v> {
    /// The changed maps by identity.
    maps: HashMap<usize, Changed<'v>>,
    /// The ids of their shapes, in the order of the first changes.
    shapes: IndexSet<u32, DefaultHashBuilder>,
}

/// The content of a changed map.
#[derive(Debug, Default)]
struct Changed<'v> {
    entries: IndexMap<&'v str, Value<'v>, DefaultHashBuilder>,
    /// The entries as a map, until the next change.
    content: Option<&'v Map<'v>>,
}

/// Returns the identity of a map.
fn identity(map: &Map<'_>) -> usize {
    std::ptr::from_ref(map).addr()
}

impl<'v> Cx<'v> {
    /// Returns `true` if the run has changed a map.
    #[inline(always)]
    pub fn mutated(&self) -> bool {
        self.mutations.changes.get().is_some()
    }

    /// Returns a map with the current entries of `map`: `map` itself if it was never changed. Values of other kinds are
    /// returned as they are. Maps in the result may be changed ones, too.
    #[inline]
    pub fn current(&self, map: Value<'v>) -> Value<'v> {
        match map {
            Value::Map(of) => Value::Map(self.content(of)),
            other => other,
        }
    }

    /// Returns a map with the current entries of `map`, like [`Cx::current`].
    #[inline]
    pub fn content(&self, map: &'v Map<'v>) -> &'v Map<'v> {
        if self.mutated() { self.changed_content(map).unwrap_or(map) } else { map }
    }

    /// Returns the current value under `key`. `None` if there is none, or if `map` is no map.
    #[inline]
    pub fn entry(&self, map: Value<'v>, key: &str) -> Option<Value<'v>> {
        let Value::Map(map) = map else { return None };
        match self.changed_entry(map, key) {
            Some(entry) => entry,
            None => map.get(key),
        }
    }

    /// Puts `value` under `key` of a map. A new key comes last. Every copy of the map sees the change until the run ends.
    ///
    /// # Errors
    /// An exceeded limit; [`Code::TypeMismatch`] if `map` is no map.
    pub fn set_entry(&self, map: Value<'v>, key: &str, value: Value<'v>) -> Result<()> {
        if usize::from(value.depth()) >= self.limits.value_depth {
            return Err(self.too_deep());
        }
        self.change(map, |changed| {
            if let Some(entry) = changed.entries.get_mut(key) {
                *entry = value;
                return Ok(());
            }
            self.charge(ENTRY + key.len())?;
            changed.entries.insert(self.arena().copy_str(key), value);
            Ok(())
        })
    }

    /// Removes the entry under `key` of a map, if there is one. Every copy of the map sees the change until the run ends.
    ///
    /// # Errors
    /// An exceeded limit; [`Code::TypeMismatch`] if `map` is no map.
    pub fn remove_entry(&self, map: Value<'v>, key: &str) -> Result<()> {
        if self.entry(map, key).is_none() && matches!(map, Value::Map(_)) {
            return Ok(());
        }
        self.change(map, |changed| {
            // The entries after it move up.
            self.spend(changed.entries.len() as u64 / 8)?;
            changed.entries.shift_remove(key);
            Ok(())
        })
    }

    /// Returns the value with the current content of all maps in it, for code that does not know of changed maps:
    /// printing, encoding, comparing. It shares what is unchanged, and is `value` itself if nothing in it was changed.
    ///
    /// # Errors
    /// An exceeded limit. A map that contains itself exceeds the limit on the depth of values.
    #[inline]
    pub fn settled(&self, value: Value<'v>) -> Result<Value<'v>> {
        if self.mutated() { Settling::new(self).settled(value) } else { Ok(value) }
    }

    /// Returns the content of a changed map. `None` if it was never changed.
    fn changed_content(&self, map: &Map<'v>) -> Option<&'v Map<'v>> {
        let mut changes = self.mutations.changes.get()?.borrow_mut();
        let Changed { entries, content } = changes.maps.get_mut(&identity(map))?;
        if content.is_none() {
            // The change has paid for it.
            let entries: Vec<_> = entries.iter().map(|(key, value)| (*key, *value)).collect();
            *content = self.arena().map(&entries).as_map();
        }
        *content
    }

    /// Returns the value under `key` of a changed map, if there is one. `None` if the map was never changed.
    #[inline]
    pub(crate) fn changed_entry(&self, map: &Map<'v>, key: &str) -> Option<Option<Value<'v>>> {
        let changes = self.mutations.changes.get()?.borrow();
        changes.maps.get(&identity(map)).map(|changed| changed.entries.get(key).copied())
    }

    /// Returns the current value under `key` of a map whose shape has the key at `at`, if at all.
    #[inline]
    pub(crate) fn entry_at(&self, map: &Map<'v>, at: u32, key: &str) -> Option<Value<'v>> {
        if let Some(changes) = self.mutations.changes.get()
            && let Some(changed) = changes.borrow().maps.get(&identity(map))
        {
            // Changes of values leave the keys where they are.
            return match changed.entries.get_index(at as usize) {
                Some((known, value)) if *known == key => Some(*value),
                _ => changed.entries.get(key).copied(),
            };
        }
        map.values().get(at as usize).copied()
    }

    /// Returns `true` if a map of the shape with this id was changed.
    #[inline]
    pub(crate) fn has_changed_shape(&self, id: u32) -> bool {
        self.mutations.changes.get().is_some_and(|changes| changes.borrow().shapes.contains(&id))
    }

    /// Returns the ids of the shapes of changed maps without the first `from`, in the order of the first changes.
    pub(crate) fn changed_shapes(&self, from: usize) -> Vec<u32> {
        let Some(changes) = self.mutations.changes.get() else { return Vec::new() };
        changes.borrow().shapes.iter().skip(from).copied().collect()
    }

    /// Returns the identity of a map, as long as the map exists.
    pub fn identity(map: &Map<'_>) -> usize {
        identity(map)
    }

    /// Returns the changed maps whose identities are `among` some, each with its entries.
    pub fn changed_maps(&self, among: impl Fn(usize) -> bool) -> Vec<(usize, Vec<(&'v str, Value<'v>)>)> {
        let Some(changes) = self.mutations.changes.get() else { return Vec::new() };
        let changes = changes.borrow();
        let found = changes.maps.iter().filter(|(identity, _)| among(**identity));
        found
            .map(|(identity, map)| (*identity, map.entries.iter().map(|(key, value)| (*key, *value)).collect()))
            .collect()
    }

    /// Changes the content of a map.
    fn change(&self, map: Value<'v>, change: impl FnOnce(&mut Changed<'v>) -> Result<()>) -> Result<()> {
        let Value::Map(map) = map else { return Err(no_map(map)) };
        let first = self.changed_entry(map, "").is_none();
        if first {
            self.charge(CHANGED + map.len() * ENTRY)?;
        }
        let changes = self.mutations.changes.get_or_init(Rc::default);
        let Changes { maps, shapes } = &mut *changes.borrow_mut();
        let changed = maps.entry(identity(map)).or_insert_with(|| {
            // Maps without a shape of their own have the id 0, for which nothing is cached.
            if map.shape_id() != 0 {
                shapes.insert(map.shape_id());
            }
            Changed { entries: map.iter().collect(), content: None }
        });
        // A read makes a map of the entries, once. Reads cannot fail, so the change pays for it.
        if first || changed.content.take().is_some() {
            let len = changed.entries.len() + 1;
            self.charge((len + 2) * 4 * size_of::<Value<'_>>())?;
            self.spend(len as u64 * u64::from(len.ilog2()) / 4)?;
        }
        change(changed)
    }
}

#[cold]
fn no_map(value: Value<'_>) -> Box<Diagnostic> {
    Diagnostic::new(
        Code::TypeMismatch,
        format!("only a map has entries to change, not a value of kind {}", value.kind()),
    )
}

/// A container whose elements are being settled.
struct Unsettled<'c, 'v> {
    /// The container itself.
    of: Value<'v>,
    /// Its current elements.
    items: &'v [Value<'v>],
    /// The settled ones among them.
    settled: Vec<Value<'v>>,
    /// `true` if a result with these elements differs from the container.
    differs: bool,
    /// The memory of `settled`.
    _held: Held<'c, 'v>,
}

/// The settling of one value. Containers nest in a list of their own, not on the host's stack.
struct Settling<'c, 'v> {
    cx: &'c Cx<'v>,
    open: Vec<Unsettled<'c, 'v>>,
}

impl<'c, 'v> Settling<'c, 'v> {
    fn new(cx: &'c Cx<'v>) -> Self {
        Self { cx, open: Vec::new() }
    }

    fn settled(mut self, value: Value<'v>) -> Result<Value<'v>> {
        if !self.begin(value)? {
            return Ok(value);
        }
        loop {
            if let Some(item) = self.next() {
                if !self.begin(item)? {
                    self.add(item, false);
                }
                continue;
            }
            let (value, differs) = self.end()?;
            if self.open.is_empty() {
                return Ok(value);
            }
            self.add(value, differs);
        }
    }

    /// Returns the next element of the innermost container.
    fn next(&self) -> Option<Value<'v>> {
        let innermost = self.open.last()?;
        innermost.items.get(innermost.settled.len()).copied()
    }

    /// Adds a settled element to the innermost container.
    fn add(&mut self, element: Value<'v>, differs: bool) {
        if let Some(innermost) = self.open.last_mut() {
            innermost.settled.push(element);
            innermost.differs |= differs;
        }
    }

    /// Opens a container. Returns `false` for a value that holds no changed maps.
    fn begin(&mut self, value: Value<'v>) -> Result<bool> {
        self.cx.spend(1)?;
        let changed = |map: &'v Map<'v>| self.cx.changed_content(map).map(|content| (content.values(), true));
        let (items, differs) = match value {
            Value::List(list) => (list.items(), false),
            Value::Map(map) => changed(map).unwrap_or((map.values(), false)),
            Value::Extended(rare) => match rare.kind() {
                Extended::Typed(_, inner) => (std::slice::from_ref(inner), false),
                _ => return Ok(false),
            },
            _ => return Ok(false),
        };
        if !differs && items.iter().all(|item| is_scalar(*item)) {
            return Ok(false);
        }
        if self.open.len() >= self.cx.limits().value_depth {
            return Err(self.cx.too_deep());
        }
        let _held = self.cx.hold(size_of::<Unsettled<'_, '_>>() + size_of_val(items))?;
        self.open.push(Unsettled { of: value, items, settled: Vec::with_capacity(items.len()), differs, _held });
        Ok(true)
    }

    /// Closes the innermost container. Returns its value, and `true` if it differs from the container.
    fn end(&mut self) -> Result<(Value<'v>, bool)> {
        let Some(Unsettled { of, settled, differs, .. }) = self.open.pop() else {
            return Ok((Value::Undefined, false));
        };
        if !differs {
            return Ok((of, false));
        }
        let value = match of {
            Value::Map(map) => {
                let shape = self.cx.content(map).shape();
                Value::Map(self.cx.map_of_values(shape, settled.into_iter())?)
            }
            Value::Extended(rare) => self.of_type(rare.kind(), &settled)?,
            _ => self.cx.list(&settled)?,
        };
        Ok((value, true))
    }

    fn of_type(&self, kind: &Extended<'v>, settled: &[Value<'v>]) -> Result<Value<'v>> {
        let (ty, inner): (Type<'v>, _) = match (kind, settled) {
            (Extended::Typed(ty, _), [inner]) => (*ty, *inner),
            (other, _) => return self.cx.extended(*other),
        };
        self.cx.extended(Extended::Typed(ty, inner))
    }
}

/// Returns `true` if a value cannot hold a map.
fn is_scalar(value: Value<'_>) -> bool {
    !matches!(value, Value::List(_) | Value::Map(_) | Value::Extended(_))
}
