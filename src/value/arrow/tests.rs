//! Tests of rows.

use std::sync::Arc;

use arrow_array::builder::{
    BinaryBuilder, FixedSizeListBuilder, Int32Builder, LargeListBuilder, ListBuilder, ListViewBuilder, MapBuilder,
    StringBuilder,
};
use arrow_array::types::*;
use arrow_array::*;
use arrow_schema::{DataType, Field, Fields as SchemaFields};

use super::*;
use crate::{Arena, ReadPaths, Shapes};

fn batch(columns: &[(&str, ArrayRef)]) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.iter().map(|(name, array)| (*name, array.clone(), true))).unwrap()
}

/// Returns the rows of a batch as JSON, or the error.
fn rows(batch: &RecordBatch) -> Result<Vec<String>> {
    let rows = ArrowRows::new(batch)?;
    let (arena, names) = (Arena::new(), Arena::new());
    let shapes = Shapes::new(&names);
    let builder = InputBuilder::new(&arena, &shapes);
    let text = |at| Ok(serde_json::to_string(&builder.arrow_row(&rows, at)?.to_data()).unwrap());
    (0..rows.len()).map(text).collect()
}

fn one(array: impl Array + 'static) -> Result<Vec<String>> {
    rows(&batch(&[("x", Arc::new(array) as ArrayRef)]))
}

