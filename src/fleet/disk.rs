//! Outputs in a directory.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::BorrowedFd;
use std::sync::Mutex;

use super::destination::{Destination, FileReader, Files};
use super::job::Job;
use super::known_files::KnownFiles;
use super::output_dir::{OutputDir, cannot};
use super::output_files::{
    Change, OutputReader, OutputWriter, WriteParts, appeared, open_existing, open_file, remove, unlink,
};
use super::pieces::Piece;
use super::plan::Placed;
use super::report::Report;
use super::sinks::Outputs;
use super::stamp::values_row;
use super::state::{Entry, MAX_SECTION, OwnFiles, PutFile, ReadFile, Row};
use super::workers::{Late, Sink, SinkError, SinkResult, for_template};
use crate::lock;
use dropforge_base::diagnostics::Result;

impl OwnFiles for OutputDir {
    fn open_own(&self, name: &str) -> Result<Option<File>> {
        open_existing(self, name)
    }

    fn write_own(&self, name: &str, fsync: bool, write: WriteParts<'_>) -> Result<Change> {
        let mut writer = OutputWriter::new(self, fsync).forced(true);
        let change = writer.stage_with(name, write)?;
        writer.rename_all().1.map(|()| change)
    }

    fn each_own(&self, directory: &str, each: &mut dyn FnMut(&str) -> Result<()>) -> Result<()> {
        Destination::each_file(self, directory, each)
    }

    fn remove_own(&self, name: &str) -> Result<()> {
        unlink(self, name)
    }

    fn read_each(&self, directory: &str, extension: &str, each: ReadFile<'_>) -> Result<()> {
        let mut content = Vec::new();
        self.each_name(directory, extension, &mut |handle, name| {
            let path = format!("{directory}/{name}");
            read_at_once(handle, name, &mut content).map_err(|error| cannot("read", &self.full_path(&path), error))?;
            each(&path, &mut &content[..])
        })
    }

    fn write_each(&self, fsync: bool, files: &mut dyn FnMut(PutFile<'_>) -> Result<()>) -> Result<()> {
        let mut writer = OutputWriter::new(self, fsync).forced(true);
        files(&mut |name, content| {
            writer.stage(name, content)?;
            writer.rename_all().1
        })
    }
}

impl Destination for OutputDir {
    type Reader<'d> = OutputReader<'d>;
    type Sink<'d> = DiskSink<'d>;

    fn sweep(&self) -> Result<()> {
        OutputDir::sweep(self)
    }

    fn is_fresh(&self) -> bool {
        OutputDir::is_fresh(self)
    }

    fn each_file(&self, directory: &str, each: &mut dyn FnMut(&str) -> Result<()>) -> Result<()> {
        OutputDir::each_file(self, directory, &mut |path, _| each(path))
    }

    fn reader(&self) -> OutputReader<'_> {
        OutputReader::new(self)
    }

    fn sink<'d>(&'d self, job: &Job<'d>, known: &'d KnownFiles<'d>, files: &'d Mutex<Files>) -> DiskSink<'d> {
        DiskSink::new(job, self, known, files)
    }

    fn remove(&self, entry: Entry<'_>) -> Result<Option<bool>> {
        remove(self, entry.path, |content| entry.has_content(&blake3::hash(content)))
    }
}

impl FileReader for OutputReader<'_> {
    fn exists(&mut self, path: &str) -> Result<bool> {
        Ok(OutputReader::exists(self, path))
    }

    fn read(&mut self, path: &str) -> Result<Option<(&[u8], Option<bool>)>> {
        Ok(self.read_with_mode(path)?.map(|(content, executable)| (content, Some(executable))))
    }
}

