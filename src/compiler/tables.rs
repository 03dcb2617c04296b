//! The tables beside the code while they grow: strings, numbers, globals, imports, sources.

use std::hash::BuildHasher;
use std::sync::Arc;

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::bytecode::{Import, ImportKind, Number};
use crate::text::Source;

/// What stands for "none" among indexes.
const NONE: u32 = u32::MAX;

#[derive(Debug, Default)]
pub(super) struct Tables {
    pub pool: String,
    pub strings: Vec<(u32, u32)>,
    pub numbers: Vec<Number>,
    pub globals: Vec<u32>,
    pub imports: Vec<Import>,
    pub sources: Vec<Arc<Source>>,
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

impl Tables {
    pub fn string(&mut self, text: &str) -> u32 {
        let hash = self.hasher.hash_one(text);
        let same = |known: &Known| known.hash == hash && self.str(known.id) == text;
        if let Some(known) = self.string_ids.find(hash, same) {
            return known.id;
        }
        let (id, start) = (index(self.strings.len()), index(self.pool.len()));
        self.pool.push_str(text);
        self.strings.push((start, index(self.pool.len())));
        self.string_ids.insert_unique(hash, Known { hash, id }, |known| known.hash);
        id
    }

    fn str(&self, id: u32) -> &str {
        let (start, end) = self.strings.get(id as usize).copied().unwrap_or_default();
        self.pool.get(start as usize..end as usize).unwrap_or("")
    }

    pub fn number(&mut self, number: Number) -> u32 {
        let same = |other: &Number| match (number, *other) {
            (Number::Int(a), Number::Int(b)) => a == b,
            (Number::Float(a), Number::Float(b)) => a.to_bits() == b.to_bits(),
            _ => false,
        };
        let known = self.numbers.iter().position(same);
        index(known.unwrap_or_else(|| {
            self.numbers.push(number);
            self.numbers.len() - 1
        }))
    }

    pub fn global(&mut self, name: &str) -> u32 {
        let name = self.string(name);
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

    /// An index of the import; there are few, because only functions that exist are imported.
    pub fn import(&mut self, kind: ImportKind, name: &str) -> u32 {
        let known = self.imports.iter().position(|import| import.kind == kind && import.name == name);
        index(known.unwrap_or_else(|| {
            self.imports.push(Import { kind, name: name.to_owned() });
            self.imports.len() - 1
        }))
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
