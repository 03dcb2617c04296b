//! Tests of tables as fleets.

use std::sync::Arc;

use arrow_array::*;
use arrow_buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;

use crate::{Fleet, FleetFile, FleetOptions, Format};
use dropforge_base::diagnostics::{Code, Result};
use dropforge_value::Data;

fn batch(columns: &[(&str, ArrayRef)]) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.iter().map(|(name, array)| (*name, array.clone(), true))).unwrap()
}

fn texts(texts: &[Option<&str>]) -> ArrayRef {
    Arc::new(StringArray::from_iter(texts.iter().copied()))
}

fn parquet(batch: &RecordBatch) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
    bytes
}

fn file(batch: &RecordBatch, compression: Option<CompressionType>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let options = IpcWriteOptions::default().try_with_compression(compression).unwrap();
    let mut writer = FileWriter::try_new_with_options(&mut bytes, &batch.schema(), options).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
    drop(writer);
    bytes
}

fn stream(batch: &RecordBatch, compression: Option<CompressionType>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let options = IpcWriteOptions::default().try_with_compression(compression).unwrap();
    let mut writer = StreamWriter::try_new_with_options(&mut bytes, &batch.schema(), options).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
    drop(writer);
    bytes
}

fn files(batch: &RecordBatch) -> Vec<Vec<u8>> {
    let compressed = [None, Some(CompressionType::ZSTD), Some(CompressionType::LZ4_FRAME)];
    let both = compressed.into_iter().flat_map(|how| [file(batch, how), stream(batch, how)]);
    std::iter::once(parquet(batch)).chain(both).collect()
}

/// Returns the inputs of the clusters of a file, as JSON.
fn read_as(name: &str, bytes: &[u8], format: Option<Format>, name_key: Option<&str>) -> Result<Vec<String>> {
    let options = FleetOptions { name_key, ..FleetOptions::default() };
    let fleet = Fleet::read_all([FleetFile::spool(name, bytes, format)?], &options)?;
    let mut found = Vec::new();
    fleet.each(&mut |_, cluster| {
        let inputs = Data::Map(cluster.inputs()?.into_owned());
        found.push(format!("{}: {}", cluster.name(), serde_json::to_string(&inputs).unwrap()));
        Ok(())
    })?;
    Ok(found)
}

fn read(bytes: &[u8]) -> Result<Vec<String>> {
    read_as("fleet", bytes, None, None)
}

#[test]
fn every_kind_of_table_is_a_fleet() {
    let numbers: ArrayRef = Arc::new(UInt64Array::from(vec![Some(u64::MAX), None, Some(2)]));
    let tags = texts(&[Some("v\"1\n"), Some("é"), None]);
    let image = StructArray::from(vec![(Arc::new(Field::new("tag", DataType::Utf8, true)), tags)]);
    let mut lists = builder::ListBuilder::new(builder::Float64Builder::new());
    lists.append_value([Some(1.0), None, Some(1e300)]);
    lists.append_null();
    lists.append_value([]);
    let table = batch(&[
        ("name", texts(&[Some("b"), Some("a"), Some("c")])),
        ("n", numbers),
        ("image", Arc::new(image)),
        ("a", Arc::new(lists.finish())),
    ]);
    let expected = [
        r#"b: {"name":"b","n":18446744073709551615,"image":{"tag":"v\"1\n"},"a":[1.0,null,1e+300]}"#,
        r#"a: {"name":"a","image":{"tag":"é"}}"#,
        r#"c: {"name":"c","n":2,"image":{},"a":[]}"#,
    ];
    for bytes in files(&table) {
        assert_eq!(read(&bytes).unwrap(), expected);
        // The content counts, not the name.
        assert_eq!(read_as("f.parquet", &bytes, None, None).unwrap(), expected);
        assert_eq!(read_as("f.csv", &bytes, Some(Format::Arrow), None).unwrap(), expected);
    }
}

