//! Reports of runs. One cause that fails 412 clusters is one error that names them.

use std::collections::btree_map::{BTreeMap, Entry};
use std::sync::Arc;

use super::output_files::Change;
use dropforge_base::diagnostics::{Code, Diagnostic, Diagnostics, Identity, Label, counted, firsts, listed_of};
use dropforge_base::stdlib::small_sort::SmallSort as _;
use roaring::RoaringBitmap;
use serde::Serialize;
use serde_json::{Value, json};

/// Maximum number of clusters to name in text. JSON names all.
const NAMED: usize = 5;

/// Maximum size of invalid outputs that are kept for excerpts, in bytes.
const TEXTS: usize = 64 << 20;

/// An error and the clusters that it failed.
#[derive(Debug, Clone)]
pub struct Failure {
    /// The error of the first of these clusters.
    pub diagnostic: Box<Diagnostic>,
    /// The names of the failed clusters, in fleet order. At most 100,000 of them.
    pub clusters: Vec<String>,
    /// The number of the failed clusters.
    pub count: usize,
}

/// Maximum number of failed clusters to name.
const ALL_NAMED: usize = 100_000;

impl Failure {
    /// Creates a failure that no cluster has.
    pub fn new(diagnostic: Box<Diagnostic>) -> Self {
        Self { diagnostic, clusters: Vec::new(), count: 0 }
    }

    /// Creates a failure of clusters. `name` returns the name of a cluster.
    pub(super) fn of_clusters(
        diagnostic: Box<Diagnostic>,
        clusters: &RoaringBitmap,
        name: &mut dyn FnMut(usize) -> String,
    ) -> Self {
        let count = usize::try_from(clusters.len()).unwrap_or(usize::MAX);
        Self { diagnostic, clusters: clusters.iter().take(ALL_NAMED).map(|at| name(at as usize)).collect(), count }
    }

    /// Adds a failure of other clusters to `all`, to that of the same cause if there is one.
    pub(super) fn merge(all: &mut Vec<Self>, mut other: Self) {
        let same = cause(&other.diagnostic);
        match all.iter_mut().find(|failure| cause(&failure.diagnostic) == same) {
            None => all.push(other),
            Some(known) => {
                known.count += other.count;
                let room = ALL_NAMED.saturating_sub(known.clusters.len());
                other.clusters.truncate(room);
                known.clusters.append(&mut other.clusters);
            }
        }
    }

    /// Returns the error of the first cluster of each failure.
    pub fn diagnostics(failures: Vec<Failure>) -> Diagnostics {
        failures.into_iter().map(|failure| failure.diagnostic).collect::<Vec<_>>().into()
    }

    /// Returns the error with the number of clusters and the names of the first ones.
    #[doc(hidden)]
    pub fn folded(&self) -> Box<Diagnostic> {
        let mut diagnostic = self.diagnostic.clone();
        if self.count > 1 {
            diagnostic.message = format!("{}: {}", counted(self.count, "cluster"), diagnostic.message);
            diagnostic.cluster = Some(listed_of(&self.clusters, self.count, NAMED));
        }
        diagnostic
    }

    /// Renders the error for people, with the first clusters.
    pub fn render(&self, color: bool) -> String {
        self.folded().render(color)
    }

    /// Returns the diagnostic's JSON with `clusters` (at most 100,000 names) and `count`.
    pub fn to_json(&self) -> Value {
        let mut value = self.diagnostic.to_json();
        if let Some(object) = value.as_object_mut() {
            object.insert("clusters".into(), json!(self.clusters));
            object.insert("count".into(), json!(self.count));
        }
        value
    }
}

