//! The tables beside the code while they grow: strings, numbers, globals, imports, sources.

use std::sync::Arc;

use hashbrown::HashMap;

use crate::bytecode::{ImportKind, Number, Signature, StringRow};
use crate::text::Source;

#[derive(Debug, Default)]
pub(super) struct Tables {
    pub pool: String,
    pub strings: Vec<StringRow>,
    pub numbers: Vec<[u32; 3]>,
    pub globals: Vec<u32>,
    pub imports: Vec<[u32; 3]>,
    pub sources: Vec<Arc<Source>>,
    string_ids: HashMap<Box<str>, u32>,
    global_ids: HashMap<u32, u32>,
    failure_ids: HashMap<Vec<u32>, u32>,
    import_ids: HashMap<[u32; 3], u32>,
}

/// An index as the tables store it; tables are bounded far below by the limit on code.
pub(super) fn index(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

impl Tables {
    pub fn string(&mut self, text: &str) -> u32 {
        if let Some(id) = self.string_ids.get(text) {
            return *id;
        }
        let (id, start) = (index(self.strings.len()), index(self.pool.len()));
        self.pool.push_str(text);
        self.strings.push([start, index(self.pool.len())]);
        self.string_ids.insert(text.into(), id);
        id
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
        let fresh = index(self.globals.len());
        *self.global_ids.entry(name).or_insert_with(|| {
            self.globals.push(name);
            fresh
        })
    }

    pub fn import(&mut self, kind: ImportKind, name: &str, signature: Signature) -> u32 {
        let import = [kind as u32, self.string(name), signature.word()];
        let fresh = index(self.imports.len());
        let imports = &mut self.imports;
        *self.import_ids.entry(import).or_insert_with(|| {
            imports.push(import);
            fresh
        })
    }

    /// The offset of a record in `failures`, which gets it where it is new.
    pub fn failure(&mut self, failures: &mut Vec<u32>, record: Vec<u32>) -> u32 {
        let fresh = index(failures.len());
        *self.failure_ids.entry(record).or_insert_with_key(|record| {
            failures.extend(record);
            fresh
        })
    }

    pub fn source(&mut self, source: &Arc<Source>) -> u32 {
        let known = self.sources.iter().position(|other| Arc::ptr_eq(other, source));
        index(known.unwrap_or_else(|| {
            self.sources.push(source.clone());
            self.sources.len() - 1
        }))
    }
}
