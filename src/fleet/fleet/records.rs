//! Files with a cluster a line or row. They are read part by part, as often as needed.

use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use xxhash_rust::xxh3::xxh3_64;

use super::collector::{Collector, PartState};
use super::file::unreadable;
use crate::cluster::Cluster;
use crate::input::Format;
use crate::scratch::Scratch;
use dropforge_base::diagnostics::{Code, Diagnostic, Result, not_utf8};
use dropforge_base::text::{Source, Span};

/// The usual number of bytes of a part, and the maximum number of bytes of a record.
const PART: usize = 1 << 18;
pub(super) const MAX_RECORD: usize = 16 << 20;

/// A file with a cluster a line or row, whose records are known to be valid.
#[derive(Debug)]
pub(super) struct Records {
    name: String,
    format: Format,
    /// `true` if the lines are the rows of a Parquet or Arrow file.
    is_of_rows: bool,
    file: File,
    collector: Collector,
    state: PartState,
    parts: Vec<RecordPart>,
    /// The number of bytes of all parts.
    end: u64,
    clusters: usize,
    /// A row of four numbers for each line: start and length in its part, start and length of the name in the line.
    lines: Scratch,
    /// The usual number of bytes of a part.
    part: usize,
    /// The parts that are in use.
    live: Mutex<HashMap<usize, Weak<[Cluster]>>>,
    /// The groups of the clusters. Empty if they have none.
    groups: Vec<u32>,
}

/// A part of whole records.
#[derive(Debug, Clone, Copy)]
struct RecordPart {
    start: u64,
    lines_before: u32,
    /// The number of clusters before the part.
    first: usize,
    /// A hash of the bytes.
    digest: u64,
}

type Row = [u32; 4];
const ROW: usize = size_of::<Row>();
/// Stands for the length of a name that is not in the line as it is.
const PARSED: u32 = u32::MAX;

impl Records {
    /// Prepares to read a file. Of a Parquet or Arrow file it is the lines.
    pub(super) fn new(name: String, format: Format, file: File, collector: &Collector) -> Self {
        Self {
            name,
            format: if format.is_table() { Format::Ndjson } else { format },
            is_of_rows: format.is_table(),
            file,
            collector: collector.again(),
            state: PartState::default(),
            parts: Vec::new(),
            end: 0,
            clusters: 0,
            lines: Scratch::default(),
            part: PART,
            live: Mutex::default(),
            groups: Vec::new(),
        }
    }

    /// Puts the clusters into groups.
    pub(super) fn put_into(&mut self, groups: Vec<u32>) {
        self.groups = groups;
        self.live = Mutex::default();
    }

    /// Returns the number of the group of a cluster.
    pub(super) fn group_of(&self, at: usize) -> usize {
        self.groups.get(at).map_or(0, |group| *group as usize)
    }

    /// Returns the number of clusters.
    pub(super) fn len(&self) -> usize {
        self.clusters
    }

    /// Reads the whole file once. Reports its faults to `collector` and passes the clusters of each part to `each`.
    ///
    /// # Errors
    /// `file.read_failed`, `limit.source_bytes`, `syntax.not_utf8`; errors of `each`.
    pub(super) fn scan(
        &mut self,
        collector: &mut Collector,
        each: &mut dyn FnMut(&[Cluster]) -> Result<()>,
    ) -> Result<()> {
        let (mut wanted, mut lines_before) = (self.part, 0_u32);
        loop {
            let (text, is_last) = self.text(wanted, lines_before)?;
            let source = self.source(lines_before, text);
            let taken = collector.part(&source, self.format, &mut self.state, is_last);
            if taken == 0 && !is_last {
                if wanted > MAX_RECORD {
                    return Err(too_long(&source));
                }
                wanted = (wanted * 4).min(MAX_RECORD + 1);
                continue;
            }
            let part = source.text().get(..taken).unwrap_or(source.text());
            let clusters = std::mem::take(&mut collector.clusters);
            self.add_part(part, lines_before, &clusters)?;
            each(&clusters)?;
            if is_last || self.state.is_over || collector.is_full() {
                return Ok(());
            }
            let lines = memchr::memchr_iter(b'\n', part.as_bytes()).count();
            lines_before = lines_before.saturating_add(u32::try_from(lines).unwrap_or(u32::MAX));
            wanted = self.part;
        }
    }

