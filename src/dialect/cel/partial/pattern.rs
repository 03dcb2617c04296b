//! Patterns of attributes that are not known, and what they say of an attribute.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Display};
use std::str::FromStr;

use super::text;
use crate::diagnostics::Diagnostic;

/// How many parts a pattern has at most.
pub(super) const PARTS: usize = 250;

/// How many ways there may be for the computed keys of one attribute to make it an unknown one; where there are more,
/// it counts as unknown whatever they are.
const ALTERNATIVES: usize = 64;

/// A key within an attribute. A number is the same key in each of the number types, as it is in maps and lists.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Key {
    Bool(bool),
    Number(i128),
    Text(String),
}

/// A part of a pattern behind the variable.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Part {
    /// Any key.
    Any,
    Key(Key),
}

/// An attribute, or a set of them: a variable, and fields and elements below it. Everything at and below it is meant,
/// and everything that has it within.
///
/// The text form has fields behind dots, keys in brackets, and `*` for any field or element.
///
/// ```
/// use dropforge::dialect::cel::Pattern;
/// let pattern = Pattern::new("request").field("auth").index(0).wildcard();
/// assert_eq!(pattern.to_string(), "request.auth[0].*");
/// assert_eq!("request.auth[0].*".parse::<Pattern>()?, pattern);
/// assert_eq!("labels['app.kubernetes.io/name']".parse::<Pattern>()?, Pattern::new("labels").field("app.kubernetes.io/name"));
/// assert!("request..auth".parse::<Pattern>().is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pattern {
    /// The parts of the variable's name, which are keys, and those behind it.
    pub(super) parts: Vec<Part>,
}

impl Pattern {
    /// The variable of this name, which may be a qualified one: `ns.request`.
    pub fn new(variable: &str) -> Self {
        Self { parts: variable.split('.').map(|part| Part::Key(Key::Text(part.to_owned()))).collect() }
    }

    fn with(mut self, part: Part) -> Self {
        self.parts.push(part);
        self
    }

    /// The field of this name in it, or what it has under this text.
    #[must_use]
    pub fn field(self, name: &str) -> Self {
        self.with(Part::Key(Key::Text(name.to_owned())))
    }

    /// The element at this place, or what it has under this number.
    #[must_use]
    pub fn index(self, index: i64) -> Self {
        self.with(Part::Key(Key::Number(index.into())))
    }

    /// What it has under this number.
    #[must_use]
    pub fn index_uint(self, index: u64) -> Self {
        self.with(Part::Key(Key::Number(index.into())))
    }

    /// What it has under this truth value.
    #[must_use]
    pub fn index_bool(self, index: bool) -> Self {
        self.with(Part::Key(Key::Bool(index)))
    }

    /// Every field and element of it.
    #[must_use]
    pub fn wildcard(self) -> Self {
        self.with(Part::Any)
    }

    /// The first part of the variable's name.
    pub fn root(&self) -> &str {
        match self.parts.first() {
            Some(Part::Key(Key::Text(name))) => name,
            _ => "",
        }
    }
}

impl Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        text::write(&self.parts, f)
    }
}

impl FromStr for Pattern {
    type Err = Box<Diagnostic>;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text::read(text)
    }
}

/// A step of an attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Qualifier<E> {
    Key(Key),
    /// A key that shows when the expression runs.
    Computed(E),
}

/// What patterns say of an attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// None fits.
    Known,
    /// One fits it, or the first so many steps of it, or something in it.
    Unknown(usize),
    /// That depends on the keys that are computed.
    Depends(Vec<Alternative>),
    /// The same, in more ways than are told apart: it counts as unknown whatever its keys are.
    Unclear,
}

/// Keys that, if they come together at these steps, make an attribute an unknown one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Alternative {
    pub keys: Vec<(usize, Key)>,
    /// How many of the attribute's steps the pattern has.
    pub steps: usize,
}

/// Patterns, in a tree by their parts; nodes are named by index, the root is the first.
#[derive(Debug)]
pub(crate) struct Patterns {
    nodes: Vec<Node>,
}

#[derive(Debug, Default)]
struct Node {
    keys: BTreeMap<Key, usize>,
    any: Option<usize>,
    /// Whether a pattern ends here.
    end: bool,
}

impl Patterns {
    /// Parts of a pattern beyond the depth that an expression can have are left out: what it is about is more then, not
    /// less.
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

    /// What they say of an attribute.
    pub fn verdict<E>(&self, attribute: &[Qualifier<E>]) -> Verdict {
        // Where each of the patterns may be by now, and what has to hold for that.
        let mut states: Vec<(usize, Vec<(usize, Key)>)> = vec![(0, Vec::new())];
        let mut depends = BTreeSet::new();
        for steps in 0..=attribute.len() {
            let whole = steps == attribute.len();
            for (at, keys) in &states {
                if whole || self.nodes.get(*at).is_some_and(|node| node.end) {
                    if keys.is_empty() {
                        return Verdict::Unknown(steps);
                    }
                    depends.insert(Alternative { keys: keys.clone(), steps });
                }
            }
            let Some(qualifier) = attribute.get(steps) else { break };
            states = states.into_iter().flat_map(|state| self.next(state, steps, qualifier)).collect();
            if states.len() + depends.len() > ALTERNATIVES && states.iter().any(|(_, keys)| !keys.is_empty()) {
                return Verdict::Unclear;
            }
        }
        if depends.is_empty() { Verdict::Known } else { Verdict::Depends(depends.into_iter().collect()) }
    }

    fn next<E>(
        &self,
        (at, keys): (usize, Vec<(usize, Key)>),
        step: usize,
        qualifier: &Qualifier<E>,
    ) -> Vec<(usize, Vec<(usize, Key)>)> {
        // What ended was answered.
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

/// The part of an attribute that is not known, as a pattern has it.
pub(super) fn trail<E>(attribute: &[Qualifier<E>], steps: usize, keys: &[(usize, Key)]) -> Pattern {
    let part = |(at, qualifier): (usize, &Qualifier<E>)| match qualifier {
        Qualifier::Key(key) => Part::Key(key.clone()),
        Qualifier::Computed(_) => {
            keys.iter().find(|(step, _)| *step == at).map_or(Part::Any, |(_, key)| Part::Key(key.clone()))
        }
    };
    Pattern { parts: attribute.iter().enumerate().take(steps).map(part).collect() }
}
