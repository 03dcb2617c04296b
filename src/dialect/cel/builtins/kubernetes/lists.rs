//! Functions of lists.

use std::cmp::Ordering;

use crate::diagnostics::Result;
use crate::dialect::cel::builtins::{arguments, items};
use crate::dialect::cel::values::compare::{equal, ordered};
use crate::dialect::cel::values::errors::{bad_argument, no_such_overload};
use crate::dialect::cel::values::{arithmetic, as_bytes, time};
use crate::function::Cx;
use crate::overloads;
use crate::value::Value;

overloads! {
    /// The library `kubernetes.lists`.
    pub static TABLE:
    "isSorted": "Whether no element is less than the one in front of it." ["[1, 2, 2].isSorted()" => "true", "['b', 'a'].isSorted()" => "false", "[].isSorted()" => "true"] {
        "list_int_is_sorted_bool" member ((list Int)) -> Bool = is_sorted;
        "list_uint_is_sorted_bool" member ((list Uint)) -> Bool = is_sorted;
        "list_double_is_sorted_bool" member ((list Double)) -> Bool = is_sorted;
        "list_bool_is_sorted_bool" member ((list Bool)) -> Bool = is_sorted;
        "list_duration_is_sorted_bool" member ((list Duration)) -> Bool = is_sorted;
        "list_timestamp_is_sorted_bool" member ((list Timestamp)) -> Bool = is_sorted;
        "list_string_is_sorted_bool" member ((list String)) -> Bool = is_sorted;
        "list_bytes_is_sorted_bool" member ((list Bytes)) -> Bool = is_sorted;
    }
    "sum": "The sum of the elements." ["[1, 3].sum()" => "4", "[1.5, 1.5].sum()" => "3.0", "[].sum()" => "0", "[9223372036854775807, 1].sum()" => "E0302"] {
        "list_int_sum_int" member ((list Int)) -> Int = sum_of_ints;
        "list_uint_sum_uint" member ((list Uint)) -> Uint = sum_of_uints;
        "list_double_sum_double" member ((list Double)) -> Double = sum_of_doubles;
        "list_duration_sum_duration" member ((list Duration)) -> Duration = sum_of_durations;
    }
    "min": "The least element." ["[3, 1, 2].min()" => "1", "[].min()" => "E0403"] {
        "list_int_min_int" member ((list Int)) -> Int = min;
        "list_uint_min_uint" member ((list Uint)) -> Uint = min;
        "list_double_min_double" member ((list Double)) -> Double = min;
        "list_bool_min_bool" member ((list Bool)) -> Bool = min;
        "list_duration_min_duration" member ((list Duration)) -> Duration = min;
        "list_timestamp_min_timestamp" member ((list Timestamp)) -> Timestamp = min;
        "list_string_min_string" member ((list String)) -> String = min;
        "list_bytes_min_bytes" member ((list Bytes)) -> Bytes = min;
    }
    "max": "The greatest element." ["[3, 1, 2].max()" => "3", "['a', 'b'].max()" => "'b'"] {
        "list_int_max_int" member ((list Int)) -> Int = max;
        "list_uint_max_uint" member ((list Uint)) -> Uint = max;
        "list_double_max_double" member ((list Double)) -> Double = max;
        "list_bool_max_bool" member ((list Bool)) -> Bool = max;
        "list_duration_max_duration" member ((list Duration)) -> Duration = max;
        "list_timestamp_max_timestamp" member ((list Timestamp)) -> Timestamp = max;
        "list_string_max_string" member ((list String)) -> String = max;
        "list_bytes_max_bytes" member ((list Bytes)) -> Bytes = max;
    }
    "indexOf": "The place of the first element that is equal to a value; -1 where none is." ["[1, 2, 2].indexOf(2)" => "1", "[].indexOf(1)" => "-1"] {
        "list_a_index_of_int" member ((list A), A) -> Int = index_of;
    }
    "lastIndexOf": "The place of the last element that is equal to a value; -1 where none is." ["[1, 2, 2].lastIndexOf(2)" => "2"] {
        "list_a_last_index_of_int" member ((list A), A) -> Int = last_index_of;
    }
    "includes": "Whether a value is in a list, or is equal to what is no list."
        ["[1, 2].includes(2)" => "true", "'a'.includes('a')" => "true", "'ab'.includes('a')" => "false"] {
        "list_includes_dyn_dyn" member (Dyn, Dyn) -> Bool = includes;
    }
}

