//! Functions of lists: the libraries `lists` and `sets`, map comprehensions, and the lists of Kubernetes; optional values.

use std::cmp::Ordering;

use crate::values::access::find;
use crate::values::compare::{equal, ordered};
use crate::values::{
    access, as_optional, bad_argument, byte_len, compare, empty_optional, no_such_overload, optional_of, time,
    type_name,
};
use dropforge_base::diagnostics::Result;
use dropforge_machine::function::Cx;
use dropforge_machine::functions;
use dropforge_value::Value;

/// Declares the table with an overload of each sort function for each type of elements that have an order.
macro_rules! table {
    ($($name:literal $ty:ident)*) => {
        functions! {
            /// The library `lists`. The macro `list.sortBy(x, key)` calls `@sortByAssociatedKeys`.
            pub static TABLE:
            "slice", "Returns the elements from a start index up to, but not including, an end index."
                ["[1, 2, 3, 4].slice(1, 3)" => "[2, 3]", "[1, 2].slice(1, 3)" => "E0403"]
                | "list_slice" member ((list T), Int, Int) -> (list T) = slice;
            "flatten", "Flattens nested lists, one level deep or to a given depth."
                ["[1, [2, [3]]].flatten()" => "[1, 2, [3]]", "[1, [2, [3]]].flatten(2)" => "[1, 2, 3]"]
                | "list_flatten" member ((list (list T))) -> (list T) = flatten;
                | "list_flatten_int" member ((list Dyn), Int) -> (list Dyn) = flatten;
            "sort", "Sorts the elements."
                ["[3, 1, 2].sort()" => "[1, 2, 3]", "['b', 'a'].sort()" => "['a', 'b']", "[1, 'a'].sort()" => "E0403"]
                $(| "list_" $name "_sort" member ((list $ty)) -> (list $ty) = sort;)*
            "@sortByAssociatedKeys", "Sorts the elements by a list of their keys."
                ["[-3, 1, 2].sortBy(x, x * x)" => "[1, 2, -3]"]
                $(| "list_" $name "_sortByAssociatedKeys" member ((list T), (list $ty)) -> (list T) = sort_by_keys;)*
            "distinct", "Removes duplicates, keeping the first of equal elements." ["[1, 2, 1].distinct()" => "[1, 2]"]
                | "list_distinct" member ((list T)) -> (list T) = distinct;
            "reverse", "Reverses the elements." ["[1, 2].reverse()" => "[2, 1]"]
                | "list_reverse" member ((list T)) -> (list T) = reverse;
            "lists.range", "Returns the integers from 0 up to, but not including, a number."
                ["lists.range(3)" => "[0, 1, 2]", "lists.range(1000000000)" => "E0604"]
                | "lists_range" (Int) -> (list Int) = range;
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
    // All comparisons are paid for first, by the longest key.
    let comparisons = u64::from(keys.len().checked_ilog2().unwrap_or(0)) + 1;
    let longest = keys.iter().map(|key| byte_len(*key)).max().unwrap_or(0);
    cx.spend(comparisons.saturating_mul(keys.len() as u64).saturating_mul(1 + (longest / 64) as u64))?;
    cx.charge(keys.len() * 2 * size_of::<Value>())?;
    let mut pairs: Vec<(&Value<'v>, &Value<'v>)> = keys.iter().zip(list).collect();
    cx.sort_by(&mut pairs, |(a, _), (b, _)| order_of_keys(**a, **b))?;
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

functions! {
    /// The library `comprehensions`. Sources cannot write the name of its function.
    pub static COMPREHENSIONS:
    "cel.@mapInsert", "Adds an entry, or the entries of another map, to a map. A duplicate key is an error."
        ["[1, 2].transformMap(i, v, v)" => "{0: 1, 1: 2}", "[1, 1].transformMapEntry(i, v, {v: i})" => "E0403"]
        | "@mapInsert_map_key_value" ((map K V), K, V) -> (map K V) = insert;
        | "@mapInsert_map_map" ((map K V), (map K V)) -> (map K V) = insert_all;
}

fn insert<'v>(cx: &Cx<'v>, map: Value<'v>, key: Value<'v>, value: Value<'v>) -> Result<Value<'v>> {
    let (mut keys, mut values) = access::pairs(cx, map)?.unwrap_or_default();
    keys.push(key);
    values.push(value);
    access::map(cx, &keys, &values)
}

fn insert_all<'v>(cx: &Cx<'v>, map: Value<'v>, more: Value<'v>) -> Result<Value<'v>> {
    access::joined(cx, &[map, more]).map(Option::unwrap_or_default)
}

functions! {
    /// The library `sets`.
    pub static SETS:
    "sets.contains", "Returns `true` if the first list contains every element of the second."
        ["sets.contains([1, 2, 3], [2, 2])" => "true", "sets.contains([1], [1, 2])" => "false", "sets.contains([], [])" => "true"]
        | "list_sets_contains_list" ((list T), (list T)) -> Bool = contains;
    "sets.equivalent", "Returns `true` if each list contains every element of the other."
        ["sets.equivalent([1, 2], [2, 1, 1])" => "true", "sets.equivalent([1], [1, 2])" => "false"]
        | "list_sets_equivalent_list" ((list T), (list T)) -> Bool = equivalent;
    "sets.intersects", "Returns `true` if the lists have an element in common."
        ["sets.intersects([1, 2], [2, 3])" => "true", "sets.intersects([], [])" => "false"]
        | "list_sets_intersects_list" ((list T), (list T)) -> Bool = intersects;
}

/// Returns `true` if one of `items` is in `list`, or is not, as `wanted` says.
fn any<'v>(cx: &Cx<'v>, list: &'v [Value<'v>], items: &[Value<'v>], wanted: bool) -> Result<bool> {
    for item in items {
        if find(cx, list.iter().enumerate(), *item)?.is_some() == wanted {
            return Ok(true);
        }
    }
    Ok(false)
}

