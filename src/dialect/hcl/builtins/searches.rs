//! Functions that ask what is in a list, set or map, and those that choose elements by what they are.

use super::parts::{Kind, WHOLE, element_of, is_true, items, length_is_known, marked_as, named, whole};
use super::strings::strlen;
use crate::dialect::hcl::values::convert::convert;
use crate::dialect::hcl::values::elements::list_of;
use crate::dialect::hcl::values::equality::equals;
use crate::dialect::hcl::values::numbers::machine_int;
use crate::dialect::hcl::values::refine::settled;
use crate::dialect::hcl::values::sets::Index;
use crate::dialect::hcl::values::types::type_of;
use crate::dialect::hcl::values::unify::unified_type;
use crate::dialect::hcl::values::{Fault, Outcome, access, elements, is_wholly_known};
use crate::function::Cx;
use crate::positional;
use crate::value::{Refinement, Type, Value};

positional! {
    /// Functions that search.
    pub(super) static SEARCHES:
    "contains" (list: Any, value: Any) -> Bool = contains,
        "Whether a value is an element of a list, tuple or set." ["contains([\"a\", \"b\"], \"a\")" => "true"];
    "distinct" (list: (list Any)) -> {same_list} = distinct,
        "The elements of a list, each only once, where it comes first." ["distinct([1, 2, 1])" => "[1, 2]"];
    "compact" (list: (list String)) -> (list String) = compact,
        "The texts of a list that are neither empty nor null." ["compact([\"a\", \"\", null, \"b\"])" => "[\"a\", \"b\"]"];
    "sort" (list: (list String)) -> (list String) = sort,
        "The texts of a list, sorted by their bytes." ["sort([\"b\", \"a\"])" => "[\"a\", \"b\"]"];
}

positional! {
    /// Functions that search, as only OpenTofu has them.
    pub(super) static OPENTOFU_SEARCHES:
    "length" (value: Any [unknown dynamic marked]) -> Number = length,
        "How many elements a collection has, or how many characters a text." [
            "length([1, 2])" => "2", "length({a = 1})" => "1", "length(\"abc\")" => "3"];
    "index" (list: Any, value: Any) -> Number = position,
        "The index of the first element of a list that is equal to a value." ["index([\"a\", \"b\"], \"b\")" => "1"];
    "matchkeys" (values: (list Any), keys: (list Any), searchset: (list Any)) -> {match_type} = matchkeys,
        "Those values whose key, at the same index, is in a list." ["matchkeys([1, 2], [\"a\", \"b\"], [\"b\"])" => "[2]"];
    "one" (list: Any) -> {one_type} or null = one,
        "The one element of a collection, or null if it is empty." ["one([1])" => "1", "one([])" => "null"];
}

positional! {
    /// Functions that search, as OpenTofu has not or has otherwise.
    pub(super) static STANDARD_SEARCHES:
    "length" (collection: Any [unknown dynamic marked]) -> Number = standard_length,
        "How many elements a collection has." ["length([1, 2])" => "2"];
    "index" (collection: Any, key: Any [dynamic]) -> {index_type} or null = index,
        "The element of a collection at an index or key." ["index([\"a\", \"b\"], 1)" => "\"b\""];
    "hasindex" (collection: Any [dynamic], key: Any [dynamic]) -> {hasindex_type} = hasindex,
        "Whether a collection has an element at an index or key." ["hasindex([1], 1)" => "false"];
    "sethaselement" (set: (set Any) [dynamic], elem: Any [dynamic]) -> Bool = sethaselement,
        "Whether a value is an element of a set." ["sethaselement([\"a\"], \"a\")" => "true"];
}

fn contains<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let [list, wanted] = args else { return Err(cx.arity().into()) };
    if !Kind::of(*list).has_elements() {
        return Err(Fault::wrong("a list, tuple or set is required"));
    }
    let mut open = false;
    for item in items(*list) {
        match equals(cx, *wanted, *item)? {
            Value::Bool(true) => return Ok(Value::Bool(true)),
            equal => open |= !equal.is_known(),
        }
    }
    Ok(if open { cx.arena().unknown(Type::Bool) } else { Value::Bool(false) })
}

