//! Rows of Arrow tables are the values of the same rows in JSON, and a fleet is stamped to the same bytes from both.

use std::sync::Arc;

use arrow_array::builder::StringDictionaryBuilder;
use arrow_array::types::{Int8Type, UInt32Type};
use arrow_array::*;
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::{DataType, Field, Fields};
use dropforge::bulk::{Fleet, FleetFile, FleetOptions, Format, Layers, Specialise};
use dropforge::value::{Arena, ArrowRows, Data, DataMap, InputBuilder, Shapes};
use parquet::arrow::ArrowWriter;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::stamp::{Stamped, compiled, stamped};

/// The type of a column.
#[derive(Debug, Clone)]
enum Kind {
    Bool,
    /// With the number of bytes, which are negative with a sign.
    Int(i8),
    Float,
    /// With the number of its encoding.
    Text(u8),
    List(Box<Kind>),
    LargeList(Box<Kind>),
    Struct(Vec<Kind>),
    Map(Box<Kind>),
}

fn kind() -> impl Strategy<Value = Kind> {
    let leaf = prop_oneof![
        Just(Kind::Bool),
        prop_oneof![Just(-8), Just(-4), Just(-1), Just(8), Just(4), Just(1)].prop_map(Kind::Int),
        Just(Kind::Float),
        (0..5_u8).prop_map(Kind::Text),
    ];
    leaf.prop_recursive(4, 12, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(|kind| Kind::List(kind.into())),
            inner.clone().prop_map(|kind| Kind::LargeList(kind.into())),
            vec(inner.clone(), 0..4).prop_map(Kind::Struct),
            inner.prop_map(|kind| Kind::Map(kind.into())),
        ]
    })
}

/// Returns a null or a value of a kind. The fields of a struct may be null.
fn value(kind: &Kind) -> BoxedStrategy<Data> {
    let some = match kind {
        Kind::Bool => any::<bool>().prop_map(Data::Bool).boxed(),
        Kind::Int(8) => any::<u64>().prop_map(|n| i64::try_from(n).map_or(Data::Uint(n), Data::Int)).boxed(),
        Kind::Int(-8) => any::<i64>().prop_map(Data::Int).boxed(),
        Kind::Int(4) => any::<u32>().prop_map(|n| Data::Int(n.into())).boxed(),
        Kind::Int(-4) => any::<i32>().prop_map(|n| Data::Int(n.into())).boxed(),
        Kind::Int(1) => any::<u8>().prop_map(|n| Data::Int(n.into())).boxed(),
        Kind::Int(_) => any::<i8>().prop_map(|n| Data::Int(n.into())).boxed(),
        Kind::Float => proptest::num::f64::NORMAL.prop_map(Data::Float).boxed(),
        Kind::Text(_) => "[a-cé\"\\\\\n]{0,3}|x{30,70}".prop_map(Data::Str).boxed(),
        Kind::List(items) | Kind::LargeList(items) => vec(value(items), 0..4).prop_map(Data::List).boxed(),
        Kind::Struct(fields) => {
            let values: Vec<_> = fields.iter().map(value).collect();
            let named = |(at, value)| (format!("f{at}"), value);
            values.prop_map(move |values| Data::Map(values.into_iter().enumerate().map(named).collect())).boxed()
        }
        Kind::Map(values) => vec(("[a-c]{0,2}", value(values)), 0..4)
            .prop_map(|entries| Data::Map(entries.into_iter().collect()))
            .boxed(),
    };
    prop_oneof![1 => Just(Data::Null), 4 => some].boxed()
}

/// Builds an array of values.
fn array(kind: &Kind, values: &[Data]) -> ArrayRef {
    macro_rules! ints {
        ($array:ident) => {{
            let one = |value: &Data| match value {
                Data::Int(n) => Some((*n).try_into().unwrap()),
                Data::Uint(n) => Some((*n).try_into().unwrap()),
                _ => None,
            };
            Arc::new($array::from_iter(values.iter().map(one)))
        }};
    }
    match kind {
        Kind::Bool => Arc::new(BooleanArray::from_iter(values.iter().map(|value| match value {
            Data::Bool(flag) => Some(*flag),
            _ => None,
        }))),
        Kind::Int(8) => ints!(UInt64Array),
        Kind::Int(-8) => ints!(Int64Array),
        Kind::Int(4) => ints!(UInt32Array),
        Kind::Int(-4) => ints!(Int32Array),
        Kind::Int(1) => ints!(UInt8Array),
        Kind::Int(_) => ints!(Int8Array),
        Kind::Float => Arc::new(Float64Array::from_iter(values.iter().map(|value| match value {
            Data::Float(n) => Some(*n),
            _ => None,
        }))),
        Kind::Text(encoding) => texts(*encoding, values.iter().map(Data::as_str)),
        Kind::List(items) => {
            let (field, lengths, inner) = flat(items, values);
            Arc::new(ListArray::new(field, OffsetBuffer::from_lengths(lengths), inner, nulls(values)))
        }
        Kind::LargeList(items) => {
            let (field, lengths, inner) = flat(items, values);
            Arc::new(LargeListArray::new(field, OffsetBuffer::from_lengths(lengths), inner, nulls(values)))
        }
        Kind::Struct(fields) => structs(fields, values),
        Kind::Map(kind) => maps(kind, values),
    }
}