/// The result of a run.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Report {
    /// The number of clusters in the plan.
    pub clusters: usize,
    /// Clusters with a template that failed or an output that could not be written.
    pub failed: usize,
    /// Clusters that were not rendered because the run was stopped early.
    pub unreached: usize,
    /// New files.
    pub created: usize,
    /// Files whose content changed.
    pub updated: usize,
    /// Files that already had the right content.
    pub unchanged: usize,
    /// Files that were pruned. In a preview, files to prune.
    pub deleted: usize,
    /// The size of all outputs in bytes, including unchanged ones.
    pub bytes: u64,
    /// The errors of failed clusters, in the order of the first cluster.
    #[serde(skip)]
    pub failures: Vec<Failure>,
    /// Errors of the whole run that occurred after outputs were written.
    #[serde(skip)]
    pub errors: Vec<Box<Diagnostic>>,
    /// The names of files that were copied for each cluster. The caller sets them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[doc(hidden)]
    pub copied: Vec<String>,
    /// `true` if the run was stopped early.
    pub interrupted: bool,
    /// Warnings.
    #[serde(skip)]
    pub warnings: Vec<String>,
    /// Notes.
    #[serde(skip)]
    pub notes: Vec<String>,
    /// Warnings about documents.
    #[serde(skip)]
    #[doc(hidden)]
    pub found: Vec<Box<Diagnostic>>,
    /// Warnings for kinds without a schema.
    #[serde(skip)]
    #[doc(hidden)]
    pub unchecked: Vec<String>,
    /// `true` if nothing was rendered, because the last run would be repeated ([`LastRun`](crate::LastRun)).
    #[serde(skip)]
    #[doc(hidden)]
    pub is_left_out: bool,
    /// The sum of the prints of all files in a directory, which tells whether somebody else has changed one.
    #[serde(skip)]
    #[doc(hidden)]
    pub prints: u128,
    /// `true` if the state also lists files that the run did not make.
    #[serde(skip)]
    #[doc(hidden)]
    pub has_others: bool,
}

impl Report {
    /// Returns `true` if no cluster failed and the run was not stopped.
    pub fn is_complete(&self) -> bool {
        self.failed == 0 && !self.interrupted
    }

    /// Returns `true` if a preview found files to change.
    pub fn differs(&self) -> bool {
        self.created + self.updated + self.deleted > 0
    }

    /// Returns the counts as JSON.
    pub fn to_json(&self) -> Value {
        json!(self)
    }

    /// Counts a file.
    pub(super) fn count(&mut self, change: Change, bytes: usize) {
        self.bytes += bytes as u64;
        match change {
            Change::Create => self.created += 1,
            Change::Update => self.updated += 1,
            Change::Unchanged => self.unchanged += 1,
        }
    }

    /// Adds the report of other clusters. Failures of one cause become one.
    pub(super) fn merge(&mut self, other: Report) {
        self.add(&other);
        self.clusters += other.clusters;
        self.failed += other.failed;
        self.unreached += other.unreached;
        self.interrupted |= other.interrupted;
        self.warnings.extend(other.warnings);
        other.failures.into_iter().for_each(|failure| Failure::merge(&mut self.failures, failure));
    }

    /// Adds the counts of another report.
    pub(super) fn add(&mut self, other: &Report) {
        self.created += other.created;
        self.updated += other.updated;
        self.unchanged += other.unchanged;
        self.deleted += other.deleted;
        self.bytes += other.bytes;
        self.prints = self.prints.wrapping_add(other.prints);
    }
}

/// Joins the errors that differ only in their places: the first of them notes the others. For people, who mend one cause.
///
/// ```
/// use dropforge::bulk::{Failure, join_places};
/// use dropforge::{Diagnostic, diagnostics::Code};
/// use dropforge::text::{Source, Span};
/// let at = |name: &str| {
///     let error = Diagnostic::new(Code::UndefinedVariable, "nothing gives `zone`");
///     Failure::new(error.at(&Source::new(name, "{{ zone }}"), Span::new(3, 7), ""))
/// };
/// let joined = join_places(&[at("a.tera"), at("b.tera"), at("c.tera")]);
/// assert_eq!(joined.len(), 1);
/// assert_eq!(joined[0].diagnostic.notes, ["also at b.tera:1:4, c.tera:1:4"]);
/// ```
pub fn join_places(failures: &[Failure]) -> Vec<Failure> {
    let keys = failures.iter().enumerate().map(|(at, Failure { diagnostic, clusters, .. })| {
        // An error without a place is like no other one.
        let own = if diagnostic.primary().is_none() { Some(at) } else { None };
        (own, diagnostic.identity(None), clusters.as_slice())
    });
    let firsts = firsts(keys);
    let mut others = vec![Vec::new(); failures.len()];
    for (at, (failure, first)) in failures.iter().zip(&firsts).enumerate() {
        if let (Some(label), Some(others)) =
            (failure.diagnostic.primary(), others.get_mut(*first).filter(|_| *first != at))
        {
            others.push(format!("{}:{}", label.source.path(), label.position()));
        }
    }
    let noted = |(failure, others): (&Failure, Vec<String>)| {
        let mut failure = failure.clone();
        if !others.is_empty() {
            failure.diagnostic.notes.push(format!("also at {}", listed_of(&others, others.len(), NAMED)));
        }
        failure
    };
    let all = failures.iter().zip(others).zip(firsts).enumerate();
    all.filter(|(at, (_, first))| at == first).map(|(_, (one, _))| noted(one)).collect()
}

