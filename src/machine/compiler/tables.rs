//! The tables of a program under construction, with the indexes that keep their rows unique.

use std::hash::{BuildHasher, Hasher};
use std::sync::Arc;

use hashbrown::hash_table::Entry;
use hashbrown::{DefaultHashBuilder, HashMap, HashTable};

use crate::bytecode::{Dialect, ImportKind, Number, POOL_SLACK, Parts, Path, Program, Signature, StringRow};
use dropforge_base::diagnostics::Result;
use dropforge_base::stdlib::small_sort::SmallSort as _;
use dropforge_base::text::Source;

/// The index that stands for "none".
const NONE: u32 = u32::MAX;

/// The tables of one program.
#[derive(Debug)]
pub(super) struct TablesBuilder {
    pub parts: Parts,
    sources: Vec<Arc<Source>>,
    /// The indexes of sources, by their addresses.
    source_of: HashMap<*const Source, u32>,
    /// The indexes of numbers.
    number_of: HashMap<[u32; 3], u32>,
    hasher: DefaultHashBuilder,
    strings: HashTable<Interned>,
    failures: HashMap<Vec<u32>, u32>,
    /// Offsets of paths by their content.
    paths: HashTable<u32>,
    /// For each string, its index among the globals.
    global_of: Vec<u32>,
    /// For each string, the latest path with this name.
    path_of: Vec<u32>,
    /// For each string, the latest import with this name.
    import_of: Vec<u32>,
}

/// A string of the pool.
#[derive(Debug, Clone, Copy)]
struct Interned {
    hash: u64,
    id: u32,
}

/// Narrows an index. Tables stay far below the limit, because the code is bounded.
pub(super) fn index(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// Returns the string `id`, or the empty string.
fn piece<'p>(pool: &'p str, strings: &[StringRow], id: u32) -> &'p str {
    let [start, end] = strings.get(id as usize).copied().unwrap_or_default();
    pool.get(start as usize..end as usize).unwrap_or("")
}

/// Returns the index of the row, which is appended if it is new.
fn row<R: PartialEq>(rows: &mut Vec<R>, row: R) -> u32 {
    let found = rows.iter().position(|other| *other == row);
    index(found.unwrap_or_else(|| {
        rows.push(row);
        rows.len() - 1
    }))
}

/// Returns the entry of a string in an index by string ids.
fn of_string(ids: &mut Vec<u32>, string: u32) -> &mut u32 {
    let at = string as usize;
    if ids.len() <= at {
        ids.resize(at + 1, NONE);
    }
    &mut ids[at]
}

impl TablesBuilder {
    pub fn new(dialect: Dialect) -> Self {
        let mut tables = Self {
            parts: Parts::new(dialect),
            sources: Vec::new(),
            source_of: HashMap::new(),
            number_of: HashMap::new(),
            hasher: DefaultHashBuilder::default(),
            strings: HashTable::new(),
            failures: HashMap::new(),
            paths: HashTable::new(),
            global_of: Vec::new(),
            path_of: Vec::new(),
            import_of: Vec::new(),
        };
        tables.clear();
        tables
    }

    /// Reserves the memory usually needed for a template of `bytes`.
    pub fn reserve(&mut self, bytes: usize) {
        self.parts.pool.reserve(bytes);
        self.parts.strings.reserve(bytes / 20);
        self.parts.words.reserve(bytes / 12);
        self.parts.paths.reserve(bytes / 6);
        self.parts.sites.reserve(bytes / 32);
        self.parts.spans.reserve(bytes / 24);
        self.global_of.reserve(bytes / 20);
        self.path_of.reserve(bytes / 20);
        self.strings.reserve(bytes / 20, |interned| interned.hash);
        self.paths.reserve(bytes / 40, |_| 0); // empty: no hash is needed
    }

    /// Empties the tables but keeps their memory.
    pub fn clear(&mut self) {
        self.parts.clear();
        self.parts.scopes.push(0); // offset 0 means "none"
        self.sources.clear();
        self.source_of.clear();
        self.number_of.clear();
        self.strings.clear();
        self.failures.clear();
        self.paths.clear();
        self.global_of.clear();
        self.path_of.clear();
        self.import_of.clear();
    }

    /// Builds the program.
    pub fn program(&mut self) -> Result<Program> {
        let sources = std::mem::take(&mut self.sources);
        for source in &sources {
            let name = self.string(source.name());
            self.parts.sources.push([name, 0, index(source.text().len())]);
        }
        self.sort_names();
        self.parts.pool.push_str(POOL_SLACK);
        Program::new(&mut self.parts, sources)
    }

    /// Sorts the names of chunks. The last of several chunks with one name keeps it.
    fn sort_names(&mut self) {
        let Parts { names, strings, pool, .. } = &mut self.parts;
        names.reverse();
        names.small_sort_by(|a, b| piece(pool, strings, a[0]).cmp(piece(pool, strings, b[0])));
        names.dedup_by_key(|row| row[0]);
    }