fn texts<'t>(encoding: u8, texts: impl Iterator<Item = Option<&'t str>> + Clone) -> ArrayRef {
    match encoding {
        0 => Arc::new(StringArray::from_iter(texts)),
        1 => Arc::new(LargeStringArray::from_iter(texts)),
        2 => Arc::new(StringViewArray::from_iter(texts)),
        3 => {
            let mut builder = StringDictionaryBuilder::<Int8Type>::new();
            builder.extend(texts);
            Arc::new(builder.finish())
        }
        _ => Arc::new(texts.collect::<DictionaryArray<UInt32Type>>()),
    }
}

fn nulls(values: &[Data]) -> Option<NullBuffer> {
    Some(NullBuffer::from_iter(values.iter().map(|value| *value != Data::Null)))
}

fn flat(kind: &Kind, values: &[Data]) -> (Arc<Field>, Vec<usize>, ArrayRef) {
    let items = |value: &Data| if let Data::List(items) = value { items.clone() } else { Vec::new() };
    let lists: Vec<Vec<Data>> = values.iter().map(items).collect();
    let inner = array(kind, &lists.concat());
    (Arc::new(Field::new("item", inner.data_type().clone(), true)), lists.iter().map(Vec::len).collect(), inner)
}

fn structs(kinds: &[Kind], values: &[Data]) -> ArrayRef {
    let field = |(at, kind): (usize, &Kind)| {
        let name = format!("f{at}");
        let inner: Vec<Data> = values.iter().map(|value| value.get(&name).cloned().unwrap_or(Data::Null)).collect();
        let inner = array(kind, &inner);
        (Field::new(name, inner.data_type().clone(), true), inner)
    };
    let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) = kinds.iter().enumerate().map(field).unzip();
    match arrays.is_empty() {
        true => Arc::new(StructArray::new_empty_fields(values.len(), nulls(values))),
        false => Arc::new(StructArray::new(fields.into(), arrays, nulls(values))),
    }
}

fn maps(kind: &Kind, values: &[Data]) -> ArrayRef {
    let maps: Vec<DataMap> = values.iter().map(|value| value.as_map().cloned().unwrap_or_default()).collect();
    let entries = || maps.iter().flatten();
    let keys: ArrayRef = Arc::new(StringArray::from_iter_values(entries().map(|(key, _)| key)));
    let inner = array(kind, &entries().map(|(_, value)| value.clone()).collect::<Vec<_>>());
    let fields = [Field::new("keys", DataType::Utf8, false), Field::new("values", inner.data_type().clone(), true)];
    let fields = Fields::from(fields.to_vec());
    let entries = StructArray::new(fields.clone(), vec![keys, inner], None);
    let field = Arc::new(Field::new("entries", DataType::Struct(fields), false));
    let offsets = OffsetBuffer::from_lengths(maps.iter().map(DataMap::len));
    Arc::new(MapArray::new(field, offsets, entries, nulls(values), false))
}

/// Leaves out what is absent in a row: nulls of columns and of fields of structs.
fn present(kind: &Kind, value: &Data) -> Data {
    match (kind, value) {
        (Kind::List(kind) | Kind::LargeList(kind), Data::List(items)) => {
            Data::List(items.iter().map(|item| present(kind, item)).collect())
        }
        (Kind::Map(kind), Data::Map(map)) => {
            Data::Map(map.iter().map(|(key, value)| (key.clone(), present(kind, value))).collect())
        }
        (Kind::Struct(kinds), Data::Map(map)) => Data::Map(row(kinds, map.values())),
        (_, value) => value.clone(),
    }
}

fn row<'d>(kinds: &[Kind], values: impl Iterator<Item = &'d Data>) -> DataMap {
    let entries = kinds.iter().zip(values).enumerate().filter(|(_, (_, value))| **value != Data::Null);
    entries.map(|(at, (kind, value))| (format!("f{at}"), present(kind, value))).collect()
}

