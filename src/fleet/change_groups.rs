//! Groups of files that change in the same way, for diffs of whole fleets.
//!
//! Two files of one template change in the same way if the same lines at the same paths of YAML go and come, apart from
//! the cluster's name in them. A group keeps the names of its clusters and one example, so memory is bounded.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::diff::{Replacement, replacements, unified_diff};
use super::job::FilePreview;
use super::line_paths::{path, scalar};
use super::output_files::Change;

/// Maximum number of groups. Files that would need more are only counted.
const MAX_GROUPS: usize = 1_000;
/// Maximum size of the example of a group, in bytes.
const MAX_EXAMPLE: usize = 64 << 10;
/// Maximum number of changes in a file whose paths are looked up, because that takes time in proportion to the file.
const MAX_PATHS: usize = 8;
/// Maximum number of characters of a value in a title, and of one that is kept.
const MAX_VALUE: usize = 60;
const MAX_KEPT: usize = 1_000;
/// Maximum number of scalars in a title.
const MAX_SCALARS: usize = 3;
/// The text that stands for the cluster's name.
const CLUSTER: &str = "{cluster}";

/// Groups of files that a run would change in the same way, in the order of their first files.
#[derive(Debug, Default)]
pub struct ChangeGroups {
    index: HashMap<blake3::Hash, usize>,
    groups: Vec<ChangeGroup>,
    left_out: usize,
}

/// Files that a run would change in the same way.
#[derive(Debug)]
pub struct ChangeGroup {
    /// The path of the template, or an empty string if it is unknown.
    pub template: String,
    /// The change, or `None` if nothing makes the files any more.
    pub change: Option<Change>,
    /// The clusters of the files. Empty if they are unknown.
    pub clusters: Vec<String>,
    /// The number of files.
    pub files: usize,
    /// The changed scalars. Empty if other lines change as well.
    pub scalars: Vec<ScalarChange>,
    /// The numbers of lines that come and go in the first file.
    pub lines: (usize, usize),
    /// The path of the first file.
    pub path: String,
    /// The hunks of the first file, each with its `@@` line, up to a size.
    pub hunks: Vec<String>,
    /// `true` if hunks are missing.
    pub cut: bool,
}

/// A scalar that changes, with `{cluster}` for the name of the cluster.
#[derive(Debug, PartialEq, Eq)]
pub struct ScalarChange {
    /// The path in the document.
    pub path: String,
    /// The old value.
    pub old: String,
    /// The new value.
    pub new: String,
}

impl ChangeGroups {
    /// Adds a file.
    pub fn add(&mut self, file: &FilePreview<'_>) {
        let old: Vec<&str> = file.old.split_inclusive('\n').collect();
        let new: Vec<&str> = file.new.split_inclusive('\n').collect();
        // Files that come or go are alike whatever their content.
        let changes = if file.change == Some(Change::Update) { replacements(&old, &new) } else { Vec::new() };
        let lines = FileLines { file, old: &old, new: &new };
        let key = lines.key(&changes);
        let at = match self.index.get(&key) {
            Some(at) => *at,
            None if self.groups.len() == MAX_GROUPS => {
                self.left_out += 1;
                return;
            }
            None => {
                self.groups.push(lines.group(&changes));
                self.index.insert(key, self.groups.len() - 1);
                self.groups.len() - 1
            }
        };
        if let Some(group) = self.groups.get_mut(at) {
            group.files += 1;
            if !file.cluster.is_empty() && group.clusters.last().is_none_or(|last| last != file.cluster) {
                group.clusters.push(file.cluster.to_owned());
            }
        }
    }

    /// Returns the groups.
    pub fn groups(&self) -> &[ChangeGroup] {
        &self.groups
    }

    /// Returns the number of files that are in no group, because there are too many.
    pub fn left_out(&self) -> usize {
        self.left_out
    }
}

impl ChangeGroup {
    /// Returns the change in a few words, such as `spec.replicas 2 → 9`.
    pub fn title(&self) -> String {
        let lines = |count: usize, what: &str| {
            (count > 0).then(|| format!("{} {what}", dropforge_base::diagnostics::counted(count, "line")))
        };
        match self.change {
            None => "deleted".to_owned(),
            Some(Change::Create) => "created".to_owned(),
            Some(_) if self.scalars.is_empty() => {
                let (added, removed) = self.lines;
                lines(added, "added").into_iter().chain(lines(removed, "removed")).collect::<Vec<_>>().join(", ")
            }
            Some(_) => {
                let shown = self.scalars.iter().take(MAX_SCALARS).map(ScalarChange::title).collect::<Vec<_>>();
                match self.scalars.len() - shown.len() {
                    0 => shown.join(", "),
                    more => format!("{} and {more} more", shown.join(", ")),
                }
            }
        }
    }

