//! The tree of the paths that programs read.

use std::collections::HashMap;

use super::reads::ITEM;
use super::walk::Walk;
use crate::bytecode::program::Program;

/// Maximum number of steps of a path. A longer path counts as a read of all that is below its last step.
const DEPTH: usize = 64;
/// Maximum number of paths. With more, every path counts as read.
const PATHS: usize = 1 << 20;
/// Maximum number of steps of the analysis of a program. If it takes more, every path counts as read.
pub(super) const STEPS: u64 = 4_000_000;

/// The paths that programs read, as a tree of names. [`ITEM`] is any item of a list or any value of a map.
#[derive(Debug)]
pub struct Tree {
    nodes: Vec<Node>,
    /// `true` if every path counts as read.
    pub everything: bool,
}

/// The index of a node.
pub(super) type NodeId = u32;

#[derive(Debug, Default)]
struct Node {
    parent: NodeId,
    depth: usize,
    /// `true` if everything below counts as read.
    whole: bool,
    children: HashMap<Box<str>, NodeId>,
}

impl Default for Tree {
    fn default() -> Self {
        Self { nodes: vec![Node::default()], everything: false }
    }
}

/// The nodes that a path may lead to.
#[derive(Debug, Clone)]
pub struct Position(Vec<NodeId>);

impl Tree {
    /// The node of all inputs.
    pub(super) const ROOT: NodeId = 0;

    /// Adds the paths that `program` reads.
    ///
    /// ```
    /// use dropforge::bytecode::analysis::Tree;
    /// use dropforge::engine::{Dialect, Engine};
    /// let source = "{% for port in ports %}{{ port.number }}{% endfor %}";
    /// let template = Engine::new().compile(Dialect::Tera, "t", source)?;
    /// let mut tree = Tree::default();
    /// tree.add_program(template.program());
    /// assert!(tree.reads([Some("ports"), None, Some("number")]));
    /// assert!(!tree.reads([Some("ports"), None, Some("nmuber")]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn add_program(&mut self, program: &Program) {
        let is_whole = Walk::new(program, self, None, STEPS).run();
        self.everything |= !is_whole;
    }

    /// Adds a read of the value at a path, with all that is below it.
    pub fn add<'n>(&mut self, path: impl IntoIterator<Item = &'n str>) {
        let mut node = Self::ROOT;
        for name in path {
            match self.child(node, name) {
                Some(child) => node = child,
                None => return,
            }
        }
        self.mark_whole(node);
    }

    /// Returns the node of `name` below `node`, which it creates. Returns `None` if there would be too many.
    pub(super) fn child(&mut self, node: NodeId, name: &str) -> Option<NodeId> {
        let count = self.nodes.len();
        let parent = self.nodes.get_mut(node as usize)?;
        if let Some(child) = parent.children.get(name) {
            return Some(*child);
        }
        let depth = parent.depth + 1;
        if depth > DEPTH || count >= PATHS {
            parent.whole = true;
            self.everything |= count >= PATHS;
            return None;
        }
        let child = u32::try_from(count).ok()?;
        parent.children.insert(name.into(), child);
        self.nodes.push(Node { parent: node, depth, ..Node::default() });
        Some(child)
    }

    /// Returns the names on the way to a node.
    pub(super) fn path(&self, mut node: NodeId) -> Vec<String> {
        let mut names = Vec::new();
        while let Some(Node { parent, .. }) = self.nodes.get(node as usize).filter(|node| node.depth > 0) {
            let siblings = self.nodes.get(*parent as usize).map(|parent| parent.children.iter());
            names.extend(siblings.into_iter().flatten().find(|(_, id)| **id == node).map(|(name, _)| name.to_string()));
            node = *parent;
        }
        names.reverse();
        names
    }

    /// Counts everything below `node` as read.
    pub(super) fn mark_whole(&mut self, node: NodeId) {
        if node == Self::ROOT {
            self.everything = true;
        } else if let Some(node) = self.nodes.get_mut(node as usize) {
            node.whole = true;
        }
    }

    /// Returns the position of all inputs.
    pub fn start(&self) -> Position {
        Position(vec![Self::ROOT])
    }

    /// Returns the position one step further: at a key of a map, or at any item of a list if `key` is `None`. Returns
    /// `None` if nothing there is read.
    pub fn step(&self, from: &Position, key: Option<&str>) -> Option<Position> {
        let mut found = Vec::new();
        for node in self.nodes_at(from) {
            found.extend(key.and_then(|key| node.children.get(key)).copied());
            found.extend(node.children.get(ITEM).copied());
            if key.is_none() {
                // Single items: `hosts.0`.
                found.extend(node.children.iter().filter(|(name, _)| name.parse::<usize>().is_ok()).map(|(_, id)| *id));
            }
        }
        (!found.is_empty()).then_some(Position(found))
    }

    /// Returns `true` if everything below `at` counts as read: it is read as a whole, or nothing below it is read.
    pub fn is_whole(&self, at: &Position) -> bool {
        self.everything || self.nodes_at(at).any(|node| node.whole || (node.depth > 0 && node.children.is_empty()))
    }

    /// Returns the names that are read by key at `at`, unsorted.
    pub fn names<'t>(&'t self, at: &'t Position) -> impl Iterator<Item = &'t str> {
        let names = self.nodes_at(at).flat_map(|node| node.children.keys()).map(AsRef::as_ref);
        names.filter(|name| *name != ITEM)
    }

    /// Returns `true` if a path with these keys and items (`None`) is read, or a part of it, or something below it.
    pub fn reads<'n>(&self, path: impl IntoIterator<Item = Option<&'n str>>) -> bool {
        let mut at = self.start();
        for key in path {
            if self.is_whole(&at) {
                return true;
            }
            match self.step(&at, key) {
                Some(next) => at = next,
                None => return false,
            }
        }
        true
    }

    fn nodes_at<'t>(&'t self, at: &'t Position) -> impl Iterator<Item = &'t Node> {
        at.0.iter().filter_map(|node| self.nodes.get(*node as usize))
    }
}
