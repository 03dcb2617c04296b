//! Facts about values that a program computes, and about the slots that hold them.

use std::rc::Rc;

use crate::bytecode::BinaryOp;
use dropforge_value::Data;
use dropforge_value::read_paths::NodeId;

/// The facts about a value.
#[derive(Debug, Clone, Default)]
pub(super) struct Held<'w> {
    pub fact: Fact<'w>,
    /// The paths that it may be the value of.
    pub nodes: Option<Rc<[NodeId]>>,
    /// The one path that it is the value of, if reads are recorded.
    pub origin: Option<Rc<Origin<'w>>>,
    /// The values in it, if it is a map or list that the program makes. Then it has no nodes of its own.
    pub parts: Option<Rc<Parts<'w>>>,
    /// `true` if it certainly is the value of a variable.
    pub is_set: bool,
}

/// The values in a map or list that the program makes.
#[derive(Debug)]
pub(super) enum Parts<'w> {
    Fields(Vec<(&'w str, Held<'w>)>),
    Items(Vec<Held<'w>>),
}

impl<'w> Parts<'w> {
    pub fn values(&self) -> Box<dyn Iterator<Item = &Held<'w>> + '_> {
        match self {
            Parts::Fields(fields) => Box::new(fields.iter().map(|(_, held)| held)),
            Parts::Items(items) => Box::new(items.iter()),
        }
    }

    /// Returns the values that are one of those in two maps with the same keys, or in two lists of the same length.
    fn or(&self, other: &Self, lost: &mut Vec<NodeId>) -> Option<Self> {
        match (self, other) {
            (Parts::Fields(a), Parts::Fields(b)) if a.iter().map(|(key, _)| key).eq(b.iter().map(|(key, _)| key)) => {
                let both = a.iter().zip(b).map(|((key, a), (_, b))| (*key, a.clone().or(b.clone(), lost)));
                Some(Parts::Fields(both.collect()))
            }
            (Parts::Items(a), Parts::Items(b)) if a.len() == b.len() => {
                Some(Parts::Items(a.iter().zip(b).map(|(a, b)| a.clone().or(b.clone(), lost)).collect()))
            }
            _ => None,
        }
    }
}

/// Maximum number of values in a made map or list, with those in them.
const PARTS: usize = 128;
/// Maximum nesting of made maps and lists.
const DEPTH: usize = 8;

/// A path from an input.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Origin<'w> {
    pub node: NodeId,
    /// The inputs that are read instead if the path has no value.
    pub or: Vec<&'w str>,
}

