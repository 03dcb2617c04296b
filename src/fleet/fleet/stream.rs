//! Fleets that are read once, batch by batch, such as pipes.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read};
use std::sync::atomic::{AtomicBool, Ordering};

use super::collector::{Collector, PartState};
use super::file::unreadable;
use super::records::{MAX_RECORD, too_long};
use super::{Clusters, Fleet, FleetOptions};
use crate::input::Format;
use dropforge_base::diagnostics::{Code, Diagnostic, Result, not_utf8};
use dropforge_base::text::Source;

/// The usual number of bytes of a batch.
const BATCH: usize = 4 << 20;

/// The number of bytes that are read at once.
const CHUNK: usize = 1 << 16;

/// Clusters of files with a cluster a line or row, read once and batch by batch. Nothing is kept of earlier batches.
///
/// ```
/// use dropforge::bulk::{FleetOptions, FleetStream, Format};
/// let mut stream = FleetStream::new(&FleetOptions::default());
/// stream.add("pipe", &b"{\"name\": \"eu-1\"}\n{\"name\": \"us-1\"}\n"[..], Format::Ndjson)?;
/// let batch = stream.next_batch()?.expect("clusters");
/// assert_eq!(batch.reader().cluster(1)?.name(), "us-1");
/// assert!(stream.next_batch()?.is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct FleetStream<'i> {
    inputs: VecDeque<Input<'i>>,
    collector: Collector,
    batch: usize,
}

/// The rest of a file.
struct Input<'i> {
    name: String,
    format: Format,
    input: Box<dyn Read + 'i>,
    /// The bytes that were read and are in no batch yet.
    bytes: Vec<u8>,
    is_read: bool,
    state: PartState,
    lines_before: u32,
    /// The number of bytes of all batches.
    end: u64,
}

impl<'i> FleetStream<'i> {
    /// Creates a stream of no files.
    pub fn new(options: &FleetOptions<'_>) -> Self {
        Self { inputs: VecDeque::new(), collector: Collector::new(options), batch: BATCH }
    }

    /// Adds a file, which is called `name` in errors.
    ///
    /// # Errors
    /// `usage` for a format without a cluster a line or row.
    pub fn add(&mut self, name: impl Into<String>, input: impl Read + 'i, format: Format) -> Result<()> {
        let (name, input) = (name.into(), Box::new(input));
        if !format.is_of_records() {
            let message = format!("the fleet `{name}` cannot be read batch by batch");
            let error = Diagnostic::new(Code::Usage, message);
            return Err(error.with_help("only NDJSON, CSV and TSV can: name the format with `--fleet-format`"));
        }
        let (bytes, state) = (Vec::new(), PartState::default());
        self.inputs.push_back(Input { name, format, input, bytes, is_read: false, state, lines_before: 0, end: 0 });
        Ok(())
    }

    /// Reads some more clusters. Returns `None` if there are none.
    ///
    /// # Errors
    /// All faults of the batch; `file.read_failed`, `limit.source_bytes`, `syntax.not_utf8`.
    pub fn next_batch(&mut self) -> Result<Option<Fleet>> {
        self.next_until(&AtomicBool::new(false))
    }

    /// Works like [`FleetStream::next_batch`]. A signal that sets `stop` ends a file that waits for more.
    ///
    /// # Errors
    /// Same as [`FleetStream::next_batch`].
    pub(crate) fn next_until(&mut self, stop: &AtomicBool) -> Result<Option<Fleet>> {
        while let Some(input) = self.inputs.front_mut() {
            let mut collector = self.collector.again();
            let is_over = input.batch((self.batch, stop), &mut collector)?;
            let (clusters, name) = (std::mem::take(&mut collector.clusters), input.name.clone());
            collector.finish()?;
            if is_over {
                self.inputs.pop_front();
            }
            if !clusters.is_empty() {
                let mut fleet = Fleet::default();
                fleet.add(name, clusters.len(), Clusters::Held(clusters.into()));
                return Ok(Some(fleet));
            }
        }
        Ok(None)
    }
}