    /// Reads the text after the last part, about as many bytes as wanted. Returns `true` if it is the rest of the file.
    fn text(&self, wanted: usize, lines_before: u32) -> Result<(String, bool)> {
        let mut bytes = vec![0; wanted];
        let read = read_up_to(&self.file, self.end, &mut bytes).map_err(|error| unreadable(&self.name, error))?;
        bytes.truncate(read);
        let is_last = read < wanted;
        match String::from_utf8(bytes) {
            Ok(text) => Ok((text, is_last)),
            Err(error) => {
                let at = error.utf8_error().valid_up_to();
                // The last character may go on after these bytes.
                if is_last || error.utf8_error().error_len().is_some() {
                    return Err(not_utf8(&self.name, error.as_bytes(), (self.end, lines_before)));
                }
                let mut bytes = error.into_bytes();
                bytes.truncate(at);
                Ok((String::from_utf8(bytes).unwrap_or_default(), false))
            }
        }
    }

    fn source(&self, lines_before: u32, text: String) -> Arc<Source> {
        let name = self.name.clone();
        match self.is_of_rows {
            true => Source::rows(name, lines_before, text),
            false => Source::part(name, lines_before, text),
        }
    }

    fn add_part(&mut self, text: &str, lines_before: u32, clusters: &[Cluster]) -> Result<()> {
        let digest = xxh3_64(text.as_bytes());
        self.parts.push(RecordPart { start: self.end, lines_before, first: self.clusters, digest });
        self.end += text.len() as u64;
        self.clusters += clusters.len();
        if self.format == Format::Ndjson {
            for cluster in clusters {
                let row = cluster.line().unwrap_or([0, 0, 0, PARSED]);
                self.lines.push(&row.map(u32::to_le_bytes).concat())?;
            }
        }
        Ok(())
    }

    /// Returns the clusters of the part with the cluster `at`, and the number of clusters before it.
    ///
    /// # Errors
    /// `file.read_failed`, also if the file was changed since it was scanned.
    pub(super) fn part_with(&self, at: usize) -> Result<(usize, Arc<[Cluster]>)> {
        let nth = self.parts.partition_point(|part| part.first <= at).saturating_sub(1);
        let Some(part) = self.parts.get(nth) else { return Err(self.changed()) };
        let live = || self.live.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(clusters) = live().get(&nth).and_then(Weak::upgrade) {
            return Ok((part.first, clusters));
        }
        let mut clusters = self.read(nth, part)?;
        let groups = self.groups.get(part.first..).unwrap_or_default();
        clusters.iter_mut().zip(groups).for_each(|(cluster, group)| cluster.put_into(*group));
        let clusters: Arc<[Cluster]> = clusters.into();
        let mut live = live();
        live.retain(|_, clusters| clusters.strong_count() > 0);
        live.insert(nth, Arc::downgrade(&clusters));
        Ok((part.first, clusters))
    }

    fn read(&self, nth: usize, part: &RecordPart) -> Result<Vec<Cluster>> {
        let next = self.parts.get(nth + 1);
        let end = next.map_or(self.end, |next| next.start);
        let mut bytes = vec![0; usize::try_from(end - part.start).unwrap_or(usize::MAX)];
        self.file.read_exact_at(&mut bytes, part.start).map_err(|error| unreadable(&self.name, error))?;
        if xxh3_64(&bytes) != part.digest {
            return Err(self.changed());
        }
        let text = String::from_utf8(bytes).map_err(|_| self.changed())?;
        let source = self.source(part.lines_before, text);
        let count = next.map_or(self.clusters, |next| next.first) - part.first;
        match self.known_lines(&source, part.first, count)? {
            Some(clusters) => Ok(clusters),
            None => self.parsed(&source, nth),
        }
    }