/// Collects errors by cause. Memory grows with the number of causes and failed clusters.
#[derive(Debug, Default)]
pub(super) struct FailureCollector {
    causes: BTreeMap<Identity<String>, Collected>,
    /// The size of the invalid outputs of all causes.
    texts: usize,
    /// The number of errors with causes of their own that were left out.
    left_out: usize,
}

#[derive(Debug)]
struct Collected {
    /// The first cluster, and its error.
    first: usize,
    diagnostic: Box<Diagnostic>,
    clusters: RoaringBitmap,
}

impl FailureCollector {
    /// Adds an error of the cluster at `at`.
    pub(super) fn add(&mut self, at: usize, mut diagnostic: Box<Diagnostic>) {
        let (cause, output) =
            (cause(&diagnostic).owned(), diagnostic.primary().map_or(0, |label| label.source.text().len()));
        if is_output_error(diagnostic.code) && !self.causes.contains_key(&cause) {
            self.texts += output;
        }
        if self.texts > TEXTS {
            diagnostic = without_excerpts(diagnostic);
        }
        match self.causes.entry(cause) {
            Entry::Occupied(mut known) => {
                let known = known.get_mut();
                known.clusters.extend(u32::try_from(at));
                if at < known.first {
                    (known.first, known.diagnostic) = (at, diagnostic);
                }
            }
            Entry::Vacant(new) => {
                new.insert(Collected { first: at, diagnostic, clusters: u32::try_from(at).into_iter().collect() });
            }
        }
    }

    /// Works like [`FailureCollector::add`], but ignores new causes once there are `most`.
    pub(super) fn add_up_to(&mut self, most: usize, at: usize, diagnostic: Box<Diagnostic>) {
        if self.causes.len() < most || self.causes.contains_key(&cause(&diagnostic).owned()) {
            self.add(at, diagnostic);
        } else {
            self.left_out += 1;
        }
    }

    /// Returns `true` if there are no errors.
    pub(super) fn is_empty(&self) -> bool {
        self.causes.is_empty()
    }

    /// Returns the number of failed clusters.
    pub(super) fn failed(&self) -> usize {
        let all = self.causes.values().fold(RoaringBitmap::new(), |all, collected| all | &collected.clusters);
        usize::try_from(all.len()).unwrap_or(usize::MAX)
    }

    /// Returns the failures in the order of their first cluster. `name` returns the name of a cluster.
    pub(super) fn into_failures(self, mut name: impl FnMut(usize) -> String) -> Vec<Failure> {
        let mut causes: Vec<Collected> = self.causes.into_values().collect();
        causes.small_sort_by_key(|collected| collected.first);
        let failure = |Collected { mut diagnostic, clusters, .. }: Collected| {
            if clusters.len() > 1 {
                note_cluster(&name(clusters.min().unwrap_or_default() as usize), &mut diagnostic);
            }
            Failure::of_clusters(diagnostic, &clusters, &mut name)
        };
        let mut failures: Vec<Failure> = causes.into_iter().map(failure).collect();
        if let Some(last) = failures.last_mut().filter(|_| self.left_out > 0) {
            last.diagnostic.notes.push(format!("and {}", counted(self.left_out, "more error")));
        }
        failures
    }
}

/// Adds the name of the cluster that the notes of a shared error are about.
fn note_cluster(cluster: &str, diagnostic: &mut Diagnostic) {
    if !diagnostic.notes.is_empty() {
        diagnostic.notes.push(format!("the notes are about cluster `{cluster}`"));
    }
    diagnostic.also.iter_mut().for_each(|other| note_cluster(cluster, other));
}

/// Returns the identity of an error across clusters.
pub(super) fn cause(diagnostic: &Diagnostic) -> Identity<&str> {
    // Invalid outputs differ between clusters, and the place in the template that wrote them does not.
    let place = match diagnostic.code {
        code if is_output_error(code) => diagnostic.labels.last().filter(|label| !is_output(label, diagnostic)),
        // The place in the schema is the last one; clusters give their values in different places.
        Code::UnfitValues => diagnostic.labels.last(),
        // The place is that of a cluster.
        Code::BadOutputName | Code::BadLayout | Code::DuplicateOutput | Code::CaseCollision => None,
        _ => diagnostic.primary(),
    };
    // A full disk is one cause for all templates.
    let is_io = matches!(diagnostic.code, Code::WriteFailed | Code::ReadFailed);
    // An error in a file that several templates include has one cause, too.
    let is_within = |name: &&str| place.is_none_or(|label| label.source.name().ends_with(*name));
    let template = diagnostic.template.as_deref().filter(|name| !is_io && is_within(name));
    Identity { template, ..diagnostic.identity(place) }
}

