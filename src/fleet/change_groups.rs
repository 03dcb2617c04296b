//! Groups of changes that are alike, for diffs of whole fleets.
//!
//! Two objects change in the same way if they have the same kind and name, and the same values at the same paths go and come,
//! wherever they stand. Two files without objects change in the same way if they come from one template, and the same lines
//! at the same paths of YAML go and come. The cluster's name does not count. A group keeps the names of its clusters and one
//! example, so memory is bounded.

mod lines;
mod titles;

use std::collections::HashMap;

use super::documents::documents_of;
use super::job::FilePreview;
use super::object_changes::{Differences, Document, ObjectName, Operation, compare};
use super::output_files::Change;
use super::volatile::Volatile;
use lines::PartLines;
use titles::scalar_text;

/// Maximum number of groups. Changes that would need more are only counted.
const MAX_GROUPS: usize = 1_000;
/// Maximum number of characters of a value in a title, and of one that is kept.
const MAX_VALUE: usize = 60;
const MAX_KEPT: usize = 1_000;
/// Maximum number of operations that are kept.
const MAX_OPERATIONS: usize = 200;
/// Maximum number of volatile keys.
const MAX_FOLDED: usize = 1_000;

/// Groups of changes that a run would make, in the order of their first files.
#[derive(Debug, Default)]
pub struct ChangeGroups {
    volatile: Volatile,
    index: HashMap<blake3::Hash, usize>,
    groups: Vec<ChangeGroup>,
    left_out: usize,
    folded: Vec<FoldedChange>,
}

/// Changes that are alike.
#[derive(Debug)]
pub struct ChangeGroup {
    /// The path of the template, or an empty string if it is unknown.
    pub template: String,
    /// The object that changes, or `None` if a whole file does.
    pub object: Option<ObjectName>,
    /// The change, or `None` if nothing makes the object or the files any more.
    pub change: Option<Change>,
    /// The clusters. Empty if they are unknown.
    pub clusters: Vec<String>,
    /// The number of objects, or of files.
    pub files: usize,
    /// The changed scalars. Empty if other lines change as well.
    pub scalars: Vec<ScalarChange>,
    /// The changed values. At most 200 of them, and none if a document is not valid.
    pub operations: Vec<Operation>,
    /// The number of changed values.
    pub operation_count: usize,
    /// The numbers of lines that come and go in the first file.
    pub lines: (usize, usize),
    /// The path of the first file.
    pub path: String,
    /// The hunks of the first file, each with its `@@` line, up to a size. Long lines are excerpts around the change.
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

/// Changes of a volatile value.
#[derive(Debug)]
pub struct FoldedChange {
    /// The key of the value, or the line.
    pub key: String,
    /// The clusters. Empty if they are unknown.
    pub clusters: Vec<String>,
    /// The number of files.
    pub files: usize,
}

/// A part of a file that changes: an object, or the whole file.
struct Part<'t> {
    object: Option<ObjectName>,
    change: Option<Change>,
    old: &'t str,
    new: &'t str,
    /// The numbers of lines before the part in the old and the new file.
    before: (usize, usize),
    differences: Option<Differences>,
}

impl ChangeGroups {
    /// Creates groups that leave out volatile lines.
    pub fn folding(volatile: Volatile) -> Self {
        Self { volatile, ..Self::default() }
    }

    /// Adds a file.
    pub fn add(&mut self, file: &FilePreview<'_>) {
        for part in self.parts(file) {
            self.add_part(file, &part);
        }
    }

    /// Returns the groups.
    pub fn groups(&self) -> &[ChangeGroup] {
        &self.groups
    }

    /// Returns the number of files and objects that are in no group, because there are too many.
    pub fn left_out(&self) -> usize {
        self.left_out
    }

    /// Returns the changes of volatile values, which are in no group.
    pub fn folded(&self) -> &[FoldedChange] {
        &self.folded
    }

