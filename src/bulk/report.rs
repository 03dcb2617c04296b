//! What a run did, and its errors folded: one cause that hits 412 clusters is one error that names them.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::diagnostics::{Code, Diagnostic, listed};
use crate::text::Span;

/// Clusters that are named for a person; JSON has all of them.
const NAMED: usize = 5;

/// One cause and the clusters it hit.
#[derive(Debug, Clone)]
pub struct Failure {
    /// The error as the first of the clusters gave it.
    pub diagnostic: Box<Diagnostic>,
    /// All clusters it hit, in the order of the fleet.
    pub clusters: Vec<String>,
}

impl Failure {
    /// For a person: the error, told to concern all its clusters.
    pub fn render(&self, color: bool) -> String {
        let mut diagnostic = self.diagnostic.clone();
        if self.clusters.len() > 1 {
            diagnostic.message = format!("{} clusters: {}", self.clusters.len(), diagnostic.message);
            diagnostic.cluster = Some(listed(&self.clusters, NAMED));
        }
        diagnostic.render(color)
    }

    /// As the diagnostic's JSON, with `clusters` (all names) and `count`.
    pub fn to_json(&self) -> Value {
        let mut value = self.diagnostic.to_json();
        if let Some(object) = value.as_object_mut() {
            object.insert("clusters".into(), json!(self.clusters));
            object.insert("count".into(), json!(self.clusters.len()));
        }
        value
    }
}

/// What a run did.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// Clusters that were to be stamped.
    pub clusters: usize,
    /// Clusters of which at least one template failed, or could not be written.
    pub failed: usize,
    /// Files that are new.
    pub created: usize,
    /// Files whose content changed.
    pub updated: usize,
    /// Files that had the right content.
    pub unchanged: usize,
    /// Files of clusters that are no longer there, removed (or to be removed).
    pub deleted: usize,
    /// Bytes of all outputs, unchanged ones included.
    pub bytes: u64,
    /// The causes of what failed, in the order of the first cluster they hit.
    pub failures: Vec<Failure>,
    /// What went wrong with the run as a whole, after outputs were made.
    pub errors: Vec<Box<Diagnostic>>,
    /// Whether a signal ended the run before its time.
    pub interrupted: bool,
    /// What is worth a look but is no error.
    pub warnings: Vec<String>,
}

impl Report {
    /// Whether what is on disk differs from what the run makes (for runs that only look).
    pub fn differs(&self) -> bool {
        self.created + self.updated + self.deleted > 0
    }

    /// The counts as JSON.
    pub fn to_json(&self) -> Value {
        json!({
            "clusters": self.clusters, "failed": self.failed, "created": self.created, "updated": self.updated,
            "unchanged": self.unchanged, "deleted": self.deleted, "bytes": self.bytes, "interrupted": self.interrupted,
        })
    }

    /// Adds the counts of one worker.
    pub(super) fn add(&mut self, other: &Report) {
        self.created += other.created;
        self.updated += other.updated;
        self.unchanged += other.unchanged;
        self.deleted += other.deleted;
        self.bytes += other.bytes;
    }
}

