//! Columns of Arrow arrays, prepared for reading one cell after another; dates, times and timestamps as texts by RFC 3339.

use std::collections::HashSet;
use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, OffsetSizeTrait, RunArray};
use arrow_schema::{DataType, TimeUnit};

use super::nested;
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_base::stdlib::timestamps::utc_text;

/// Reads a cell. Panics for a row after the last one.
type Get<'a, T> = Box<dyn Fn(usize) -> T + 'a>;

/// Columns, or fields of a struct, with their names.
pub(super) type Fields<'a> = Vec<(&'a str, Column<'a>)>;

/// A column of a batch, or the child of another column.
pub(super) struct Column<'a> {
    array: &'a dyn Array,
    pub cells: Cells<'a>,
}

/// The cells of a column that are not null.
pub(super) enum Cells<'a> {
    Null,
    Bool(Get<'a, bool>),
    Int(Get<'a, i64>),
    Uint(Get<'a, u64>),
    Float(Get<'a, f64>),
    Text(Get<'a, &'a str>),
    /// Decimals and times, with the path of the column.
    Written(String, Get<'a, Option<String>>),
    List(Get<'a, Range<usize>>, Box<Column<'a>>),
    Struct(Fields<'a>),
    Map {
        range: Get<'a, Range<usize>>,
        keys: Get<'a, &'a str>,
        values: Box<Column<'a>>,
    },
    /// The cell of another column.
    At(Get<'a, usize>, Box<Column<'a>>),
}

impl Column<'_> {
    /// Returns `true` if the cell is null, or stands for a null.
    pub fn is_null(&self, at: usize) -> bool {
        match &self.cells {
            Cells::Null => true,
            _ if self.array.is_null(at) => true,
            Cells::At(index, values) => values.has(index(at)) && values.is_null(index(at)),
            _ => false,
        }
    }

    /// Returns `true` if there is a cell at `at`.
    pub fn has(&self, at: usize) -> bool {
        at < self.array.len()
    }

    /// Takes the number of values of a cell from `left`. Returns `false` if there are too few left.
    pub fn take(&self, at: usize, left: &mut usize) -> bool {
        if *left == 0 {
            return false;
        }
        *left -= 1;
        match &self.cells {
            _ if !self.has(at) || self.is_null(at) => true,
            Cells::List(range, items) => !items.has_all(&range(at)) || range(at).all(|at| items.take(at, left)),
            Cells::Map { range, values, .. } => {
                !values.has_all(&range(at)) || range(at).all(|at| values.take(at, left))
            }
            Cells::Struct(fields) => fields.iter().all(|(_, column)| column.take(at, left)),
            Cells::At(index, values) => values.take(index(at), left),
            _ => true,
        }
    }

    /// Returns `true` if there are cells at all of `range`.
    pub fn has_all(&self, range: &Range<usize>) -> bool {
        range.end <= self.array.len()
    }
}

/// Prepares columns below `path`, with at most `levels` levels.
///
/// # Errors
/// Errors of [`column`]; `input.duplicate_key` for two of the same name.
pub(super) fn fields<'a>(
    named: impl Iterator<Item = (&'a str, &'a dyn Array)>,
    path: &str,
    levels: usize,
) -> Result<Fields<'a>> {
    let levels = levels.checked_sub(1).ok_or_else(|| nested(path))?;
    let mut seen = HashSet::new();
    let one = |(name, array): (&'a str, &'a dyn Array)| {
        let path = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        match seen.insert(name) {
            true => Ok((name, column(array, &path, levels)?)),
            false => Err(Diagnostic::new(Code::DuplicateKey, format!("two columns are named `{path}`"))),
        }
    };
    named.map(one).collect()
}

/// Prepares the column at `path`, with at most `levels` levels.
///
/// # Errors
/// `input.type` for a type that inputs do not have; `limit.depth`.
fn column<'a>(array: &'a dyn Array, path: &str, levels: usize) -> Result<Column<'a>> {
    let of = |array| column(array, path, levels).map(Box::new);
    let items = |array| column(array, path, levels.checked_sub(1).ok_or_else(|| nested(path))?).map(Box::new);
    let cells = match array.data_type() {
        DataType::Null => Cells::Null,
        DataType::Boolean => {
            let array = array.as_boolean();
            Cells::Bool(Box::new(|at| array.value(at)))
        }
        DataType::UInt64 => Cells::Uint(primitive::<UInt64Type, _>(array, |n| n)),
        DataType::Struct(_) => {
            let array = array.as_struct();
            let columns = array.columns().iter().map(|column| &**column);
            Cells::Struct(fields(array.fields().iter().map(|field| field.name().as_str()).zip(columns), path, levels)?)
        }
        DataType::List(_) => Cells::List(ranges::<i32>(array), items(array.as_list::<i32>().values())?),
        DataType::LargeList(_) => Cells::List(ranges::<i64>(array), items(array.as_list::<i64>().values())?),
        DataType::ListView(_) => Cells::List(views::<i32>(array), items(array.as_list_view::<i32>().values())?),
        DataType::LargeListView(_) => Cells::List(views::<i64>(array), items(array.as_list_view::<i64>().values())?),
        DataType::FixedSizeList(..) => {
            let list = array.as_fixed_size_list();
            let (start, length) = (list.value_offset_at(0), index(list.value_length()));
            let range = move |at| start + at * length..start + (at + 1) * length;
            Cells::List(Box::new(range), items(list.values())?)
        }
        DataType::Map(..) => {
            let map = array.as_map();
            let ends = |at: usize| index(map.value_offsets()[at])..index(map.value_offsets()[at + 1]);
            let keys = texts(map.keys()).ok_or_else(|| unfit(array, path, "make the keys of the map text"))?;
            Cells::Map { range: Box::new(ends), keys, values: items(map.values())? }
        }
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            let keys = indexes(dictionary.keys()).ok_or_else(|| unfit(array, path, HELP))?;
            Cells::At(keys, of(dictionary.values())?)
        }
        DataType::RunEndEncoded(..) => {
            let values = array.as_any_ree_opt().map(|runs| &**runs.values());
            let (runs, values) = runs(array).zip(values).ok_or_else(|| unfit(array, path, HELP))?;
            Cells::At(runs, of(values)?)
        }
        _ => scalar(array, path).ok_or_else(|| unfit(array, path, HELP))?,
    };
    Ok(Column { array, cells })
}