/// Reads a small file into `to` with as few system calls as there can be: a short read is the last one.
fn read_at_once(parent: BorrowedFd<'_>, name: &str, to: &mut Vec<u8>) -> io::Result<()> {
    let mut file = open_file(parent, name)?;
    to.resize(to.capacity().max(AT_ONCE), 0);
    let mut end = 0;
    loop {
        let free = to.get_mut(end..).unwrap_or_default();
        let (length, read) = (free.len(), file.read(free)?);
        end += read;
        if read < length || end > MAX_SECTION {
            to.truncate(end);
            return Ok(());
        }
        to.resize(to.len() * 2, 0);
    }
}

/// The number of bytes that are read at once.
const AT_ONCE: usize = 1 << 14;

/// A file of a cluster that was written, or that already had its content.
struct Written {
    change: Change,
    output: usize,
    path: String,
    hash: blake3::Hash,
}

/// Writes files.
pub struct DiskSink<'j> {
    outputs: Outputs<'j>,
    dir: &'j OutputDir,
    known: &'j KnownFiles<'j>,
    files: &'j Mutex<Files>,
    writer: OutputWriter<'j>,
    report: Report,
    /// The files of the current cluster.
    written: Vec<Written>,
}

impl<'j> DiskSink<'j> {
    fn new(job: &Job<'j>, dir: &'j OutputDir, known: &'j KnownFiles<'j>, files: &'j Mutex<Files>) -> Self {
        let writer = OutputWriter::new(dir, job.options.fsync).forced(job.options.force);
        let (outputs, written) = (Outputs::new(job), Vec::new());
        Self { outputs, dir, known, files, writer, report: Report::default(), written }
    }

    /// Writes the outputs of a cluster. Returns the number of files that were renamed.
    fn write(&mut self, cluster: &Placed<'_>, text: &str, pieces: &[Piece]) -> (usize, Result<Report>) {
        let (writer, written, mut report) = (&mut self.writer, &mut self.written, Report::default());
        let (job, dir, known) = (self.outputs.job, self.dir, self.known);
        let staged = self.outputs.each(cluster, text, pieces, |piece, path, content| {
            let output = piece.output;
            let change = writer.stage_as(path, content, job.plan.is_executable(output));
            let change = change.map_err(|error| for_template(&job, output, error))?;
            // There was no such file when the plan was checked.
            if change == Change::Update && !job.options.force && !known.contains(path)? {
                return Err(for_template(&job, output, appeared(&dir.full_path(path))));
            }
            report.count(change, content.len());
            written.push(Written { change, output, path: path.to_owned(), hash: blake3::hash(content) });
            Ok(())
        });
        let (renamed, result) = match staged {
            Ok(()) => self.writer.commit_counted(),
            Err(error) => (0, Err(error)),
        };
        (renamed, result.map(|()| report))
    }

    /// Notes the files of a cluster.
    fn note(&mut self, cluster: &Placed<'_>) -> Result<()> {
        let values = values_row(&self.outputs.job, cluster.cluster);
        let mut files = lock(self.files);
        values.into_iter().try_for_each(|row| files.rows.add(row))?;
        self.written.drain(..).try_for_each(|Written { output, path, hash, .. }| {
            files.made.add(&path)?;
            let (cluster, template) = (cluster.name().to_owned(), u32::try_from(output).unwrap_or(u32::MAX));
            files.rows.add(Row { cluster, path, template, hash: *hash.as_bytes(), tag: String::new() })
        })
    }
}

impl Sink for DiskSink<'_> {
    type Done = Report;

    fn take(&mut self, cluster: &Placed<'_>, text: &str, pieces: &[Piece]) -> SinkResult {
        self.written.clear();
        let (renamed, result) = self.write(cluster, text, pieces);
        if result.is_err() {
            self.writer.discard();
            // Only the first files were written.
            self.written.retain(|file| file.change != Change::Unchanged);
            self.written.truncate(renamed);
        }
        self.note(cluster).map_err(SinkError::Run)?;
        self.report.add(&result.map_err(SinkError::Cluster)?);
        Ok(())
    }

    fn skip(&mut self, _: usize) {}

    fn done(self, _: Late<'_>) -> Self::Done {
        Report { prints: self.writer.prints(), ..self.report }
    }
}
