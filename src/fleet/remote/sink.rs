//! The sink of runs that write objects.

use std::path::Path;
use std::sync::Mutex;

use bytes::Bytes;

use super::prefix::{Prefix, StoreReader};
use crate::destination::Files;
use crate::job::Job;
use crate::known_files::KnownFiles;
use crate::lock;
use crate::output_files::{Change, appeared};
use crate::pieces::Piece;
use crate::plan::Placed;
use crate::report::Report;
use crate::sinks::Outputs;
use crate::stamp::values_row;
use crate::state::{Row, SAME_TAG};
use crate::workers::{Late, Sink, SinkError, SinkResult, for_template};
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_remote::{Condition, Lane, Outcome};

/// Maximum number of objects of a worker that may fail before the run does.
const FAILURES: usize = 10_000;

/// Puts objects.
pub(super) struct StoreSink<'j> {
    outputs: Outputs<'j>,
    prefix: &'j Prefix,
    known: &'j KnownFiles<'j>,
    files: &'j Mutex<Files>,
    lane: Lane<Ticket>,
    report: Report,
    /// Objects that could not be put, with the indexes of their clusters.
    failed: Vec<(usize, Box<Diagnostic>)>,
}

/// An object to put.
struct Ticket {
    at: usize,
    cluster: String,
    path: String,
    output: usize,
    hash: blake3::Hash,
    change: Change,
    bytes: usize,
    /// An object that appeared during the run was not written by it.
    is_new: bool,
}

/// What happens with an output.
enum Step {
    /// The object has this content. It is in the state, or has this ETag.
    Keep(String),
    Put(Change, Condition),
}

impl<'j> StoreSink<'j> {
    pub(super) fn new(job: &Job<'j>, prefix: &'j Prefix, known: &'j KnownFiles<'j>, files: &'j Mutex<Files>) -> Self {
        let (outputs, lane) = (Outputs::new(job), prefix.putter.lane());
        Self { outputs, prefix, known, files, lane, report: Report::default(), failed: Vec::new() }
    }

    /// Notes the outcomes of puts.
    ///
    /// # Errors
    /// Errors that all puts have, and errors of temporary files.
    fn settle(&mut self, outcomes: Vec<Outcome<Ticket>>) -> Result<()> {
        for Outcome { ticket, result } in outcomes {
            match result {
                Ok(revision) => {
                    let tag = revision.as_ref().and_then(|revision| revision.tag()).unwrap_or("").to_owned();
                    self.report.count(ticket.change, ticket.bytes);
                    note(self.files, ticket, tag)?;
                }
                Err(error) => self.fail(ticket, error),
            }
        }
        Ok(())
    }

    fn fail(&mut self, ticket: Ticket, error: Box<Diagnostic>) {
        let job = self.outputs.job;
        let error = match error.code {
            Code::StoreChanged if ticket.is_new => appeared(Path::new(&self.prefix.store.url_of(&ticket.path))),
            _ => error,
        };
        self.failed.push((ticket.at, for_template(&job, ticket.output, error).for_cluster(ticket.cluster)));
    }

    /// Returns the reason why nothing more is put.
    fn stopped(&self) -> Option<Box<Diagnostic>> {
        let (_, last) = self.failed.last()?;
        let is_for_all = matches!(last.code, Code::StoreDenied | Code::StoreMissing | Code::NoConditions);
        let ends = is_for_all || self.failed.len() >= FAILURES || self.outputs.job.options.fail_fast;
        ends.then(|| last.clone())
    }
}

/// Notes an object that has the content of its output.
fn note(files: &Mutex<Files>, ticket: Ticket, tag: String) -> Result<()> {
    let (template, hash) = (u32::try_from(ticket.output).unwrap_or(u32::MAX - 1), *ticket.hash.as_bytes());
    let mut files = lock(files);
    files.made.add(&ticket.path)?;
    files.rows.add(Row { cluster: ticket.cluster, path: ticket.path, template, hash, tag })
}

/// Decides what happens with an output.
fn step(
    prefix: &Prefix,
    known: &KnownFiles<'_>,
    force: bool,
    path: &str,
    content: &[u8],
    hash: &blake3::Hash,
) -> Result<Step> {
    if prefix.has_content(path, hash)? {
        return Ok(Step::Keep(SAME_TAG.to_owned()));
    }
    if !prefix.has(path)? {
        let may_check = prefix.guard().is_some() && !force;
        return Ok(Step::Put(Change::Create, if may_check { Condition::Absent } else { Condition::Always }));
    }
    if force || known.contains(path)? {
        return Ok(Step::Put(Change::Update, Condition::Always));
    }
    // An object with the right content is adopted.
    match StoreReader::new(prefix).content(path)? {
        None => Ok(Step::Put(Change::Create, Condition::Always)),
        Some(object) if object.bytes == content => Ok(Step::Keep(object.revision.tag().unwrap_or("").to_owned())),
        // There was no such object when the plan was checked.
        Some(_) => Err(appeared(Path::new(&prefix.store.url_of(path)))),
    }
}

impl Sink for StoreSink<'_> {
    type Done = Report;

    fn take(&mut self, cluster: &Placed<'_>, text: &str, pieces: &[Piece]) -> SinkResult {
        let ready = self.lane.ready();
        self.settle(ready).map_err(SinkError::Run)?;
        if let Some(error) = self.prefix.putter.stopped().or_else(|| self.stopped()) {
            return Err(SinkError::Run(error));
        }
        let (prefix, known, files, job) = (self.prefix, self.known, self.files, self.outputs.job);
        let values = values_row(&job, cluster.cluster);
        values.into_iter().try_for_each(|row| lock(files).rows.add(row)).map_err(SinkError::Run)?;
        let (lane, report) = (&mut self.lane, &mut self.report);
        self.outputs.each(cluster, text, pieces, |piece, path, content| {
            let (output, hash, bytes) = (piece.output, blake3::hash(content), content.len());
            let step = step(prefix, known, job.options.force, path, content, &hash);
            let step = step.map_err(|error| SinkError::Cluster(for_template(&job, output, error)))?;
            let (at, cluster, path) = (cluster.at, cluster.name().to_owned(), path.to_owned());
            let ticket =
                |change, is_new| Ticket { at, cluster, path: path.clone(), output, hash, change, bytes, is_new };
            match step {
                Step::Keep(tag) => {
                    report.count(Change::Unchanged, bytes);
                    note(files, ticket(Change::Unchanged, false), tag).map_err(SinkError::Run)
                }
                Step::Put(change, condition) => {
                    let ticket = ticket(change, condition == Condition::Absent);
                    lane.put(ticket, &path, Bytes::copy_from_slice(content), condition);
                    Ok(())
                }
            }
        })
    }

    fn skip(&mut self, _: usize) {}

    fn done(mut self, late: Late<'_>) -> Report {
        let outcomes = self.lane.finish();
        if let Err(error) = self.settle(outcomes) {
            // Objects that are not noted make the run incomplete.
            self.failed.push((0, error));
        }
        self.failed.into_iter().for_each(|(at, error)| late(at, error));
        self.report
    }
}
