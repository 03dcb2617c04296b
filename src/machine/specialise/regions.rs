//! What rows of positions say about code: the calls that it was inlined for, and the parts of a document that it builds.

use std::cmp::Reverse;
use std::hash::Hash;

use hashbrown::HashMap;

use super::walk::Walk;
use crate::bytecode::{Program, Region};
use crate::vm::note_of_name;
use dropforge_base::stdlib::small_sort::SmallSort as _;

/// No fact.
const NONE: u32 = 0;

/// Facts about code that nest, each set from a word on. Code with the same outer facts shares them.
#[derive(Debug)]
pub(super) struct Nested<T> {
    /// The innermost facts by their ids, which count from 1, each with the id of the one around it.
    facts: Vec<(T, u32)>,
    ids: HashMap<(T, u32), u32>,
    /// Words, each with the id of the innermost fact from there on.
    set: Vec<(u32, u32)>,
}

impl<T> Default for Nested<T> {
    fn default() -> Self {
        Self { facts: Vec::new(), ids: HashMap::new(), set: Vec::new() }
    }
}

impl<T: Copy + Eq + Hash> Nested<T> {
    /// Returns the number of words that facts are set from.
    pub fn len(&self) -> usize {
        self.set.len()
    }

    pub fn truncate(&mut self, len: usize) {
        self.set.truncate(len);
    }

    /// Sets the facts from word `here` on, outermost first.
    pub fn set(&mut self, here: u32, facts: impl Iterator<Item = T>) {
        let innermost = facts.fold(NONE, |around, fact| self.id(fact, around));
        self.put(here, innermost);
    }

    fn put(&mut self, here: u32, innermost: u32) {
        if self.set.last().map_or(NONE, |(_, last)| *last) != innermost {
            self.set.push((here, innermost));
        }
    }

    fn id(&mut self, fact: T, around: u32) -> u32 {
        let next = u32::try_from(self.facts.len() + 1).unwrap_or(u32::MAX);
        let id = *self.ids.entry((fact, around)).or_insert(next);
        if id == next {
            self.facts.push((fact, around));
        }
        id
    }

    /// Returns the facts about a word, outermost first.
    pub fn at(&self, word: u32) -> Vec<T> {
        let behind = self.set.partition_point(|(from, _)| *from <= word);
        behind.checked_sub(1).and_then(|nth| self.set.get(nth)).map_or(Vec::new(), |(_, id)| self.around(*id))
    }

    fn around(&self, mut id: u32) -> Vec<T> {
        let mut found = Vec::new();
        while let Some((fact, around)) = id.checked_sub(1).and_then(|nth| self.facts.get(nth as usize)) {
            found.push(*fact);
            id = *around;
        }
        found.reverse();
        found
    }

    /// Calls `row` with the range of each fact in code that ends at `end`. The ranges nest and are sorted by their ends.
    pub fn each(&self, end: u32, mut row: impl FnMut(u32, u32, T)) {
        let mut open: Vec<(T, u32)> = Vec::new();
        for (at, id) in self.set.iter().chain([&(end, NONE)]) {
            let facts = self.around(*id);
            let same = open.iter().zip(&facts).take_while(|((one, _), other)| one == *other).count();
            while open.len() > same {
                if let Some((fact, from)) = open.pop().filter(|(_, from)| from < at) {
                    row(from, *at, fact);
                }
            }
            open.extend(facts.iter().skip(same).map(|fact| (*fact, *at)));
        }
    }
}

impl Nested<Region> {
    /// Returns the regions of a program.
    pub fn of(program: &Program) -> Self {
        let mut rows: Vec<_> = program.tables().regions.iter().enumerate().collect();
        // If two end together, the inner one comes first.
        rows.small_sort_by_key(|(nth, [from, to, ..])| (*from, Reverse(*to), Reverse(*nth)));
        let (mut open, mut found) = (Vec::new(), Self::default());
        for (_, &row) in rows {
            let [from, to, ..] = row;
            found.close(&mut open, from);
            let around = open.last().map_or(NONE, |(_, id)| *id);
            let id = found.id(Region::of(row), around);
            open.push((to, id));
            found.put(from, id);
        }
        found.close(&mut open, u32::MAX);
        found
    }

    /// Closes the regions that end up to a word.
    fn close(&mut self, open: &mut Vec<(u32, u32)>, until: u32) {
        while let Some((end, _)) = open.pop_if(|(end, _)| *end <= until) {
            self.put(end, open.last().map_or(NONE, |(_, id)| *id));
        }
    }
}

impl Walk<'_> {
    /// Sets the regions of the next instruction, which takes the place of the original's at `at`.
    pub(super) fn set_regions(&mut self, at: u32) {
        let regions: Vec<Region> = self.regions.at(at).into_iter().map(|region| self.region(region)).collect();
        let here = self.out.here();
        self.out.regions.set(here, regions.into_iter());
    }

    /// Returns a region in the residual's frame.
    fn region(&mut self, region: Region) -> Region {
        match region {
            Region::Element(nth) => Region::Element(self.frame.captures + nth),
            Region::Name(name, slot) => {
                let slot = self.frame.base + slot;
                let known = self.state.slots.get(slot as usize).and_then(|slot| slot.known.as_ref());
                match known.map(|fixed| note_of_name(self.code.str(name), fixed.value)) {
                    Some(note) => Region::Note(self.out.string(&note)),
                    None => Region::Name(name, slot),
                }
            }
            other => other,
        }
    }

    /// Stores the slots whose values an error of the instruction at `at` shows, unless they are known.
    pub(super) fn store_named(&mut self, at: u32) {
        for region in self.regions.at(at) {
            let Region::Name(_, slot) = region else { continue };
            let slot = self.frame.base + slot;
            if self.state.slots.get(slot as usize).is_some_and(|slot| slot.alias.is_some()) {
                self.sync(slot);
            }
        }
    }
}
