//! Functions of lists.

use std::cmp::Ordering;

use super::{arguments, items, number};
use crate::diagnostics::Result;
use crate::dialect::cel::values::compare::{equal, ordered};
use crate::dialect::cel::values::errors::bad_argument;
use crate::dialect::cel::values::{as_bytes, type_name};
use crate::function::Cx;
use crate::overloads;
use crate::value::Value;

overloads! {
    /// The library `lists`. `list.sortBy(x, key)` is a macro that calls `@sortByAssociatedKeys`.
    pub static TABLE:
    "slice": "The elements from a place on, up to but without another."
        ["[1, 2, 3, 4].slice(1, 3)" => "[2, 3]", "[1, 2].slice(1, 3)" => "E0403"] {
        "list_slice" member ((list T), Int, Int) -> (list T) = slice;
    }
    "flatten": "The elements of the lists in a list, so many levels deep, else one."
        ["[1, [2, [3]]].flatten()" => "[1, 2, [3]]", "[1, [2, [3]]].flatten(2)" => "[1, 2, 3]"] {
        "list_flatten" member ((list (list T))) -> (list T) = flatten;
        "list_flatten_int" member ((list Dyn), Int) -> (list Dyn) = flatten;
    }
    "sort": "The elements in their order." ["[3, 1, 2].sort()" => "[1, 2, 3]", "['b', 'a'].sort()" => "['a', 'b']", "[1, 'a'].sort()" => "E0403"] {
        "list_int_sort" member ((list Int)) -> (list Int) = sort;
        "list_uint_sort" member ((list Uint)) -> (list Uint) = sort;
        "list_double_sort" member ((list Double)) -> (list Double) = sort;
        "list_bool_sort" member ((list Bool)) -> (list Bool) = sort;
        "list_google.protobuf.Duration_sort" member ((list Duration)) -> (list Duration) = sort;
        "list_google.protobuf.Timestamp_sort" member ((list Timestamp)) -> (list Timestamp) = sort;
        "list_string_sort" member ((list String)) -> (list String) = sort;
        "list_bytes_sort" member ((list Bytes)) -> (list Bytes) = sort;
    }
    "@sortByAssociatedKeys": "The elements in the order of their keys."
        ["[-3, 1, 2].sortBy(x, x * x)" => "[1, 2, -3]"] {
        "list_int_sortByAssociatedKeys" member ((list T), (list Int)) -> (list T) = sort_by_keys;
        "list_uint_sortByAssociatedKeys" member ((list T), (list Uint)) -> (list T) = sort_by_keys;
        "list_double_sortByAssociatedKeys" member ((list T), (list Double)) -> (list T) = sort_by_keys;
        "list_bool_sortByAssociatedKeys" member ((list T), (list Bool)) -> (list T) = sort_by_keys;
        "list_google.protobuf.Duration_sortByAssociatedKeys" member ((list T), (list Duration)) -> (list T) = sort_by_keys;
        "list_google.protobuf.Timestamp_sortByAssociatedKeys" member ((list T), (list Timestamp)) -> (list T) = sort_by_keys;
        "list_string_sortByAssociatedKeys" member ((list T), (list String)) -> (list T) = sort_by_keys;
        "list_bytes_sortByAssociatedKeys" member ((list T), (list Bytes)) -> (list T) = sort_by_keys;
    }
    "distinct": "The elements, each once, at its first place." ["[1, 2, 1].distinct()" => "[1, 2]"] {
        "list_distinct" member ((list T)) -> (list T) = distinct;
    }
    "reverse": "The elements from the last to the first." ["[1, 2].reverse()" => "[2, 1]"] {
        "list_reverse" member ((list T)) -> (list T) = reverse;
    }
    "lists.range": "The whole numbers from 0 on, so many of them." ["lists.range(3)" => "[0, 1, 2]", "lists.range(1000000000)" => "E0604"] {
        "lists_range" (Int) -> (list Int) = range;
    }
}

fn slice<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [list, start, end] = arguments(cx, given)?;
    let (list, start, end) = (items(list), number(start), number(end));
    let fault = |why: &str| bad_argument(format!("cannot slice({start}, {end}), {why}"));
    let (Ok(from), Ok(to)) = (usize::try_from(start), usize::try_from(end)) else {
        return Err(fault("negative indexes not supported"));
    };
    if from > to {
        return Err(fault("start index must be less than or equal to end index"));
    }
    let slice = list.get(from..to).ok_or_else(|| fault(&format!("list is length {}", list.len())))?;
    cx.spend((slice.len() / 16) as u64)?;
    cx.charge(size_of::<Value>() * 2)?;
    Ok(cx.arena().borrowed_list(slice))
}

