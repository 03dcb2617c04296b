//! The sink of runs that write packs.

use std::ops::Range;
use std::sync::mpsc::SyncSender;

use super::part::{Finished, PackFormat, PackPart};
use super::place::PackOptions;
use crate::job::Job;
use crate::pieces::Piece;
use crate::plan::Placed;
use crate::report::Report;
use crate::sinks::Outputs;
use crate::workers::{Late, Sink, SinkError, SinkResult, Turns};
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_remote::pack::Packed;

/// Writes outputs to packs, one after the other.
pub(super) struct Writer {
    format: PackFormat,
    bytes: u64,
    part: Option<PackPart>,
    /// The number of the current pack.
    number: usize,
    to: SyncSender<Finished>,
}

impl Writer {
    pub(super) fn new(options: &PackOptions, to: SyncSender<Finished>) -> Self {
        Self { format: options.format, bytes: options.bytes, part: None, number: 0, to }
    }

    /// Adds the outputs of a cluster.
    fn add<'o>(&mut self, outputs: impl Iterator<Item = Packed<'o>>) -> Result<()> {
        for output in outputs {
            let part = match &mut self.part {
                Some(part) => part,
                none => none.insert(PackPart::new(self.format)?),
            };
            part.add(&output)?;
        }
        match self.part.as_ref().is_some_and(|part| part.bytes() >= self.bytes) {
            true => self.end(),
            false => Ok(()),
        }
    }

    /// Ends the current pack, if there is one.
    pub(super) fn end(&mut self) -> Result<()> {
        let Some(part) = self.part.take() else { return Ok(()) };
        let finished = part.finish(self.number)?;
        self.number += 1;
        // The reason why packs are not delivered is that of the run.
        self.to.send(finished).map_err(|_| Diagnostic::new(Code::Internal, "packs are not delivered any more"))
    }
}

/// Bytes that a worker buffers before it waits for its turn to write.
const BUFFERED: usize = 1 << 20;

/// Adds outputs to packs in fleet order.
pub(super) struct PackSink<'j> {
    outputs: Outputs<'j>,
    job: Job<'j>,
    turns: &'j Turns<Writer>,
    report: Report,
    /// The clusters that wait for their turn.
    clusters: Range<usize>,
    buffered: Vec<Buffered>,
    content: Vec<u8>,
}

/// An output that waits for its turn.
struct Buffered {
    at: usize,
    cluster: String,
    path: String,
    output: usize,
    /// The place in the content.
    bytes: Range<usize>,
}

impl<'j> PackSink<'j> {
    pub(super) fn new(job: &Job<'j>, turns: &'j Turns<Writer>) -> Self {
        let (buffered, content) = (Vec::new(), Vec::new());
        Self {
            outputs: Outputs::new(job),
            job: *job,
            turns,
            report: Report::default(),
            clusters: 0..0,
            buffered,
            content,
        }
    }

    fn write(&mut self) -> Option<Result<()>> {
        let (job, content, buffered) = (self.job, &self.content, &self.buffered);
        let packed = |one| packed(&job, content, one);
        self.turns.take(std::mem::take(&mut self.clusters), |writer| {
            let mut clusters = buffered.chunk_by(|one, other| one.at == other.at);
            clusters.try_for_each(|cluster| writer.add(cluster.iter().map(packed)))
        })
    }
}

fn packed<'p>(job: &Job<'p>, content: &'p [u8], one: &'p Buffered) -> Packed<'p> {
    let template = job.plan.outputs().get(one.output).map_or("", |output| &output.template);
    Packed {
        path: &one.path,
        bytes: content.get(one.bytes.clone()).unwrap_or_default(),
        executable: job.plan.is_executable(one.output),
        cluster: &one.cluster,
        template: job.options.templates.path(template),
        release: job.options.templates.release(template),
    }
}

impl Sink for PackSink<'_> {
    type Done = Report;

    const BLOCK: usize = 16;

    fn take(&mut self, cluster: &Placed<'_>, text: &str, pieces: &[Piece]) -> SinkResult {
        self.skip(cluster.at);
        let (buffered, content, report) = (&mut self.buffered, &mut self.content, &mut self.report);
        self.outputs.each(cluster, text, pieces, |piece, path, bytes| {
            let start = content.len();
            content.extend_from_slice(bytes);
            let (cluster, at) = (cluster.name().to_owned(), cluster.at);
            buffered.push(Buffered {
                at,
                cluster,
                path: path.to_owned(),
                output: piece.output,
                bytes: start..content.len(),
            });
            report.bytes += bytes.len() as u64;
            Ok::<(), SinkError>(())
        })?;
        if self.content.len() < BUFFERED { Ok(()) } else { self.flush() }
    }

    fn skip(&mut self, at: usize) {
        if self.clusters.is_empty() {
            self.clusters.start = at;
        }
        self.clusters.end = at + 1;
    }

    fn flush(&mut self) -> SinkResult {
        if self.clusters.is_empty() {
            return Ok(());
        }
        let written = self.write();
        self.buffered.clear();
        self.content.clear();
        written.unwrap_or(Ok(())).map_err(SinkError::Run)
    }

    fn done(self, _: Late<'_>) -> Report {
        self.report
    }
}
