//! Functions that look up elements of collections, and functions that select elements by value.

use super::strings::strlen;
use super::{
    WHOLE, element_of, functions, has_elements, is_sequence, is_true, items, length_is_known, marked_as, to_i64,
    type_name,
};
use crate::values::{
    Index, access, convert, elements, equals, is_wholly_known, list_of, machine_int, settled, shallow_type, type_of,
    unified_type,
};
use dropforge_base::stdlib::small_sort::SmallSort as _;
use dropforge_machine::function::{Cx, Fault, Outcome};
use dropforge_value::{Refinement, Type, Value};

functions! {
    /// Search functions of the standard library and OpenTofu.
    pub(super) static SEARCHES:
    "contains" (list: Any, value: Any [null]) -> Bool = contains,
        "Returns `true` if a value is an element of a list, tuple or set." ["contains([\"a\", \"b\"], \"a\")" => "true"];
    "distinct" (list: (list Any)) -> {type_of} = distinct,
        "Removes duplicates from a list." ["distinct([1, 2, 1])" => "[1, 2]"];
    "compact" (list: (list String)) -> (list String) = compact,
        "Removes null and the empty string from a list." ["compact([\"a\", \"\", null, \"b\"])" => "[\"a\", \"b\"]"];
    "sort" (list: (list String) [unknown]) -> (list String) = sort,
        "Sorts a list of strings by their bytes." ["sort([\"b\", \"a\"])" => "[\"a\", \"b\"]"];
}

functions! {
    /// Search functions of OpenTofu.
    pub(super) static OPENTOFU_SEARCHES:
    "length" (value: Any [unknown dynamic marked]) -> Number = length,
        "Returns the number of elements of a collection, or of characters of a string." [
            "length([1, 2])" => "2", "length({a = 1})" => "1", "length(\"abc\")" => "3"];
    "index" (list: Any, value: Any) -> Number = position,
        "Returns the index of the first element of a list that equals a value." ["index([\"a\", \"b\"], \"b\")" => "1"];
    "matchkeys" (values: (list Any), keys: (list Any), searchset: (list Any)) -> {match_type} = matchkeys,
        "Returns the values whose key, at the same index, is in a list." ["matchkeys([1, 2], [\"a\", \"b\"], [\"b\"])" => "[2]"];
    "one" (list: Any) -> {one_type} or null = one,
        "Returns the only element of a collection, or null if it is empty." ["one([1])" => "1", "one([])" => "null"];
}

functions! {
    /// Search functions of the standard library.
    pub(super) static STANDARD_SEARCHES:
    "length" (collection: Any [unknown dynamic marked]) -> Number = standard_length,
        "Returns the number of elements of a collection." ["length([1, 2])" => "2"];
    "index" (collection: Any, key: Any [dynamic]) -> {index_type} or null = index,
        "Returns the element of a collection at an index or key." ["index([\"a\", \"b\"], 1)" => "\"b\""];
    "hasindex" (collection: Any [dynamic], key: Any [dynamic]) -> {hasindex_type} = hasindex,
        "Returns `true` if a collection has an element at an index or key." ["hasindex([1], 1)" => "false"];
    "sethaselement" (set: (set Any) [dynamic], elem: Any [dynamic]) -> Bool = access::has_element,
        "Returns `true` if a value is an element of a set." ["sethaselement([\"a\"], \"a\")" => "true"];
}

fn contains<'v>(cx: &Cx<'v>, list: Value<'v>, wanted: Value<'v>) -> Outcome<Value<'v>> {
    if !has_elements(cx, list) {
        return Err(Fault::wrong("a list, tuple or set is required"));
    }
    let mut open = false;
    for item in items(list) {
        match equals(cx, wanted, *item)? {
            Value::Bool(true) => return Ok(Value::Bool(true)),
            equal => open |= !equal.is_known(),
        }
    }
    Ok(if open { cx.arena().unknown(Type::Bool) } else { Value::Bool(false) })
}

fn distinct<'v>(cx: &Cx<'v>, list: Value<'v>) -> Outcome<Value<'v>> {
    let ty = type_of(cx, list)?;
    if !is_wholly_known(cx, list)? {
        return Ok(cx.arena().unknown(ty));
    }
    list_of(cx, element_of(&ty), &Index::of(cx, items(list))?.into_elements())
}

