//! Functions of lists.

use std::cmp::Ordering;

use crate::values::compare::{equal, ordered};
use crate::values::errors::bad_argument;
use crate::values::{byte_len, type_name};
use dropforge_base::diagnostics::Result;
use dropforge_base::stdlib::small_sort::SmallSort as _;
use dropforge_machine::function::Cx;
use dropforge_machine::overloads;
use dropforge_value::Value;

/// Declares the table with an overload of each sort function for each type of elements that have an order.
macro_rules! table {
    ($($name:literal $ty:ident)*) => {
        overloads! {
            /// The library `lists`. The macro `list.sortBy(x, key)` calls `@sortByAssociatedKeys`.
            pub static TABLE:
            "slice": "Returns the elements from a start index up to, but not including, an end index."
                ["[1, 2, 3, 4].slice(1, 3)" => "[2, 3]", "[1, 2].slice(1, 3)" => "E0403"]
                fn "list_slice" member ((list T), Int, Int) -> (list T) = slice;
            "flatten": "Flattens nested lists, one level deep or to a given depth."
                ["[1, [2, [3]]].flatten()" => "[1, 2, [3]]", "[1, [2, [3]]].flatten(2)" => "[1, 2, 3]"]
                fn "list_flatten" member ((list (list T))) -> (list T) = flatten;
                fn "list_flatten_int" member ((list Dyn), Int) -> (list Dyn) = flatten;
            "sort": "Sorts the elements."
                ["[3, 1, 2].sort()" => "[1, 2, 3]", "['b', 'a'].sort()" => "['a', 'b']", "[1, 'a'].sort()" => "E0403"]
                $(fn "list_" $name "_sort" member ((list $ty)) -> (list $ty) = sort;)*
            "@sortByAssociatedKeys": "Sorts the elements by a list of their keys."
                ["[-3, 1, 2].sortBy(x, x * x)" => "[1, 2, -3]"]
                $(fn "list_" $name "_sortByAssociatedKeys" member ((list T), (list $ty)) -> (list T) = sort_by_keys;)*
            "distinct": "Removes duplicates, keeping the first of equal elements." ["[1, 2, 1].distinct()" => "[1, 2]"]
                fn "list_distinct" member ((list T)) -> (list T) = distinct;
            "reverse": "Reverses the elements." ["[1, 2].reverse()" => "[2, 1]"]
                fn "list_reverse" member ((list T)) -> (list T) = reverse;
            "lists.range": "Returns the integers from 0 up to, but not including, a number."
                ["lists.range(3)" => "[0, 1, 2]", "lists.range(1000000000)" => "E0604"]
                fn "lists_range" (Int) -> (list Int) = range;
        }
    };
}

table! {
    "int" Int
    "uint" Uint
    "double" Double
    "bool" Bool
    "google.protobuf.Duration" Duration
    "google.protobuf.Timestamp" Timestamp
    "string" String
    "bytes" Bytes
}

fn slice<'v>(cx: &Cx<'v>, list: &'v [Value<'v>], start: i64, end: i64) -> Result<Value<'v>> {
    let error = |why: &str| bad_argument(format!("cannot slice({start}, {end}), {why}"));
    let (Ok(from), Ok(to)) = (usize::try_from(start), usize::try_from(end)) else {
        return Err(error("negative indexes not supported"));
    };
    if from > to {
        return Err(error("start index must be less than or equal to end index"));
    }
    let slice = list.get(from..to).ok_or_else(|| error(&format!("list is length {}", list.len())))?;
    cx.spend((slice.len() / 16) as u64)?;
    cx.charge(size_of::<Value>() * 2)?;
    Ok(cx.arena().borrowed_list(slice))
}

