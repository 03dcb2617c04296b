//! Where the outputs of a run go: onto disk, into a comparison with it, or into one stream.

use std::io::{self, Write};
use std::ops::Range;

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

    /// Calls `each` with the number, the path and the text of every output, until one fails.
    fn each<'t, E>(
        &mut self,
        at: usize,
        text: &'t str,
        ends: &[usize],
        mut each: impl FnMut(usize, &str, &'t str) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let mut start = 0;
        for (output, end) in ends.iter().copied().enumerate() {
            self.job.plan.path(self.job.fleet, at, output, &mut self.path);
            each(output, &self.path, text.get(start..end).unwrap_or(""))?;
            start = end;
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

/// What was written: cluster, output, hash.
pub(super) type Written = Vec<(usize, usize, blake3::Hash)>;

/// Writes files.
pub(super) struct DiskSink<'j> {
    outputs: Outputs<'j>,
    writer: Writer<'j>,
    report: Report,
    written: Written,
}

impl<'j> DiskSink<'j> {
    pub(super) fn new(job: &Job<'j>, dir: &'j OutputDir) -> Self {
        let writer = Writer::new(dir, job.options.fsync);
        Self { outputs: Outputs::new(job), writer, report: Report::default(), written: Vec::new() }
    }
}

impl Sink for DiskSink<'_> {
    type Done = (Report, Written);

    fn take(&mut self, at: usize, text: &str, ends: &[usize]) -> std::result::Result<(), Fault> {
        let (writer, mut report, before) = (&mut self.writer, Report::default(), self.written.len());
        let (written, job) = (&mut self.written, self.outputs.job);
        let staged = self.outputs.each(at, text, ends, |output, path, text| {
            let change = writer.stage(path, text.as_bytes()).map_err(|error| of_template(&job, output, error))?;
            count(&mut report, change, text.len());
            written.push((at, output, blake3::hash(text.as_bytes())));
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
}

impl<'j, 'e> LookSink<'j, 'e> {
    pub(super) fn new(job: &Job<'j>, dir: Option<&'j OutputDir>, turns: &'j Turns<Each<'e>>) -> Self {
        Self { outputs: Outputs::new(job), reader: Reader::new(dir), turns, report: Report::default() }
    }
}

impl Sink for LookSink<'_, '_> {
    type Done = Report;

    fn take(&mut self, at: usize, text: &str, ends: &[usize]) -> std::result::Result<(), Fault> {
        let mut found = Vec::new();
        let (reader, report, job) = (&mut self.reader, &mut self.report, self.outputs.job);
        self.outputs.each(at, text, ends, |output, path, new| {
            let old = reader.read(path).map_err(|error| Fault::Cluster(of_template(&job, output, error)))?;
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

    fn done(self) -> Report {
        self.report
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

    fn take(&mut self, at: usize, text: &str, ends: &[usize]) -> std::result::Result<(), Fault> {
        self.keep(at);
        let (documents, report) = (&mut self.documents, &mut self.kept);
        self.outputs.each(at, text, ends, |_, path, text| {
            push_document(documents, path, text);
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