fn compact<'v>(cx: &Cx<'v>, list: Value<'v>) -> Outcome<Value<'v>> {
    if !is_wholly_known(cx, list)? {
        return Ok(cx.arena().unknown(Type::List(&Type::String)));
    }
    cx.charge(size_of_val(items(list)))?;
    let is_full = |item: &&Value<'v>| item.as_str().is_some_and(|text| !text.is_empty());
    list_of(cx, Type::String, &items(list).iter().filter(is_full).copied().collect::<Vec<_>>())
}

fn sort<'v>(cx: &Cx<'v>, list: Value<'v>) -> Outcome<Value<'v>> {
    let length = items(list).len();
    if !is_wholly_known(cx, list)? {
        let known = list.as_unknown().map(|unknown| (unknown.refinement.len_least, unknown.refinement.len_most));
        let (len_least, len_most) = known.unwrap_or((length as u64, length as u64));
        return settled(cx, Type::List(&Type::String), Refinement { len_least, len_most, ..Refinement::NOT_NULL });
    }
    if let Some(at) = items(list).iter().position(Value::is_null) {
        return Err(Fault::wrong(format!("the string at index {at} is null and cannot be sorted")));
    }
    cx.charge(length * 2 * size_of::<Value>())?;
    cx.spend(length as u64 * u64::from(length.checked_ilog2().unwrap_or(0)))?;
    let mut sorted = items(list).to_vec();
    sorted.small_sort_by_key(Value::as_str);
    list_of(cx, Type::String, &sorted)
}

fn length<'v>(cx: &Cx<'v>, value: Value<'v>) -> Outcome<Value<'v>> {
    let length = match shallow_type(cx, value) {
        Type::Bool | Type::Number | Type::Capsule(_) => {
            return Err(Fault::wrong(format!("a collection or a string is required, not {}", type_name(cx, value)?)));
        }
        Type::Dynamic => cx.arena().unknown(Type::Number),
        Type::String => strlen(cx, value.unmarked().0)?,
        _ => return elements::length(cx, value),
    };
    Ok(marked_as(cx, length, &[value]))
}

fn standard_length<'v>(cx: &Cx<'v>, value: Value<'v>) -> Outcome<Value<'v>> {
    let ty = shallow_type(cx, value);
    if ty.is_primitive() || matches!(ty, Type::Object(_) | Type::Capsule(_)) {
        return Err(Fault::wrong(format!("a list, set, map or tuple is required, not {}", type_name(cx, value)?)));
    }
    elements::length(cx, value)
}

fn position<'v>(cx: &Cx<'v>, list: Value<'v>, wanted: Value<'v>) -> Outcome<Value<'v>> {
    if !is_sequence(cx, list) {
        return Err(Fault::wrong("a list or tuple is required"));
    }
    for (at, item) in items(list).iter().enumerate() {
        match equals(cx, *item, wanted)? {
            Value::Bool(true) => return machine_int(cx, at),
            equal if !equal.is_known() => return Ok(cx.arena().unknown(Type::Number)),
            _ => {}
        }
    }
    Err(Fault::wrong("no element equals the value"))
}

fn match_type<'v>(cx: &Cx<'v>, values: Value<'v>, keys: Value<'v>, wanted: Value<'v>) -> Outcome<Type<'v>> {
    key_type(cx, keys, wanted)?;
    type_of(cx, values)
}

/// Returns the common type of the keys and the keys to search for.
fn key_type<'v>(cx: &Cx<'v>, keys: Value<'v>, wanted: Value<'v>) -> Outcome<Type<'v>> {
    let common = unified_type(cx, &[type_of(cx, keys)?, type_of(cx, wanted)?], true)?;
    common.ok_or_else(|| Fault::wrong("the keys and the values to search for have no common type"))
}

