//! The changed lines of a part of a file: its key among others, and the example of a group.

use super::{ChangeGroup, MAX_KEPT, MAX_OPERATIONS, Part, ScalarChange, scalar_text};
use crate::diff::{Replacement, hunks_of, replacements};
use crate::excerpts;
use crate::job::FilePreview;
use crate::line_paths::{path, scalar};
use crate::object_changes::{Op, Operation};
use crate::output_files::Change;
use crate::volatile::Volatile;

/// Maximum size of the example of a group, in bytes.
const MAX_EXAMPLE: usize = 64 << 10;
/// Maximum number of changes in a file whose paths are looked up, because that takes time in proportion to the file.
const MAX_PATHS: usize = 8;
/// The text that stands for the cluster's name.
const CLUSTER: &str = "{cluster}";

/// The lines of a part of a file, without volatile changes.
pub(super) struct PartLines<'t> {
    file: &'t FilePreview<'t>,
    /// The old text with the new volatile values.
    old_text: String,
    new_text: &'t str,
    /// The lines that change, unless the part comes or goes: those are alike whatever their content.
    changes: Vec<Replacement>,
    before: (usize, usize),
    /// The volatile lines that change.
    pub(super) volatile: Vec<String>,
}

impl<'t> PartLines<'t> {
    pub(super) fn of(file: &'t FilePreview<'t>, part: &Part<'t>, volatile: &Volatile) -> Self {
        let old_text = part.differences.as_ref().and_then(|found| found.old.clone());
        let mut lines = Self {
            file,
            old_text: old_text.unwrap_or_else(|| part.old.to_owned()),
            new_text: part.new,
            changes: Vec::new(),
            before: part.before,
            volatile: Vec::new(),
        };
        if part.change == Some(Change::Update) {
            lines.fold_lines(volatile);
            lines.changes = replacements(&lines.old_lines(), &lines.new_lines());
        }
        lines
    }

    /// Takes the new volatile lines into the old text.
    fn fold_lines(&mut self, volatile: &Volatile) {
        let (mut text, mut end, mut found) = (String::new(), 0, Vec::new());
        let (old, new) = (self.old_lines(), self.new_lines());
        for Replacement { old: gone, new: come } in replacements(&old, &new) {
            let [a, b] = [(&old, gone.clone()), (&new, come)].map(|(lines, range)| lines.get(range).unwrap_or(&[]));
            if a.iter().chain(b).all(|line| volatile.is_line(line)) {
                old.get(end..gone.start).into_iter().flatten().chain(b).for_each(|line| text.push_str(line));
                end = gone.end;
                found.extend(b.first().or(a.first()).map(|line| self.without_cluster(line.trim())));
            }
        }
        if found.is_empty() {
            return;
        }
        old.get(end..).into_iter().flatten().for_each(|line| text.push_str(line));
        (self.old_text, self.volatile) = (text, found);
    }

    fn old_lines(&self) -> Vec<&str> {
        self.old_text.split_inclusive('\n').collect()
    }

    fn new_lines(&self) -> Vec<&str> {
        self.new_text.split_inclusive('\n').collect()
    }

    /// Returns `true` if nothing but volatile lines changes.
    pub(super) fn is_folded(&self, part: &Part<'_>) -> bool {
        let is_any = |keys: &[String]| !keys.is_empty();
        let of_values = part.differences.as_ref().is_some_and(|found| is_any(&found.volatile));
        let no_values = part.differences.as_ref().is_some_and(|found| found.operations.is_empty());
        part.change == Some(Change::Update)
            && (is_any(&self.volatile) && self.changes.is_empty()
                || of_values && (no_values || self.changes.is_empty()))
    }

    /// Returns the hash that parts with the same change share.
    pub(super) fn key(&self, part: &Part<'_>) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new();
        let mut add = |sign: &str, text: &str| {
            hasher.update(sign.as_bytes());
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        };
        add(
            "change",
            match part.change {
                None => "deleted",
                Some(Change::Create) => "created",
                Some(Change::Update) => "updated",
                Some(Change::Unchanged) => "unchanged",
            },
        );
        match &part.object {
            Some(object) => add("object", &self.without_cluster(&object.title())),
            None => add("template", self.file.template),
        }
        let operations = part.differences.as_ref().map_or(&[][..], |found| &found.operations);
        match part.object.is_some() && !operations.is_empty() {
            true => operations.iter().for_each(|one| self.add_operation(one, &mut add)),
            false => self.add_lines(&mut add),
        }
        hasher.finalize()
    }

    fn add_operation(&self, one: &Operation, add: &mut dyn FnMut(&str, &str)) {
        add(one.op.name(), &self.without_cluster(&one.place));
        for (sign, value) in [("-", &one.from), ("+", &one.value)] {
            value.iter().for_each(|value| add(sign, &self.without_cluster(&value.to_string())));
        }
    }

    fn add_lines(&self, add: &mut dyn FnMut(&str, &str)) {
        let (old, new) = (self.old_lines(), self.new_lines());
        for (at, change) in self.changes.iter().enumerate() {
            let place = if at < MAX_PATHS { self.place(change, &old, &new) } else { String::new() };
            add("@", &self.without_cluster(&place));
            for (sign, lines, range) in [("-", &old, &change.old), ("+", &new, &change.new)] {
                let lines = lines.get(range.clone()).unwrap_or(&[]);
                lines.iter().for_each(|line| add(sign, &self.without_cluster(line)));
            }
        }
    }

