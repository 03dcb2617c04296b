//! Functions of lists.

use std::cmp::Ordering;

use crate::values::access::find;
use crate::values::compare::{equal, ordered};
use crate::values::errors::{bad_argument, no_such_overload};
use crate::values::{arithmetic, byte_len, time};
use dropforge_base::diagnostics::Result;
use dropforge_machine::function::Cx;
use dropforge_machine::overloads;
use dropforge_value::Value;

/// Declares the table with an overload of each ordering function for each type of elements that have an order.
macro_rules! table {
    ($($name:literal $ty:ident)*) => {
        overloads! {
            /// The library `kubernetes.lists`.
            pub static TABLE:
            "isSorted": "Returns `true` if no element is less than the one before it."
                ["[1, 2, 2].isSorted()" => "true", "['b', 'a'].isSorted()" => "false", "[].isSorted()" => "true"]
                $(fn "list_" $name "_is_sorted_bool" member ((list $ty)) -> Bool = is_sorted;)*
            "sum": "Adds the elements."
                ["[1, 3].sum()" => "4", "[1.5, 1.5].sum()" => "3.0", "[].sum()" => "0", "[9223372036854775807, 1].sum()" => "E0302"]
                fn "list_int_sum_int" member ((list Int)) -> Int = sum(Value::Int(0));
                fn "list_uint_sum_uint" member ((list Uint)) -> Uint = sum(Value::Uint(0));
                fn "list_double_sum_double" member ((list Double)) -> Double = sum(Value::Float(0.0));
                fn "list_duration_sum_duration" member ((list Duration)) -> Duration = sum_of_durations;
            "min": "Returns the least element." ["[3, 1, 2].min()" => "1", "[].min()" => "E0403"]
                $(fn "list_" $name "_min_" $name member ((list $ty)) -> $ty = extreme("min", Ordering::Greater);)*
            "max": "Returns the greatest element." ["[3, 1, 2].max()" => "3", "['a', 'b'].max()" => "'b'"]
                $(fn "list_" $name "_max_" $name member ((list $ty)) -> $ty = extreme("max", Ordering::Less);)*
            "indexOf": "Returns the index of the first element equal to a value; -1 if there is none."
                ["[1, 2, 2].indexOf(2)" => "1", "[].indexOf(1)" => "-1"]
                fn "list_a_index_of_int" member ((list A), A) -> Int = index_of;
            "lastIndexOf": "Returns the index of the last element equal to a value; -1 if there is none." ["[1, 2, 2].lastIndexOf(2)" => "2"]
                fn "list_a_last_index_of_int" member ((list A), A) -> Int = last_index_of;
            "includes": "Returns `true` if a list contains a value, or if a value that is not a list is equal to it."
                ["[1, 2].includes(2)" => "true", "'a'.includes('a')" => "true", "'ab'.includes('a')" => "false"]
                fn "list_includes_dyn_dyn" member (Dyn, Dyn) -> Bool = includes;
        }
    };
}

table! {
    "int" Int
    "uint" Uint
    "double" Double
    "bool" Bool
    "duration" Duration
    "timestamp" Timestamp
    "string" String
    "bytes" Bytes
}

/// Orders two elements of a list. It takes a step, and more for long strings. NaN has no order.
fn order_in<'v>(cx: &Cx<'v>, function: &str, a: Value<'v>, b: Value<'v>) -> Result<Option<Ordering>> {
    cx.spend(1 + byte_len(a) as u64 / 64)?;
    ordered(a, b).ok_or_else(|| no_such_overload(function, true, &[a]))
}

fn is_sorted<'v>(cx: &Cx<'v>, list: &'v [Value<'v>]) -> Result<bool> {
    if let [only] = list {
        order_in(cx, "isSorted", *only, *only)?;
    }
    for pair in list.windows(2) {
        let [a, b] = *pair else { continue };
        if order_in(cx, "isSorted", a, b)? == Some(Ordering::Greater) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn sum<'v>(zero: Value<'v>) -> impl Fn(&Cx<'v>, &'v [Value<'v>]) -> Result<Value<'v>> {
    move |cx, list| {
        list.iter().try_fold(zero, |sum, item| {
            cx.spend(1)?;
            arithmetic::add(cx, sum, *item)
        })
    }
}

fn sum_of_durations<'v>(cx: &Cx<'v>, list: &'v [Value<'v>]) -> Result<Value<'v>> {
    sum(time::duration(cx, Some(0))?)(cx, list)
}

/// Returns the function that returns the first element that is not `worse` than another.
fn extreme<'v>(function: &'static str, worse: Ordering) -> impl Fn(&Cx<'v>, &'v [Value<'v>]) -> Result<Value<'v>> {
    move |cx, list| {
        let Some((first, rest)) = list.split_first() else {
            return Err(bad_argument(format!("{function} called on empty list")));
        };
        let mut best = *first;
        order_in(cx, function, best, best)?;
        for item in rest {
            if order_in(cx, function, best, *item)? == Some(worse) {
                best = *item;
            }
        }
        Ok(best)
    }
}

fn as_int(index: Option<usize>) -> i64 {
    index.and_then(|at| i64::try_from(at).ok()).unwrap_or(-1)
}

fn index_of<'v>(cx: &Cx<'v>, list: &'v [Value<'v>], wanted: Value<'v>) -> Result<i64> {
    find(cx, list.iter().enumerate(), wanted).map(as_int)
}

fn last_index_of<'v>(cx: &Cx<'v>, list: &'v [Value<'v>], wanted: Value<'v>) -> Result<i64> {
    find(cx, list.iter().enumerate().rev(), wanted).map(as_int)
}

fn includes<'v>(cx: &Cx<'v>, target: Value<'v>, wanted: Value<'v>) -> Result<bool> {
    match target {
        Value::List(list) => Ok(find(cx, list.items().iter().enumerate(), wanted)?.is_some()),
        _ => equal(cx, target, wanted),
    }
}
