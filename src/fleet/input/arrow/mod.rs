//! Reading Arrow and Parquet files, batch by batch.

mod lengths;
mod parquet_schema;

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, DataType, FieldRef, Schema, SchemaRef};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};

use dropforge_base::diagnostics::{Code, Diagnostic, Result, caught};
use dropforge_base::files;

/// Maximum number of rows of a batch that is read from Parquet.
const ROWS: usize = 1 << 13;
/// The number of bytes of such a batch, if the rows have the size that the file declares.
const BATCH: u64 = 64 << 20;
/// The number of bytes of a value in a batch, beside its text.
const VALUE: i64 = 16;

/// A kind of file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TableKind {
    Parquet,
    /// Arrow's file format, also called Feather.
    File,
    Stream,
}

impl TableKind {
    /// Returns the kind of a file that begins like this.
    fn of(head: &[u8]) -> Option<Self> {
        match head {
            [b'P', b'A', b'R', b'1', ..] => Some(Self::Parquet),
            [b'A', b'R', b'R', b'O', b'W', b'1', ..] => Some(Self::File),
            [0xff, 0xff, 0xff, 0xff, ..] => Some(Self::Stream),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Parquet => "Parquet",
            Self::File => "an Arrow file",
            Self::Stream => "an Arrow stream",
        }
    }
}

/// The record batches of a file. An error ends them.
pub struct Batches {
    name: String,
    kind: TableKind,
    reader: Option<Box<dyn RecordBatchReader + Send>>,
    schema: SchemaRef,
    row_groups: Vec<usize>,
}

/// Opens a Parquet file, an Arrow file or an Arrow stream, whichever it begins like. Of Parquet and Arrow files only
/// `columns` are read, if there are any; a column that the file does not have is left out.
///
/// ```
/// # let temp = tempfile::tempdir()?;
/// # let path = temp.path().join("fleet.parquet");
/// use std::sync::Arc;
/// use arrow_array::{ArrayRef, RecordBatch, StringArray};
/// use dropforge::bulk::input::batches;
/// use parquet::arrow::ArrowWriter;
///
/// let column: ArrayRef = Arc::new(StringArray::from(vec!["eu-1", "us-1"]));
/// let batch = RecordBatch::try_from_iter([("name", column.clone()), ("env", column)])?;
/// let mut writer = ArrowWriter::try_new(std::fs::File::create(&path)?, batch.schema(), None)?;
/// writer.write(&batch)?;
/// writer.close()?;
///
/// let mut found = batches(&path, Some(&["name"]))?;
/// assert_eq!(found.row_groups(), [2]);
/// let batch = found.next().ok_or("no batch")??;
/// assert_eq!((batch.num_rows(), batch.num_columns()), (2, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// `file.read_failed`; `input.syntax` for other files and for damaged ones.
pub fn batches(path: &Path, columns: Option<&[&str]>) -> Result<Batches> {
    let name = path.display().to_string();
    batches_of(&name, open(path)?, columns, false)
}

/// Reads an open file like [`batches`]. Errors call it `name`. With `views`, texts of Parquet are views, which share the
/// texts of dictionaries.
///
/// # Errors
/// Same as [`batches`].
pub(crate) fn batches_of(name: &str, mut file: File, columns: Option<&[&str]>, views: bool) -> Result<Batches> {
    let mut head = Vec::new();
    let read = file.by_ref().take(8).read_to_end(&mut head).and_then(|_| file.seek(SeekFrom::Start(0)));
    read.map_err(|error| unreadable(name, &error.to_string()))?;
    let Some(kind) = TableKind::of(&head) else {
        let message = format!("`{name}` is neither Parquet nor Arrow");
        return Err(
            Diagnostic::new(Code::InputSyntax, message).with_help("write the fleet as Parquet, or as an Arrow file")
        );
    };
    let opened = guarded(|| match kind {
        TableKind::Parquet => {
            parquet_schema::check(&file)?;
            let metadata = ArrowReaderMetadata::load(&file, ArrowReaderOptions::default())?;
            parquet(file, if views { with_views(metadata) } else { metadata }, columns)
        }
        TableKind::File => {
            lengths::check_file(&file)?;
            let whole = FileReader::try_new_buffered(file.try_clone()?, None)?;
            let schema = whole.schema();
            let wanted = columns.map(|columns| indexes(&schema, columns));
            Ok((Box::new(FileReader::try_new_buffered(rewound(file)?, wanted)?) as _, Vec::new()))
        }
        TableKind::Stream => {
            lengths::check_stream(&file)?;
            Ok((Box::new(StreamReader::try_new(BufReader::new(rewound(file)?), None)?) as _, Vec::new()))
        }
    });
    let (reader, row_groups): (Box<dyn RecordBatchReader + Send>, _) =
        opened.map_err(|why| damaged(name, kind, &why))?;
    Ok(Batches { name: name.to_owned(), kind, schema: reader.schema(), reader: Some(reader), row_groups })
}