fn contains<'v>(cx: &Cx<'v>, list: &'v [Value<'v>], items: &'v [Value<'v>]) -> Result<bool> {
    any(cx, list, items, false).map(|missing| !missing)
}

fn equivalent<'v>(cx: &Cx<'v>, a: &'v [Value<'v>], b: &'v [Value<'v>]) -> Result<bool> {
    Ok(contains(cx, a, b)? && contains(cx, b, a)?)
}

fn intersects<'v>(cx: &Cx<'v>, a: &'v [Value<'v>], b: &'v [Value<'v>]) -> Result<bool> {
    any(cx, b, a, true)
}

/// Declares the table with an overload of each ordering function for each type of elements that have an order.
macro_rules! kubernetes_table {
    ($($name:literal $ty:ident)*) => {
        functions! {
            /// The library `kubernetes.lists`.
            pub static KUBERNETES_LISTS:
            "isSorted", "Returns `true` if no element is less than the one before it."
                ["[1, 2, 2].isSorted()" => "true", "['b', 'a'].isSorted()" => "false", "[].isSorted()" => "true"]
                $(| "list_" $name "_is_sorted_bool" member ((list $ty)) -> Bool = is_sorted;)*
            "sum", "Adds the elements."
                ["[1, 3].sum()" => "4", "[1.5, 1.5].sum()" => "3.0", "[].sum()" => "0", "[9223372036854775807, 1].sum()" => "E0302"]
                | "list_int_sum_int" member ((list Int)) -> Int = sum(Value::Int(0));
                | "list_uint_sum_uint" member ((list Uint)) -> Uint = sum(Value::Uint(0));
                | "list_double_sum_double" member ((list Double)) -> Double = sum(Value::Float(0.0));
                | "list_duration_sum_duration" member ((list Duration)) -> Duration = sum_of_durations;
            "min", "Returns the least element." ["[3, 1, 2].min()" => "1", "[].min()" => "E0403"]
                $(| "list_" $name "_min_" $name member ((list $ty)) -> $ty = extreme("min", Ordering::Greater);)*
            "max", "Returns the greatest element." ["[3, 1, 2].max()" => "3", "['a', 'b'].max()" => "'b'"]
                $(| "list_" $name "_max_" $name member ((list $ty)) -> $ty = extreme("max", Ordering::Less);)*
            "indexOf", "Returns the index of the first element equal to a value; -1 if there is none."
                ["[1, 2, 2].indexOf(2)" => "1", "[].indexOf(1)" => "-1"]
                | "list_a_index_of_int" member ((list A), A) -> Int = index_of;
            "lastIndexOf", "Returns the index of the last element equal to a value; -1 if there is none." ["[1, 2, 2].lastIndexOf(2)" => "2"]
                | "list_a_last_index_of_int" member ((list A), A) -> Int = last_index_of;
            "includes", "Returns `true` if a list contains a value, or if a value that is not a list is equal to it."
                ["[1, 2].includes(2)" => "true", "'a'.includes('a')" => "true", "'ab'.includes('a')" => "false"]
                | "list_includes_dyn_dyn" member (Dyn, Dyn) -> Bool = includes;
        }
    };
}