/// The order of two elements of a list, which takes a step and more for long texts; NaN has none.
fn order_in<'v>(cx: &Cx<'v>, function: &str, a: Value<'v>, b: Value<'v>) -> Result<Option<Ordering>> {
    let len = a.as_str().map_or_else(|| as_bytes(a).map_or(0, <[u8]>::len), str::len);
    cx.spend(1 + len as u64 / 64)?;
    ordered(a, b).ok_or_else(|| no_such_overload(function, true, &[a]))
}

fn is_sorted<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [list] = arguments(cx, given)?;
    if let [only] = items(list) {
        order_in(cx, "isSorted", *only, *only)?;
    }
    for pair in items(list).windows(2) {
        let [a, b] = *pair else { continue };
        if order_in(cx, "isSorted", a, b)? == Some(Ordering::Greater) {
            return Ok(Value::Bool(false));
        }
    }
    Ok(Value::Bool(true))
}

fn sum_of_ints<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    sum(cx, given, Value::Int(0))
}

fn sum_of_uints<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    sum(cx, given, Value::Uint(0))
}

fn sum_of_doubles<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    sum(cx, given, Value::Float(0.0))
}

fn sum_of_durations<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    sum(cx, given, time::duration(cx, Some(0))?)
}

fn sum<'v>(cx: &Cx<'v>, given: &[Value<'v>], zero: Value<'v>) -> Result<Value<'v>> {
    let [list] = arguments(cx, given)?;
    let mut sum = zero;
    for item in items(list) {
        cx.spend(1)?;
        sum = arithmetic::add(cx, sum, *item)?;
    }
    Ok(sum)
}

fn min<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    most(cx, given, "min", Ordering::Greater)
}

fn max<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    most(cx, given, "max", Ordering::Less)
}

/// The element that comes in the place of another wherever that is `worse`.
fn most<'v>(cx: &Cx<'v>, given: &[Value<'v>], function: &str, worse: Ordering) -> Result<Value<'v>> {
    let [list] = arguments(cx, given)?;
    let Some((first, rest)) = items(list).split_first() else {
        return Err(bad_argument(format!("{function} called on empty list")));
    };
    let mut most = *first;
    order_in(cx, function, most, most)?;
    for item in rest {
        if order_in(cx, function, most, *item)? == Some(worse) {
            most = *item;
        }
    }
    Ok(most)
}

/// The place of the first of `items` that is equal to `wanted`.
fn place<'v>(
    cx: &Cx<'v>,
    items: impl Iterator<Item = (usize, &'v Value<'v>)>,
    wanted: Value<'v>,
) -> Result<Option<usize>> {
    for (at, item) in items {
        if equal(cx, *item, wanted)? {
            return Ok(Some(at));
        }
    }
    Ok(None)
}

fn as_int<'v>(place: Option<usize>) -> Value<'v> {
    Value::Int(place.and_then(|at| i64::try_from(at).ok()).unwrap_or(-1))
}

fn index_of<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [list, wanted] = arguments(cx, given)?;
    place(cx, items(list).iter().enumerate(), wanted).map(as_int)
}

fn last_index_of<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [list, wanted] = arguments(cx, given)?;
    place(cx, items(list).iter().enumerate().rev(), wanted).map(as_int)
}

fn includes<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [target, wanted] = arguments(cx, given)?;
    if target.as_list().is_none() {
        return equal(cx, target, wanted).map(Value::Bool);
    }
    Ok(Value::Bool(place(cx, items(target).iter().enumerate(), wanted)?.is_some()))
}
