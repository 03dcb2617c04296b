//! The files of a fleet, and reading one cluster after another from them.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::Path;
use std::sync::Arc;

use super::records::MAX_RECORD;
use super::{Clusters, Fleet};
use crate::cluster::Cluster;
use crate::input::Format;
use dropforge_base::diagnostics::{Code, Diagnostic, Result, not_utf8, thousands};
use dropforge_base::files;
use dropforge_base::text::Source;

/// Maximum size of a file that is read at once.
const MAX_TEXT: u64 = 1 << 30;
/// Maximum number of bytes that the format of a file is guessed from.
const HEAD: u64 = 16 << 20;

/// A file of a fleet.
#[derive(Debug)]
pub struct FleetFile {
    pub(super) name: String,
    pub(super) format: Format,
    pub(super) content: FileContent,
}

#[derive(Debug)]
pub(super) enum FileContent {
    Text(Arc<Source>),
    /// A cluster a line or row.
    Records(File),
    /// A Parquet or Arrow file.
    Table(File),
}

impl From<(Arc<Source>, Format)> for FleetFile {
    fn from((source, format): (Arc<Source>, Format)) -> Self {
        Self { name: source.name().to_owned(), format, content: FileContent::Text(source) }
    }
}

impl FleetFile {
    /// Opens the file at `path`, of this format or that of its name or content. Files with a cluster a line or row (NDJSON,
    /// CSV, TSV) are read later, part by part, and so have to stay as they are until the run is over. Pipes are copied first.
    /// The rows of Parquet and Arrow files are copied to a temporary file when the fleet is read.
    ///
    /// ```
    /// # let temp = tempfile::tempdir()?;
    /// # let path = temp.path().join("clusters.ndjson");
    /// # std::fs::write(&path, "{\"name\": \"eu-1\"}\n{\"name\": \"us-1\"}\n")?;
    /// use dropforge::bulk::{Fleet, FleetFile, FleetOptions};
    /// let fleet = Fleet::read_all([FleetFile::open(&path, None)?], &FleetOptions::default())?;
    /// assert_eq!(fleet.reader().cluster(1)?.name(), "us-1");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `file.read_failed`; `limit.source_bytes` for a file over 1 GiB of any other format; `syntax.not_utf8`.
    pub fn open(path: &Path, format: Option<Format>) -> Result<Self> {
        let name = path.display().to_string();
        let file = files::open_input(path).map_err(|error| unreadable(&name, error))?;
        let is_file = file.metadata().is_ok_and(|meta| meta.is_file());
        if is_file { Self::of(name, file, format) } else { Self::spool(name, file, format) }
    }

    /// Copies `input` to a temporary file, which is called `name` in errors. No more is copied than what is an error
    /// whatever follows, so an input without an end does not fill the disk.
    ///
    /// # Errors
    /// Same as [`FleetFile::open`]; `file.write_failed`.
    pub fn spool(name: impl Into<String>, input: impl Read, format: Option<Format>) -> Result<Self> {
        let name = name.into();
        let mut file = tempfile::tempfile().map_err(|error| cannot_spool(&name, error))?;
        let known = format.or_else(|| Format::of_name(&name));
        copy_bounded(input, &mut file, known).map_err(|error| cannot_spool(&name, error))?;
        file.rewind().map_err(|error| cannot_spool(&name, error))?;
        Self::of(name, file, format)
    }

    /// Returns the text and its format, unless a cluster is a line or row.
    pub fn text(&self) -> Option<(&Arc<Source>, Format)> {
        match &self.content {
            FileContent::Text(source) => Some((source, self.format)),
            FileContent::Records(_) | FileContent::Table(_) => None,
        }
    }

    fn of(name: String, mut file: File, format: Option<Format>) -> Result<Self> {
        let format = match format.or_else(|| Format::of_name(&name)) {
            Some(format) => format,
            None => guessed(&mut file).map_err(|error| unreadable(&name, error))?,
        };
        let content = match format {
            format if format.is_of_records() => FileContent::Records(file),
            format if format.is_table() => FileContent::Table(file),
            _ => FileContent::Text(text(&name, file)?),
        };
        Ok(Self { name, format, content })
    }
}

