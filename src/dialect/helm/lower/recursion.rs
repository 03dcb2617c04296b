//! The templates that may call themselves, directly or through others.

use hashbrown::{HashMap, HashSet};

use crate::dialect::helm::set::Set;

/// Returns the names of all templates on a cycle of calls by literal names, and of those between two cycles.
pub(super) fn recursive<'a>(set: &Set<'a>) -> HashSet<&'a str> {
    let mut calls: Vec<(&'a str, &'a str)> = Vec::new();
    for (name, defined) in &set.templates {
        let called = defined.template.calls.iter().filter(|called| set.templates.contains_key(**called));
        calls.extend(called.map(|called| (*name, *called)));
    }
    let callers = without_roots(&calls);
    let back: Vec<_> = callers.into_iter().map(|(caller, called)| (called, caller)).collect();
    without_roots(&back).into_iter().map(|(name, _)| name).collect()
}

/// Removes the edges from nodes to which no edge leads, until there are none.
fn without_roots<'a>(edges: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let (mut leading, mut from): (HashMap<&str, usize>, HashMap<&str, Vec<&'a str>>) = Default::default();
    for (start, end) in edges {
        *leading.entry(end).or_default() += 1;
        from.entry(start).or_default().push(end);
    }
    let mut roots: Vec<&str> = from.keys().copied().filter(|start| !leading.contains_key(start)).collect();
    while let Some(root) = roots.pop() {
        for end in from.remove(root).unwrap_or_default() {
            let left = leading.entry(end).or_default();
            *left = left.saturating_sub(1);
            if *left == 0 {
                roots.push(end);
            }
        }
    }
    edges.iter().filter(|(start, _)| from.contains_key(start)).copied().collect()
}
