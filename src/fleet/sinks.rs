//! Destinations of the outputs of a run: files, a preview of changes, or one stream.

use std::io::Write;
use std::ops::Range;
use std::sync::Mutex;

use super::destination::{FileReader, Files};
use super::documents::{Heads, Rank, documents_of, first_content};
use super::hidden_changes::ClusterSecrets;
use super::job::{FilePreview, Job, OnPreview, Options, Order, Stamp};
use super::known_files::KnownFiles;
use super::output_files::Change;
use super::pieces::{Piece, with_files};
use super::plan::{Placed, Plan};
use super::report::Report;
use super::workers::{Late, Sink, SinkError, SinkResult, Turns, cannot_write, for_template};
use crate::lock;
use dropforge_base::stdlib::small_sort::SmallSort as _;

/// The outputs of one cluster with their paths.
pub struct Outputs<'j> {
    pub job: Job<'j>,
    path: String,
}

impl<'j> Outputs<'j> {
    pub fn new(job: &Job<'j>) -> Self {
        Self { job: *job, path: String::new() }
    }

    /// Calls `each` with every piece that makes a file, its path and its content, until one fails.
    pub fn each<'t, E>(
        &mut self,
        cluster: &Placed<'_>,
        text: &'t str,
        pieces: &[Piece],
        mut each: impl FnMut(&Piece, &str, &'t [u8]) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E>
    where
        'j: 't,
    {
        let plan: &'j Plan = self.job.plan;
        self.each_text(cluster, text, pieces, |piece, path, text| {
            each(piece, path, plan.bytes(piece.output).unwrap_or(text.as_bytes()))
        })
    }

    /// Works like [`Outputs::each`], for pieces that are text.
    fn each_text<'t, E>(
        &mut self,
        cluster: &Placed<'_>,
        text: &'t str,
        pieces: &[Piece],
        mut each: impl FnMut(&Piece, &str, &'t str) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        with_files(pieces).try_for_each(|(piece, range)| {
            self.job.plan.path_of(cluster, piece, &mut self.path);
            each(piece, &self.path, text.get(range).unwrap_or(""))
        })
    }
}

/// Compares outputs with the files on disk and passes on the changes in fleet order.
pub(super) struct PreviewSink<'j, 'e, R> {
    stamp: &'j dyn Stamp,
    outputs: Outputs<'j>,
    reader: R,
    turns: &'j Turns<OnPreview<'e>>,
    known: &'j KnownFiles<'j>,
    report: Report,
    files: &'j Mutex<Files>,
    /// The number of files with other content that dropforge did not write.
    foreign: usize,
}

impl<'j, 'e, R> PreviewSink<'j, 'e, R> {
    pub(super) fn new(
        (stamp, job): (&'j dyn Stamp, &Job<'j>),
        reader: R,
        known: &'j KnownFiles<'j>,
        turns: &'j Turns<OnPreview<'e>>,
        files: &'j Mutex<Files>,
    ) -> Self {
        let (outputs, report) = (Outputs::new(job), Report::default());
        Self { stamp, outputs, reader, turns, known, report, files, foreign: 0 }
    }
}

impl<R: FileReader> Sink for PreviewSink<'_, '_, R> {
    type Done = (Report, usize);

    fn take(&mut self, cluster: &Placed<'_>, text: &str, pieces: &[Piece]) -> SinkResult {
        let (mut changes, known, files, foreign) = (Vec::new(), self.known, self.files, &mut self.foreign);
        let (reader, report, job) = (&mut self.reader, &mut self.report, self.outputs.job);
        let mut secrets = None;
        self.outputs.each(cluster, text, pieces, |piece, path, new| {
            lock(files).made.add(path).map_err(SinkError::Run)?;
            if reader.is_current(path, new).map_err(SinkError::Run)? {
                report.count(Change::Unchanged, new.len());
                return Ok(());
            }
            let old = reader.read(path);
            let old = old.map_err(|error| SinkError::Cluster(for_template(&job, piece.output, error)))?;
            let change = match old {
                None => Change::Create,
                Some((old, executable)) if old == new => {
                    let has_mode = executable != Some(false) || !job.plan.is_executable(piece.output);
                    if has_mode { Change::Unchanged } else { Change::Update }
                }
                Some(_) => {
                    *foreign += usize::from(!known.contains(path).map_err(SinkError::Run)?);
                    Change::Update
                }
            };
            if change != Change::Unchanged {
                let old = String::from_utf8_lossy(old.map_or(&[], |(old, _)| old));
                let text = String::from_utf8_lossy(new);
                let secrets = secrets.get_or_insert_with(|| ClusterSecrets::of(self.stamp, &job, cluster.cluster));
                let (old, text) = secrets.hidden(piece.output, &old, &text);
                changes.push((piece.output, path.to_owned(), change, old.into_owned(), text.into_owned()));
            }
            report.count(change, new.len());
            Ok(())
        })?;
        let passed = self.turns.take(cluster.at..cluster.at + 1, |on_preview| {
            changes.iter().try_for_each(|(output, path, change, old, new)| {
                let cluster = cluster.name();
                let template = job.plan.outputs().get(*output).map_or("", |output| &output.template);
                let template = job.options.templates.path(template);
                on_preview(&FilePreview { path, cluster, template, change: Some(*change), old, new })
            })
        });
        passed.unwrap_or(Ok(())).map_err(|error| SinkError::Run(cannot_write(error)))
    }

