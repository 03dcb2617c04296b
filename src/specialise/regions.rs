//! What rows of positions say about code: the calls that it was inlined for, and the parts of a document that it builds.

use std::cmp::Reverse;
use std::rc::Rc;

use super::walk::Walk;
use crate::bytecode::{Program, Region};
use crate::vm::{Semantics, note_of_name};

/// Facts about code, innermost first, each set from a word on.
#[derive(Debug)]
pub(super) struct Nested<T>(Vec<(u32, Rc<[T]>)>);

impl<T: Copy + PartialEq> Nested<T> {
    pub const NONE: Self = Nested(Vec::new());

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn truncate(&mut self, len: usize) {
        self.0.truncate(len);
    }

    /// Sets the facts from word `here` on.
    pub fn set(&mut self, here: u32, facts: &Rc<[T]>) {
        if self.0.last().map_or(!facts.is_empty(), |(_, last)| last != facts) {
            self.0.push((here, facts.clone()));
        }
    }

    /// Calls `row` with the range of each fact in code that ends at `end`. The ranges nest and are sorted by their ends.
    pub fn each(&self, end: u32, mut row: impl FnMut(u32, u32, T)) {
        let mut open: Vec<(T, u32)> = Vec::new();
        let end: (u32, Rc<[T]>) = (end, Rc::from(Vec::new()));
        for (at, facts) in self.0.iter().chain([&end]) {
            let same = open.iter().zip(facts.iter().rev()).take_while(|((one, _), other)| one == *other).count();
            while open.len() > same {
                if let Some((fact, from)) = open.pop().filter(|(_, from)| from < at) {
                    row(from, *at, fact);
                }
            }
            open.extend(facts.iter().rev().skip(same).map(|fact| (*fact, *at)));
        }
    }
}

/// The regions of a program by words, innermost first.
#[derive(Debug)]
pub(super) struct Regions(Nested<Region>);

impl Regions {
    pub fn of(program: &Program) -> Self {
        let mut rows: Vec<_> = program.tables().regions.iter().enumerate().collect();
        // If two end together, the inner one comes first.
        rows.sort_by_key(|(nth, [from, to, ..])| (*from, Reverse(*to), Reverse(*nth)));
        let (mut open, mut found) = (Vec::new(), Nested::NONE);
        for (_, &row) in rows {
            let [from, to, ..] = row;
            close(&mut open, from, &mut found);
            open.push((to, Region::of(row)));
            found.set(from, &inner_first(&open));
        }
        close(&mut open, u32::MAX, &mut found);
        Self(found)
    }

    /// Returns the regions around a word.
    fn at(&self, word: u32) -> &[Region] {
        let behind = self.0.0.partition_point(|(from, _)| *from <= word);
        behind.checked_sub(1).and_then(|nth| self.0.0.get(nth)).map_or(&[], |(_, regions)| regions)
    }
}

/// Closes the regions that end up to a word.
fn close(open: &mut Vec<(u32, Region)>, until: u32, found: &mut Nested<Region>) {
    while let Some((end, _)) = open.pop_if(|(end, _)| *end <= until) {
        found.set(end, &inner_first(open));
    }
}

fn inner_first(open: &[(u32, Region)]) -> Rc<[Region]> {
    open.iter().rev().map(|(_, region)| *region).collect()
}

impl<S: Semantics> Walk<'_, S> {
    /// Sets the regions of the next instruction, which takes the place of the original's at `at`.
    pub(super) fn set_regions(&mut self, at: u32) {
        let regions = self.regions.clone();
        let regions = regions.at(at).iter().map(|region| self.region(*region)).collect();
        let here = self.out.here();
        self.out.regions.set(here, &regions);
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
        let regions = self.regions.clone();
        for region in regions.at(at) {
            let Region::Name(_, slot) = region else { continue };
            let slot = self.frame.base + slot;
            if self.state.slots.get(slot as usize).is_some_and(|slot| slot.alias.is_some()) {
                self.sync(slot);
            }
        }
    }
}