#[test]
fn numbers_of_all_widths() {
    assert_eq!(one(Int8Array::from(vec![i8::MIN, 7])).unwrap(), [r#"{"x":-128}"#, r#"{"x":7}"#]);
    assert_eq!(one(Int16Array::from(vec![i16::MIN])).unwrap(), [r#"{"x":-32768}"#]);
    assert_eq!(one(UInt8Array::from(vec![u8::MAX])).unwrap(), [r#"{"x":255}"#]);
    assert_eq!(one(UInt16Array::from(vec![u16::MAX])).unwrap(), [r#"{"x":65535}"#]);
    assert_eq!(one(UInt32Array::from(vec![u32::MAX])).unwrap(), [r#"{"x":4294967295}"#]);
    assert_eq!(one(Int64Array::from(vec![i64::MIN])).unwrap(), [r#"{"x":-9223372036854775808}"#]);
    assert_eq!(one(UInt64Array::from(vec![u64::MAX, 1])).unwrap(), [r#"{"x":18446744073709551615}"#, r#"{"x":1}"#]);
    assert_eq!(one(Float32Array::from(vec![0.1, 16_777_216.0])).unwrap(), [r#"{"x":0.1}"#, r#"{"x":16777216.0}"#]);
    assert_eq!(one(Float64Array::from(vec![0.1, -0.0])).unwrap(), [r#"{"x":0.1}"#, r#"{"x":-0.0}"#]);
    let decimals = Decimal128Array::from(vec![150, -5]).with_precision_and_scale(10, 2).unwrap();
    assert_eq!(one(decimals).unwrap(), [r#"{"x":"1.50"}"#, r#"{"x":"-0.05"}"#]);
}

#[test]
fn times_are_text() {
    assert_eq!(one(Date32Array::from(vec![0, -1])).unwrap(), [r#"{"x":"1970-01-01"}"#, r#"{"x":"1969-12-31"}"#]);
    assert_eq!(one(Date64Array::from(vec![86_400_000])).unwrap(), [r#"{"x":"1970-01-02"}"#]);
    assert_eq!(one(Time32SecondArray::from(vec![86_399])).unwrap(), [r#"{"x":"23:59:59"}"#]);
    assert_eq!(one(Time64NanosecondArray::from(vec![1])).unwrap(), [r#"{"x":"00:00:00.000000001"}"#]);
    let moments = TimestampMillisecondArray::from(vec![-500, 1_500]);
    let local = [r#"{"x":"1969-12-31T23:59:59.5"}"#, r#"{"x":"1970-01-01T00:00:01.5"}"#];
    assert_eq!(one(moments.clone()).unwrap(), local);
    assert_eq!(one(moments.with_timezone("Europe/Berlin")).unwrap()[1], r#"{"x":"1970-01-01T00:00:01.5Z"}"#);
    let error = one(TimestampSecondArray::from(vec![0, i64::MAX])).unwrap_err();
    assert_eq!((error.code, error.notes.as_slice()), (Code::InputType, ["row 2".to_owned()].as_slice()));
    assert!(one(Time32SecondArray::from(vec![86_400])).is_err() && one(Time32SecondArray::from(vec![-1])).is_err());
}

#[test]
fn texts_are_alike_in_every_encoding() {
    let long = "long ".repeat(20);
    let texts = [Some("a"), None, Some(long.as_str()), Some("é")];
    let expected = one(StringArray::from_iter(texts)).unwrap();
    assert_eq!(expected[..2], [r#"{"x":"a"}"#, "{}"]);
    assert_eq!(one(LargeStringArray::from_iter(texts)).unwrap(), expected);
    assert_eq!(one(StringViewArray::from_iter(texts)).unwrap(), expected);
    assert_eq!(one(DictionaryArray::<Int8Type>::from_iter(texts)).unwrap(), expected);
    assert_eq!(one(DictionaryArray::<UInt64Type>::from_iter(texts)).unwrap(), expected);
    assert_eq!(one(texts.into_iter().collect::<RunArray<Int32Type>>()).unwrap(), expected);
    assert_eq!(one(StringArray::from_iter(texts).slice(2, 2)).unwrap(), expected[2..]);
}

#[test]
fn a_null_is_absent_but_in_lists_and_maps() {
    let mut list = ListBuilder::new(Int32Builder::new());
    list.append_value([Some(1), None]);
    list.append_null();
    list.append_value([]);
    assert_eq!(one(list.finish()).unwrap(), [r#"{"x":[1,null]}"#, "{}", r#"{"x":[]}"#]);
    let mut map = MapBuilder::new(None, StringBuilder::new(), Int32Builder::new());
    for (key, value) in [("b", Some(1)), ("a", None), ("b", Some(3))] {
        map.keys().append_value(key);
        map.values().append_option(value);
    }
    map.append(true).unwrap();
    map.append(false).unwrap();
    assert_eq!(one(map.finish()).unwrap(), [r#"{"x":{"b":3,"a":null}}"#, "{}"]);
    let fields =
        SchemaFields::from(vec![Field::new("a", DataType::Int32, true), Field::new("n", DataType::Null, true)]);
    let children: Vec<ArrayRef> = vec![Arc::new(Int32Array::from(vec![Some(1), None])), Arc::new(NullArray::new(2))];
    assert_eq!(one(StructArray::new(fields, children, None)).unwrap(), [r#"{"x":{"a":1}}"#, r#"{"x":{}}"#]);
}

#[test]
fn lists_are_alike_in_every_encoding() {
    macro_rules! list {
        ($builder:expr) => {{
            let mut list = $builder;
            for items in [[1, 2], [3, 4], [5, 6]] {
                items.iter().for_each(|item| list.values().append_value(*item));
                list.append(true);
            }
            let list = list.finish();
            (one(list.clone()).unwrap(), one(list.slice(1, 2)).unwrap())
        }};
    }
    let expected = [r#"{"x":[1,2]}"#, r#"{"x":[3,4]}"#, r#"{"x":[5,6]}"#];
    let all = [
        list!(ListBuilder::new(Int32Builder::new())),
        list!(LargeListBuilder::new(Int32Builder::new())),
        list!(ListViewBuilder::new(Int32Builder::new())),
        list!(FixedSizeListBuilder::new(Int32Builder::new(), 2)),
    ];
    for (whole, slice) in all {
        assert_eq!(
            (whole.as_slice(), slice.as_slice()),
            (&expected.map(String::from)[..], &expected.map(String::from)[1..])
        );
    }
}

#[test]
fn other_types_are_errors_that_name_the_column() {
    let mut bytes = ListBuilder::new(BinaryBuilder::new());
    bytes.append(false);
    let fields = SchemaFields::from(vec![Field::new("raw", DataType::new_list(DataType::Binary, true), true)]);
    let error = one(StructArray::new(fields, vec![Arc::new(bytes.finish())], None)).unwrap_err();
    assert_eq!(error.message, "column `x.raw` has the type Binary, which inputs do not have");
    assert_eq!(one(DurationSecondArray::from(vec![1])).unwrap_err().code, Code::InputType);
    let mut map = MapBuilder::new(None, Int32Builder::new(), Int32Builder::new());
    map.append(true).unwrap();
    assert!(one(map.finish()).unwrap_err().help.unwrap().contains("keys"));
    let ints: ArrayRef = Arc::new(Int32Array::from(vec![1]));
    let schema = arrow_schema::Schema::new(vec![Field::new("a", DataType::Int32, true); 2]);
    let twice = RecordBatch::try_new(Arc::new(schema), vec![ints.clone(), ints.clone()]).unwrap();
    assert_eq!(rows(&twice).unwrap_err().code, Code::DuplicateKey);
    let deep = |levels: usize| {
        (0..levels).fold(ints.clone(), |items, _| {
            let field = Arc::new(Field::new("item", items.data_type().clone(), true));
            let ends = arrow_array::ArrayRef::len(&items);
            let offsets = Int32Array::from(vec![0, i32::try_from(ends).unwrap()]);
            Arc::new(ListArray::new(field, arrow_buffer_of(offsets), items, None))
        })
    };
    assert_eq!(rows(&batch(&[("x", deep(127))])).unwrap()[0].matches('[').count(), 127);
    assert_eq!(rows(&batch(&[("x", deep(128))])).unwrap_err().code, Code::LimitDepth);
}

fn arrow_buffer_of(ends: Int32Array) -> arrow_buffer::OffsetBuffer<i32> {
    arrow_buffer::OffsetBuffer::new(ends.values().clone())
}

#[test]
fn what_is_not_read_is_empty() {
    let text: ArrayRef = Arc::new(StringArray::from(vec!["text"]));
    let mut list = ListBuilder::new(Int32Builder::new());
    list.append_value([Some(1)]);
    let batch = batch(&[("a", text.clone()), ("b", text), ("l", Arc::new(list.finish()))]);
    let mut paths = ReadPaths::default();
    paths.add(["a"]);
    let (arena, names) = (Arena::new(), Arena::new());
    let shapes = Shapes::reading(&names, &paths);
    let row = InputBuilder::new(&arena, &shapes).arrow_row(&ArrowRows::new(&batch).unwrap(), 0).unwrap();
    assert_eq!(serde_json::to_string(&row.to_data()).unwrap(), r#"{"a":"text","b":"","l":[]}"#);
}