impl Input<'_> {
    /// Finds the clusters of a batch. Returns `true` after the last one.
    fn batch(&mut self, (size, stop): (usize, &AtomicBool), collector: &mut Collector) -> Result<bool> {
        let mut wanted = size;
        loop {
            self.read(wanted, stop)?;
            let source = Source::part(self.name.clone(), self.lines_before, self.text()?);
            let taken = collector.part(&source, self.format, &mut self.state, self.is_read);
            if taken > 0 || self.is_read {
                let batch = source.text().get(..taken).unwrap_or(source.text());
                let lines = memchr::memchr_iter(b'\n', batch.as_bytes()).count();
                self.lines_before = self.lines_before.saturating_add(u32::try_from(lines).unwrap_or(u32::MAX));
                self.end += batch.len() as u64;
                self.bytes.drain(..batch.len());
                return Ok(self.is_read || self.state.is_over);
            }
            if wanted > MAX_RECORD {
                return Err(too_long(&source));
            }
            wanted = (wanted * 4).min(MAX_RECORD + 1);
        }
    }

    /// Reads until there are `wanted` bytes, or no more.
    fn read(&mut self, wanted: usize, stop: &AtomicBool) -> Result<()> {
        while self.bytes.len() < wanted && !self.is_read {
            let old = self.bytes.len();
            self.bytes.resize(wanted.min(old + CHUNK), 0);
            let read = self.input.read(self.bytes.get_mut(old..).unwrap_or_default());
            self.bytes.truncate(old + *read.as_ref().unwrap_or(&0));
            match read {
                Ok(0) => self.is_read = true,
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => self.is_read = stop.load(Ordering::SeqCst),
                Err(error) => return Err(unreadable(&self.name, error)),
            }
        }
        Ok(())
    }

    /// Returns the text of the bytes, without a character that is cut off.
    fn text(&self) -> Result<String> {
        match std::str::from_utf8(&self.bytes) {
            Ok(text) => Ok(text.to_owned()),
            Err(error) if self.is_read || error.error_len().is_some() => {
                Err(not_utf8(&self.name, &self.bytes, (self.end, self.lines_before)))
            }
            Err(error) => {
                Ok(String::from_utf8_lossy(self.bytes.get(..error.valid_up_to()).unwrap_or_default()).into_owned())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a text in batches. Returns the names with their lines, or the first error.
    fn names(text: &[u8], format: Format, batch: usize) -> std::result::Result<Vec<String>, String> {
        let mut stream = FleetStream::new(&FleetOptions::default());
        stream.batch = batch;
        stream.add("f", text, format).unwrap();
        let mut names = Vec::new();
        while let Some(fleet) = stream.next_batch().map_err(|error| error.to_string())? {
            let each = &mut |_, cluster: &crate::cluster::Cluster| {
                let place = cluster.place().unwrap();
                let line = place.find(&[]).map(|span| place.source().position(span.start).line);
                names.push(format!("{} {line:?}", cluster.name()));
                Ok(())
            };
            fleet.each(each).unwrap();
        }
        Ok(names)
    }

    #[test]
    fn batches_of_any_size_have_the_clusters_of_the_whole() {
        let texts = [
            ("{\"name\":\"a\"}\n\n {\"name\":\"é\u{1F600}\"}\r\n{\"cluster\":{\"name\":\"c\"}}", Format::Ndjson),
            ("", Format::Ndjson),
            ("\n\n", Format::Ndjson),
            ("name,x.y\na,1\n\n\"b\n\nc\",\"2,\"\"3\"\r\nd,\n", Format::Csv),
            ("\u{feff}name\tx\na\t1\n", Format::Tsv),
            ("name\n", Format::Csv),
        ];
        for (text, format) in texts {
            let whole = names(text.as_bytes(), format, BATCH);
            assert!(whole.is_ok(), "{whole:?}");
            for batch in 4..text.len() + 8 {
                assert_eq!(names(text.as_bytes(), format, batch), whole, "{batch}: {text:?}");
            }
        }
    }

    #[test]
    fn faults_come_with_their_batch() {
        let text = "{\"name\":\"a\"}\n{\"name\":\"b\"}\n{]\n{\"name\":\"c\"}\n";
        let error = names(text.as_bytes(), Format::Ndjson, 16).unwrap_err();
        assert_eq!(error, "E0801: invalid JSON: key must be a string (f:3:2)");
        assert_eq!(
            names(b"{\"name\":\"a\"}\xff\n", Format::Ndjson, 4),
            Err("E0107: `f` is not valid UTF-8 at byte 12 (f:1:13)".into())
        );
        assert_eq!(
            names(b"{\"name\":\"\xc3", Format::Ndjson, 64),
            Err("E0107: `f` is not valid UTF-8 at byte 9 (f:1:10)".into())
        );
        let long = vec![b' '; MAX_RECORD + 9];
        assert_eq!(
            names(&long, Format::Ndjson, BATCH),
            Err("E0601: a cluster of `f` is too long: the limit is 16 MiB (f:1:1)".into())
        );
        let error = FleetStream::new(&FleetOptions::default()).add("f", &b"a: 1"[..], Format::Yaml).unwrap_err();
        assert_eq!(error.code, Code::Usage);
    }
}