const HELP: &str = "cast the column to text or numbers, or leave it out";

/// Returns the error of a column whose type inputs do not have.
fn unfit(array: &dyn Array, path: &str, help: &str) -> Box<Diagnostic> {
    let message = format!("column `{path}` has the type {}, which inputs do not have", array.data_type());
    Diagnostic::new(Code::InputType, message).with_help(help)
}

/// Returns the cells of an array of numbers, texts, decimals or times. `None` for other types.
fn scalar<'a>(array: &'a dyn Array, path: &str) -> Option<Cells<'a>> {
    let written = |get| Cells::Written(path.to_owned(), get);
    Some(match array.data_type() {
        DataType::Float64 => Cells::Float(primitive::<Float64Type, _>(array, |n| n)),
        DataType::Float32 => Cells::Float(primitive::<Float32Type, _>(array, shortest)),
        DataType::Float16 => Cells::Float(primitive::<Float16Type, _>(array, f64::from)),
        DataType::Decimal32(..) => written(digits::<Decimal32Type>(array)),
        DataType::Decimal64(..) => written(digits::<Decimal64Type>(array)),
        DataType::Decimal128(..) => written(digits::<Decimal128Type>(array)),
        DataType::Decimal256(..) => written(digits::<Decimal256Type>(array)),
        _ => match (integers(array), texts(array), times(array)) {
            (Some(get), ..) => Cells::Int(get),
            (_, Some(get), _) => Cells::Text(get),
            (.., Some(get)) => written(get),
            _ => return None,
        },
    })
}

/// Returns the values of an array of integers of at most 64 bits with a sign, or 32 bits without. `None` for other types.
pub(super) fn integers(array: &dyn Array) -> Option<Get<'_, i64>> {
    Some(match array.data_type() {
        DataType::Int8 => primitive::<Int8Type, _>(array, i64::from),
        DataType::Int16 => primitive::<Int16Type, _>(array, i64::from),
        DataType::Int32 => primitive::<Int32Type, _>(array, i64::from),
        DataType::Int64 => primitive::<Int64Type, _>(array, |n| n),
        DataType::UInt8 => primitive::<UInt8Type, _>(array, i64::from),
        DataType::UInt16 => primitive::<UInt16Type, _>(array, i64::from),
        DataType::UInt32 => primitive::<UInt32Type, _>(array, i64::from),
        _ => return None,
    })
}

/// Returns the values of an array as `convert` turns them.
pub(super) fn primitive<'a, T: ArrowPrimitiveType, V: 'a>(
    array: &'a dyn Array,
    convert: impl Fn(T::Native) -> V + 'a,
) -> Get<'a, V> {
    let array = array.as_primitive::<T>();
    Box::new(move |at| convert(array.value(at)))
}

/// Returns the texts of an array. `None` for other types.
fn texts(array: &dyn Array) -> Option<Get<'_, &str>> {
    Some(match array.data_type() {
        DataType::Utf8 => {
            let array = array.as_string::<i32>();
            Box::new(|at| array.value(at))
        }
        DataType::LargeUtf8 => {
            let array = array.as_string::<i64>();
            Box::new(|at| array.value(at))
        }
        DataType::Utf8View => {
            let array = array.as_string_view();
            Box::new(|at| array.value(at))
        }
        _ => return None,
    })
}