    /// Returns the group as a JSON object: `template`, `change` (`create`, `update`, `delete`), `title`, `count`,
    /// `clusters`, `files` (their number), `values` (path, old, new), `path` of the first file and its `hunks`.
    pub fn to_json(&self) -> Value {
        let change = match self.change {
            None => "delete",
            Some(Change::Create) => "create",
            Some(_) => "update",
        };
        let values = self.scalars.iter().map(|one| json!({"path": one.path, "old": one.old, "new": one.new}));
        json!({
            "template": self.template,
            "change": change,
            "title": self.title(),
            "count": self.clusters.len(),
            "clusters": self.clusters,
            "files": self.files,
            "values": values.collect::<Vec<_>>(),
            "path": self.path,
            "hunks": self.hunks,
            "cut": self.cut,
        })
    }
}

impl ScalarChange {
    fn title(&self) -> String {
        format!("{} {} → {}", self.path, shortened(&self.old, MAX_VALUE), shortened(&self.new, MAX_VALUE))
    }
}

fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or("")),
        None => text.to_owned(),
    }
}

/// A file and its lines.
struct FileLines<'t> {
    file: &'t FilePreview<'t>,
    old: &'t [&'t str],
    new: &'t [&'t str],
}

impl FileLines<'_> {
    /// Returns the hash that files with the same change share.
    fn key(&self, changes: &[Replacement]) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new();
        let mut part = |sign: &str, text: &str| {
            hasher.update(sign.as_bytes());
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        };
        let change = match self.file.change {
            None => "deleted",
            Some(Change::Create) => "created",
            Some(Change::Update) => "updated",
            Some(Change::Unchanged) => "unchanged",
        };
        part(change, self.file.template);
        for (at, change) in changes.iter().enumerate() {
            let place = if at < MAX_PATHS { self.place(change) } else { String::new() };
            part("@", &self.without_cluster(&place));
            let lines = |lines: &[&str], of: &Replacement, sign| {
                let range = if sign == "-" { of.old.clone() } else { of.new.clone() };
                lines.get(range).unwrap_or(&[]).iter().map(move |line| (sign, self.without_cluster(line))).collect()
            };
            let (gone, come): (Vec<_>, Vec<_>) = (lines(self.old, change, "-"), lines(self.new, change, "+"));
            gone.into_iter().chain(come).for_each(|(sign, line)| part(sign, &line));
        }
        hasher.finalize()
    }

    /// Returns the path of the first changed line.
    fn place(&self, change: &Replacement) -> String {
        let (lines, range) = if change.old.is_empty() { (self.new, &change.new) } else { (self.old, &change.old) };
        self.is_yaml().then(|| path(lines, range.start)).flatten().unwrap_or_default()
    }

    fn is_yaml(&self) -> bool {
        self.file.path.ends_with(".yaml") || self.file.path.ends_with(".yml")
    }

    fn group(&self, changes: &[Replacement]) -> ChangeGroup {
        let diff = unified_diff("", "", self.file.old, self.file.new);
        let (hunks, cut) = hunks(&diff);
        let sum = |of: fn(&Replacement) -> usize| changes.iter().map(of).sum();
        ChangeGroup {
            template: self.file.template.to_owned(),
            change: self.file.change,
            clusters: Vec::new(),
            files: 0,
            scalars: self.scalars(changes).unwrap_or_default(),
            lines: (sum(|change| change.new.len()), sum(|change| change.old.len())),
            path: self.file.path.to_owned(),
            hunks,
            cut,
        }
    }

    /// Returns the changed scalars, if nothing else changes.
    fn scalars(&self, changes: &[Replacement]) -> Option<Vec<ScalarChange>> {
        if !self.is_yaml() || changes.len() > MAX_PATHS {
            return None;
        }
        let mut scalars = Vec::new();
        for Replacement { old, new } in changes {
            if old.len() != new.len() || old.len() > MAX_PATHS {
                return None;
            }
            for (old, new) in old.clone().zip(new.clone()) {
                let ((path, old), (same, new)) = (scalar(self.old, old)?, scalar(self.new, new)?);
                if path != same {
                    return None;
                }
                let [path, old, new] = [&path, old, new].map(|text| shortened(&self.without_cluster(text), MAX_KEPT));
                scalars.push(ScalarChange { path, old, new });
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

/// Splits a unified diff into hunks, and returns `true` if some are left out because of their size.
fn hunks(diff: &str) -> (Vec<String>, bool) {
    let (mut hunks, mut size): (Vec<String>, usize) = (Vec::new(), 0);
    for line in diff.split_inclusive('\n').skip(2) {
        size += line.len();
        if size > MAX_EXAMPLE {
            return (hunks, true);
        }
        match hunks.last_mut() {
            Some(hunk) if !line.starts_with("@@") => hunk.push_str(line),
            _ => hunks.push(line.to_owned()),
        }
    }
    (hunks, false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn add(groups: &mut ChangeGroups, cluster: &str, old: &str, new: &str) {
        let path = format!("{cluster}/a.yaml");
        let change = match (old, new) {
            ("", _) => Some(Change::Create),
            (_, "") => None,
            _ => Some(Change::Update),
        };
        groups.add(&FilePreview { path: &path, cluster, template: "t/a.tera", change, old, new });
    }

    fn titles(groups: &ChangeGroups) -> Vec<String> {
        let title = |group: &ChangeGroup| format!("{}: {}", group.clusters.join(","), group.title());
        groups.groups().iter().map(title).collect()
    }

    #[test]
    fn equal_changes_are_one_group_whatever_stands_around_them() {
        let mut groups = ChangeGroups::default();
        for (cluster, region, replicas) in [("eu-1", "eu", 9), ("us-1", "us", 9), ("us-2", "us", 7)] {
            let text = |replicas: i32| format!("name: {cluster}\nregion: {region}\nspec:\n  replicas: {replicas}\n");
            add(&mut groups, cluster, &text(2), &text(replicas));
        }
        assert_eq!(titles(&groups), ["eu-1,us-1: spec.replicas 2 → 9", "us-2: spec.replicas 2 → 7"]);
        let first = &groups.groups()[0];
        assert_eq!((first.path.as_str(), first.files, first.lines), ("eu-1/a.yaml", 2, (1, 1)));
        assert_eq!(first.hunks.len(), 1);
        assert!(first.hunks[0].starts_with("@@ -1,4 +1,4 @@\n name: eu-1\n"));
        assert_eq!(first.to_json()["values"][0], json!({"path": "spec.replicas", "old": "2", "new": "9"}));
    }

    #[test]
    fn the_name_of_the_cluster_does_not_count() {
        let mut groups = ChangeGroups::default();
        for name in ["eu-1", "us"] {
            add(&mut groups, name, &format!("host: {name}.a\n"), &format!("host: {name}.b\n"));
        }
        add(&mut groups, "e", "host: eu\n", "host: eu2\n");
        assert_eq!(titles(&groups), ["eu-1,us: host {cluster}.a → {cluster}.b", "e: host eu → eu2"]);
    }

    #[test]
    fn other_changes_are_counted_and_new_files_are_alike() {
        let mut groups = ChangeGroups::default();
        add(&mut groups, "a", "x: 1\ny: 2\n", "x: 1\ny:\n- 2\n- 3\n");
        add(&mut groups, "a", "x: 1\n", "x: 2\n");
        add(&mut groups, "b", "x: 1\n", "y: 1\n");
        add(&mut groups, "b", "", "1\n");
        add(&mut groups, "c", "", "2\n");
        add(&mut groups, "d", "2\n", "");
        let all = titles(&groups);
        assert_eq!(all[0], "a: 3 lines added, 1 line removed");
        assert_eq!(all[1..4], ["a: x 1 → 2", "b: 1 line added, 1 line removed", "b,c: created"]);
        assert_eq!(all[4], "d: deleted");
        let many: String = (0..9).map(|n| format!("k{n}: 1\nz{n}: 0\n")).collect();
        let mut groups = ChangeGroups::default();
        add(&mut groups, "a", "p: 1\nq: 1\nr: 1\ns: 1\n", "p: 2\nq: 2\nr: 2\ns: 2\n");
        add(&mut groups, "a", &many, &many.replace(": 1", ": 2"));
        assert_eq!(groups.groups()[0].title(), "p 1 → 2, q 1 → 2, r 1 → 2 and 1 more");
        assert_eq!(groups.groups()[1].title(), "9 lines added, 9 lines removed");
    }

    proptest! {
        #[test]
        fn any_texts_make_a_group(old in "([ -]{0,4}[ab:{|#]{0,3}[: \\n]){0,20}", new in "([ -]{0,4}[ab:{|#é]{0,3}[: \\n]){0,20}") {
            let mut groups = ChangeGroups::default();
            for cluster in ["x", "y"] {
                groups.add(&FilePreview { path: "a.yaml", cluster, template: "", change: Some(Change::Update), old: &old, new: &new });
            }
            prop_assert_eq!((groups.groups().len(), groups.groups()[0].files), (1, 2));
        }
    }

    #[test]
    fn hostile_changes_are_bounded() {
        let mut groups = ChangeGroups::default();
        let long = "x".repeat(200_000);
        add(&mut groups, "a", &format!("k: {long}\n"), "k: 1\n");
        assert!(groups.groups()[0].cut && groups.groups()[0].hunks.len() == 1);
        assert_eq!(groups.groups()[0].title().chars().count(), 2 + MAX_VALUE + 1 + 4);
        for n in 0..MAX_GROUPS + 5 {
            add(&mut groups, "a", "k: x\n", &format!("k: {n}\n"));
        }
        assert_eq!((groups.groups().len(), groups.left_out()), (MAX_GROUPS, 6));
    }
}