    /// Returns the clusters of a part if all of them are lines with names as they are.
    fn known_lines(&self, source: &Arc<Source>, first: usize, count: usize) -> Result<Option<Vec<Cluster>>> {
        if self.format != Format::Ndjson {
            return Ok(None);
        }
        let mut rows = vec![0; count * ROW];
        self.lines.read((first * ROW) as u64, &mut rows)?;
        let cluster = |row: &[u8]| {
            let number = |nth: usize| Some(u32::from_le_bytes(row.get(nth * 4..nth * 4 + 4)?.try_into().ok()?));
            let row = [number(0)?, number(1)?, number(2)?, number(3)?];
            (row[3] != PARSED).then(|| Cluster::at_line(source, row))
        };
        Ok(rows.chunks_exact(ROW).map(cluster).collect())
    }

    fn parsed(&self, source: &Arc<Source>, nth: usize) -> Result<Vec<Cluster>> {
        let mut collector = self.collector.again();
        let table = if nth == 0 { None } else { self.state.table.clone() };
        let mut state = PartState { table, ..PartState::default() };
        collector.part(source, self.format, &mut state, true);
        let clusters = std::mem::take(&mut collector.clusters);
        collector.finish().map(|()| clusters)
    }

    fn changed(&self) -> Box<Diagnostic> {
        Diagnostic::new(Code::ReadFailed, format!("`{}` changed during the run", self.name))
            .with_help("write a fleet to a new file, and rename it when it is complete")
    }
}

/// Returns the error of a record at the start of `source`.
pub(super) fn too_long(source: &Arc<Source>) -> Box<Diagnostic> {
    let message = format!("a cluster of `{}` is too long: the limit is 16 MiB", source.name());
    Diagnostic::new(Code::LimitSourceBytes, message)
        .at(source, Span::new(0, 0), "")
        .with_note("a cluster is one line, or one row; a row goes on until its quotes are closed")
}