/// What makes two errors one: everything but the cluster and what only notes say.
pub(super) type Cause = (&'static str, String, String, Option<(String, Span)>, String);

/// The cause of an error.
pub(super) fn cause(diagnostic: &Diagnostic) -> Cause {
    let place = diagnostic.primary().map(|label| (label.source.name().to_owned(), label.span));
    // A full disk is one cause, whichever file met it first.
    let is_io = matches!(diagnostic.code, Code::WriteFailed | Code::ReadFailed);
    let template = diagnostic.template.clone().filter(|_| !is_io).unwrap_or_default();
    let help = diagnostic.help.clone().unwrap_or_default();
    (diagnostic.code.id(), diagnostic.message.clone(), template, place, help)
}

/// Collects errors by cause; what it keeps grows with the number of causes and of failed clusters only.
#[derive(Debug, Default)]
pub(super) struct Folder {
    causes: BTreeMap<Cause, Folded>,
}

#[derive(Debug)]
struct Folded {
    first: usize,
    diagnostic: Box<Diagnostic>,
    clusters: Vec<usize>,
}

impl Folder {
    /// Adds the error of the cluster at `at`.
    pub(super) fn add(&mut self, at: usize, diagnostic: Box<Diagnostic>) {
        match self.causes.get_mut(&cause(&diagnostic)) {
            Some(folded) => {
                folded.clusters.push(at);
                if at < folded.first {
                    folded.first = at;
                    folded.diagnostic = diagnostic;
                }
            }
            None => {
                self.causes.insert(cause(&diagnostic), Folded { first: at, diagnostic, clusters: vec![at] });
            }
        }
    }

    /// How many clusters failed.
    pub(super) fn failed(&self) -> usize {
        let mut all: Vec<usize> = self.causes.values().flat_map(|folded| folded.clusters.iter().copied()).collect();
        all.sort_unstable();
        all.dedup();
        all.len()
    }

    /// The causes in the order of the first cluster they hit; `name` names a cluster.
    pub(super) fn into_failures(self, name: impl Fn(usize) -> String) -> Vec<Failure> {
        let mut causes: Vec<Folded> = self.causes.into_values().collect();
        causes.sort_by_key(|folded| folded.first);
        let failure = |mut folded: Folded| {
            folded.clusters.sort_unstable();
            folded.clusters.dedup();
            let clusters: Vec<String> = folded.clusters.into_iter().map(&name).collect();
            if let [first, _, ..] = clusters.as_slice() {
                noted_of(first, &mut folded.diagnostic);
            }
            Failure { diagnostic: folded.diagnostic, clusters }
        };
        causes.into_iter().map(failure).collect()
    }
}

/// Of an error of several clusters, says whose values and paths the notes are about.
fn noted_of(cluster: &str, diagnostic: &mut Diagnostic) {
    if !diagnostic.notes.is_empty() {
        diagnostic.notes.push(format!("what is noted is of `{cluster}`"));
    }
    diagnostic.also.iter_mut().for_each(|other| noted_of(cluster, other));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_cause_is_one_failure() {
        let mut folder = Folder::default();
        let error = |message: &str, note: &str| Diagnostic::new(Code::UndefinedVariable, message).with_note(note);
        for at in [7, 3, 5] {
            folder.add(at, error("no `x`", &format!("note {at}")).for_cluster(format!("c{at}")));
        }
        folder.add(4, error("no `y`", ""));
        folder.add(3, error("no `y`", ""));
        assert_eq!(folder.failed(), 4);
        let failures = folder.into_failures(|at| format!("c{at}"));
        assert_eq!(failures[0].clusters, ["c3", "c5", "c7"]);
        assert_eq!(failures[0].diagnostic.notes, ["note 3", "what is noted is of `c3`"]);
        assert!(failures[0].render(false).starts_with("error[E0201]: 3 clusters: no `x`"));
        assert_eq!(failures[0].to_json()["count"], 3);
        assert_eq!(failures[1].clusters, ["c3", "c4"]);
    }

    #[test]
    fn a_full_disk_is_one_cause_whatever_the_template() {
        let mut folder = Folder::default();
        for (at, template) in ["a", "b"].into_iter().enumerate() {
            for code in [Code::WriteFailed, Code::UndefinedVariable] {
                let mut error = Diagnostic::new(code, "no");
                error.template = Some(template.into());
                folder.add(at, error);
            }
        }
        assert_eq!(folder.into_failures(|at| at.to_string()).len(), 3);
    }

    #[test]
    fn many_clusters_are_counted_not_listed() {
        let mut folder = Folder::default();
        (0..412).for_each(|at| folder.add(at, Diagnostic::new(Code::UndefinedVariable, "no `x`")));
        let failures = folder.into_failures(|at| format!("c{at}"));
        let text = failures[0].render(false);
        assert!(text.contains("412 clusters: no `x`") && text.contains("c0, c1, c2, c3, c4 and 407 more"), "{text}");
    }
}
