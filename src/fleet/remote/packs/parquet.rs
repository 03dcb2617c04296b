//! Packs as Parquet files: a row for each output.

use std::io::{Seek as _, Write as _};
use std::sync::Arc;

use arrow_array::builder::{BinaryBuilder, StringBuilder};
use arrow_array::cast::AsArray as _;
use arrow_array::{ArrayRef, RecordBatch, StringArray};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

use super::find::Found;
use super::part::{self, Spool};
use crate::input::arrow::batches_of;
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_remote::pack::Packed;

/// Bytes of content in a row group, at least.
const GROUP: usize = 16 << 20;
/// Bytes of content in a batch, at least.
const BATCH: usize = 1 << 20;

/// A Parquet file that is being written. The same outputs in the same order give the same bytes.
pub(super) struct ParquetPack {
    writer: ArrowWriter<Spool>,
    schema: Arc<Schema>,
    texts: [StringBuilder; 5],
    content: BinaryBuilder,
    /// Bytes in the builders, and in the current row group.
    batch: usize,
    group: usize,
}

impl ParquetPack {
    pub(super) fn new(to: Spool) -> Result<Self> {
        let column = |name| Field::new(name, DataType::Utf8, false);
        let content = Field::new("content", DataType::Binary, false);
        let fields =
            vec![column("cluster"), column("path"), column("template"), content, column("hash"), column("release")];
        let schema = Arc::new(Schema::new(fields));
        let level = ZstdLevel::try_new(3).map_err(failed)?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(level))
            .set_created_by("dropforge".to_owned())
            .set_column_dictionary_enabled("content".into(), false)
            .set_column_dictionary_enabled("hash".into(), false)
            .build();
        let writer = ArrowWriter::try_new(to, schema.clone(), Some(properties)).map_err(failed)?;
        let texts = [(); 5].map(|()| StringBuilder::new());
        Ok(Self { writer, schema, texts, content: BinaryBuilder::new(), batch: 0, group: 0 })
    }

    pub(super) fn add(&mut self, output: &Packed<'_>) -> Result<()> {
        let hash = blake3::hash(output.bytes).to_hex();
        let texts = [output.cluster, output.path, output.template, hash.as_str(), output.release];
        self.texts.iter_mut().zip(texts).for_each(|(column, text)| column.append_value(text));
        self.content.append_value(output.bytes);
        self.batch += output.bytes.len() + texts.iter().map(|text| text.len()).sum::<usize>();
        if self.batch < BATCH { Ok(()) } else { self.end_batch() }
    }

    fn end_batch(&mut self) -> Result<()> {
        let texts = self.texts.each_mut().map(|column| Arc::new(column.finish()) as ArrayRef);
        let [cluster, path, template, hash, release] = texts;
        let columns = vec![cluster, path, template, Arc::new(self.content.finish()) as ArrayRef, hash, release];
        let batch =
            RecordBatch::try_new(self.schema.clone(), columns).map_err(|error: ArrowError| failed(error.into()))?;
        self.writer.write(&batch).map_err(failed)?;
        self.group += std::mem::take(&mut self.batch);
        if self.group >= GROUP {
            self.group = 0;
            self.writer.flush().map_err(failed)?;
        }
        Ok(())
    }

    /// Ends the file.
    pub(super) fn finish(mut self) -> Result<Spool> {
        self.end_batch()?;
        self.writer.into_inner().map_err(failed)
    }
}

fn failed(error: ParquetError) -> Box<Diagnostic> {
    Diagnostic::new(Code::WriteFailed, format!("cannot write a pack: {error}"))
        .with_help("name a directory with free space in `TMPDIR`")
        .caused_by(error)
}

/// Finds the output `path` in a pack.
///
/// # Errors
/// `input.syntax` for a file that is no pack; errors of the temporary file.
pub(super) fn find(name: &str, pack: &[u8], path: &str) -> Result<Option<Found>> {
    let mut file = tempfile::tempfile().map_err(part::failed)?;
    file.write_all(pack).and_then(|()| file.rewind()).map_err(part::failed)?;
    for batch in batches_of(name, file, None, false)? {
        let batch = batch?;
        let texts = ["cluster", "path", "template"].map(|column| batch.column_by_name(column)?.as_string_opt::<i32>());
        let content = batch.column_by_name("content").and_then(|column| column.as_binary_opt::<i32>());
        let ([Some(clusters), Some(paths), Some(templates)], Some(content)) = (texts, content) else {
            return Err(Diagnostic::new(Code::BadManifest, format!("`{name}` is not a pack")).with_help("stamp again"));
        };
        if let Some(at) = (0..batch.num_rows()).find(|at| paths.value(*at) == path) {
            let text = |column: &StringArray| column.value(at).to_owned();
            // Earlier packs have no releases.
            let releases = batch.column_by_name("release").and_then(|column| column.as_string_opt::<i32>());
            let (cluster, template, release) = (text(clusters), text(templates), releases.map(text));
            let bytes = content.value(at).to_vec();
            return Ok(Some(Found { bytes, cluster, template, release: release.unwrap_or_default() }));
        }
    }
    Ok(None)
}
