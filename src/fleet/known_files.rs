//! The files in a place that dropforge wrote: those that the state lists, and those that an unfinished run recorded
//! before its first write.

use std::io::{self, BufRead, BufReader};

use super::key_set::{KeySet, SortedKeys};
use super::scratch::Scratch;
use super::shards::PARTS;
use super::state::{OwnFiles, Owner, RunOptions, State};
use dropforge_base::diagnostics::{Code, Diagnostic, Result};

/// The record of a run, which exists until the run ends. If it exists at the start, an earlier run was killed.
pub(super) const RUN_RECORD: &str = ".dropforge/unfinished";

/// The files of an output directory that dropforge wrote.
pub struct KnownFiles<'m> {
    state: &'m State,
    /// The files of other projects.
    others: Option<SortedKeys>,
    pub(super) record: Record,
}

impl<'m> KnownFiles<'m> {
    /// Reads the records of unfinished runs and shards for `run`. The one called `own` will be written again.
    ///
    /// # Errors
    /// Errors of reading them, and of reading the state.
    pub(super) fn read(
        from: Option<&dyn OwnFiles>,
        (state, run): (&'m State, Option<&RunOptions>),
        own: &str,
    ) -> Result<Self> {
        let (mut names, mut record) = (vec![RUN_RECORD.to_owned()], RecordReader::default());
        let others = state.of_others(run)?;
        let Some(from) = from else { return Ok(Self { state, others, record: record.finish()? }) };
        from.each_own(PARTS, &mut |path| {
            names.extend(path.ends_with(".run").then(|| path.to_owned()));
            Ok(())
        })?;
        for name in names {
            if let Some(file) = from.open_own(&name)? {
                record.read(&mut BufReader::new(file), name == own)?;
            }
        }
        Ok(Self { state, others, record: record.finish()? })
    }

    /// Returns `true` if dropforge wrote the file at `path` for the project of the run.
    ///
    /// # Errors
    /// Errors of temporary files.
    pub fn contains(&self, path: &str) -> Result<bool> {
        Ok(!self.is_of_other(path)? && (self.state.contains(path)? || self.record.contains(path)?))
    }

    /// Returns `true` if the file at `path` is another project's.
    ///
    /// # Errors
    /// Errors of temporary files.
    pub(super) fn is_of_other(&self, path: &str) -> Result<bool> {
        self.others.as_ref().map_or(Ok(false), |others| others.contains(path))
    }

    /// Returns the owner of the file at `path`, if it is another project's.
    ///
    /// # Errors
    /// Errors of reading the state.
    pub(super) fn owner(&self, path: &str) -> Result<Option<Owner>> {
        if self.is_of_other(path)? { self.state.project_of(path) } else { Ok(None) }
    }
}

/// The files that a run may write and that its state does not list yet. It is written before the first of them.
///
/// A line is a path, or a directory with a `/` at its end for files whose names are known only after rendering, or `!`
/// and the path of a file in such a directory that was there before the run.
#[derive(Debug, Default)]
pub(super) struct Record {
    /// The lines of the run's own record.
    pub(super) lines: Scratch,
    files: SortedKeys,
    pub(super) directories: SortedKeys,
    before: SortedKeys,
}

/// Reads the records of several runs as one.
#[derive(Default)]
struct RecordReader {
    lines: Scratch,
    files: KeySet,
    directories: KeySet,
    before: KeySet,
}

impl RecordReader {
    /// Reads a record. The lines of the run's own are kept.
    fn read(&mut self, reader: &mut dyn BufRead, is_own: bool) -> Result<()> {
        let mut line = Vec::new();
        loop {
            line.clear();
            reader.read_until(b'\n', &mut line).map_err(unreadable)?;
            // A run that was killed while it wrote the record has written nothing else, but the last line may be cut off.
            let Some((b'\n', text)) = line.split_last() else { return Ok(()) };
            let text = String::from_utf8_lossy(text);
            match (text.strip_prefix('!'), text.strip_suffix('/')) {
                (Some(path), _) => self.before.add(path)?,
                (None, Some(path)) => self.directories.add(path)?,
                (None, None) => self.files.add(&text)?,
            }
            if is_own {
                self.lines.push(&line)?;
            }
        }
    }

    fn finish(self) -> Result<Record> {
        let Self { lines, files, directories, before } = self;
        Ok(Record { lines, files: files.sort()?, directories: directories.sort()?, before: before.sort()? })
    }
}

impl Record {
    fn contains(&self, path: &str) -> Result<bool> {
        if self.files.contains(path)? {
            return Ok(true);
        }
        if self.directories.is_empty() || self.before.contains(path)? {
            return Ok(false);
        }
        let parents = path.rmatch_indices('/').filter_map(|(end, _)| path.get(..end)).chain([""]);
        for parent in parents {
            if self.directories.contains(parent)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn unreadable(error: io::Error) -> Box<Diagnostic> {
    Diagnostic::new(Code::ReadFailed, format!("cannot read the record of an unfinished run: {error}")).caused_by(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_names_files_and_directories() {
        let parse = |text: &[u8]| {
            let mut reader = RecordReader::default();
            reader.read(&mut &*text, true).unwrap();
            reader.finish().unwrap()
        };
        let record = parse(b"a/x\nb/\n!b/mine\nc/cut");
        for (path, is_known) in
            [("a/x", true), ("a/y", false), ("b/x", true), ("b/s/x", true), ("b/mine", false), ("c/cut", false)]
        {
            assert_eq!(record.contains(path).unwrap(), is_known, "{path}");
        }
        let mut lines = Vec::new();
        record
            .lines
            .each_part(&mut |part| {
                lines.extend_from_slice(part);
                Ok(())
            })
            .unwrap();
        assert_eq!(lines, b"a/x\nb/\n!b/mine\n");
        assert!(parse(b"/\n").contains("any/path").unwrap());
        assert!(parse(b"cut").lines.len() == 0 && parse(&[0xff, b'\n']).directories.is_empty());
    }
}