/// A fact about a value.
#[derive(Debug, Clone, Copy, Default)]
pub(super) enum Fact<'w> {
    /// Anything, or nothing.
    #[default]
    Unknown,
    /// A value that is there.
    Present,
    /// Nothing. The word of the instruction that looked it up, if there is one.
    Absent(Option<u32>),
    /// A value of the inputs.
    Data(&'w Data),
    Str(&'w str),
    Int(i64),
    Bool(bool),
    Null,
    /// The number of misses so far.
    Mark(usize),
}

/// Maximum number of paths that one value is tracked for.
pub(super) const TRACKED: usize = 16;

impl<'w> Held<'w> {
    pub fn of(fact: Fact<'w>) -> Self {
        Self { fact, nodes: None, origin: None, parts: None, is_set: false }
    }

    /// Returns the value with these parts. `None` if they are too many to track.
    pub fn made(parts: Parts<'w>) -> Option<Self> {
        let is_small = parts.values().map(|held| held.size(DEPTH - 1)).sum::<usize>() <= PARTS;
        is_small.then(|| Self { parts: Some(Rc::new(parts)), ..Self::of(Fact::Present) })
    }

    /// Returns the number of values in it and itself. More than can be tracked if they nest deeper than `depth`.
    fn size(&self, depth: usize) -> usize {
        let Some(parts) = &self.parts else { return 1 };
        match depth.checked_sub(1) {
            Some(depth) => parts.values().fold(1, |sum, held| sum + held.size(depth)),
            None => PARTS + 1,
        }
    }

    /// Adds all nodes of the value and of those in it.
    pub fn all_nodes(&self, found: &mut Vec<NodeId>) {
        found.extend_from_slice(self.nodes());
        self.parts.iter().flat_map(|parts| parts.values()).for_each(|held| held.all_nodes(found));
    }

    pub fn nodes(&self) -> &[NodeId] {
        self.nodes.as_deref().unwrap_or(&[])
    }

    /// Returns the facts that hold for a value that is one of two. The nodes that are too many to track are added to
    /// `lost`.
    pub fn or(self, other: Self, lost: &mut Vec<NodeId>) -> Self {
        let fact = self.fact.or(other.fact);
        let parts = match (&self.parts, &other.parts) {
            (Some(mine), Some(others)) if Rc::ptr_eq(mine, others) => Some(mine.clone()),
            (Some(mine), Some(others)) => mine.or(others, lost).map(Rc::new),
            _ => None,
        };
        if parts.is_none() {
            let both = [&self.parts, &other.parts].into_iter().flatten();
            both.flat_map(|parts| parts.values()).for_each(|held| held.all_nodes(lost));
        }
        let origin = match (self.origin, other.origin) {
            (Some(mine), Some(others)) => Some(mine).filter(|mine| *mine == others),
            (mine, others) => mine.or(others),
        };
        let nodes = match (self.nodes, other.nodes) {
            (Some(nodes), None) | (None, Some(nodes)) => Some(nodes),
            (Some(mine), Some(others)) if mine != others => {
                let mut all: Vec<NodeId> = mine.iter().chain(&*others).copied().collect();
                all.sort_unstable();
                all.dedup();
                let few = all.len() <= TRACKED;
                if !few {
                    lost.append(&mut all);
                }
                few.then(|| all.into())
            }
            (nodes, _) => nodes,
        };
        Self { fact, nodes, origin, parts, is_set: self.is_set && other.is_set }
    }
}

impl<'w> Fact<'w> {
    fn or(self, other: Self) -> Self {
        match (self.scalar(), other.scalar()) {
            (Fact::Data(a), Fact::Data(b)) if std::ptr::eq(a, b) => self,
            (Fact::Str(a), Fact::Str(b)) if a == b => self,
            (Fact::Int(a), Fact::Int(b)) if a == b => self,
            (Fact::Bool(a), Fact::Bool(b)) if a == b => self,
            (Fact::Absent(a), Fact::Absent(b)) => Fact::Absent(a.filter(|_| a == b)),
            (Fact::Null, Fact::Null) => self,
            (Fact::Mark(a), Fact::Mark(b)) => Fact::Mark(a.min(b)),
            (a, b) if a.is_present() == Some(true) && b.is_present() == Some(true) => Fact::Present,
            _ => Fact::Unknown,
        }
    }

    /// Returns the fact of a scalar input as that of a constant.
    pub fn scalar(self) -> Self {
        match self {
            Fact::Data(Data::Str(text)) => Fact::Str(text),
            Fact::Data(Data::Int(n)) => Fact::Int(*n),
            Fact::Data(Data::Bool(b)) => Fact::Bool(*b),
            Fact::Data(Data::Null) => Fact::Null,
            other => other,
        }
    }

    /// Returns `true` if there is a value. Languages differ about null.
    pub(crate) fn is_present(self) -> Option<bool> {
        match self.scalar() {
            Fact::Unknown | Fact::Null => None,
            Fact::Absent(_) => Some(false),
            _ => Some(true),
        }
    }

    /// Returns `true` for a known text, number or boolean.
    pub(super) fn is_constant(self) -> bool {
        matches!(self.scalar(), Fact::Str(_) | Fact::Int(_) | Fact::Bool(_))
    }

    /// Returns the truth of the value as a condition, if all languages that accept such a condition agree.
    pub fn truth(self) -> Option<bool> {
        match self.scalar() {
            Fact::Bool(truth) => Some(truth),
            Fact::Absent(_) | Fact::Null => Some(false),
            Fact::Int(n) => Some(n != 0),
            Fact::Str("true" | "false") => None,
            Fact::Str(text) => Some(!text.is_empty()),
            Fact::Data(Data::List(items)) => Some(!items.is_empty()),
            Fact::Data(Data::Map(map)) => Some(!map.is_empty()),
            _ => None,
        }
    }

    /// Returns the result of a comparison, if all languages agree.
    pub fn compare(op: BinaryOp, a: Self, b: Self) -> Option<bool> {
        let order = match (a.scalar(), b.scalar()) {
            (Fact::Int(a), Fact::Int(b)) => a.cmp(&b),
            (Fact::Str(a), Fact::Str(b)) if matches!(op, BinaryOp::Eq | BinaryOp::Ne) => a.cmp(b),
            (Fact::Bool(a), Fact::Bool(b)) if matches!(op, BinaryOp::Eq | BinaryOp::Ne) => a.cmp(&b),
            _ => return None,
        };
        match op {
            BinaryOp::Eq => Some(order.is_eq()),
            BinaryOp::Ne => Some(order.is_ne()),
            BinaryOp::Lt => Some(order.is_lt()),
            BinaryOp::Le => Some(order.is_le()),
            BinaryOp::Gt => Some(order.is_gt()),
            BinaryOp::Ge => Some(order.is_ge()),
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem | BinaryOp::In => None,
        }
    }
}

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
        given.iter_mut().for_each(|held| held.is_set = !matches!(held.fact, Fact::Absent(_)));
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
        let is_set = !matches!(held.fact, Fact::Absent(_));
        let held = Held { is_set, ..held };
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