/// Copies an input. Stops in a record that is too long, and after a text that is.
fn copy_bounded(mut input: impl Read, file: &mut File, mut format: Option<Format>) -> io::Result<()> {
    let (mut bytes, mut copied, mut line) = (vec![0; 1 << 16], 0_u64, 0_usize);
    loop {
        let read = match input.read(&mut bytes) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        let part = bytes.get(..read).unwrap_or_default();
        file.write_all(part)?;
        copied += read as u64;
        line = memchr::memrchr(b'\n', part).map_or(line + read, |end| read - end - 1);
        if format.is_none() && copied >= HEAD {
            file.rewind()?;
            format = Some(guessed(file)?);
            file.seek(io::SeekFrom::End(0))?;
        }
        let is_over = match format {
            None => false,
            Some(format) if format.is_table() => false,
            Some(format) if format.is_of_records() => line > MAX_RECORD,
            Some(_) => copied > MAX_TEXT,
        };
        if read == 0 || is_over {
            return Ok(());
        }
    }
}

fn guessed(file: &mut File) -> io::Result<Format> {
    let mut head = Vec::new();
    file.take(HEAD).read_to_end(&mut head)?;
    file.rewind()?;
    Ok(Format::of_magic(&head).unwrap_or_else(|| Format::of("", &String::from_utf8_lossy(&head))))
}

fn text(name: &str, file: File) -> Result<Arc<Source>> {
    let mut bytes = Vec::new();
    file.take(MAX_TEXT + 1).read_to_end(&mut bytes).map_err(|error| unreadable(name, error))?;
    if bytes.len() as u64 > MAX_TEXT {
        let error = Diagnostic::new(Code::LimitSourceBytes, format!("`{name}` is too long: the limit is 1 GiB"));
        return Err(error.with_help("write one cluster a line (NDJSON), or several files"));
    }
    let text = String::from_utf8(bytes).map_err(|error| not_utf8(name, error.as_bytes(), (0, 0)))?;
    Ok(Source::new(name, text))
}

pub(super) fn unreadable(name: &str, error: io::Error) -> Box<Diagnostic> {
    files::unreadable(Path::new(name), error)
}

pub(super) fn cannot_spool(name: &str, error: io::Error) -> Box<Diagnostic> {
    let directory = std::env::temp_dir();
    let message = format!("cannot copy `{name}` to a temporary file in `{}`: {error}", directory.display());
    Diagnostic::new(Code::WriteFailed, message)
        .with_help("name a directory with free space in `TMPDIR`")
        .caused_by(error)
}

/// A reader of single clusters. It keeps the part of a file that it read last, so the next cluster of it costs nothing.
#[derive(Debug)]
pub struct FleetReader<'f> {
    fleet: &'f Fleet,
    clusters: Arc<[Cluster]>,
    /// The number of clusters before these.
    first: usize,
}

impl<'f> FleetReader<'f> {
    pub(super) fn new(fleet: &'f Fleet) -> Self {
        Self { fleet, clusters: Arc::new([]), first: 0 }
    }

    /// Returns the cluster `at`, counted from 0.
    ///
    /// # Errors
    /// `file.read_failed` if the file cannot be read, or was changed.
    pub fn cluster(&mut self, at: usize) -> Result<&Cluster> {
        if at.checked_sub(self.first).is_none_or(|nth| nth >= self.clusters.len()) {
            self.read(at)?;
        }
        let nth = at.wrapping_sub(self.first);
        self.clusters.get(nth).ok_or_else(|| {
            let clusters = thousands(self.fleet.len());
            Diagnostic::new(Code::Internal, format!("no cluster {} of {clusters}", thousands(at)))
        })
    }

    fn read(&mut self, at: usize) -> Result<()> {
        let Some(part) = self.fleet.part_of(at) else { return Ok(()) };
        (self.first, self.clusters) = match &part.clusters {
            Clusters::Held(clusters) => (part.first, clusters.clone()),
            Clusters::Records(records) => {
                let (first, clusters) = records.part_with(at - part.first)?;
                (part.first + first, clusters)
            }
        };
        Ok(())
    }

    /// Returns the name of the cluster `at`, or an empty string if it cannot be read.
    pub fn name(&mut self, at: usize) -> String {
        self.cluster(at).map_or_else(|_| String::new(), |cluster| cluster.name().to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FleetOptions;

    #[test]
    fn an_input_without_an_end_is_copied_up_to_its_error() {
        for format in [Format::Ndjson, Format::Csv] {
            let file = FleetFile::spool("f", io::repeat(b'x'), Some(format)).unwrap();
            let error = Fleet::read_all([file], &FleetOptions::default()).unwrap_err();
            assert_eq!(error.code, Code::LimitSourceBytes, "{format:?}");
        }
        let lines = "{\"name\": \"a\"}\n".repeat(1 << 16).replace('a', &"a".repeat(300));
        let file = FleetFile::spool("f", lines.as_bytes(), None).unwrap();
        assert_eq!(file.format, Format::Ndjson);
        assert!(
            matches!(&file.content, FileContent::Records(copy) if copy.metadata().unwrap().len() == lines.len() as u64)
        );
    }
}
