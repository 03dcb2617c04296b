//! The tasks of the construction of a template tree.

use super::tree::{MapId, NodeId, VariableId};
use crate::value::yaml::{self, Entry, Kind};

/// A task of the construction.
pub(super) enum Task<'y> {
    /// Build the template of a YAML node. Set for an item of a list.
    Value(NodeId, &'y yaml::Node, bool),
    /// Build a variable of `$let`.
    Let(NodeId, MapId, &'y Entry),
    /// Bring a variable into scope.
    Bind(VariableId),
    /// Build the parts of a map after `$let`.
    Rest(Box<MapParts<'y>>),
    /// Leave a scope.
    Leave(usize),
}

/// The directives and entries of a map.
pub(super) struct MapParts<'y> {
    pub id: NodeId,
    pub map: MapId,
    pub in_list: bool,
    pub entries: &'y [Entry],
    pub directives: Vec<&'y Entry>,
}

impl<'y> MapParts<'y> {
    pub fn get(&self, name: &str) -> Option<&'y Entry> {
        self.directives.iter().find(|entry| &*entry.key.text == name).copied()
    }

    pub fn keys(&self) -> impl Iterator<Item = &'y Entry> {
        self.entries.iter().filter(|entry| !is_directive(entry))
    }
}

/// Returns `true` for a key that starts like a directive.
pub(super) fn is_directive(entry: &Entry) -> bool {
    matches!(entry.key.kind, Kind::Str)
        && entry.key.text.starts_with('$')
        && !entry.key.text.starts_with("$$")
        && !entry.key.text.starts_with("${")
}
