//! The templates that may call themselves, directly or through others.

use hashbrown::{HashMap, HashSet};

use crate::set::Set;
use dropforge_base::stdlib::small_sort::SmallSort as _;

/// Returns the names of all templates on a cycle of calls by literal names, and of those between two cycles.
pub(super) fn recursive<'a>(set: &Set<'a>) -> HashSet<&'a str> {
    let numbers: HashMap<&'a str, usize> = set.templates.keys().copied().zip(0..).collect();
    let mut calls: Vec<(usize, usize)> = Vec::new();
    for (caller, defined) in set.templates.values().enumerate() {
        let called = defined.template.calls.iter().filter_map(|called| numbers.get(called));
        calls.extend(called.map(|called| (caller, *called)));
    }
    let without_callers = without_roots(calls, numbers.len());
    let back = without_callers.into_iter().map(|(caller, called)| (called, caller)).collect();
    let left: HashSet<usize> = without_roots(back, numbers.len()).into_iter().map(|(number, _)| number).collect();
    set.templates.keys().copied().zip(0..).filter(|(_, number)| left.contains(number)).map(|(name, _)| name).collect()
}

/// Removes the edges from nodes to which no edge leads, until there are none.
fn without_roots(mut edges: Vec<(usize, usize)>, nodes: usize) -> Vec<(usize, usize)> {
    edges.small_sort_by(Ord::cmp);
    let mut leading = vec![0_usize; nodes];
    edges.iter().for_each(|(_, end)| leading[*end] += 1);
    let from = |node: usize| edges.partition_point(|(start, _)| *start < node);
    let mut roots: Vec<usize> = (0..nodes).filter(|node| leading[*node] == 0).collect();
    let mut is_root = vec![false; nodes];
    while let Some(root) = roots.pop() {
        is_root[root] = true;
        for (_, end) in edges.iter().skip(from(root)).take_while(|(start, _)| *start == root) {
            leading[*end] -= 1;
            if leading[*end] == 0 {
                roots.push(*end);
            }
        }
    }
    edges.retain(|(start, _)| !is_root[*start]);
    edges
}
