//! The collections around a place in a text.

use xxhash_rust::xxh3::xxh3_64;

/// Maximum nesting that all readers allow.
const DEPTH: u32 = 127;
/// Maximum number of keys that are compared pair by pair.
const FEW: usize = 12;
/// The number of nodes that are found again, a power of two.
const SLOTS: usize = 1 << 12;

/// A collection with the keys that were given so far.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Node {
    /// The node of the collection around it.
    below: u32,
    /// The node before the last key.
    before: u32,
    /// The column of its entries. Flow collections have that of the block collection around them.
    pub column: u32,
    /// The number of its keys.
    keys: u32,
    /// The hash of the last key.
    key: u64,
    depth: u32,
    pub is_map: bool,
    /// `true` if the keys are known to be distinct.
    is_distinct: bool,
}

impl Node {
    fn is(&self, other: &Self) -> bool {
        let same = |one: &Self| (one.below, one.before, one.key, one.column, one.is_map);
        same(self) == same(other)
    }

    fn slot(&self) -> usize {
        let places = u64::from(self.below) << 32 | u64::from(self.before);
        let kind = u64::from(self.column) << 1 | u64::from(self.is_map);
        let mixed = (places ^ self.key ^ kind.rotate_left(20)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (mixed >> 40) as usize % SLOTS
    }
}

/// A stack of collections whose nodes point to the ones below. One that remembers keeps the nodes that it leaves, and a
/// stack like an earlier one nearly always has its node again: where the node is the same, the stack is the same.
#[derive(Debug)]
pub(super) struct Nest {
    /// All nodes. The first one stands for no collection.
    nodes: Vec<Node>,
    /// The node of the innermost collection.
    at: u32,
    /// Nodes to find again, or nothing.
    slots: Vec<u32>,
    hashes: Vec<u64>,
}

impl Default for Nest {
    fn default() -> Self {
        Self { nodes: vec![Node::default()], at: 0, slots: Vec::new(), hashes: Vec::new() }
    }
}

impl Nest {
    /// Returns a stack that remembers.
    pub fn remembering() -> Self {
        Self { slots: vec![0; SLOTS], ..Self::default() }
    }

    /// Leaves all collections.
    pub fn clear(&mut self) {
        self.at = 0;
        if self.slots.is_empty() {
            self.nodes.truncate(1);
        }
    }

    /// Returns the number of nodes that are kept.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns the node of the innermost collection.
    #[inline(always)]
    pub fn node(&self) -> u32 {
        self.at
    }

    /// Returns to the stack that had this node.
    #[inline(always)]
    pub fn enter(&mut self, node: u32) {
        self.at = node;
    }

    #[inline(always)]
    fn here(&self) -> Node {
        self.nodes.get(self.at as usize).copied().unwrap_or_default()
    }

    #[inline(always)]
    pub fn depth(&self) -> usize {
        self.here().depth as usize
    }

    #[inline(always)]
    pub fn top(&self) -> Option<Node> {
        Some(self.here()).filter(|top| top.depth > 0)
    }

    /// Opens a collection.
    #[inline]
    pub fn open(&mut self, is_map: bool, column: usize) -> Option<()> {
        let depth = self.here().depth + 1;
        let column = u32::try_from(column).ok().filter(|_| depth <= DEPTH)?;
        self.push(Node { below: self.at, column, depth, is_map, ..Node::default() })
    }

    /// Adds a key to the innermost map.
    #[inline]
    pub fn key(&mut self, name: &[u8]) -> Option<()> {
        let top = self.here();
        self.push(Node { before: self.at, key: xxh3_64(name), keys: top.keys + 1, is_distinct: false, ..top })
    }

    #[inline]
    fn push(&mut self, node: Node) -> Option<()> {
        let new = u32::try_from(self.nodes.len()).ok()?;
        let slot = if self.slots.is_empty() { None } else { self.slots.get_mut(node.slot()) };
        if let Some(slot) = slot {
            if *slot > 0 && self.nodes.get(*slot as usize).is_some_and(|known| known.is(&node)) {
                self.at = *slot;
                return Some(());
            }
            *slot = new;
        }
        self.nodes.push(node);
        self.at = new;
        Some(())
    }

    /// Closes the innermost collection. Returns `None` if two keys have one hash: they are equal, or nearly never different.
    #[inline]
    pub fn close(&mut self) -> Option<()> {
        let top = self.top()?;
        if top.keys > 1 && !top.is_distinct {
            self.check_keys(top)?;
        }
        self.at = top.below;
        if self.slots.is_empty() {
            self.nodes.truncate(top.below as usize + 1);
        }
        Some(())
    }

    fn check_keys(&mut self, top: Node) -> Option<()> {
        self.hashes.clear();
        let mut node = top;
        while node.keys > 0 {
            self.hashes.push(node.key);
            node = *self.nodes.get(node.before as usize)?;
        }
        if !are_distinct(&mut self.hashes) {
            return None;
        }
        self.nodes.get_mut(self.at as usize)?.is_distinct = true;
        Some(())
    }
}

fn are_distinct(hashes: &mut [u64]) -> bool {
    if hashes.len() <= FEW {
        let mut rest = &*hashes;
        while let Some((last, others)) = rest.split_last() {
            if others.contains(last) {
                return false;
            }
            rest = others;
        }
        return true;
    }
    hashes.sort_unstable();
    hashes.windows(2).all(|pair| pair.first() != pair.last())
}