    pub fn string(&mut self, text: &str) -> u32 {
        let mut hasher = self.hasher.build_hasher();
        hasher.write(text.as_bytes());
        let hash = hasher.finish();
        let Parts { pool, strings, .. } = &mut self.parts;
        let same = |other: &Interned| other.hash == hash && piece(pool, strings, other.id) == text;
        if let Some(interned) = self.strings.find(hash, same) {
            return interned.id;
        }
        let (id, start) = (index(strings.len()), index(pool.len()));
        self.strings.insert_unique(hash, Interned { hash, id }, |interned| interned.hash);
        pool.push_str(text);
        strings.push([start, index(pool.len())]);
        id
    }

    pub fn str(&self, id: u32) -> &str {
        piece(&self.parts.pool, &self.parts.strings, id)
    }

    pub fn number(&mut self, number: Number) -> u32 {
        let numbers = &mut self.parts.numbers;
        *self.number_of.entry(number.row()).or_insert_with_key(|row| {
            numbers.push(*row);
            index(numbers.len() - 1)
        })
    }

    pub fn global(&mut self, name: &str) -> u32 {
        let name = self.string(name);
        self.global_named(name)
    }

    /// Returns the global whose name is the string `name`.
    pub(crate) fn global_named(&mut self, name: u32) -> u32 {
        let global = of_string(&mut self.global_of, name);
        if *global == NONE {
            *global = index(self.parts.globals.len());
            self.parts.globals.push(name);
        }
        *global
    }

    /// Returns the name of a global, or the empty string.
    pub(crate) fn global_name(&self, global: u32) -> &str {
        self.parts.globals.get(global as usize).map_or("", |&name| self.str(name))
    }

    pub fn import(&mut self, kind: ImportKind, name: &str, signature: Signature) -> u32 {
        let name = self.string(name);
        let import = [kind as u32, name, signature.word()];
        let latest = of_string(&mut self.import_of, name);
        if self.parts.imports.get(*latest as usize) != Some(&import) {
            *latest = row(&mut self.parts.imports, import);
        }
        *latest
    }

    /// Returns the offset of a record of a failure.
    pub fn failure(&mut self, record: Vec<u32>) -> u32 {
        let records = &mut self.parts.failures;
        let fresh = index(records.len());
        *self.failures.entry(record).or_insert_with_key(|record| {
            records.extend(record);
            fresh
        })
    }

    /// Returns the index of the source. `likely` is tried first.
    #[inline]
    pub fn source(&mut self, source: &Arc<Source>, likely: u32) -> u32 {
        match self.sources.get(likely as usize) {
            Some(other) if Arc::ptr_eq(other, source) => likely,
            _ => self.other_source(source),
        }
    }

    #[inline(never)]
    fn other_source(&mut self, source: &Arc<Source>) -> u32 {
        *self.source_of.entry(Arc::as_ptr(source)).or_insert_with(|| {
            self.sources.push(source.clone());
            index(self.sources.len() - 1)
        })
    }

    /// Returns the path at offset `at`.
    pub fn path_at(&self, at: u32) -> Option<Path<'_>> {
        Path::at(self.parts.paths.get(at as usize..)?)
    }

    /// Returns the latest path with the string `name` as its name.
    pub(crate) fn path_named(&self, name: u32) -> Option<u32> {
        self.path_of.get(name as usize).copied().filter(|path| *path != NONE)
    }

    /// Removes the path that was appended at `at` if there is an equal one. Returns the offset of the remaining one.
    pub(crate) fn unique_path(&mut self, at: usize, name: u32) -> u32 {
        let (records, hasher) = (&mut self.parts.paths, &self.hasher);
        // Everything except the index of the first cache.
        let content = |at: usize| {
            let words = records.get(at..).unwrap_or(&[]);
            let len = Path::at(words).map_or(0, |path| path.words());
            (words.first(), words.get(2..len))
        };
        // The name and the first root distinguish nearly all paths.
        let hash = |at: usize| {
            let word = |nth: usize| u64::from(records.get(at + nth).copied().unwrap_or(0));
            hasher.hash_one(word(2) << 32 | word(4))
        };
        let same = |other: &u32| content(*other as usize) == content(at);
        let path = match self.paths.entry(hash(at), same, |other| hash(*other as usize)) {
            Entry::Occupied(other) => {
                let other = *other.get();
                records.truncate(at);
                other
            }
            Entry::Vacant(entry) => {
                entry.insert(index(at));
                self.parts.properties.caches += index(Path::at(&records[at..]).map_or(0, |path| path.len()));
                index(at)
            }
        };
        *of_string(&mut self.path_of, name) = path;
        path
    }
}
