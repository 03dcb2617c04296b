//! Closing a map: merge keys are unfolded and duplicate keys found.

use std::collections::HashMap;
use std::sync::Arc;

use super::node::{Entry, Kind, Node, Style};
use crate::text::Span;

/// What is wrong with a map.
pub(super) enum MapFault {
    /// One key twice: its name, the first place and the second.
    Duplicate(Arc<str>, Span, Span),
    /// `<<` with a value that is neither a map nor a list of maps.
    BadMerge(Span, &'static str),
}

/// Unfolds `<<` and reports duplicates; the second result is the weight of the entries that merging copied.
///
/// A key of the map itself wins over a merged one wherever it stands; of several merged maps the first wins.
/// Merged entries stand where the merge key stood.
pub(super) fn close_map(entries: Vec<Entry>, faults: &mut Vec<MapFault>) -> (Vec<Entry>, u64) {
    find_duplicates(&entries, faults);
    if !entries.iter().any(is_merge) {
        return (entries, 0);
    }
    let mut seen: HashMap<Arc<str>, ()> =
        entries.iter().filter(|entry| !is_merge(entry)).map(|entry| (entry.name.clone(), ())).collect();
    let (mut out, mut copied) = (Vec::with_capacity(entries.len()), 0);
    for entry in entries {
        if !is_merge(&entry) {
            out.push(entry);
            continue;
        }
        for merged in merged_maps(&entry.value, faults) {
            for inner in merged.as_map().unwrap_or(&[]) {
                if seen.insert(inner.name.clone(), ()).is_none() {
                    copied += inner.key.weight + inner.value.weight;
                    out.push(inner.clone());
                }
            }
        }
    }
    (out, copied)
}

fn is_merge(entry: &Entry) -> bool {
    &*entry.name == "<<" && entry.key.style == Style::Plain && matches!(entry.key.kind, Kind::Str)
}

/// The maps that a merge key names.
fn merged_maps<'n>(value: &'n Node, faults: &mut Vec<MapFault>) -> Vec<&'n Node> {
    let candidates: Vec<&Node> = match &value.kind {
        Kind::List(items) => items.iter().collect(),
        _ => vec![value],
    };
    let bad = candidates.iter().find(|node| node.as_map().is_none());
    if let Some(bad) = bad {
        faults.push(MapFault::BadMerge(bad.span, bad.kind_name()));
        return Vec::new();
    }
    candidates
}

fn find_duplicates(entries: &[Entry], faults: &mut Vec<MapFault>) {
    let mut report = |first: &Entry, second: &Entry| {
        faults.push(MapFault::Duplicate(second.name.clone(), first.key.span, second.key.span));
    };
    if entries.len() <= 8 {
        for (at, entry) in entries.iter().enumerate() {
            if let Some(first) = entries.iter().take(at).find(|first| first.name == entry.name) {
                report(first, entry);
            }
        }
        return;
    }
    let mut seen: HashMap<&str, &Entry> = HashMap::with_capacity(entries.len());
    for entry in entries {
        match seen.get(&*entry.name) {
            Some(first) => report(first, entry),
            None => drop(seen.insert(&entry.name, entry)),
        }
    }
}