fn matchkeys<'v>(cx: &Cx<'v>, values: Value<'v>, keys: Value<'v>, wanted: Value<'v>) -> Outcome<Value<'v>> {
    let (key_type, ty) = (key_type(cx, keys, wanted)?, type_of(cx, values)?);
    if items(values).len() != items(keys).len() {
        return Err(Fault::wrong("the number of keys must equal the number of values"));
    }
    let (keys, wanted) = (convert(cx, keys, &key_type)?, convert(cx, wanted, &key_type)?);
    let settled = items(wanted).is_empty() || is_wholly_known(cx, values)? && is_wholly_known(cx, keys)?;
    if !settled {
        return Ok(cx.arena().unknown(ty));
    }
    let known = is_wholly_known(cx, wanted)?;
    let seen = if known { Index::of(cx, items(wanted))? } else { Index::default() };
    let mut matched = Vec::new();
    for (key, value) in items(keys).iter().zip(items(values)) {
        let found = if known { Some(seen.has(cx, *key)?) } else { found(cx, items(wanted), *key)? };
        match found {
            Some(true) => matched.push(*value),
            Some(false) => {}
            // Like the reference, returns an empty list instead of an unknown one.
            None => return list_of(cx, element_of(&ty), &[]),
        }
    }
    list_of(cx, element_of(&ty), &matched)
}

/// Returns whether `key` is in `wanted`, or `None` if an unknown value before it could equal it.
fn found<'v>(cx: &Cx<'v>, wanted: &[Value<'v>], key: Value<'v>) -> Outcome<Option<bool>> {
    for wanted in wanted {
        match equals(cx, key, *wanted)? {
            Value::Bool(true) => return Ok(Some(true)),
            equal if !equal.is_known() => return Ok(None),
            _ => {}
        }
    }
    Ok(Some(false))
}

fn not_one() -> Fault {
    Fault::argument(0, "a list, set or tuple with at most one element is required")
}

fn one_type<'v>(cx: &Cx<'v>, list: Value<'v>) -> Outcome<Type<'v>> {
    match type_of(cx, list)? {
        Type::List(element) | Type::Set(element) => Ok(*element),
        Type::Tuple([]) => Ok(Type::Dynamic),
        Type::Tuple([one]) => Ok(*one),
        _ => Err(not_one()),
    }
}

fn one<'v>(cx: &Cx<'v>, list: Value<'v>) -> Outcome<Value<'v>> {
    let ty = one_type(cx, list)?;
    if !length_is_known(cx, list)? {
        return Ok(cx.arena().unknown(ty));
    }
    match items(list) {
        [] => Ok(cx.arena().null(ty)),
        [one] => Ok(*one),
        _ => Err(not_one()),
    }
}

fn index_type<'v>(cx: &Cx<'v>, collection: Value<'v>, key: Value<'v>) -> Outcome<Type<'v>> {
    let (ty, key_type) = (type_of(cx, collection)?, type_of(cx, key)?);
    let wanted = match ty {
        Type::List(_) | Type::Tuple(_) => Type::Number,
        Type::Map(_) => Type::String,
        _ => return Err(not_indexable()),
    };
    if key_type != wanted && key_type != Type::Dynamic {
        return Err(Fault::wrong("keys of lists and tuples are numbers, keys of maps are strings"));
    }
    let Type::Tuple(types) = ty else { return Ok(element_of(&ty)) };
    if !key.is_known() {
        return Ok(Type::Dynamic);
    }
    let at = to_i64(key).ok_or_else(|| Fault::wrong(format!("the key does not fit: {WHOLE}")))?;
    let found = usize::try_from(at).ok().and_then(|at| types.get(at));
    found.copied().ok_or_else(|| Fault::wrong(format!("the index is out of range: there are {} elements", types.len())))
}

fn not_indexable() -> Fault {
    Fault::wrong("a list, map or tuple is required")
}

fn index<'v>(cx: &Cx<'v>, collection: Value<'v>, key: Value<'v>) -> Outcome<Value<'v>> {
    index_type(cx, collection, key)?;
    if !is_true(access::has_index(cx, collection, key)?) {
        return Err(Fault::wrong("there is no element at this key"));
    }
    access::index(cx, collection, key)
}

fn hasindex_type<'v>(cx: &Cx<'v>, collection: Value<'v>, _: Value<'v>) -> Outcome<Type<'v>> {
    match shallow_type(cx, collection) {
        Type::List(_) | Type::Tuple(_) | Type::Map(_) | Type::Dynamic => Ok(Type::Bool),
        _ => Err(not_indexable()),
    }
}

fn hasindex<'v>(cx: &Cx<'v>, collection: Value<'v>, key: Value<'v>) -> Outcome<Value<'v>> {
    hasindex_type(cx, collection, key)?;
    access::has_index(cx, collection, key)
}