/// Returns `true` for errors whose primary label is in an output.
pub(super) fn is_output_error(code: Code) -> bool {
    matches!(code, Code::InvalidOutput | Code::UnfitOutput)
}

/// Returns `true` if a label is in the source of the primary one.
fn is_output(label: &Label, diagnostic: &Diagnostic) -> bool {
    diagnostic.primary().is_some_and(|primary| Arc::ptr_eq(&primary.source, &label.source))
}

/// Replaces the excerpts of an invalid output by its place.
pub(super) fn without_excerpts(mut error: Box<Diagnostic>) -> Box<Diagnostic> {
    let Some(output) = error.primary().filter(|_| is_output_error(error.code)).cloned() else { return error };
    error.labels.retain(|label| !Arc::ptr_eq(&label.source, &output.source));
    error.with_note(format!("output: {}:{}", output.source.name(), output.position()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropforge_base::diagnostics::Code;
    use dropforge_base::text::{Source, Span};

    #[test]
    fn one_cause_is_one_failure() {
        let mut collector = FailureCollector::default();
        let error = |message: &str, note: &str| Diagnostic::new(Code::UndefinedVariable, message).with_note(note);
        for at in [7, 3, 5] {
            collector.add(at, error("no `x`", &format!("note {at}")).for_cluster(format!("c{at}")));
        }
        collector.add(4, error("no `y`", ""));
        collector.add(3, error("no `y`", ""));
        assert_eq!(collector.failed(), 4);
        let failures = collector.into_failures(|at| format!("c{at}"));
        assert_eq!(failures[0].clusters, ["c3", "c5", "c7"]);
        assert_eq!(failures[0].diagnostic.notes, ["note 3", "the notes are about cluster `c3`"]);
        assert!(failures[0].render(false).starts_with("error[E0201]: 3 clusters: no `x`"));
        assert_eq!(failures[0].to_json()["count"], 3);
        assert_eq!(failures[1].clusters, ["c3", "c4"]);
    }

    #[test]
    fn invalid_outputs_are_one_cause_and_kept_up_to_a_size() {
        let mut collector = FailureCollector::default();
        let template = Source::new("t.tera", "a: {{ x }}");
        let error = |at: usize, message: &str, size: usize| {
            let output = Source::new(format!("c{at}/t.yaml"), "x".repeat(size));
            let error = Diagnostic::new(Code::InvalidOutput, message).at(&output, Span::new(0, 1), "");
            error.at(&template, Span::new(3, 10), "written here").for_cluster(format!("c{at}"))
        };
        collector.add(2, error(2, "no", 9));
        collector.add(1, error(1, "no", 5));
        collector.add(3, error(3, "nor", TEXTS));
        let failures = collector.into_failures(|at| format!("c{at}"));
        assert_eq!((failures.len(), failures[0].clusters.len()), (2, 2));
        assert!(failures[0].render(false).contains("c1/t.yaml:1:1"));
        assert_eq!(failures[1].diagnostic.labels.len(), 1);
        assert_eq!(failures[1].diagnostic.notes, ["output: c3/t.yaml:1:1"]);
    }

    #[test]
    fn a_full_disk_is_one_cause_whatever_the_template() {
        let mut collector = FailureCollector::default();
        for (at, template) in ["a", "b"].into_iter().enumerate() {
            for code in [Code::WriteFailed, Code::UndefinedVariable] {
                let mut error = Diagnostic::new(code, "no");
                error.template = Some(template.into());
                collector.add(at, error);
            }
        }
        assert_eq!(collector.into_failures(|at| at.to_string()).len(), 3);
    }

    #[test]
    fn many_clusters_are_counted_not_listed() {
        let mut collector = FailureCollector::default();
        (0..412).for_each(|at| collector.add(at, Diagnostic::new(Code::UndefinedVariable, "no `x`")));
        let failures = collector.into_failures(|at| format!("c{at}"));
        let text = failures[0].render(false);
        assert!(text.contains("412 clusters: no `x`") && text.contains("c0, c1, c2, c3, c4 and 407 more"), "{text}");
    }
}