    /// Returns the path of the first changed line.
    fn place(&self, change: &Replacement, old: &[&str], new: &[&str]) -> String {
        let (lines, range) = if change.old.is_empty() { (new, &change.new) } else { (old, &change.old) };
        self.is_yaml().then(|| path(lines, range.start)).flatten().unwrap_or_default()
    }

    fn is_yaml(&self) -> bool {
        self.file.path.ends_with(".yaml") || self.file.path.ends_with(".yml")
    }

    pub(super) fn group(&self, part: &Part<'_>) -> ChangeGroup {
        let (hunks, cut) = self.hunks();
        let sum = |of: fn(&Replacement) -> usize| self.changes.iter().map(of).sum();
        let operations = part.differences.as_ref().map_or(&[][..], |found| &found.operations);
        let object = part.object.clone().map(|mut object| {
            object.name = self.without_cluster(&object.name);
            object
        });
        ChangeGroup {
            template: self.file.template.to_owned(),
            change: part.change,
            clusters: Vec::new(),
            files: 0,
            scalars: self.scalars(&object, operations),
            operation_count: operations.len(),
            operations: operations.iter().take(MAX_OPERATIONS).map(|one| self.shown(one)).collect(),
            object,
            lines: (sum(|change| change.new.len()), sum(|change| change.old.len())),
            path: self.file.path.to_owned(),
            hunks,
            cut,
        }
    }

    /// Returns an operation with `{cluster}` for the name of the cluster, and excerpts of long values.
    fn shown(&self, one: &Operation) -> Operation {
        let text = |text: &str| self.without_cluster(text);
        let value = |value: &serde_json::Value| match value {
            serde_json::Value::String(value) => text(value).into(),
            other => other.clone(),
        };
        let shown = Operation {
            op: one.op,
            path: text(&one.path),
            place: text(&one.place),
            from: one.from.as_ref().map(value),
            value: one.value.as_ref().map(value),
        };
        shown.shortened()
    }

    /// Returns the hunks, and `true` if some are left out because of their size.
    fn hunks(&self) -> (Vec<String>, bool) {
        let (mut hunks, mut size): (Vec<String>, usize) = (Vec::new(), 0);
        for mut hunk in hunks_of(&self.old_text, self.new_text, self.before) {
            excerpts::shorten(&mut hunk);
            let mut text = String::new();
            hunk.write(&mut text);
            if size + text.len() > MAX_EXAMPLE {
                let room = text.as_bytes().get(..MAX_EXAMPLE - size).unwrap_or_default();
                let end = memchr::memrchr(b'\n', room).map_or(0, |end| end + 1);
                hunks.extend(text.get(..end).filter(|text| !text.is_empty()).map(str::to_owned));
                return (hunks, true);
            }
            size += text.len();
            hunks.push(text);
        }
        (hunks, false)
    }

    /// Returns the changed scalars, if nothing else changes.
    fn scalars(
        &self,
        object: &Option<crate::object_changes::ObjectName>,
        operations: &[Operation],
    ) -> Vec<ScalarChange> {
        let found = match object.is_some() && !operations.is_empty() {
            true => operations.iter().map(|one| self.scalar_of(one)).collect(),
            false => self.scalar_lines(),
        };
        found.unwrap_or_default()
    }

    fn scalar_of(&self, one: &Operation) -> Option<ScalarChange> {
        let text = |value: &Option<serde_json::Value>| value.as_ref().and_then(scalar_text);
        let (old, new) = text(&one.from).zip(text(&one.value)).filter(|_| one.op == Op::Replace)?;
        Some(self.scalar(&one.place, &old, &new))
    }

    fn scalar(&self, path: &str, old: &str, new: &str) -> ScalarChange {
        let [path, old, new] = [path, old, new].map(|text| self.without_cluster(text));
        let (old, new) = excerpts::pair(&old, &new, MAX_KEPT);
        ScalarChange { path, old, new }
    }

    fn scalar_lines(&self) -> Option<Vec<ScalarChange>> {
        if !self.is_yaml() || self.changes.len() > MAX_PATHS {
            return None;
        }
        let (olds, news, mut scalars) = (self.old_lines(), self.new_lines(), Vec::new());
        for Replacement { old, new } in &self.changes {
            if old.len() != new.len() || old.len() > MAX_PATHS {
                return None;
            }
            for (old, new) in old.clone().zip(new.clone()) {
                let ((path, old), (same, new)) = (scalar(&olds, old)?, scalar(&news, new)?);
                if path != same {
                    return None;
                }
                scalars.push(self.scalar(&path, old, new));
            }
        }
        Some(scalars)
    }

    /// Replaces the cluster's name where it stands as a word.
    fn without_cluster(&self, text: &str) -> String {
        let name = self.file.cluster;
        if name.is_empty() {
            return text.to_owned();
        }
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let (mut result, mut end) = (String::with_capacity(text.len()), 0);
        for (at, _) in text.match_indices(name) {
            let (before, after) = (text.get(..at).unwrap_or(""), text.get(at + name.len()..).unwrap_or(""));
            if !before.ends_with(is_word) && !after.starts_with(is_word) {
                result.push_str(text.get(end..at).unwrap_or(""));
                result.push_str(CLUSTER);
                end = at + name.len();
            }
        }
        result.push_str(text.get(end..).unwrap_or(""));
        result
    }
}