fn flatten<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let (list, levels) = match *given {
        [list, levels] => (list, number(levels)),
        _ => (arguments::<1>(cx, given)?[0], 1),
    };
    if levels < 0 {
        return Err(bad_argument("level must be non-negative"));
    }
    let mut flat = Vec::new();
    flatten_into(cx, items(list), levels, &mut flat)?;
    cx.list(&flat)
}

fn flatten_into<'v>(cx: &Cx<'v>, list: &[Value<'v>], levels: i64, flat: &mut Vec<Value<'v>>) -> Result<()> {
    for item in list {
        cx.charge(size_of::<Value>())?;
        match item.as_list() {
            Some(items) if levels > 0 => flatten_into(cx, items, levels - 1, flat)?,
            _ => flat.push(*item),
        }
    }
    Ok(())
}

fn sort<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [list] = arguments(cx, given)?;
    sorted(cx, items(list), items(list))
}

fn sort_by_keys<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [list, keys] = arguments(cx, given)?;
    if items(list).len() != items(keys).len() {
        return Err(bad_argument(
            "@sortByAssociatedKeys() expected a list of the same size as the associated keys list",
        ));
    }
    sorted(cx, items(list), items(keys))
}

/// `list` in the order of `keys`, one for each element; equal ones stay in their order.
fn sorted<'v>(cx: &Cx<'v>, list: &[Value<'v>], keys: &[Value<'v>]) -> Result<Value<'v>> {
    if let (Some(first), rest) = (keys.first(), keys.get(1..).unwrap_or(&[])) {
        if rest.iter().any(|key| type_name(*key) != type_name(*first)) {
            return Err(bad_argument("list elements must have the same type"));
        }
        if ordered(*first, *first).is_none() {
            return Err(bad_argument("list elements must be comparable"));
        }
    }
    // Comparisons cannot be left in the middle: those that there may be are paid for first, texts by their length.
    let comparisons = u64::from(keys.len().checked_ilog2().unwrap_or(0)) + 1;
    let longest = keys.iter().map(|key| len_of(*key)).max().unwrap_or(0);
    cx.spend(comparisons.saturating_mul(keys.len() as u64).saturating_mul(1 + (longest / 64) as u64))?;
    cx.charge(keys.len() * 2 * size_of::<Value>())?;
    let mut pairs: Vec<(&Value<'v>, &Value<'v>)> = keys.iter().zip(list).collect();
    pairs.sort_by(|(a, _), (b, _)| order_of_keys(**a, **b));
    let values: Vec<_> = pairs.into_iter().map(|(_, value)| *value).collect();
    cx.list(&values)
}

/// The order of two keys of one type; NaN stands behind all numbers.
fn order_of_keys(a: Value<'_>, b: Value<'_>) -> Ordering {
    let is_nan = |value: Value<'_>| matches!(value, Value::Float(n) if n.is_nan());
    ordered(a, b).flatten().unwrap_or_else(|| is_nan(a).cmp(&is_nan(b)))
}

/// What a comparison may have to look through.
fn len_of(key: Value<'_>) -> usize {
    key.as_str().map_or_else(|| as_bytes(key).map_or(0, <[u8]>::len), str::len)
}

fn distinct<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [list] = arguments(cx, given)?;
    cx.charge(size_of_val(items(list)))?;
    let mut found: Vec<Value<'v>> = Vec::new();
    'items: for item in items(list) {
        for known in &found {
            if equal(cx, *known, *item)? {
                continue 'items;
            }
        }
        found.push(*item);
    }
    cx.list(&found)
}

fn reverse<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [list] = arguments(cx, given)?;
    cx.charge(size_of_val(items(list)))?;
    let reversed: Vec<_> = items(list).iter().rev().copied().collect();
    cx.list(&reversed)
}

fn range<'v>(cx: &Cx<'v>, given: &[Value<'v>]) -> Result<Value<'v>> {
    let [count] = arguments(cx, given)?;
    let count = number(count).max(0);
    cx.charge(usize::try_from(count).unwrap_or(usize::MAX).saturating_mul(size_of::<Value>()))?;
    let numbers: Vec<_> = (0..count).map(Value::Int).collect();
    cx.list(&numbers)
}
