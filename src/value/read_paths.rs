//! The tree of the paths that programs read.

use std::collections::HashMap;

/// Maximum number of steps of a path. A longer path counts as a read of all that is below its last step.
const DEPTH: usize = 64;
/// Maximum number of paths. With more, every path counts as read.
const PATHS: usize = 1 << 20;

/// The paths that programs read, as a tree of names. [`ReadPaths::ITEM`] is any item of a list or any value of a map.
#[derive(Debug, Clone)]
pub struct ReadPaths {
    nodes: Vec<PathNode>,
    /// `true` if every path counts as read.
    pub everything: bool,
}

/// The index of a node.
pub type NodeId = u32;

#[derive(Debug, Clone, Default)]
struct PathNode {
    parent: NodeId,
    depth: usize,
    /// `true` if everything below counts as read.
    whole: bool,
    children: HashMap<Box<str>, NodeId>,
}

impl Default for ReadPaths {
    fn default() -> Self {
        Self { nodes: vec![PathNode::default()], everything: false }
    }
}

/// The nodes that a path may lead to.
#[derive(Debug, Clone)]
pub struct ReadPosition(Vec<NodeId>);

impl ReadPaths {
    /// The step from a list to any of its items.
    pub const ITEM: &'static str = "[]";

    /// The node of all inputs.
    pub const ROOT: NodeId = 0;

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
    pub fn child(&mut self, node: NodeId, name: &str) -> Option<NodeId> {
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
        self.nodes.push(PathNode { parent: node, depth, ..PathNode::default() });
        Some(child)
    }

    /// Removes all reads of the input `name`.
    pub fn forget(&mut self, name: &str) {
        if let Some(root) = self.nodes.first_mut() {
            root.children.remove(name);
        }
    }

    /// Returns the names on the way to a node.
    pub fn path(&self, mut node: NodeId) -> Vec<String> {
        let mut names = Vec::new();
        while let Some(PathNode { parent, .. }) = self.nodes.get(node as usize).filter(|node| node.depth > 0) {
            let siblings = self.nodes.get(*parent as usize).map(|parent| parent.children.iter());
            names.extend(siblings.into_iter().flatten().find(|(_, id)| **id == node).map(|(name, _)| name.to_string()));
            node = *parent;
        }
        names.reverse();
        names
    }

    /// Counts everything below `node` as read.
    pub fn mark_whole(&mut self, node: NodeId) {
        if node == Self::ROOT {
            self.everything = true;
        } else if let Some(node) = self.nodes.get_mut(node as usize) {
            node.whole = true;
        }
    }

    /// Returns the node of `name` below `node`, if there is one. Nodes are numbers; all inputs are 0.
    pub fn node(&self, node: u32, name: &str) -> Option<u32> {
        self.nodes.get(node as usize)?.children.get(name).copied()
    }

    /// Returns the node at a path, which it creates. Returns `None` if there would be too many.
    pub fn make(&mut self, path: &[&str]) -> Option<u32> {
        path.iter().try_fold(Self::ROOT, |node, name| self.child(node, name))
    }

    /// Returns `true` if everything below `node` counts as read, because it is read as a whole.
    pub fn is_marked(&self, node: u32) -> bool {
        self.everything || self.nodes.get(node as usize).is_some_and(|node| node.whole)
    }

    /// Returns `true` if something below `node` is read by name.
    pub fn has_children(&self, node: u32) -> bool {
        self.nodes.get(node as usize).is_some_and(|node| !node.children.is_empty())
    }

    /// Adds at the node `to` what `other` reads at its node `from`. The depth of paths is bounded.
    pub fn graft(&mut self, to: u32, other: &Self, from: u32) {
        let Some(node) = other.nodes.get(from as usize) else { return };
        if node.whole || node.children.is_empty() {
            self.mark_whole(to);
        }
        for (name, inner) in &node.children {
            if let Some(child) = self.child(to, name) {
                self.graft(child, other, *inner);
            }
        }
    }

    /// Returns the position of all inputs.
    pub fn start(&self) -> ReadPosition {
        ReadPosition(vec![Self::ROOT])
    }

    /// Returns the position one step further: at a key of a map, or at any item of a list if `key` is `None`. Returns
    /// `None` if nothing there is read.
    pub fn step(&self, from: &ReadPosition, key: Option<&str>) -> Option<ReadPosition> {
        let found = self.below(&from.0, key);
        (!found.is_empty()).then_some(ReadPosition(found))
    }

    /// Returns the nodes one step further than `nodes`.
    pub(super) fn below(&self, nodes: &[NodeId], key: Option<&str>) -> Vec<NodeId> {
        let mut found = Vec::new();
        for node in self.nodes(nodes) {
            found.extend(key.and_then(|key| node.children.get(key)).copied());
            found.extend(node.children.get(Self::ITEM).copied());
            if key.is_none() {
                // Single items: `hosts.0`.
                found.extend(node.children.iter().filter(|(name, _)| name.parse::<usize>().is_ok()).map(|(_, id)| *id));
            }
        }
        found
    }

    /// Returns `true` if everything below `at` counts as read: it is read as a whole, or nothing below it is read.
    pub fn is_whole(&self, at: &ReadPosition) -> bool {
        self.are_whole(&at.0)
    }

    pub(super) fn are_whole(&self, nodes: &[NodeId]) -> bool {
        self.everything || self.nodes(nodes).any(|node| node.whole || (node.depth > 0 && node.children.is_empty()))
    }

    /// Returns the names that are read by key at `at`, unsorted.
    pub fn names<'t>(&'t self, at: &'t ReadPosition) -> impl Iterator<Item = &'t str> {
        let names = self.nodes(&at.0).flat_map(|node| node.children.keys()).map(AsRef::as_ref);
        names.filter(|name| *name != Self::ITEM)
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

    fn nodes<'t>(&'t self, ids: &'t [NodeId]) -> impl Iterator<Item = &'t PathNode> {
        ids.iter().filter_map(|node| self.nodes.get(*node as usize))
    }
}