fn flatten<'v>(cx: &Cx<'v>, list: &'v [Value<'v>], depth: Option<i64>) -> Result<Vec<Value<'v>>> {
    let depth = depth.unwrap_or(1);
    if depth < 0 {
        return Err(bad_argument("level must be non-negative"));
    }
    let mut flat = Vec::new();
    flatten_into(cx, list, depth, &mut flat)?;
    Ok(flat)
}

fn flatten_into<'v>(cx: &Cx<'v>, list: &[Value<'v>], depth: i64, flat: &mut Vec<Value<'v>>) -> Result<()> {
    for item in list {
        cx.charge(size_of::<Value>())?;
        match item.as_list() {
            Some(items) if depth > 0 => flatten_into(cx, items, depth - 1, flat)?,
            _ => flat.push(*item),
        }
    }
    Ok(())
}

fn sort<'v>(cx: &Cx<'v>, list: &'v [Value<'v>]) -> Result<Vec<Value<'v>>> {
    sorted(cx, list, list)
}

fn sort_by_keys<'v>(cx: &Cx<'v>, list: &'v [Value<'v>], keys: &'v [Value<'v>]) -> Result<Vec<Value<'v>>> {
    if list.len() != keys.len() {
        return Err(bad_argument(
            "@sortByAssociatedKeys() expected a list of the same size as the associated keys list",
        ));
    }
    sorted(cx, list, keys)
}

/// Sorts `list` by `keys`, one for each element. The sort is stable.
fn sorted<'v>(cx: &Cx<'v>, list: &[Value<'v>], keys: &[Value<'v>]) -> Result<Vec<Value<'v>>> {
    if let Some((first, rest)) = keys.split_first() {
        if rest.iter().any(|key| type_name(*key) != type_name(*first)) {
            return Err(bad_argument("list elements must have the same type"));
        }
        if ordered(*first, *first).is_none() {
            return Err(bad_argument("list elements must be comparable"));
        }
    }
    // A sort cannot be interrupted, so all comparisons are paid for first, by the longest key.
    let comparisons = u64::from(keys.len().checked_ilog2().unwrap_or(0)) + 1;
    let longest = keys.iter().map(|key| byte_len(*key)).max().unwrap_or(0);
    cx.spend(comparisons.saturating_mul(keys.len() as u64).saturating_mul(1 + (longest / 64) as u64))?;
    cx.charge(keys.len() * 2 * size_of::<Value>())?;
    let mut pairs: Vec<(&Value<'v>, &Value<'v>)> = keys.iter().zip(list).collect();
    pairs.small_sort_by(|(a, _), (b, _)| order_of_keys(**a, **b));
    Ok(pairs.into_iter().map(|(_, value)| *value).collect())
}

/// Orders two keys of one type. NaN is greater than all other numbers.
fn order_of_keys(a: Value<'_>, b: Value<'_>) -> Ordering {
    let is_nan = |value: Value<'_>| matches!(value, Value::Float(n) if n.is_nan());
    ordered(a, b).flatten().unwrap_or_else(|| is_nan(a).cmp(&is_nan(b)))
}

fn distinct<'v>(cx: &Cx<'v>, list: &'v [Value<'v>]) -> Result<Vec<Value<'v>>> {
    cx.charge(size_of_val(list))?;
    let mut found: Vec<Value<'v>> = Vec::new();
    'items: for item in list {
        for known in &found {
            if equal(cx, *known, *item)? {
                continue 'items;
            }
        }
        found.push(*item);
    }
    Ok(found)
}

fn reverse<'v>(cx: &Cx<'v>, list: &'v [Value<'v>]) -> Result<Vec<Value<'v>>> {
    cx.charge(size_of_val(list))?;
    Ok(list.iter().rev().copied().collect())
}

fn range<'v>(cx: &Cx<'v>, count: i64) -> Result<Vec<Value<'v>>> {
    let count = count.max(0);
    cx.charge(usize::try_from(count).unwrap_or(usize::MAX).saturating_mul(size_of::<Value>()))?;
    Ok((0..count).map(Value::Int).collect())
}