/// The type of the first argument.
fn same_list<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Type<'v>> {
    let [list, ..] = args else { return Err(cx.arity().into()) };
    type_of(cx, *list)
}

fn distinct<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let [list] = args else { return Err(cx.arity().into()) };
    let ty = type_of(cx, *list)?;
    if !is_wholly_known(cx, *list)? {
        return Ok(cx.arena().unknown(ty));
    }
    let (mut seen, mut kept) = (Index::default(), Vec::new());
    for item in items(*list) {
        if seen.add(cx, *item)? {
            kept.push(*item);
        }
    }
    list_of(cx, element_of(&ty), &kept)
}

fn compact<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let [list] = args else { return Err(cx.arity().into()) };
    if !is_wholly_known(cx, *list)? {
        return Ok(cx.arena().unknown(Type::List(&Type::String)));
    }
    cx.charge(size_of_val(items(*list)))?;
    let full = |item: &&Value<'v>| item.as_str().is_some_and(|text| !text.is_empty());
    list_of(cx, Type::String, &items(*list).iter().filter(full).copied().collect::<Vec<_>>())
}

fn sort<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let [list] = args else { return Err(cx.arity().into()) };
    let length = items(*list).len();
    if !is_wholly_known(cx, *list)? {
        let (len_least, len_most) = (length as u64, length as u64);
        let known = Refinement { len_least, len_most, ..Refinement::NOT_NULL };
        return settled(cx, Type::List(&Type::String), known);
    }
    if let Some(at) = items(*list).iter().position(Value::is_null) {
        return Err(Fault::wrong(format!("the text at index {at} is null and cannot be sorted")));
    }
    cx.charge(length * 2 * size_of::<Value>())?;
    cx.spend(comparisons(length))?;
    let mut sorted = items(*list).to_vec();
    sorted.sort_by_key(Value::as_str);
    list_of(cx, Type::String, &sorted)
}

/// About how many comparisons sorting so many values takes.
fn comparisons(count: usize) -> u64 {
    count as u64 * u64::from(count.checked_ilog2().unwrap_or(0))
}

fn length<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let [value] = args else { return Err(cx.arity().into()) };
    let length = match Kind::of(*value) {
        Kind::Other => {
            return Err(Fault::wrong(format!("a collection or a text is required, not {}", named(cx, *value)?)));
        }
        Kind::Dynamic => cx.arena().unknown(Type::Number),
        Kind::String => strlen(cx, &[value.unmarked().0])?,
        _ => return elements::length(cx, *value),
    };
    Ok(marked_as(cx, length, args))
}

fn standard_length<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let [value] = args else { return Err(cx.arity().into()) };
    if let Kind::Other | Kind::Object | Kind::String = Kind::of(*value) {
        return Err(Fault::wrong(format!("a list, set, map or tuple is required, not {}", named(cx, *value)?)));
    }
    elements::length(cx, *value)
}

fn position<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let [list, wanted] = args else { return Err(cx.arity().into()) };
    if !Kind::of(*list).is_sequence() {
        return Err(Fault::wrong("a list or tuple is required"));
    }
    for (at, item) in items(*list).iter().enumerate() {
        match equals(cx, *item, *wanted)? {
            Value::Bool(true) => return machine_int(cx, at),
            equal if !equal.is_known() => return Ok(cx.arena().unknown(Type::Number)),
            _ => {}
        }
    }
    Err(Fault::wrong("no element is equal to the value"))
}

fn match_type<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Type<'v>> {
    let [values, ..] = args else { return Err(cx.arity().into()) };
    key_type(cx, args)?;
    type_of(cx, *values)
}

/// The one type of the keys and of what is searched among them.
fn key_type<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Type<'v>> {
    let [_, keys, wanted] = args else { return Err(cx.arity().into()) };
    let common = unified_type(cx, &[type_of(cx, *keys)?, type_of(cx, *wanted)?], true)?;
    common.ok_or_else(|| Fault::wrong("the keys and the values to search for must be of one type"))
}

