//! Where the outputs of a run go: onto disk, into a comparison with it, or into one stream.

use std::io::{self, Write};
use std::ops::Range;

use super::documents::Piece;
use super::job::{Job, Looked};
use super::report::Report;
use super::tree::OutputDir;
use super::workers::{Fault, Sink, Turns, cannot_write};
use super::write::{Change, Reader, Writer};
use crate::diagnostics::Diagnostic;

/// The outputs of one cluster with their paths.
struct Outputs<'j> {
    job: Job<'j>,
    path: String,
}

impl<'j> Outputs<'j> {
    fn new(job: &Job<'j>) -> Self {
        Self { job: *job, path: String::new() }
    }

    /// Calls `each` with every piece, its path and its text, until one fails.
    fn each<'t, E>(
        &mut self,
        at: usize,
        text: &'t str,
        pieces: &[Piece],
        mut each: impl FnMut(&Piece, &str, &'t str) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let mut start = 0;
        for piece in pieces {
            self.job.plan.path_of(self.job.fleet, at, piece, &mut self.path);
            each(piece, &self.path, text.get(start..piece.end).unwrap_or(""))?;
            start = piece.end;
        }
        Ok(())
    }
}

fn count(report: &mut Report, change: Change, bytes: usize) {
    report.bytes += bytes as u64;
    match change {
        Change::Create => report.created += 1,
        Change::Update => report.updated += 1,
        Change::Unchanged => report.unchanged += 1,
    }
}

/// Names the template of an error that has none.
fn of_template(job: &Job<'_>, output: usize, mut error: Box<Diagnostic>) -> Box<Diagnostic> {
    if error.template.is_none() {
        error.template = job.plan.outputs().get(output).map(|output| output.template.clone());
    }
    error
}

/// A file that was written.
pub(super) struct Written {
    at: usize,
    output: usize,
    /// Its path, where the plan does not know it.
    path: Option<Box<str>>,
    /// What it holds.
    pub hash: blake3::Hash,
}

impl Written {
    /// Its path.
    pub(super) fn path(&self, job: &Job<'_>) -> String {
        let mut path = String::new();
        match &self.path {
            Some(known) => path.push_str(known),
            None => job.plan.path(job.fleet, self.at, self.output, &mut path),
        }
        path
    }
}

/// Writes files.
pub(super) struct DiskSink<'j> {
    outputs: Outputs<'j>,
    writer: Writer<'j>,
    report: Report,
    written: Vec<Written>,
}

impl<'j> DiskSink<'j> {
    pub(super) fn new(job: &Job<'j>, dir: &'j OutputDir) -> Self {
        let writer = Writer::new(dir, job.options.fsync);
        Self { outputs: Outputs::new(job), writer, report: Report::default(), written: Vec::new() }
    }
}

impl Sink for DiskSink<'_> {
    type Done = (Report, Vec<Written>);

    fn take(&mut self, at: usize, text: &str, pieces: &[Piece]) -> std::result::Result<(), Fault> {
        let (writer, mut report, before) = (&mut self.writer, Report::default(), self.written.len());
        let (written, job) = (&mut self.written, self.outputs.job);
        let staged = self.outputs.each(at, text, pieces, |piece, path, text| {
            let output = piece.output;
            let change = writer.stage(path, text.as_bytes()).map_err(|error| of_template(&job, output, error))?;
            count(&mut report, change, text.len());
            let path = (piece.document > 0).then(|| path.into());
            written.push(Written { at, output, path, hash: blake3::hash(text.as_bytes()) });
            Ok(())
        });
        match staged.and_then(|()| self.writer.commit()) {
            Ok(()) => {
                self.report.add(&report);
                Ok(())
            }
            Err(error) => {
                self.written.truncate(before);
                Err(Fault::Cluster(error))
            }
        }
    }

    fn skip(&mut self, _: usize) {}

    fn done(self) -> Self::Done {
        (self.report, self.written)
    }
}