type Opened = (Box<dyn RecordBatchReader + Send>, Vec<usize>);

fn parquet(
    file: File,
    metadata: ArrowReaderMetadata,
    columns: Option<&[&str]>,
) -> std::result::Result<Opened, ArrowError> {
    let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata);
    let rows = rows_of_batch(builder.metadata());
    let builder = builder.with_batch_size(rows);
    let groups = builder.metadata().row_groups().iter();
    let groups = groups.map(|group| usize::try_from(group.num_rows()).unwrap_or(0)).collect();
    let builder = match columns {
        Some(columns) => {
            let mask = ProjectionMask::roots(builder.parquet_schema(), indexes(builder.schema(), columns));
            builder.with_projection(mask)
        }
        None => builder,
    };
    Ok((Box::new(builder.build()?), groups))
}

/// Reads texts as views where that is possible. A text of a dictionary is copied for every row otherwise.
fn with_views(metadata: ArrowReaderMetadata) -> ArrowReaderMetadata {
    let schema = metadata.schema();
    let fields: Vec<FieldRef> = schema.fields().iter().map(viewed).collect();
    let schema = Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()));
    let options = ArrowReaderOptions::new().with_schema(schema);
    ArrowReaderMetadata::try_new(metadata.metadata().clone(), options).unwrap_or(metadata)
}

fn viewed(field: &FieldRef) -> FieldRef {
    let kind = match field.data_type() {
        DataType::Utf8 | DataType::LargeUtf8 => DataType::Utf8View,
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(viewed).collect()),
        DataType::List(items) => DataType::List(viewed(items)),
        DataType::LargeList(items) => DataType::LargeList(viewed(items)),
        other => other.clone(),
    };
    Arc::new(field.as_ref().clone().with_data_type(kind))
}

/// Returns the number of rows of a batch that has about [`BATCH`] bytes, by the numbers that the file declares.
fn rows_of_batch(metadata: &ParquetMetaData) -> usize {
    let bytes = |group: &RowGroupMetaData| {
        let values = group.columns().iter().map(|column| column.num_values().max(0));
        let values = values.fold(0, i64::saturating_add).saturating_mul(VALUE);
        group.total_byte_size().max(0).saturating_add(values) / group.num_rows().max(1)
    };
    let row = metadata.row_groups().iter().map(bytes).max().and_then(|bytes| u64::try_from(bytes).ok());
    usize::try_from(BATCH / row.unwrap_or(0).max(1)).unwrap_or(ROWS).clamp(1, ROWS)
}

fn rewound(mut file: File) -> std::io::Result<File> {
    file.seek(SeekFrom::Start(0)).map(|_| file)
}

/// Returns the places of `columns` in a schema.
fn indexes(schema: &SchemaRef, columns: &[&str]) -> Vec<usize> {
    let fields = schema.fields().iter().enumerate();
    fields.filter(|(_, field)| columns.contains(&field.name().as_str())).map(|(at, _)| at).collect()
}

/// Opens a regular file. Opening a pipe could wait.
fn open(path: &Path) -> Result<File> {
    files::open(path).map_err(|error| files::unreadable(path, error))
}

fn unreadable(name: &str, why: &str) -> Box<Diagnostic> {
    Diagnostic::new(Code::ReadFailed, format!("cannot read `{name}`: {why}"))
}

fn damaged(name: &str, kind: TableKind, why: &str) -> Box<Diagnostic> {
    Diagnostic::new(Code::InputSyntax, format!("cannot read `{name}` as {}: {why}", kind.name()))
}

/// Calls a reader, which may panic on damaged files.
fn guarded<T>(read: impl FnOnce() -> std::result::Result<T, ArrowError>) -> std::result::Result<T, String> {
    caught(read).map_err(|_| "the file is damaged".to_owned())?.map_err(|error| error.to_string())
}

impl Batches {
    /// Returns the schema of the batches.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Returns the numbers of rows of the row groups of a Parquet file. Other files have none.
    pub fn row_groups(&self) -> &[usize] {
        &self.row_groups
    }
}

impl Iterator for Batches {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        let reader = self.reader.as_mut()?;
        let read = guarded(|| reader.next().transpose()).map_err(|why| damaged(&self.name, self.kind, &why));
        if !matches!(read, Ok(Some(_))) {
            self.reader = None;
        }
        read.transpose()
    }
}

impl std::fmt::Debug for Batches {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Batches").field("name", &self.name).field("kind", &self.kind).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::{ArrayRef, DictionaryArray, Int32Array, StringArray, types};
    use arrow_ipc::writer::{FileWriter, StreamWriter};
    use parquet::arrow::ArrowWriter;
    use parquet::arrow::arrow_writer::ArrowWriterOptions;
    use parquet::basic::{Compression, ZstdLevel};
    use parquet::file::properties::WriterProperties;

