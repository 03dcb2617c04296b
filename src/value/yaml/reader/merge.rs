//! Completes a map: expands merge keys and finds duplicate keys.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::yaml::node::{Entry, Kind, Node, Style};
use dropforge_base::diagnostics::{Code, Diagnostic};
use dropforge_base::text::{Source, Span};

/// Maximum characters of a key in a message.
const SHOWN: usize = 60;

/// An error in a map.
pub(super) enum MapError {
    /// A duplicate key: its name and the spans of both keys.
    Duplicate(Arc<str>, Span, Span),
    /// `<<` with a value that is neither a map nor a list of maps.
    BadMerge(Span, &'static str),
}

impl MapError {
    /// Returns the error in a file.
    pub fn diagnostic(self, source: &Arc<Source>) -> Box<Diagnostic> {
        match self {
            Self::Duplicate(name, first, second) => {
                Diagnostic::new(Code::DuplicateKey, format!("the key `{}` is given twice", shortened(&name)))
                    .at(source, second, "again here")
                    .at(source, first, "first here")
                    .with_help("keep one of them; a map has each key once")
            }
            Self::BadMerge(span, kind) => {
                Diagnostic::new(Code::InputSyntax, format!("`<<` takes a map or a list of maps, found {kind}"))
                    .at(source, span, "")
                    .with_help("write the key as `\"<<\"` if it is data")
            }
        }
    }
}

/// Shortens a key for a message.
fn shortened(key: &str) -> String {
    match key.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", key.get(..end).unwrap_or_default()),
        None => key.to_owned(),
    }
}

/// Expands `<<` and reports duplicates. Also returns the weight of the entries that merging copied.
///
/// The map's own keys win over merged ones regardless of position; among several merged maps the first wins. Merged
/// entries take the position of the merge key.
pub(super) fn close_map(entries: Vec<Entry>, errors: &mut Vec<MapError>) -> (Vec<Entry>, u32) {
    find_duplicates(&entries, errors);
    if !entries.iter().any(is_merge) {
        return (entries, 0);
    }
    let mut seen: HashSet<Arc<str>> =
        entries.iter().filter(|entry| !is_merge(entry)).map(|entry| entry.name.clone()).collect();
    let (mut out, mut copied) = (Vec::with_capacity(entries.len()), 0_u32);
    for entry in entries {
        if !is_merge(&entry) {
            out.push(entry);
            continue;
        }
        for merged in merged_maps(&entry.value, errors) {
            for inner in merged.as_map().unwrap_or(&[]) {
                if seen.insert(inner.name.clone()) {
                    copied = copied.saturating_add(inner.key.weight).saturating_add(inner.value.weight);
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

/// Returns the maps that a merge key refers to.
fn merged_maps<'n>(value: &'n Node, errors: &mut Vec<MapError>) -> Vec<&'n Node> {
    let candidates: Vec<&Node> = match &value.kind {
        Kind::List(items) => items.iter().collect(),
        _ => vec![value],
    };
    let bad = candidates.iter().find(|node| node.as_map().is_none());
    if let Some(bad) = bad {
        errors.push(MapError::BadMerge(bad.span, bad.kind_name()));
        return Vec::new();
    }
    candidates
}

fn find_duplicates(entries: &[Entry], errors: &mut Vec<MapError>) {
    let mut report = |first: &Entry, second: &Entry| {
        errors.push(MapError::Duplicate(second.name.clone(), first.key.span, second.key.span));
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