    fn skip(&mut self, at: usize) {
        self.turns.take(at..at + 1, |_| ());
    }

    fn done(self, _: Late<'_>) -> Self::Done {
        (self.report, self.foreign)
    }
}

/// The stream to write to.
pub(super) type Stream<'o> = &'o mut (dyn Write + Send);

/// Bytes that a worker buffers before it waits for its turn to write.
const BUFFERED: usize = 1 << 20;

/// Writes one stream of YAML documents in fleet order. A worker waits once for many clusters, because a wait costs
/// more than rendering a cluster.
pub(super) struct StreamSink<'j, 'o> {
    outputs: Outputs<'j>,
    turns: &'j Turns<Stream<'o>>,
    report: Report,
    /// The buffered clusters, their documents and counts.
    clusters: Range<usize>,
    documents: String,
    buffered: Report,
    heads: Heads,
}

impl<'j, 'o> StreamSink<'j, 'o> {
    pub(super) fn new(job: &Job<'j>, turns: &'j Turns<Stream<'o>>) -> Self {
        let (report, buffered, heads) = (Report::default(), Report::default(), Heads::default());
        Self { outputs: Outputs::new(job), turns, report, clusters: 0..0, documents: String::new(), buffered, heads }
    }
}

impl Sink for StreamSink<'_, '_> {
    type Done = Report;

    const BLOCK: usize = 16;
    const SORTS: bool = true;

    fn take(&mut self, cluster: &Placed<'_>, text: &str, pieces: &[Piece]) -> SinkResult {
        self.skip(cluster.at);
        let (documents, report, heads) = (&mut self.documents, &mut self.buffered, &mut self.heads);
        let Options { plain_stream, order, .. } = *self.outputs.job.options;
        let mut ranked = Ranked::with_capacity(if order == Order::Install { pieces.len() } else { 0 });
        self.outputs.each_text(cluster, text, pieces, |piece, path, text| {
            match order {
                _ if plain_stream => documents.push_str(text),
                Order::Template => push_document(documents, path, text),
                Order::Install => ranked.add(piece, path, text, heads),
            }
            report.count(Change::Create, text.len());
            Ok(())
        })?;
        ranked.write(documents);
        if self.documents.len() < BUFFERED { Ok(()) } else { self.flush() }
    }

    fn skip(&mut self, at: usize) {
        if self.clusters.is_empty() {
            self.clusters.start = at;
        }
        self.clusters.end = at + 1;
    }

    fn flush(&mut self) -> SinkResult {
        let clusters = std::mem::take(&mut self.clusters);
        if clusters.is_empty() {
            return Ok(());
        }
        let buffered = std::mem::take(&mut self.buffered);
        let written = self.turns.take(clusters, |out| out.write_all(self.documents.as_bytes()));
        self.documents.clear();
        if let Some(written) = written {
            written.map_err(|error| SinkError::Run(cannot_write(error)))?;
            self.report.add(&buffered);
        }
        Ok(())
    }

    fn done(self, _: Late<'_>) -> Report {
        self.report
    }
}

/// The documents of a cluster, to sort by kind.
struct Ranked<'t> {
    /// The paths of all outputs, one after the other.
    paths: String,
    /// The documents with their places in `paths`.
    documents: Vec<(Rank, Range<usize>, &'t str)>,
}

impl<'t> Ranked<'t> {
    /// Expects this number of outputs, each with a few documents.
    fn with_capacity(outputs: usize) -> Self {
        Self { paths: String::with_capacity(outputs * 64), documents: Vec::with_capacity(outputs * 4) }
    }

    /// Adds the documents of an output.
    fn add(&mut self, piece: &Piece, path: &str, text: &'t str, heads: &mut Heads) {
        let start = self.paths.len();
        self.paths.push_str(path);
        let at = start..self.paths.len();
        if let Some(documents) = &piece.documents {
            let of = |(rank, range): &(Rank, Range<usize>)| {
                (rank.clone(), at.clone(), text.get(range.clone()).unwrap_or(""))
            };
            self.documents.extend(documents.iter().map(of));
            return;
        }
        match documents_of(path, text) {
            Some(documents) => {
                for document in documents {
                    self.documents.push((heads.rank(self.documents.len(), document), at.clone(), document));
                }
            }
            None => self.documents.push((Rank::Text, at, text)),
        }
    }

    /// Appends the documents in the order of installation.
    fn write(mut self, to: &mut String) {
        self.documents.small_sort_by(|(one, ..), (other, ..)| one.cmp(other));
        for (_, at, document) in self.documents {
            push_document(to, self.paths.get(at).unwrap_or(""), document);
        }
    }
}

/// Appends an output as a YAML document: a separator, a comment with its path, and the text. An output of nothing but
/// comments is left out. One that begins with `---` gets no other separator.
fn push_document(documents: &mut String, path: &str, text: &str) {
    let Some(content) = first_content(text) else { return };
    if !content.starts_with("---") {
        documents.push_str("---\n");
    }
    documents.extend(["# Source: ", path, "\n", text]);
    if !text.ends_with('\n') {
        documents.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_separated_once() {
        let mut all = String::new();
        for (path, text) in [("a/x", "a: 1"), ("a/y", "\n # nothing\n"), ("a/z", "# c\n---\nb: 2\n---\nc: 3\n")] {
            push_document(&mut all, path, text);
        }
        assert_eq!(all, "---\n# Source: a/x\na: 1\n# Source: a/z\n# c\n---\nb: 2\n---\nc: 3\n");
    }
}
