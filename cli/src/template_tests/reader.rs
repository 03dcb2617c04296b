//! Reads the nodes of a test file, and collects all errors.

use std::sync::Arc;

use dropforge::diagnostics::{Code, Diagnostic};
use dropforge::text::{Source, Span};
use dropforge::value::yaml::{Entry, Kind, Node};

use super::suite::Placed;

/// Keys of helm-unittest that are not supported, and why.
const UNSUPPORTED: [(&str, &str); 5] = [
    ("postRenderer", "no other program is run"),
    ("kubernetesProvider", "`lookup` finds nothing, as in `helm template`"),
    ("includeCrds", "files in `crds/` are not templates"),
    ("snapshotId", "a test file has one file of snapshots"),
    ("minimumVersion", "this is not helm-unittest; remove the key"),
];

/// Reads nodes and collects errors.
#[derive(Debug)]
pub(super) struct Reader<'s> {
    pub source: &'s Arc<Source>,
    pub errors: Vec<Box<Diagnostic>>,
}

impl<'s> Reader<'s> {
    pub fn new(source: &'s Arc<Source>) -> Self {
        Self { source, errors: Vec::new() }
    }

    /// Returns an error of the file.
    pub fn error(&self, span: Span, message: impl Into<String>) -> Box<Diagnostic> {
        Diagnostic::new(Code::TestStructure, message).at(self.source, span, "")
    }

    /// Adds an error of the file.
    pub fn refuse(&mut self, span: Span, message: impl Into<String>) {
        let error = self.error(span, message);
        self.errors.push(error);
    }

    /// Returns the entries of a map whose keys are known. `what` is what the map stands for. Null is an empty map.
    pub fn fields<'n>(&mut self, node: &'n Node, what: &str, known: &[&str]) -> Vec<&'n Entry> {
        let Some(entries) = self.map(node, what) else { return Vec::new() };
        let (good, bad): (Vec<&Entry>, Vec<&Entry>) = entries.iter().partition(|one| known.contains(&&*one.name));
        for entry in bad {
            let unsupported = UNSUPPORTED.iter().find(|(key, _)| *key == &*entry.name);
            let error = match unsupported {
                Some((key, why)) => {
                    self.error(entry.key.span, format!("`{key}` of helm-unittest is not supported")).with_help(*why)
                }
                None => self
                    .error(entry.key.span, format!("unknown key `{}` of {what}", entry.name))
                    .with_available(known.iter().copied())
                    .with_suggestion(&entry.name, known.iter().copied()),
            };
            self.errors.push(error);
        }
        good
    }

    /// Returns the entries of a map. Null is an empty map.
    pub fn map<'n>(&mut self, node: &'n Node, what: &str) -> Option<&'n [Entry]> {
        match &node.kind {
            Kind::Map(entries) => Some(entries),
            Kind::Null => Some(&[]),
            _ => self.unfit(node, what, "a map"),
        }
    }

    /// Returns the items of a list. Null is an empty list.
    pub fn list<'n>(&mut self, node: &'n Node, what: &str) -> Option<&'n [Node]> {
        match &node.kind {
            Kind::List(items) => Some(items),
            Kind::Null => Some(&[]),
            _ => self.unfit(node, what, "a list"),
        }
    }

    /// Returns a text, or a number or boolean as it is written.
    pub fn text(&mut self, node: &Node, what: &str) -> Option<Placed> {
        match &node.kind {
            Kind::Null | Kind::List(_) | Kind::Map(_) => self.unfit(node, what, "a text"),
            _ => Some(Placed { text: node.text.as_ref().to_owned(), span: node.span }),
        }
    }

    /// Returns one text or a list of them.
    pub fn texts(&mut self, node: &Node, what: &str) -> Vec<Placed> {
        match node.as_str() {
            Some(_) => self.text(node, what).into_iter().collect(),
            None => {
                let items = self.list(node, what).unwrap_or(&[]);
                items.iter().filter_map(|item| self.text(item, what)).collect()
            }
        }
    }

    pub fn boolean(&mut self, node: &Node, what: &str) -> Option<bool> {
        match node.kind {
            Kind::Bool(value) => Some(value),
            _ => self.unfit(node, what, "`true` or `false`"),
        }
    }

    pub fn integer(&mut self, node: &Node, what: &str) -> Option<i64> {
        match node.kind {
            Kind::Int(value) => Some(value),
            _ => self.unfit(node, what, "an integer"),
        }
    }

    /// Returns a number of things.
    pub fn count(&mut self, node: &Node, what: &str) -> Option<usize> {
        let count = self.integer(node, what)?;
        usize::try_from(count).map_err(|_| self.refuse(node.span, format!("{what} is negative"))).ok()
    }

    fn unfit<T>(&mut self, node: &Node, what: &str, wanted: &str) -> Option<T> {
        self.refuse(node.span, format!("{what} must be {wanted}, found {}", node.kind_name()));
        None
    }
}
