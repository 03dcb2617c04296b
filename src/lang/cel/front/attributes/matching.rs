//! Matching of attributes against patterns.

use std::collections::{BTreeMap, BTreeSet};

use super::pattern::{Key, PARTS, Part, Pattern, Qualifier};

/// The maximum number of combinations of computed keys that make one attribute unknown. With more, it counts as unknown
/// whatever its keys are.
const ALTERNATIVES: usize = 64;

/// The result of matching an attribute against patterns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Match {
    /// No pattern matches.
    Known,
    /// A pattern matches it, its first steps (so many), or something in it.
    Unknown(usize),
    /// The result depends on the computed keys.
    Depends(Vec<Alternative>),
    /// The result depends on too many combinations of computed keys: it counts as unknown.
    Unclear,
}

/// Keys that together, at these steps, make an attribute unknown.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Alternative {
    pub keys: Vec<(usize, Key)>,
    /// The number of steps that the pattern has.
    pub steps: usize,
}

/// A trie of patterns, by their parts. The first node is the root.
#[derive(Debug)]
pub struct Patterns {
    nodes: Vec<Node>,
}

#[derive(Debug, Default)]
struct Node {
    keys: BTreeMap<Key, usize>,
    any: Option<usize>,
    /// Set if a pattern ends here.
    end: bool,
}

impl Patterns {
    /// Builds the trie. Parts beyond the maximum depth of an expression are cut off, so the pattern matches more, not less.
    pub fn new(patterns: &[Pattern]) -> Self {
        let mut all = Self { nodes: vec![Node::default()] };
        for pattern in patterns {
            let mut at = 0;
            for part in pattern.parts.iter().take(PARTS) {
                at = all.step(at, part);
            }
            if let Some(node) = all.nodes.get_mut(at) {
                node.end = true;
            }
        }
        all
    }

    fn step(&mut self, at: usize, part: &Part) -> usize {
        let new = self.nodes.len();
        let Some(node) = self.nodes.get_mut(at) else { return 0 };
        let next = match part {
            Part::Any => *node.any.get_or_insert(new),
            Part::Key(key) => *node.keys.entry(key.clone()).or_insert(new),
        };
        if next == new {
            self.nodes.push(Node::default());
        }
        next
    }

    /// Matches an attribute.
    pub fn matches<E>(&self, attribute: &[Qualifier<E>]) -> Match {
        // The nodes that patterns may have reached, each with the keys that it takes.
        let mut states: Vec<(usize, Vec<(usize, Key)>)> = vec![(0, Vec::new())];
        let mut depends = BTreeSet::new();
        for steps in 0..=attribute.len() {
            let whole = steps == attribute.len();
            for (at, keys) in &states {
                if whole || self.nodes.get(*at).is_some_and(|node| node.end) {
                    if keys.is_empty() {
                        return Match::Unknown(steps);
                    }
                    depends.insert(Alternative { keys: keys.clone(), steps });
                }
            }
            let Some(qualifier) = attribute.get(steps) else { break };
            states = states.into_iter().flat_map(|state| self.next(state, steps, qualifier)).collect();
            if states.len() + depends.len() > ALTERNATIVES && states.iter().any(|(_, keys)| !keys.is_empty()) {
                return Match::Unclear;
            }
        }
        if depends.is_empty() { Match::Known } else { Match::Depends(depends.into_iter().collect()) }
    }

    fn next<E>(
        &self,
        (at, keys): (usize, Vec<(usize, Key)>),
        step: usize,
        qualifier: &Qualifier<E>,
    ) -> Vec<(usize, Vec<(usize, Key)>)> {
        // Patterns that end were handled by the caller.
        let Some(node) = self.nodes.get(at).filter(|node| !node.end) else { return Vec::new() };
        let mut next: Vec<_> = node.any.iter().map(|any| (*any, keys.clone())).collect();
        match qualifier {
            Qualifier::Key(key) => next.extend(node.keys.get(key).map(|at| (*at, keys))),
            Qualifier::Computed(_) => {
                let with = |key: &Key| [keys.as_slice(), &[(step, key.clone())]].concat();
                next.extend(node.keys.iter().take(ALTERNATIVES + 1).map(|(key, at)| (*at, with(key))));
            }
        }
        next
    }
}

/// Returns the unknown part of an attribute as a pattern.
pub fn trail<E>(attribute: &[Qualifier<E>], steps: usize, keys: &[(usize, Key)]) -> Pattern {
    let part = |(at, qualifier): (usize, &Qualifier<E>)| match qualifier {
        Qualifier::Key(key) => Part::Key(key.clone()),
        Qualifier::Computed(_) => {
            keys.iter().find(|(step, _)| *step == at).map_or(Part::Any, |(_, key)| Part::Key(key.clone()))
        }
    };
    Pattern { parts: attribute.iter().enumerate().take(steps).map(part).collect() }
}