/// Reads bytes from `at` on until `to` is full or the file ends. Returns their number.
fn read_up_to(file: &File, at: u64, to: &mut [u8]) -> std::io::Result<usize> {
    let mut read = 0;
    while let Some(rest) = to.get_mut(read..).filter(|rest| !rest.is_empty()) {
        match file.read_at(rest, at + read as u64) {
            Ok(0) => break,
            Ok(more) => read += more,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(read)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::fleet::FleetOptions;
    use dropforge_base::diagnostics::joined;
    use dropforge_value::Data;

    fn file(text: &[u8]) -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(text).unwrap();
        file
    }

    /// Name, inputs and place of each cluster, or the errors.
    type Found = std::result::Result<Vec<(String, String, String)>, Vec<String>>;

    fn shown(cluster: &Cluster) -> (String, String, String) {
        let place = cluster.place().unwrap();
        let found = place.find(&[]).map(|span| place.source().position(span.start).to_string());
        let inputs = Data::Map(cluster.inputs().unwrap().into_owned());
        (cluster.name().to_owned(), serde_json::to_string(&inputs).unwrap(), format!("{found:?}"))
    }

    fn errors(collector: Collector) -> std::result::Result<(), Vec<String>> {
        let all = collector.finish().err();
        all.map_or(Ok(()), |error| Err(std::iter::once(&error).chain(&error.also).map(|one| one.to_string()).collect()))
    }

    fn in_parts(text: &str, format: Format, part: usize) -> Found {
        let mut collector = Collector::new(&FleetOptions::default());
        let mut records = Records::new("f".to_owned(), format, file(text.as_bytes()), &collector);
        records.part = part;
        let mut seen = 0;
        records
            .scan(&mut collector, &mut |clusters| {
                seen += clusters.len();
                Ok(())
            })
            .unwrap();
        errors(collector)?;
        assert_eq!(seen, records.len());
        // The last part comes first, so none follows the one before it.
        let mut found = Vec::new();
        while found.len() < seen {
            let (first, clusters) = records.part_with(seen - found.len() - 1).unwrap();
            assert_eq!(first + clusters.len(), seen - found.len());
            found.extend(clusters.iter().rev().map(shown));
        }
        found.reverse();
        Ok(found)
    }

    fn at_once(text: &str, format: Format) -> Found {
        let mut collector = Collector::new(&FleetOptions::default());
        collector.file(&Source::new("f", text), format);
        let clusters = std::mem::take(&mut collector.clusters);
        errors(collector)?;
        Ok(clusters.iter().map(shown).collect())
    }

    #[test]
    fn parts_have_the_clusters_and_errors_of_the_whole_file() {
        let ndjson = [
            "{\"name\":\"a\",\"x\":[1,2]}\n\n  {\"name\":\"é\u{1F600}\"}\r\n{\"cluster\":{\"name\":\"c\"}}",
            "\u{feff}{\"name\":\"\\u0061\"}\n{\"name\":12,\"name\":13}\n\n",
            "{\"name\":\"a\"}\n{]\n{\"x\":1}\n5\n{\"name\":\"b\"}\n\u{feff}{\"name\":\"c\"}\n",
            "",
            "\n\n",
        ];
        let csv = [
            "name,x.y,l[0]\na,1,é\n\n\"b\n\nc\",\"2,\"\"3\",\r\nd,,5\n",
            "\u{feff}name,x\r\na,1\r\nb\r\nc,1,2\r\n,1\r\nd,4",
            "name,name\na,b\n",
            "name\n",
            "",
        ];
        let all = ndjson.iter().map(|text| (text, Format::Ndjson)).chain(csv.iter().map(|text| (text, Format::Csv)));
        for (text, format) in all {
            let whole = at_once(text, format).map_err(|mut errors| {
                errors.sort();
                errors
            });
            for part in 4..text.len() + 8 {
                let found = in_parts(text, format, part).map_err(|mut errors| {
                    errors.sort();
                    errors
                });
                assert_eq!(found, whole, "{part}: {text:?}");
            }
        }
    }

    #[test]
    fn long_files_are_read_part_by_part() {
        let text: String = (0..40_000).map(|nth| format!("{{\"name\":\"c{nth}\",\"x\":{nth}}}\n")).collect();
        assert!(text.len() > 3 * PART);
        let found = in_parts(&text, Format::Ndjson, PART).unwrap();
        assert_eq!(
            found[39_999],
            ("c39999".into(), r#"{"name":"c39999","x":39999}"#.into(), "Some(\"40000:1\")".into())
        );
    }

    #[test]
    fn files_that_cannot_be_read_are_errors() {
        let scan = |bytes: &[u8]| {
            let mut collector = Collector::new(&FleetOptions::default());
            let mut records = Records::new("f".to_owned(), Format::Ndjson, file(bytes), &collector);
            let scanned = records.scan(&mut collector, &mut |_| Ok(()));
            (scanned.map_err(|error| error.to_string()), records)
        };
        let (error, _) = scan(b"{\"name\":\"a\"}\xff\"\n");
        assert_eq!(error.unwrap_err(), "E0107: `f` is not valid UTF-8 at byte 12 (f:1:13)");
        let (error, _) = scan(&vec![b' '; 5 * MAX_RECORD]);
        assert_eq!(error.unwrap_err(), "E0601: a cluster of `f` is too long: the limit is 16 MiB (f:1:1)");
        let (scanned, records) = scan(b"{\"name\":\"a\"}\n{\"name\":\"b\"}\n");
        scanned.unwrap();
        records.file.write_at(b"c", 10).unwrap();
        let error = records.part_with(0).unwrap_err();
        assert_eq!((error.code, error.message.as_str()), (Code::ReadFailed, "`f` changed during the run"));
        assert!(joined(vec![error]).is_some());
    }
}
