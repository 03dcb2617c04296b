//! Facts about the slots of a state.

use std::rc::Rc;

use super::held::{Fact, Held};
use dropforge_value::read_paths::NodeId;

/// The number of slots of a part.
const PART: usize = 16;

/// Slots in parts that states share until one of them sets a slot. A program may have many loops, and each branch copies the
/// slots of all of them.
#[derive(Debug, Clone)]
pub(super) struct Slots<'w> {
    parts: Rc<Vec<Rc<Vec<Held<'w>>>>>,
    count: usize,
}

impl<'w> Slots<'w> {
    /// Creates `count` slots, of which the first have these facts and the others no value.
    pub fn new(mut given: Vec<Held<'w>>, count: usize) -> Self {
        let absent = || Held::of(Fact::Absent(None));
        let known = given.len().min(count).next_multiple_of(PART);
        given.resize_with(known, absent);
        let mut parts: Vec<_> = given.chunks(PART).map(|part| Rc::new(part.to_vec())).collect();
        let unset = Rc::new(vec![absent(); PART]);
        parts.resize(count.div_ceil(PART), unset);
        Self { parts: Rc::new(parts), count }
    }

    pub fn len(&self) -> usize {
        self.count
    }

    pub fn get(&self, slot: u32) -> Option<&Held<'w>> {
        self.parts.get(slot as usize / PART)?.get(slot as usize % PART)
    }

    pub fn set(&mut self, slot: u32, held: Held<'w>) {
        let part = Rc::make_mut(&mut self.parts).get_mut(slot as usize / PART).map(Rc::make_mut);
        if let Some(slot) = part.and_then(|part| part.get_mut(slot as usize % PART)) {
            *slot = held;
        }
    }

    /// Returns the facts that hold in one of two states. The nodes that are too many to track are added to `lost`.
    pub fn or(mut self, other: &Self, lost: &mut Vec<NodeId>) -> Self {
        if Rc::ptr_eq(&self.parts, &other.parts) {
            return self;
        }
        let parts = Rc::make_mut(&mut self.parts).iter_mut().zip(&*other.parts);
        for (part, others) in parts.filter(|(part, others)| !Rc::ptr_eq(part, others)) {
            for (held, other) in Rc::make_mut(part).iter_mut().zip(&**others) {
                *held = std::mem::take(held).or(other.clone(), lost);
            }
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_share_what_neither_sets() {
        let int = |slots: &Slots<'_>, slot| match slots.get(slot).map(|held| held.fact) {
            Some(Fact::Int(n)) => Some(n),
            _ => None,
        };
        let a = Slots::new(vec![Held::of(Fact::Int(1)), Held::of(Fact::Int(2))], 40);
        let mut b = a.clone();
        b.set(1, Held::of(Fact::Int(3)));
        b.set(39, Held::of(Fact::Int(4)));
        b.set(99, Held::of(Fact::Int(5)));
        assert_eq!(
            (int(&a, 1), int(&b, 0), int(&b, 1), int(&b, 39), a.len()),
            (Some(2), Some(1), Some(3), Some(4), 40)
        );
        let both = a.clone().or(&b, &mut Vec::new());
        assert_eq!((int(&both, 0), int(&both, 1), int(&both, 39)), (Some(1), None, None));
        assert!(Rc::ptr_eq(&a.parts[1], &both.parts[1]) && !Rc::ptr_eq(&a.parts[0], &both.parts[0]));
    }
}