fn matchkeys<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let [values, keys, wanted] = args else { return Err(cx.arity().into()) };
    let (key_type, ty) = (key_type(cx, args)?, type_of(cx, *values)?);
    if items(*values).len() != items(*keys).len() {
        return Err(Fault::wrong("there must be as many keys as values"));
    }
    let (keys, wanted) = (convert(cx, *keys, &key_type)?, convert(cx, *wanted, &key_type)?);
    let settled = items(wanted).is_empty() || is_wholly_known(cx, *values)? && is_wholly_known(cx, keys)?;
    if !settled {
        return Ok(cx.arena().unknown(ty));
    }
    let known = is_wholly_known(cx, wanted)?;
    let seen = if known { Index::of(cx, items(wanted))? } else { Index::default() };
    let mut matched = Vec::new();
    for (key, value) in items(keys).iter().zip(items(*values)) {
        let found = if known { Some(seen.has(cx, *key)?) } else { found(cx, items(wanted), *key)? };
        match found {
            Some(true) => matched.push(*value),
            Some(false) => {}
            // The reference does not say that it is unknown.
            None => return list_of(cx, element_of(&ty), &[]),
        }
    }
    list_of(cx, element_of(&ty), &matched)
}

/// Whether `key` is among `wanted`; nothing where one before it may be equal to it.
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

const ONE: &str = "a list, set or tuple with no more than one element is required";

fn one_type<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Type<'v>> {
    let [list] = args else { return Err(cx.arity().into()) };
    match type_of(cx, *list)? {
        Type::List(element) | Type::Set(element) => Ok(*element),
        Type::Tuple([]) => Ok(Type::Dynamic),
        Type::Tuple([one]) => Ok(*one),
        _ => Err(Fault::argument(0, ONE)),
    }
}

fn one<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let [list] = args else { return Err(cx.arity().into()) };
    let ty = one_type(cx, args)?;
    if !length_is_known(cx, *list)? {
        return Ok(cx.arena().unknown(ty));
    }
    match items(*list) {
        [] => Ok(cx.arena().null(ty)),
        [one] => Ok(*one),
        _ => Err(Fault::argument(0, ONE)),
    }
}

fn index_type<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Type<'v>> {
    let [collection, key] = args else { return Err(cx.arity().into()) };
    let (ty, key_type) = (type_of(cx, *collection)?, type_of(cx, *key)?);
    let wanted = match ty {
        Type::List(_) | Type::Tuple(_) => Type::Number,
        Type::Map(_) => Type::String,
        _ => return Err(Fault::wrong("a list, map or tuple is required")),
    };
    if key_type != wanted && key_type != Type::Dynamic {
        return Err(Fault::wrong("lists and tuples have numbers as keys, maps have texts"));
    }
    let Type::Tuple(types) = ty else { return Ok(element_of(&ty)) };
    if !key.is_known() {
        return Ok(Type::Dynamic);
    }
    let at = whole(*key).ok_or_else(|| Fault::wrong(format!("the key does not fit: {WHOLE}")))?;
    let found = usize::try_from(at).ok().and_then(|at| types.get(at));
    found.copied().ok_or_else(|| Fault::wrong(format!("there are {} elements, the first has index 0", types.len())))
}

fn index<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let [collection, key] = args else { return Err(cx.arity().into()) };
    index_type(cx, args)?;
    if !is_true(access::has_index(cx, *collection, *key)?) {
        return Err(Fault::wrong("there is no element at this key"));
    }
    access::index(cx, *collection, *key)
}

fn hasindex_type<'v>(_: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Type<'v>> {
    match args.first().map(|collection| Kind::of(*collection)) {
        Some(Kind::List | Kind::Tuple | Kind::Map | Kind::Dynamic) => Ok(Type::Bool),
        _ => Err(Fault::wrong("a list, map or tuple is required")),
    }
}

fn hasindex<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let [collection, key] = args else { return Err(cx.arity().into()) };
    hasindex_type(cx, args)?;
    access::has_index(cx, *collection, *key)
}

fn sethaselement<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let [set, element] = args else { return Err(cx.arity().into()) };
    access::has_element(cx, *set, *element)
}
