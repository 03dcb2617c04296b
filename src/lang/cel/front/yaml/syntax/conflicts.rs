//! Conflicts between the keys and directives of a map, whatever the inputs are.

use hashbrown::HashMap;

use super::build::FileBuilder;
use super::tree::{Map, NodeId, NodeKind, PathStep};
use dropforge_base::diagnostics::{Code, Diagnostic};
use dropforge_base::text::Span;
use dropforge_value::yaml::Kind;

/// The constant keys of a map, with their spans.
type Keys<'f> = HashMap<&'f str, Span>;

/// Capacity up to which the keys of the next map are put in place of those of the last.
const KEPT: usize = 64;

/// Errors, and the nodes that they are about.
type Conflicts = Vec<(Box<Diagnostic>, NodeId)>;

impl FileBuilder<'_> {
    /// Reports duplicate keys, and values other than maps in places where maps are merged. The reader of YAML has found keys
    /// that are written twice.
    pub fn conflicts(&mut self) {
        let mut found = Conflicts::new();
        let mut keys = Keys::new();
        let mut maps = std::mem::take(&mut self.merging);
        maps.sort_unstable();
        maps.dedup();
        for map in maps.into_iter().filter_map(|id| self.file.map(id)) {
            if keys.capacity() > KEPT {
                keys = Keys::new();
            }
            keys.clear();
            self.own_keys(map, &mut keys, &mut found);
            self.branches_of(map, &keys, &mut found);
            if let Some(each) = map.directives().each.as_ref().filter(|each| !each.in_list) {
                self.must_be_map("$do", each.body, &mut found);
            }
        }
        drop(keys);
        for (error, node) in found {
            self.report(error, node);
        }
    }

    /// Makes the error of a duplicate key.
    fn duplicate(&self, name: &str, here: Span, there: Span) -> Box<Diagnostic> {
        Diagnostic::new(Code::DuplicateKey, format!("duplicate key: `{name}` is given twice"))
            .at(&self.file.source, here, "")
            .at(&self.file.source, there, "also here")
            .with_help("keep one of them; parts that `$if` chooses belong only in `$then` and `$else`")
    }

    /// Returns the name of a constant key.
    fn key_name(&self, key: NodeId) -> Option<(&str, Span)> {
        let node = self.file.node(key)?;
        match (&node.kind, &node.step) {
            (NodeKind::Scalar(scalar), _) if matches!(scalar.kind, Kind::Str) => Some((&scalar.text, node.span)),
            (NodeKind::Scalar(_), PathStep::Key(name)) => Some((name, node.span)),
            _ => None,
        }
    }

    fn keys_of<'m>(&'m self, map: &'m Map) -> impl Iterator<Item = (&'m str, Span, NodeId)> + 'm {
        let named = |key: NodeId| self.key_name(key).map(|(name, span)| (name, span, key));
        map.entries().filter_map(move |entry| named(entry.key))
    }

    fn own_keys<'m>(&'m self, map: &'m Map, keys: &mut Keys<'m>, found: &mut Conflicts) {
        for (name, span, node) in self.keys_of(map) {
            if let Some(there) = keys.insert(name, span) {
                found.push((self.duplicate(name, span, there), node));
            }
        }
    }

    /// Finds conflicts of `$then` and `$else` with the keys that they are merged with.
    fn branches_of(&self, map: &Map, keys: &Keys<'_>, found: &mut Conflicts) {
        let merged = !keys.is_empty()
            || map.entries().next().is_some()
            || map.directives().each.is_some()
            || map.directives().include.is_some();
        if !merged {
            return;
        }
        let branches = |map: &Map| {
            let condition = map.directives().condition.as_ref();
            condition.map_or([None, None], |of| [of.then.map(|id| ("$then", id)), of.otherwise.map(|id| ("$else", id))])
        };
        let mut open: Vec<_> = branches(map).into_iter().flatten().collect();
        while let Some((name, id)) = open.pop() {
            let Some(inner) = self.file.map_of(id) else {
                self.must_be_map(name, id, found);
                continue;
            };
            for (name, span, node) in self.keys_of(inner) {
                if let Some(there) = keys.get(name) {
                    found.push((self.duplicate(name, span, *there), node));
                }
            }
            // A map with only a condition is its branch.
            open.extend(branches(inner).into_iter().flatten());
        }
    }

    fn must_be_map(&self, name: &str, id: NodeId, found: &mut Conflicts) {
        let Some(node) = self.file.node(id) else { return };
        if matches!(node.kind, NodeKind::Scalar(_) | NodeKind::Text(_) | NodeKind::List(_)) {
            let message = format!("`{name}` has to be a map here, because its keys are merged");
            let error = Diagnostic::new(Code::BadDirective, message).at(&self.file.source, node.span, "");
            found.push((error, id));
        }
    }
}