    use super::*;

    fn batch() -> RecordBatch {
        let names: ArrayRef = Arc::new(StringArray::from_iter_values((0..30).map(|at| format!("cluster-{at}"))));
        let numbers: ArrayRef = Arc::new(Int32Array::from_iter_values(0..30));
        RecordBatch::try_from_iter([("name", names), ("n", numbers)]).unwrap()
    }

    fn parquet_of(compression: Compression) -> Vec<u8> {
        let properties = WriterProperties::builder().set_max_row_group_row_count(Some(20)).set_compression(compression);
        let mut bytes = Vec::new();
        let mut writer = ArrowWriter::try_new(&mut bytes, batch().schema(), Some(properties.build())).unwrap();
        writer.write(&batch()).unwrap();
        writer.close().unwrap();
        bytes
    }

    fn files() -> Vec<Vec<u8>> {
        let (mut file, mut stream) = (Vec::new(), Vec::new());
        let mut writer = FileWriter::try_new(&mut file, &batch().schema()).unwrap();
        writer.write(&batch()).unwrap();
        writer.finish().unwrap();
        let mut writer = StreamWriter::try_new(&mut stream, &batch().schema()).unwrap();
        writer.write(&batch()).unwrap();
        writer.finish().unwrap();
        drop(writer);
        let compressed = [Compression::SNAPPY, Compression::ZSTD(ZstdLevel::default()), Compression::LZ4_RAW];
        compressed.map(parquet_of).into_iter().chain([file, stream]).collect()
    }

    fn read(bytes: &[u8], columns: Option<&[&str]>) -> Result<Vec<RecordBatch>> {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("fleet");
        std::fs::write(&path, bytes).unwrap();
        batches(&path, columns)?.collect()
    }

    #[test]
    fn every_kind_of_file_is_read() {
        for bytes in files() {
            let read = read(&bytes, None).unwrap();
            assert_eq!(arrow_array::RecordBatch::num_rows(&read[0]), 30);
            assert_eq!(read, [batch()]);
        }
        let [parquet, _, _, file, _] = &files()[..] else { panic!() };
        for bytes in [parquet, file] {
            let read = read(bytes, Some(&["n", "none"])).unwrap();
            assert_eq!(read, [batch().project(&[1]).unwrap()]);
        }
    }

    #[test]
    fn texts_of_a_dictionary_are_read_once() {
        let long = "x".repeat(1 << 20);
        let texts: DictionaryArray<types::Int32Type> = std::iter::repeat_n(long.as_str(), 200).collect();
        let batch = RecordBatch::try_from_iter([("text", Arc::new(texts) as ArrayRef)]).unwrap();
        let properties = WriterProperties::builder().set_dictionary_page_size_limit(8 << 20).build();
        // The reader would keep the dictionary if it knew of it.
        let options = ArrowWriterOptions::new().with_properties(properties).with_skip_arrow_metadata(true);
        let mut bytes = Vec::new();
        let mut writer = ArrowWriter::try_new_with_options(&mut bytes, batch.schema(), options).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        assert!(bytes.len() < 8 << 20);
        let mut file = tempfile::tempfile().unwrap();
        std::io::Write::write_all(&mut file, &bytes).unwrap();
        file.rewind().unwrap();
        let read: Vec<RecordBatch> = batches_of("f", file, None, true).unwrap().map(Result::unwrap).collect();
        assert_eq!(read.iter().map(RecordBatch::num_rows).sum::<usize>(), 200);
        assert!(read.iter().all(|batch| batch.get_array_memory_size() < 64 << 20));
    }

    #[test]
    fn damaged_files_are_errors() {
        for bytes in files() {
            for cut in (0..bytes.len() - 1).step_by(37) {
                let read = read(&bytes[..cut], None);
                // A stream may end after any message.
                assert!(read.is_err() || read.is_ok_and(|batches| batches.len() < 2 && bytes[0] == 0xff), "{cut}");
            }
            let mut random = fastrand::Rng::with_seed(3);
            for _ in 0..200 {
                let mut changed = bytes.clone();
                (0..3).for_each(|_| changed[random.usize(8..bytes.len())] ^= 1 << random.u8(..8));
                let rows = read(&changed, None).map(|batches| batches.iter().map(RecordBatch::num_rows).sum::<usize>());
                assert!(rows.is_err() || rows.is_ok_and(|rows| rows <= 1 << 20));
            }
        }
        let error = read(b"name,env\n", None).unwrap_err();
        assert_eq!(error.code, Code::InputSyntax);
        assert_eq!(batches(Path::new("/dev/null"), None).unwrap_err().code, Code::ReadFailed);
        assert_eq!(batches(Path::new("none.parquet"), None).unwrap_err().code, Code::ReadFailed);
    }
}
