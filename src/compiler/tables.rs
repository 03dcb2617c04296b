//! The tables beside the code while they grow: strings, numbers, globals, imports, sources.

use std::hash::{BuildHasher, Hasher};
use std::sync::Arc;

use hashbrown::hash_table::Entry;
use hashbrown::{DefaultHashBuilder, HashMap, HashTable};

use crate::bytecode::{ImportKind, Number, Signature, StringRow};
use crate::text::Source;

/// What stands for "none" among indexes.
const NONE: u32 = u32::MAX;

#[derive(Debug, Default)]
pub(super) struct Tables {
    pub pool: String,
    pub strings: Vec<StringRow>,
    pub numbers: Vec<[u32; 3]>,
    pub globals: Vec<u32>,
    pub imports: Vec<[u32; 3]>,
    pub sources: Vec<Arc<Source>>,
    failure_ids: HashMap<Vec<u32>, u32>,
    hasher: DefaultHashBuilder,
    string_ids: HashTable<Known>,
    /// For each string, its index among the globals.
    global_of: Vec<u32>,
}

/// A string that the pool holds.
#[derive(Debug, Clone, Copy)]
struct Known {
    hash: u64,
    id: u32,
}

/// An index as the tables store it; tables are bounded far below by the limit on code.
pub(super) fn index(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// The string `id`; the empty string where there is none.
fn piece<'p>(pool: &'p str, strings: &[StringRow], id: u32) -> &'p str {
    let [start, end] = strings.get(id as usize).copied().unwrap_or_default();
    pool.get(start as usize..end as usize).unwrap_or("")
}

impl Tables {
    /// Makes room for the strings of a template of `bytes`.
    pub fn reserve(&mut self, bytes: usize) {
        self.pool.reserve(bytes);
        self.strings.reserve(bytes / 20);
        self.global_of.reserve(bytes / 20);
        self.string_ids.reserve(bytes / 20, |known| known.hash);
    }

    /// Forgets everything, but keeps the memory.
    pub fn clear(&mut self) {
        self.pool.clear();
        self.strings.clear();
        self.numbers.clear();
        self.globals.clear();
        self.imports.clear();
        self.sources.clear();
        self.failure_ids.clear();
        self.string_ids.clear();
        self.global_of.clear();
    }

    pub fn string(&mut self, text: &str) -> u32 {
        let mut hasher = self.hasher.build_hasher();
        hasher.write(text.as_bytes());
        let hash = hasher.finish();
        let Self { pool, strings, string_ids, .. } = self;
        let same = |known: &Known| known.hash == hash && piece(pool, strings, known.id) == text;
        let place = match string_ids.entry(hash, same, |known| known.hash) {
            Entry::Occupied(known) => return known.get().id,
            Entry::Vacant(place) => place,
        };
        let (id, start) = (index(strings.len()), index(pool.len()));
        place.insert(Known { hash, id });
        pool.push_str(text);
        strings.push([start, index(pool.len())]);
        id
    }

    pub fn str(&self, id: u32) -> &str {
        piece(&self.pool, &self.strings, id)
    }

    pub fn number(&mut self, number: Number) -> u32 {
        let number = number.row();
        let known = self.numbers.iter().position(|other| *other == number);
        index(known.unwrap_or_else(|| {
            self.numbers.push(number);
            self.numbers.len() - 1
        }))
    }

    pub fn global(&mut self, name: &str) -> u32 {
        let name = self.string(name);
        self.global_named(name)
    }

    /// The global whose name is the string `name`.
    pub fn global_named(&mut self, name: u32) -> u32 {
        if self.global_of.len() <= name as usize {
            self.global_of.resize(name as usize + 1, NONE);
        }
        let Some(known) = self.global_of.get_mut(name as usize) else { return NONE };
        if *known == NONE {
            *known = index(self.globals.len());
            self.globals.push(name);
        }
        *known
    }

    /// The name of a global; the empty string where there is none.
    pub fn global_name(&self, global: u32) -> &str {
        self.globals.get(global as usize).map_or("", |&name| self.str(name))
    }

    /// An index of the import; there are few, because only functions that exist are imported.
    pub fn import(&mut self, kind: ImportKind, name: &str, signature: Signature) -> u32 {
        let import = [kind as u32, self.string(name), signature.word()];
        let known = self.imports.iter().position(|other| *other == import);
        index(known.unwrap_or_else(|| {
            self.imports.push(import);
            self.imports.len() - 1
        }))
    }

    /// The offset of a record in `failures`, which gets it where it is new.
    pub fn failure(&mut self, failures: &mut Vec<u32>, record: Vec<u32>) -> u32 {
        let fresh = index(failures.len());
        *self.failure_ids.entry(record).or_insert_with_key(|record| {
            failures.extend(record);
            fresh
        })
    }

    /// An index of the source; `likely` is where it probably is.
    pub fn source(&mut self, source: &Arc<Source>, likely: u32) -> u32 {
        let same = |other: &Arc<Source>| Arc::ptr_eq(other, source);
        if self.sources.get(likely as usize).is_some_and(same) {
            return likely;
        }
        let known = self.sources.iter().position(same);
        index(known.unwrap_or_else(|| {
            self.sources.push(source.clone());
            self.sources.len() - 1
        }))
    }
}