#[test]
fn names_are_those_of_other_fleets() {
    let ids: ArrayRef = Arc::new(Int64Array::from(vec![7, -7]));
    let inner =
        StructArray::from(vec![(Arc::new(Field::new("name", DataType::Utf8, true)), texts(&[Some("x"), None]))]);
    let table = parquet(&batch(&[("cluster", Arc::new(inner)), ("id", ids)]));
    let read = |key| read_as("f", &table, None, key).map_err(|error| (error.message, error.notes));
    assert_eq!(read(Some("id")).unwrap(), [r#"x: {"cluster":{"name":"x"},"id":7}"#, r#"-7: {"cluster":{},"id":-7}"#]);
    let (message, notes) = read(None).unwrap_err();
    assert_eq!(message, "row 2 has no name");
    assert!(notes.contains(&"row 2 of `f`".to_owned()), "{notes:?}");
}

#[test]
fn errors_name_the_file_and_the_row() {
    let names: ArrayRef = Arc::new(StringArray::from_iter_values((0..20_000).map(|nth| format!("c{nth}"))));
    let floats = Float64Array::from_iter_values((0..20_000).map(|nth| if nth == 9_999 { f64::NAN } else { 0.5 }));
    let error = read(&parquet(&batch(&[("name", names.clone()), ("x", Arc::new(floats))]))).unwrap_err();
    assert_eq!(error.message, "column `x` holds NaN or an infinity, which a fleet cannot hold");
    assert_eq!(error.notes, ["row 10,000 of `fleet`"]);
    let binary: ArrayRef = Arc::new(BinaryArray::from_iter_values([b"x"]));
    let error = read(&parquet(&batch(&[("name", texts(&[Some("a")])), ("x", binary)]))).unwrap_err();
    assert_eq!((error.code, error.notes.as_slice()), (Code::InputType, ["in `fleet`".to_owned()].as_slice()));
    // A position is the row, whatever column of the copy it is in.
    let options = FleetOptions::default();
    let bytes = parquet(&batch(&[("name", names)]));
    let fleet = Fleet::read_all([FleetFile::spool("f", bytes.as_slice(), None).unwrap()], &options).unwrap();
    let mut reader = fleet.reader();
    let place = reader.cluster(15_000).unwrap().place().unwrap();
    let span = place.find(&[crate::values::Step::Key("name".to_owned())]).unwrap();
    assert_eq!((place.source().name(), place.source().position(span.start).to_string().as_str()), ("f", "15001:1"));
    let twice = parquet(&batch(&[("name", texts(&[Some("a"), Some("a")]))]));
    assert_eq!(read(&twice).unwrap_err().code, Code::DuplicateCluster);
}

#[test]
fn damaged_files_are_errors() {
    let table = batch(&[("name", texts(&[Some("a"), Some("b")]))]);
    for bytes in files(&table) {
        for cut in (8..bytes.len()).step_by(11) {
            // A stream may end after its schema or a batch.
            let found = read_as("f.arrow", &bytes[..cut], None, None);
            assert!(found.is_err() || found.is_ok_and(|found| [0, 2].contains(&found.len()) && bytes[0] == 0xff));
        }
        let mut random = fastrand::Rng::with_seed(11);
        for _ in 0..300 {
            let mut changed = bytes.clone();
            (0..2).for_each(|_| changed[random.usize(8..bytes.len())] = random.u8(..));
            // No abort, and no more clusters than bytes.
            assert!(read_as("f.arrow", &changed, None, None).map_or(0, |found| found.len()) <= bytes.len());
        }
    }
    for wrong in [&b""[..], b"PAR1", b"name,x\na,1\n", b"ARROW1\0\0", b"\xff\xff\xff\xff\x10"] {
        let error = read_as("f.parquet", wrong, None, None).unwrap_err();
        assert!([Code::InputSyntax, Code::ReadFailed].contains(&error.code) && error.message.contains("`f.parquet`"));
    }
    assert_eq!(read_as("f.yaml", b"\xff\xff", Some(Format::Yaml), None).unwrap_err().code, Code::NotUtf8);
}

/// Replaces a 64-bit number wherever it is in `bytes`.
fn lies(bytes: &[u8], from: i64, to: i64) -> Vec<Vec<u8>> {
    let at = bytes.windows(8).enumerate().filter(|(_, window)| *window == from.to_le_bytes());
    let changed = at.map(|(at, _)| [&bytes[..at], &to.to_le_bytes(), &bytes[at + 8..]].concat());
    changed.collect()
}

#[test]
fn lengths_that_no_file_has_are_errors() {
    let name = "n".repeat(4_321);
    let table = batch(&[("name", texts(&[Some(&name)]))]);
    for compression in [CompressionType::ZSTD, CompressionType::LZ4_FRAME] {
        for bytes in [file(&table, Some(compression)), stream(&table, Some(compression))] {
            for length in [1 << 45, i64::MAX, (1 << 30) + 1] {
                let changed = lies(&bytes, 4_321, length);
                assert!(!changed.is_empty());
                assert!(changed.iter().all(|bytes| read(bytes).is_err()));
            }
        }
    }
    let bytes = file(&table, None);
    for length in [4_321, 1 << 40] {
        assert!(lies(&bytes, 1, length).iter().all(|bytes| read(bytes).map_or(0, |found| found.len()) < 2));
    }
}

#[test]
fn schemas_without_columns_with_repeated_ones_and_deep_ones() {
    let schema = Arc::new(Schema::empty());
    let many = RecordBatchOptions::new().with_row_count(Some(1 << 40));
    let empty = RecordBatch::try_new_with_options(schema, vec![], &many).unwrap();
    let error = read(&file(&empty, None)).unwrap_err();
    assert_eq!((error.code, error.also.len()), (Code::UnnamedCluster, 99));
    assert_eq!(read(&file(&batch(&[("name", texts(&[]))]), None)).unwrap(), Vec::<String>::new());
    let column = texts(&[Some("a")]);
    let twice = Schema::new(vec![Field::new("name", DataType::Utf8, true); 2]);
    let twice = RecordBatch::try_new(Arc::new(twice), vec![column.clone(), column.clone()]).unwrap();
    assert_eq!(read(&file(&twice, None)).unwrap_err().code, Code::DuplicateKey);
}

#[test]
fn deep_schemas_are_errors() {
    // Writing and dropping them takes a level of the stack for each of theirs, reading them does not.
    let deep = std::thread::Builder::new().stack_size(256 << 20).spawn(deep_files).unwrap().join().unwrap();
    for (levels, [parquet, stream]) in deep {
        let (parquet, stream) = (read(&parquet), read(&stream));
        assert_eq!(parquet.is_ok(), levels < 128, "{levels}: {parquet:?}");
        assert_eq!(stream.is_ok(), levels < 60, "{levels}: {stream:?}");
        let codes = [parquet, stream].map(|read| read.err().map_or(Code::LimitDepth, |error| error.code));
        assert!(codes.iter().all(|code| [Code::LimitDepth, Code::InputSyntax].contains(code)), "{codes:?}");
    }
}

/// Returns files with so many structs in each other.
fn deep_files() -> Vec<(usize, [Vec<u8>; 2])> {
    let column = texts(&[Some("a")]);
    let file = |levels: usize| {
        let deep = (0..levels).fold(column.clone(), |inner, _| {
            Arc::new(StructArray::from(vec![(Arc::new(Field::new("f", inner.data_type().clone(), true)), inner)]))
        });
        let table = batch(&[("name", column.clone()), ("deep", deep)]);
        // The schema of Arrow in the footer would be refused before that of Parquet.
        let options = ArrowWriterOptions::new().with_skip_arrow_metadata(true);
        let mut bytes = Vec::new();
        let mut writer = ArrowWriter::try_new_with_options(&mut bytes, table.schema(), options).unwrap();
        writer.write(&table).unwrap();
        writer.close().unwrap();
        (levels, [bytes, stream(&table, None)])
    };
    [20, 120, 140, 1_000].map(file).into()
}

#[test]
fn rows_of_more_than_fits_in_memory_are_errors() {
    // Views of one list of lists, each with all items of the one below: 2^80 values.
    let mut items: ArrayRef = Arc::new(Int32Array::from(vec![1; 1_024]));
    for level in 0..8 {
        let count = if level == 7 { 1 } else { 1_024 };
        let field = Arc::new(Field::new("item", items.data_type().clone(), true));
        let (starts, sizes) = (ScalarBuffer::from(vec![0_i32; count]), ScalarBuffer::from(vec![1_024_i32; count]));
        items = Arc::new(ListViewArray::new(field, starts, sizes, items, None));
    }
    let name = texts(&[Some("a")]);
    let error = read(&stream(&batch(&[("name", name.clone()), ("x", items)]), None)).unwrap_err();
    assert_eq!(error.message, "a cluster has more than 8,388,608 values");
    // One long text, a thousand times.
    let long = "x".repeat(1 << 16);
    let texts: DictionaryArray<types::Int32Type> = std::iter::repeat_n(long.as_str(), 1_000).collect();
    let ends = OffsetBuffer::new(ScalarBuffer::from(vec![0, 1_000]));
    let field = Arc::new(Field::new("item", texts.data_type().clone(), true));
    let list = ListArray::new(field, ends, Arc::new(texts), None::<NullBuffer>);
    let error = read(&stream(&batch(&[("name", name), ("x", Arc::new(list))]), None)).unwrap_err();
    assert_eq!(
        (error.code, error.notes.as_slice()),
        (Code::LimitSourceBytes, ["row 1 of `fleet`".to_owned()].as_slice())
    );
}
