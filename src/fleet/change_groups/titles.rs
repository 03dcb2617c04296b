//! Titles of groups, and their JSON.

use serde_json::{Value, json};

use super::{ChangeGroup, FoldedChange, MAX_KEPT, MAX_VALUE, ScalarChange};
use crate::excerpts;
use crate::object_changes::{ObjectName, Op, Operation};
use crate::output_files::Change;
use dropforge_base::diagnostics::counted;

/// Maximum number of operations in a title.
const MAX_TITLED: usize = 3;
/// Maximum size of the JSON of a map or list that is kept.
const MAX_TREE: usize = 16 << 10;

impl ObjectName {
    /// Returns the kind and the name.
    pub fn title(&self) -> String {
        format!("{} {}", self.kind, self.name).trim_end().to_owned()
    }

    fn to_json(&self) -> Value {
        json!({"apiVersion": self.api_version, "kind": self.kind, "namespace": self.namespace, "name": self.name})
    }
}

impl ChangeGroup {
    /// Returns the object and the change in a few words, such as `Deployment web: spec.replicas 2 → 9`.
    pub fn title(&self) -> String {
        match &self.object {
            Some(object) => format!("{}: {}", object.title(), self.changes()),
            None => self.changes(),
        }
    }

    /// Returns the change in a few words, such as `spec.replicas 2 → 9`.
    pub fn changes(&self) -> String {
        let of_scalars = || self.scalars.iter().map(ScalarChange::title).collect::<Vec<_>>();
        match self.change {
            None => "deleted".to_owned(),
            Some(Change::Create) => "created".to_owned(),
            Some(_) if !self.scalars.is_empty() => listed(&of_scalars(), self.scalars.len()),
            Some(_) if self.object.is_some() && self.operation_count > 0 => {
                let titles: Vec<_> = self.operations.iter().take(MAX_TITLED).map(Operation::title).collect();
                listed(&titles, self.operation_count)
            }
            Some(_) => self.line_counts(),
        }
    }

    fn line_counts(&self) -> String {
        let lines = |count: usize, what: &str| (count > 0).then(|| format!("{} {what}", counted(count, "line")));
        let (added, removed) = self.lines;
        match lines(added, "added").into_iter().chain(lines(removed, "removed")).collect::<Vec<_>>() {
            counts if counts.is_empty() => "another mode".to_owned(),
            counts => counts.join(", "),
        }
    }

    /// Returns `create`, `update` or `delete`.
    pub fn verb(&self) -> &'static str {
        match self.change {
            None => "delete",
            Some(Change::Create) => "create",
            Some(_) => "update",
        }
    }

    /// Returns the group as a JSON object: `template`, `object`, `change` (`create`, `update`, `delete`), `title`, `count`,
    /// `clusters`, `files` (their number), `operations` (`op`, `path`, `from`, `value`), `values` (path, old, new), `path` of
    /// the first file and its `hunks`.
    pub fn to_json(&self) -> Value {
        let values = self.scalars.iter().map(|one| json!({"path": one.path, "old": one.old, "new": one.new}));
        json!({
            "template": self.template,
            "object": self.object.as_ref().map(ObjectName::to_json),
            "change": self.verb(),
            "title": self.title(),
            "count": self.clusters.len(),
            "clusters": self.clusters,
            "files": self.files,
            "operations": self.operations.iter().map(Operation::to_json).collect::<Vec<_>>(),
            "operationCount": self.operation_count,
            "values": values.collect::<Vec<_>>(),
            "path": self.path,
            "hunks": self.hunks,
            "cut": self.cut,
        })
    }
}

impl FoldedChange {
    /// Returns the change as a JSON object: `volatile` (the key), `count`, `clusters`, `files` (their number).
    pub fn to_json(&self) -> Value {
        json!({"volatile": self.key, "count": self.clusters.len(), "clusters": self.clusters, "files": self.files})
    }
}

/// Returns the first titles, and the number of the others.
fn listed(titles: &[String], count: usize) -> String {
    let shown = titles.get(..MAX_TITLED.min(titles.len())).unwrap_or(&[]);
    match count - shown.len() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

impl ScalarChange {
    fn title(&self) -> String {
        let (old, new) = excerpts::pair(&self.old, &self.new, MAX_VALUE);
        format!("{} {old} → {new}", self.path)
    }
}

impl Operation {
    fn title(&self) -> String {
        match (self.op, self.from.as_ref().and_then(scalar_text), self.value.as_ref().and_then(scalar_text)) {
            (Op::Replace, Some(old), Some(new)) => {
                let (old, new) = excerpts::pair(&old, &new, MAX_VALUE);
                format!("{} {old} → {new}", self.place)
            }
            (Op::Add, ..) => format!("{} added", self.place),
            (Op::Remove, ..) => format!("{} removed", self.place),
            (Op::Replace, ..) => format!("{} replaced", self.place),
        }
    }

    fn to_json(&self) -> Value {
        let mut one = json!({"op": self.op.name(), "path": self.path});
        if let Some(one) = one.as_object_mut() {
            one.extend(self.from.iter().map(|from| ("from".to_owned(), from.clone())));
            one.extend(self.value.iter().map(|value| ("value".to_owned(), value.clone())));
        }
        one
    }

    /// Returns the operation with excerpts of long values.
    pub(super) fn shortened(mut self) -> Self {
        match (&mut self.from, &mut self.value) {
            (Some(Value::String(old)), Some(Value::String(new))) => {
                (*old, *new) = excerpts::pair(old, new, MAX_KEPT);
            }
            (from, value) => from.iter_mut().chain(value).for_each(shorten),
        }
        self
    }
}

/// Replaces a long value by an excerpt of its text.
fn shorten(value: &mut Value) {
    let text = match value {
        Value::String(text) if text.len() > MAX_KEPT => std::mem::take(text),
        Value::Array(_) | Value::Object(_) => match value.to_string() {
            text if text.len() > MAX_TREE => text,
            _ => return,
        },
        _ => return,
    };
    *value = excerpts::one(&text, MAX_KEPT).into();
}

/// Returns the text of a scalar.
pub(super) fn scalar_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(_) | Value::Object(_) => None,
        other => Some(other.to_string()),
    }
}