/// Who is told what a run would do.
pub(super) type Each<'e> = &'e mut (dyn FnMut(&Looked<'_>) -> io::Result<()> + Send);

/// Compares with what is on disk and tells in the fleet's order.
pub(super) struct LookSink<'j, 'e> {
    outputs: Outputs<'j>,
    reader: Reader<'j>,
    turns: &'j Turns<Each<'e>>,
    report: Report,
    /// The paths of documents.
    seen: Vec<String>,
}

impl<'j, 'e> LookSink<'j, 'e> {
    pub(super) fn new(job: &Job<'j>, dir: Option<&'j OutputDir>, turns: &'j Turns<Each<'e>>) -> Self {
        Self {
            outputs: Outputs::new(job),
            reader: Reader::new(dir),
            turns,
            report: Report::default(),
            seen: Vec::new(),
        }
    }
}

impl Sink for LookSink<'_, '_> {
    type Done = (Report, Vec<String>);

    fn take(&mut self, at: usize, text: &str, pieces: &[Piece]) -> std::result::Result<(), Fault> {
        let (mut found, seen) = (Vec::new(), &mut self.seen);
        let (reader, report, job) = (&mut self.reader, &mut self.report, self.outputs.job);
        self.outputs.each(at, text, pieces, |piece, path, new| {
            let old = reader.read(path).map_err(|error| Fault::Cluster(of_template(&job, piece.output, error)))?;
            seen.extend((piece.document > 0).then(|| path.to_owned()));
            let change = match old {
                None => Change::Create,
                Some(old) if old == new.as_bytes() => Change::Unchanged,
                Some(_) => Change::Update,
            };
            if change != Change::Unchanged {
                let old = old.map_or(String::new(), |old| String::from_utf8_lossy(old).into_owned());
                found.push((path.to_owned(), change, old, new));
            }
            count(report, change, new.len());
            Ok(())
        })?;
        let told = self.turns.take(at..at + 1, |each| {
            found
                .iter()
                .try_for_each(|(path, change, old, new)| each(&Looked { path, change: Some(*change), old, new }))
        });
        told.unwrap_or(Ok(())).map_err(|error| Fault::Run(cannot_write(&error)))
    }

    fn skip(&mut self, at: usize) {
        self.turns.take(at..at + 1, |_| ());
    }

    fn done(self) -> Self::Done {
        (self.report, self.seen)
    }
}

/// Where one stream goes.
pub(super) type Out<'o> = &'o mut (dyn Write + Send);

/// Bytes that a worker keeps back before it waits for its turn to write them.
const KEPT: usize = 1 << 20;

/// Writes one stream of YAML documents in the fleet's order. A worker waits once for many clusters: a wait costs
/// more than to render one.
pub(super) struct StreamSink<'j, 'o> {
    outputs: Outputs<'j>,
    turns: &'j Turns<Out<'o>>,
    report: Report,
    /// What is kept back: of these clusters, these documents, counted.
    clusters: Range<usize>,
    documents: String,
    kept: Report,
}

impl<'j, 'o> StreamSink<'j, 'o> {
    pub(super) fn new(job: &Job<'j>, turns: &'j Turns<Out<'o>>) -> Self {
        let (report, kept) = (Report::default(), Report::default());
        Self { outputs: Outputs::new(job), turns, report, clusters: 0..0, documents: String::new(), kept }
    }

    fn keep(&mut self, at: usize) {
        if self.clusters.is_empty() {
            self.clusters.start = at;
        }
        self.clusters.end = at + 1;
    }
}

impl Sink for StreamSink<'_, '_> {
    type Done = Report;

    const BLOCK: usize = 16;

    fn take(&mut self, at: usize, text: &str, pieces: &[Piece]) -> std::result::Result<(), Fault> {
        self.keep(at);
        let (documents, report) = (&mut self.documents, &mut self.kept);
        let plain = self.outputs.job.options.plain_stream;
        self.outputs.each(at, text, pieces, |_, path, text| {
            if plain {
                documents.push_str(text)
            } else {
                push_document(documents, path, text)
            }
            count(report, Change::Create, text.len());
            Ok(())
        })?;
        if self.documents.len() < KEPT { Ok(()) } else { self.leave() }
    }

    fn skip(&mut self, at: usize) {
        self.keep(at);
    }

    fn leave(&mut self) -> std::result::Result<(), Fault> {
        let clusters = std::mem::take(&mut self.clusters);
        if clusters.is_empty() {
            return Ok(());
        }
        let kept = std::mem::take(&mut self.kept);
        let written = self.turns.take(clusters, |out| out.write_all(self.documents.as_bytes()));
        self.documents.clear();
        match written {
            None => {}
            Some(Ok(())) => self.report.add(&kept),
            Some(Err(error)) => return Err(Fault::Run(cannot_write(&error))),
        }
        Ok(())
    }

    fn done(self) -> Report {
        self.report
    }
}

/// Appends one output as a YAML document: separated from the one before, with its path in a comment. An output
/// that holds nothing but comments is left out, and one that brings its own `---` gets no second one.
fn push_document(documents: &mut String, path: &str, text: &str) {
    let first = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'));
    let Some(first) = first else { return };
    if !first.starts_with("---") {
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
