//! The tables beside the code while they grow: strings, numbers, globals, imports, sources.

use std::sync::Arc;

use hashbrown::HashMap;

use crate::bytecode::{Import, ImportKind, Number};
use crate::text::Source;

#[derive(Debug, Default)]
pub(super) struct Tables {
    pub pool: String,
    pub strings: Vec<(u32, u32)>,
    pub numbers: Vec<Number>,
    pub globals: Vec<u32>,
    pub imports: Vec<Import>,
    pub sources: Vec<Arc<Source>>,
    string_ids: HashMap<Box<str>, u32>,
    global_ids: HashMap<u32, u32>,
    import_ids: HashMap<Import, u32>,
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
        self.strings.push((start, index(self.pool.len())));
        self.string_ids.insert(text.into(), id);
        id
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
        let fresh = index(self.globals.len());
        *self.global_ids.entry(name).or_insert_with(|| {
            self.globals.push(name);
            fresh
        })
    }

    pub fn import(&mut self, kind: ImportKind, name: &str) -> u32 {
        let import = Import { kind, name: name.to_owned() };
        let fresh = index(self.imports.len());
        let imports = &mut self.imports;
        *self.import_ids.entry(import).or_insert_with_key(|import| {
            imports.push(import.clone());
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