/// Returns the keys of a dictionary.
fn indexes(keys: &dyn Array) -> Option<Get<'_, usize>> {
    if let DataType::UInt64 = keys.data_type() {
        return Some(primitive::<UInt64Type, _>(keys, |key| usize::try_from(key).unwrap_or(usize::MAX)));
    }
    let key = integers(keys)?;
    Some(Box::new(move |at| usize::try_from(key(at)).unwrap_or(usize::MAX)))
}

/// Returns the places of the values of a run-end encoded array.
fn runs(array: &dyn Array) -> Option<Get<'_, usize>> {
    fn places<T: RunEndIndexType>(runs: &RunArray<T>) -> Get<'_, usize> {
        Box::new(|at| runs.get_physical_index(at))
    }
    let short = array.as_run_opt::<Int16Type>().map(places);
    let usual = || array.as_run_opt::<Int32Type>().map(places);
    short.or_else(usual).or_else(|| array.as_run_opt::<Int64Type>().map(places))
}

fn ranges<O: OffsetSizeTrait>(array: &dyn Array) -> Get<'_, Range<usize>> {
    let ends = array.as_list::<O>().value_offsets();
    Box::new(|at| ends[at].as_usize()..ends[at + 1].as_usize())
}

fn views<O: OffsetSizeTrait>(array: &dyn Array) -> Get<'_, Range<usize>> {
    let list = array.as_list_view::<O>();
    Box::new(|at| {
        let start = list.value_offsets()[at].as_usize();
        start..start + list.value_sizes()[at].as_usize()
    })
}

fn index(offset: i32) -> usize {
    usize::try_from(offset).unwrap_or(0)
}

/// Returns the texts of decimals.
fn digits<T: DecimalType>(array: &dyn Array) -> Get<'_, Option<String>> {
    let array = array.as_primitive::<T>();
    Box::new(|at| Some(array.value_as_string(at)))
}

/// Returns the shortest decimal number that reads back as this one.
fn shortest(number: f32) -> f64 {
    if number.is_finite() {
        zmij::Buffer::new().format_finite(number).parse().unwrap_or(number.into())
    } else {
        number.into()
    }
}

const DAY: i64 = 86_400;

/// Returns the texts of an array of dates, times of day or timestamps. `None` for other types. A text is `None` if the
/// time is outside the calendar.
fn times(array: &dyn Array) -> Option<Box<dyn Fn(usize) -> Option<String> + '_>> {
    Some(match array.data_type() {
        DataType::Date32 => primitive::<Date32Type, _>(array, |days| date(i64::from(days))),
        DataType::Date64 => primitive::<Date64Type, _>(array, |millis| date(millis.div_euclid(DAY * 1_000))),
        DataType::Time32(TimeUnit::Second) => primitive::<Time32SecondType, _>(array, |n| time(n.into(), 1)),
        DataType::Time32(_) => primitive::<Time32MillisecondType, _>(array, |n| time(n.into(), 1_000)),
        DataType::Time64(TimeUnit::Microsecond) => primitive::<Time64MicrosecondType, _>(array, |n| time(n, 1_000_000)),
        DataType::Time64(_) => primitive::<Time64NanosecondType, _>(array, |n| time(n, 1_000_000_000)),
        DataType::Timestamp(unit, zone) => {
            let zoned = zone.is_some();
            match unit {
                TimeUnit::Second => primitive::<TimestampSecondType, _>(array, move |n| moment(n, 1, zoned)),
                TimeUnit::Millisecond => {
                    primitive::<TimestampMillisecondType, _>(array, move |n| moment(n, 1_000, zoned))
                }
                TimeUnit::Microsecond => {
                    primitive::<TimestampMicrosecondType, _>(array, move |n| moment(n, 1_000_000, zoned))
                }
                TimeUnit::Nanosecond => {
                    primitive::<TimestampNanosecondType, _>(array, move |n| moment(n, 1_000_000_000, zoned))
                }
            }
        }
        _ => return None,
    })
}

/// Returns the text of `count` units since 1970, of which a second has `per_second`.
fn moment(count: i64, per_second: i64, zoned: bool) -> Option<String> {
    let nanos = count.rem_euclid(per_second) * (1_000_000_000 / per_second);
    let mut text = utc_text(count.div_euclid(per_second), u32::try_from(nanos).ok()?)?;
    if !zoned {
        text.pop();
    }
    Some(text)
}

/// Returns the text of a number of days since 1970.
fn date(days: i64) -> Option<String> {
    let mut text = moment(days.checked_mul(DAY)?, 1, false)?;
    text.truncate(text.find('T')?);
    Some(text)
}

/// Returns the text of a time of day.
fn time(count: i64, per_second: i64) -> Option<String> {
    let is_of_day = (0..DAY * per_second).contains(&count);
    is_of_day.then(|| moment(count, per_second, false))?.map(|text| text.split('T').skip(1).collect())
}