    /// Returns the parts of a file that change.
    fn parts<'t>(&self, file: &FilePreview<'t>) -> Vec<Part<'t>> {
        let whole = |differences| Part {
            object: None,
            change: file.change,
            old: file.old,
            new: file.new,
            before: (0, 0),
            differences,
        };
        if file.change != Some(Change::Update) {
            return vec![whole(None)];
        }
        let read = |text: &'t str| {
            let documents = documents_of(file.path, text).into_iter().flatten();
            documents.map(|document| Document::read(text, document)).collect::<Vec<_>>()
        };
        let (old, new) = (read(file.old), read(file.new));
        match objects(&old, &new, &self.volatile) {
            Some(parts) if !parts.is_empty() => parts,
            _ => {
                let one = |documents: &[Document<'t>]| documents.len() == 1;
                let only = (one(&old) && one(&new)).then(|| compare(old.first()?, new.first()?, &self.volatile));
                // Values are replaced in the file, which has the text of the document.
                let differences = only.flatten().map(|found| Differences {
                    old: found.old.and_then(|text| Some(file.old.replacen(old.first()?.text, &text, 1))),
                    ..found
                });
                vec![whole(differences)]
            }
        }
    }

    fn add_part(&mut self, file: &FilePreview<'_>, part: &Part<'_>) {
        let lines = PartLines::of(file, part, &self.volatile);
        let found = part.differences.iter().flat_map(|found| &found.volatile);
        found.chain(&lines.volatile).for_each(|key| fold(&mut self.folded, key, file.cluster));
        if lines.is_folded(part) {
            return;
        }
        let key = lines.key(part);
        let at = match self.index.get(&key) {
            Some(at) => *at,
            None if self.groups.len() == MAX_GROUPS => {
                self.left_out += 1;
                return;
            }
            None => {
                self.groups.push(lines.group(part));
                self.index.insert(key, self.groups.len() - 1);
                self.groups.len() - 1
            }
        };
        if let Some(group) = self.groups.get_mut(at) {
            group.files += 1;
            add_cluster(&mut group.clusters, file.cluster);
        }
    }
}

/// Adds a change of a volatile value.
fn fold(all: &mut Vec<FoldedChange>, key: &str, cluster: &str) {
    let at = all.iter().position(|one| one.key == key).unwrap_or(all.len());
    if at == all.len() && at < MAX_FOLDED {
        all.push(FoldedChange { key: key.to_owned(), clusters: Vec::new(), files: 0 });
    }
    if let Some(one) = all.get_mut(at) {
        one.files += 1;
        add_cluster(&mut one.clusters, cluster);
    }
}

/// Adds a cluster. Those of a fleet come one after the other.
fn add_cluster(clusters: &mut Vec<String>, cluster: &str) {
    if !cluster.is_empty() && clusters.last().is_none_or(|last| last != cluster) {
        clusters.push(cluster.to_owned());
    }
}

/// Returns the objects that change between two lists of documents. `None` if other documents change, too, or if an object is
/// there several times and not as often.
fn objects<'t>(old: &[Document<'t>], new: &[Document<'t>], volatile: &Volatile) -> Option<Vec<Part<'t>>> {
    let mut rest: Vec<&Document<'t>> = old.iter().collect();
    let mut parts = Vec::new();
    let part = |of: &Document<'t>, change, (old, new): (Option<&Document<'t>>, Option<&Document<'t>>)| Part {
        object: of.object.clone(),
        change,
        old: old.map_or("", |old| old.text),
        new: new.map_or("", |new| new.text),
        before: (old.map_or(0, |old| old.before), new.map_or(0, |new| new.before)),
        differences: old.zip(new).and_then(|(old, new)| compare(old, new, volatile)),
    };
    for document in new {
        let is_it = |other: &&Document<'t>| match (&other.object, &document.object) {
            (Some(a), Some(b)) => a.is_same(b),
            (None, None) => other.text == document.text,
            _ => false,
        };
        let found = rest.iter().position(is_it).map(|at| rest.remove(at));
        match found {
            Some(found) if found.text == document.text => {}
            Some(found) => parts.push(part(document, Some(Change::Update), (Some(found), Some(document)))),
            None => parts.push(part(document, Some(Change::Create), (None, Some(document)))),
        }
    }
    parts.extend(rest.into_iter().map(|gone| part(gone, None, (Some(gone), None))));
    let count = |documents: &[Document<'t>], name: &ObjectName| {
        documents.iter().filter(|one| one.object.as_ref().is_some_and(|object| object.is_same(name))).count()
    };
    let is_clear = |part: &Part<'t>| {
        let object = part.object.as_ref()?;
        let counts = (count(old, object), count(new, object));
        (counts.0 == counts.1 || counts.0 + counts.1 == 1).then_some(())
    };
    // Few objects change, so that counting them takes little time.
    parts.iter().take(MAX_GROUPS).all(|part| is_clear(part).is_some()).then_some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

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
        assert_eq!(
            groups.groups()[0].hunks[0].len(),
            "@@ -1,1 +1,1 @@\n-k: …199,803 characters…\n+k: 1\n".len() + 200 - 3
        );
        assert!(groups.groups()[0].title().chars().count() < 2 * MAX_VALUE);
        add(&mut groups, "a", &format!("{long}\n").repeat(500), "k: 1\n");
        assert!(groups.groups()[1].cut && groups.groups()[1].hunks[0].len() < 64 << 10);
        for n in 0..MAX_GROUPS + 5 {
            add(&mut groups, "a", "k: x\n", &format!("k: {n}\n"));
        }
        assert_eq!((groups.groups().len(), groups.left_out()), (MAX_GROUPS, 7));
    }
}