kubernetes_table! {
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
            compare::add(cx, sum, *item)
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

functions! {
    /// The library `optional`.
    pub static OPTIONALS:
    "optional.of", "Makes an optional of a value." ["optional.of(1).value()" => "1"]
        | "optional_of" (V) -> (optional V) = optional_of;
    "optional.none", "Makes an optional without a value." ["optional.none().hasValue()" => "false"]
        | "optional_none" () -> (optional V) = empty_optional;
    "optional.ofNonZeroValue", "Makes an optional of a value; without a value for the zero value of a type: null, false, 0, an empty string, list or map."
        ["optional.ofNonZeroValue('').hasValue()" => "false", "optional.ofNonZeroValue(optional.none()).hasValue()" => "true", "optional.ofNonZeroValue('a').value()" => "'a'"]
        | "optional_ofNonZeroValue" (V) -> (optional V) = of_non_zero;
    "optional.unwrap", "Returns the values of a list of optionals, without the empty ones."
        ["optional.unwrap([optional.of(1), optional.none()])" => "[1]"]
        | "optional_unwrap" ((list (optional V))) -> (list V) = unwrap;
    "unwrapOpt", "Returns the values of a list of optionals, without the empty ones."
        ["[optional.of(1), optional.none()].unwrapOpt()" => "[1]"]
        | "optional_unwrapOpt" member ((list (optional V))) -> (list V) = unwrap;
    "hasValue", "Returns `true` if an optional holds a value." ["optional.of(1).hasValue()" => "true"]
        | "optional_hasValue" member ((optional V)) -> Bool = has_value;
    "value", "Returns the value that an optional holds." ["optional.of(1).value()" => "1", "optional.none().value()" => "E0403"]
        | "optional_value" member ((optional V)) -> V = value;
    "or", "Returns the first of two optionals that holds a value." ["optional.none().or(optional.of(1)).value()" => "1", "optional.none().or(null)" => "null"]
        | "optional_or_optional" member ((optional V), (optional V)) -> (optional V) = or;
    "orValue", "Returns the value that an optional holds, or else the argument." ["optional.none().orValue(1)" => "1"]
        | "optional_orValue_value" member ((optional V), V) -> V = or_value;
    "first", "Returns an optional of the first element." ["[1, 2].first().value()" => "1", "[].first().hasValue()" => "false"]
        | "list_first" member ((list V)) -> (optional V) = first;
    "last", "Returns an optional of the last element." ["[1, 2].last().value()" => "2"]
        | "list_last" member ((list V)) -> (optional V) = last;
    "_?._", "Returns an optional of a field." ["{'a': 1}.?a.value()" => "1", "{'a': 1}.?b.hasValue()" => "false"]
        | "select_optional_field" (Dyn, String) -> (optional V) = access::select_optional;
    "_[?_]", "Returns an optional of an element or entry."
        ["[1][?0].value()" => "1", "[1][?1].hasValue()" => "false", "{1: 'a'}[?1].value()" => "'a'"]
        | "list_optindex_optional_int" ((list V), Int) -> (optional V) = access::index_optional;
        | "optional_list_optindex_optional_int" ((optional (list V)), Int) -> (optional V) = access::index_optional;
        | "map_optindex_optional_value" ((map K V), K) -> (optional V) = access::index_optional;
        | "optional_map_optindex_optional_value" ((optional (map K V)), K) -> (optional V) = access::index_optional;
    "_[_]", "Returns an optional of the element of the value that an optional holds." ["optional.of([1])[0].value()" => "1"]
        | "optional_list_index_int" ((optional (list V)), Int) -> (optional V) = access::index_optional;
        | "optional_map_index_value" ((optional (map K V)), K) -> (optional V) = access::index_optional;
}

/// Returns the value that an optional holds, if any.
fn held<'v>(optional: Value<'v>) -> Option<Value<'v>> {
    as_optional(optional).filter(|held| !held.is_undefined())
}

fn of_non_zero<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<Value<'v>> {
    if access::is_zero(value) { empty_optional(cx) } else { optional_of(cx, value) }
}

fn unwrap<'v>(cx: &Cx<'v>, list: &'v [Value<'v>]) -> Result<Vec<Value<'v>>> {
    cx.charge(size_of_val(list))?;
    let mut values = Vec::new();
    for item in list {
        match as_optional(*item) {
            Some(Value::Undefined) => {}
            Some(value) => values.push(value),
            None => return Err(no_such_overload("optional.unwrap", false, &[*item])),
        }
    }
    Ok(values)
}

fn has_value(optional: Value<'_>) -> bool {
    held(optional).is_some()
}

fn value<'v>(optional: Value<'v>) -> Result<Value<'v>> {
    held(optional).ok_or_else(|| {
        bad_argument("optional.none() dereference").with_help("ask `hasValue()` first, or use `orValue(…)`")
    })
}

fn or<'v>(a: Value<'v>, b: Value<'v>) -> Value<'v> {
    if matches!(as_optional(a), Some(Value::Undefined)) { b } else { a }
}

fn or_value<'v>(optional: Value<'v>, otherwise: Value<'v>) -> Value<'v> {
    held(optional).unwrap_or(otherwise)
}

fn first<'v>(cx: &Cx<'v>, list: &'v [Value<'v>]) -> Result<Value<'v>> {
    optional_of(cx, list.first().copied().unwrap_or_default())
}

fn last<'v>(cx: &Cx<'v>, list: &'v [Value<'v>]) -> Result<Value<'v>> {
    optional_of(cx, list.last().copied().unwrap_or_default())
}