/// Returns a batch as an Arrow file, as an Arrow stream, and as a Parquet file unless Parquet has no such type.
fn files(batch: &RecordBatch) -> Vec<Vec<u8>> {
    let (mut file, mut stream, mut parquet) = (Vec::new(), Vec::new(), Vec::new());
    let mut writer = FileWriter::try_new(&mut file, &batch.schema()).unwrap();
    writer.write(batch).and_then(|()| writer.finish()).unwrap();
    let mut writer = StreamWriter::try_new(&mut stream, &batch.schema()).unwrap();
    writer.write(batch).and_then(|()| writer.finish()).unwrap();
    let written = ArrowWriter::try_new(&mut parquet, batch.schema(), None).and_then(|mut writer| {
        writer.write(batch)?;
        writer.close()
    });
    drop(writer);
    let parquet = written.is_ok().then_some(parquet);
    [file, stream].into_iter().chain(parquet).collect()
}

/// Stamps a fleet. Also returns the inputs of the clusters.
fn outcome(bytes: &[u8], format: Option<Format>) -> (Stamped, Vec<String>) {
    let file = FleetFile::spool("fleet", bytes, format).unwrap();
    let fleet = Fleet::read_all([file], &FleetOptions::default()).unwrap();
    let mut inputs = Vec::new();
    let each = &mut |_, cluster: &dropforge::bulk::Cluster| {
        inputs.push(serde_json::to_string(&Data::Map(cluster.inputs()?.into_owned())).unwrap());
        Ok(())
    };
    fleet.each(each).unwrap();
    let templates = [("a.tera".to_owned(), "{{ name }}: {{ __tera_context }}".to_owned())];
    let compiled = compiled(&templates, &["a.tera"]).unwrap();
    let (stamped, _) = stamped(&compiled, &Layers::default(), &fleet, "{cluster}", Specialise::Never);
    (stamped, inputs)
}

proptest! {
    #![proptest_config(crate::cases(200))]

    #[test]
    fn a_fleet_is_the_same_as_a_table_and_as_lines(
        (kinds, rows) in vec(kind(), 1..4).prop_flat_map(|kinds| {
            let values: Vec<_> = kinds.iter().map(value).collect();
            (Just(kinds), vec(values, 1..6))
        }),
    ) {
        let column = |at: usize| array(&kinds[at], &rows.iter().map(|row| row[at].clone()).collect::<Vec<_>>());
        let names: ArrayRef = Arc::new(StringArray::from_iter_values((0..rows.len()).map(|at| format!("c{at}"))));
        let columns = (0..kinds.len()).map(|at| (format!("f{at}"), column(at), true));
        let columns = columns.chain([("name".to_owned(), names, true)]);
        let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
        let line = |(at, values): (usize, &Vec<Data>)| {
            let mut row = row(&kinds, values.iter());
            row.insert("name".to_owned(), Data::Str(format!("c{at}")));
            format!("{}\n", serde_json::to_string(&Data::Map(row)).unwrap())
        };
        let lines: String = rows.iter().enumerate().map(line).collect();
        let expected = outcome(lines.as_bytes(), Some(Format::Ndjson));
        for bytes in files(&batch) {
            prop_assert_eq!(&outcome(&bytes, None), &expected, "{}", lines);
        }
    }
}

proptest! {
    #![proptest_config(crate::cases(400))]

    #[test]
    fn rows_are_the_values_of_the_same_json(
        (kinds, rows) in vec(kind(), 1..4).prop_flat_map(|kinds| {
            let values: Vec<_> = kinds.iter().map(value).collect();
            (Just(kinds), vec(values, 1..6))
        }),
        start in 0..6_usize,
    ) {
        let column = |at: usize| array(&kinds[at], &rows.iter().map(|row| row[at].clone()).collect::<Vec<_>>());
        let columns = (0..kinds.len()).map(|at| (format!("f{at}"), column(at), true));
        let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
        let start = start.min(rows.len());
        let sliced = batch.slice(start, rows.len() - start);
        let prepared = ArrowRows::new(&sliced).unwrap();
        let (arena, names) = (Arena::new(), Arena::new());
        let shapes = Shapes::new(&names);
        for (at, values) in rows.iter().skip(start).enumerate() {
            let text = serde_json::to_string(&Data::Map(row(&kinds, values.iter()))).unwrap();
            let builder = InputBuilder::new(&arena, &shapes);
            let found = builder.arrow_row(&prepared, at).unwrap().to_data();
            let expected = builder.json(&text).unwrap().to_data();
            prop_assert_eq!(found, expected, "{}", text);
        }
    }
}
