//! The calls that a walk has followed. Many templates call the same helper with the same values, which has the same facts.

use std::collections::HashMap;

use super::slots::{Fact, Held, Parts};
use super::walk::{CERTAIN, FactWalk, Miss};
use crate::bytecode::rows::ChunkInfo;

/// Maximum number of calls to remember.
const CALLS: usize = 1 << 14;
/// Maximum number of words of the key of a call.
const WORDS: usize = 128;
/// Maximum number of misses of a call to remember.
const MISSES: usize = 64;

/// The calls that a walk has followed, by the entry of their chunk and the facts about what they were given.
#[derive(Debug, Default)]
pub(super) struct Calls<'w>(HashMap<Box<[u64]>, Followed<'w>>);

/// What following a call has found.
#[derive(Debug)]
struct Followed<'w> {
    /// The mass of the call, and of the states that left it.
    masses: (u64, u64),
    misses: Vec<Miss<'w>>,
}

impl<'w> FactWalk<'w, '_> {
    /// Follows a call of a chunk. Returns the mass of the states that leave it. A call that is as one before adds nothing to
    /// the reads, so only its misses are added again.
    ///
    /// A call within one that is the same counts as one that returns: what it reads is found once, whatever the depth.
    pub fn follow(&mut self, chunk: ChunkInfo, given: Vec<Held<'w>>, mass: u64, depth: usize) -> u64 {
        let has_room = self.calls.0.len() < CALLS;
        let Some(key) = key(chunk, &given, mass).filter(|key| has_room || self.calls.0.contains_key(key)) else {
            return self.chunk(chunk, given, mass, depth);
        };
        if let Some(Followed { masses: (entered, left), misses }) = self.calls.0.get(&key) {
            let left = u128::from(*left) * u128::from(mass) / u128::from(*entered).max(1);
            misses.clone().into_iter().for_each(|miss| self.miss(miss));
            return u64::try_from(left).unwrap_or(u64::MAX);
        }
        self.calls.0.insert(key.clone(), Followed { masses: (1, 1), misses: Vec::new() });
        let before = self.misses.len();
        let left = self.chunk(chunk, given, mass, depth);
        match self.misses.get(before..).filter(|misses| misses.len() <= MISSES) {
            Some(misses) => drop(self.calls.0.insert(key, Followed { masses: (mass, left), misses: misses.to_vec() })),
            None => drop(self.calls.0.remove(&key)),
        }
        left
    }
}

/// Returns the key of a call. `None` if it is too long, or if the number of misses so far is among the facts.
fn key(chunk: ChunkInfo, given: &[Held<'_>], mass: u64) -> Option<Box<[u64]>> {
    let mut words = vec![u64::from(chunk.entry), u64::from(mass == CERTAIN)];
    given.iter().try_for_each(|held| add(held, &mut words))?;
    Some(words.into())
}

fn add(held: &Held<'_>, words: &mut Vec<u64>) -> Option<()> {
    let nodes = held.nodes();
    words.extend(fact(held.fact)?);
    words.push(nodes.len() as u64);
    words.extend(nodes.iter().map(|node| u64::from(*node)));
    if let Some(origin) = &held.origin {
        words.extend([1, u64::from(origin.node), origin.or.len() as u64]);
        words.extend(origin.or.iter().flat_map(|name| text(name)));
    }
    match held.parts.as_deref() {
        None => words.push(0),
        Some(Parts::Fields(fields)) => {
            words.extend([2, fields.len() as u64]);
            for (key, held) in fields {
                words.extend(text(key));
                add(held, words)?;
            }
        }
        Some(Parts::Items(items)) => {
            words.extend([3, items.len() as u64]);
            items.iter().try_for_each(|held| add(held, words))?;
        }
    }
    (words.len() <= WORDS).then_some(())
}

fn fact(fact: Fact<'_>) -> Option<[u64; 3]> {
    Some(match fact {
        Fact::Unknown => [0; 3],
        Fact::Present => [1, 0, 0],
        Fact::Absent(None) => [2, 0, 0],
        Fact::Absent(Some(at)) => [3, u64::from(at), 0],
        Fact::Data(data) => [4, std::ptr::from_ref(data).addr() as u64, 0],
        Fact::Str(str) => {
            let [at, length] = text(str);
            [5, at, length]
        }
        Fact::Int(n) => [6, n.cast_unsigned(), 0],
        Fact::Bool(truth) => [7, u64::from(truth), 0],
        Fact::Null => [8, 0, 0],
        Fact::Mark(_) => return None,
    })
}

/// Returns the place of a text of the program or the inputs.
fn text(text: &str) -> [u64; 2] {
    [text.as_ptr().addr() as u64, text.len() as u64]
}
