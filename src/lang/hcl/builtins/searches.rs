//! Functions that look up elements of collections, functions that select elements by value, and functions of sets.

use super::strings::strlen;
use super::{
    WHOLE, element_of, has_elements, is_sequence, is_true, items, length_is_known, marked_as, to_i64, type_name,
};
use crate::values::{
    Index, access, convert, elements, equals, is_wholly_known, list_of, machine_int, set_of, settled, shallow_type,
    type_of, types_of, unified_type,
};
use dropforge_machine::function::{Cx, Fault, Outcome, Rest};
use dropforge_machine::functions;
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
    cx.sort_by(&mut sorted, |a, b| a.as_str().cmp(&b.as_str()))?;
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

functions! {
    /// Set functions of the standard library and OpenTofu.
    pub(super) static SETS:
    "setunion" (first_set: (set Any) [dynamic], ... other_sets: (set Any) [dynamic]) -> {operation_type} = union,
        "Returns the elements that are in any of the sets." ["setunion([\"a\", \"b\"], [\"b\", \"c\"])" => "[\"a\", \"b\", \"c\"]"];
    "setintersection" (first_set: (set Any) [dynamic], ... other_sets: (set Any) [dynamic])
        -> {operation_type} = intersection,
        "Returns the elements that are in all of the sets." ["setintersection([\"a\", \"b\"], [\"b\", \"c\"])" => "[\"b\"]"];
    "setsubtract" (a: (set Any) [dynamic], b: (set Any) [dynamic]) -> {difference_type} = difference,
        "Returns the elements of the first set that are not in the second."
        ["setsubtract([\"a\", \"b\"], [\"b\", \"c\"])" => "[\"a\"]"];
    "setproduct" (... sets: Any [unknown marked]) -> Any = product,
        "Returns all combinations of one element of each set or list."
        ["setproduct([\"a\", \"b\"], [1, 2])" => "[[\"a\", 1], [\"a\", 2], [\"b\", 1], [\"b\", 2]]"];
}

functions! {
    /// Set functions of the standard library.
    pub(super) static STANDARD_SETS:
    "setsymmetricdifference" (first_set: (set Any) [dynamic], ... other_sets: (set Any) [dynamic])
        -> {operation_type} = symmetric_difference,
        "Returns the elements that are in only one of two sets, applied to further sets from left to right."
        ["setsymmetricdifference([\"a\", \"b\"], [\"b\", \"c\"])" => "[\"a\", \"c\"]"];
}

/// Returns the type of a set that can hold the elements of all arguments.
fn operation_type<'v>(cx: &Cx<'v>, first: Value<'v>, Rest(others): Rest<'_, 'v>) -> Outcome<Type<'v>> {
    let mut elements = Vec::with_capacity(others.len() + 1);
    for arg in [first].iter().chain(others) {
        let element = element_of(&type_of(cx, *arg)?);
        // An empty set of dynamic element type converts to any set.
        if element != Type::Dynamic || !arg.is_known() || !items(*arg).is_empty() {
            elements.push(element);
        }
    }
    if elements.is_empty() {
        return Ok(Type::Set(&Type::Dynamic));
    }
    let element = unified_type(cx, &elements, true)?;
    let element = element.ok_or_else(|| Fault::wrong("the elements of all sets have no common type"))?;
    Ok(cx.arena().set_type(element))
}

fn difference_type<'v>(cx: &Cx<'v>, first: Value<'v>, second: Value<'v>) -> Outcome<Type<'v>> {
    operation_type(cx, first, Rest(&[second]))
}

/// The elements of two sets that an operation keeps.
type Operation = for<'v> fn(&Cx<'v>, Vec<Value<'v>>, &[Value<'v>]) -> Outcome<Vec<Value<'v>>>;

/// Applies `operation` to the first set and each of the others, in turn. `unknown` is `true` for an operation that
/// works with unknown elements.
fn operate<'v>(
    cx: &Cx<'v>,
    first: Value<'v>,
    others: &[Value<'v>],
    operation: Operation,
    unknown: bool,
) -> Outcome<Value<'v>> {
    let ty = operation_type(cx, first, Rest(others))?;
    let mut kept = Vec::new();
    for (at, arg) in [first].iter().chain(others).enumerate() {
        let set = convert(cx, *arg, &ty).map_err(|fault| fault.of_argument(at))?;
        if !set.is_known() || !unknown && !is_wholly_known(cx, set)? {
            return Ok(cx.arena().unknown(ty));
        }
        cx.charge(size_of_val(items(set)))?;
        kept = if at == 0 { items(set).to_vec() } else { operation(cx, kept, items(set))? };
    }
    set_of(cx, element_of(&ty), &kept)
}

fn union<'v>(cx: &Cx<'v>, first: Value<'v>, Rest(others): Rest<'_, 'v>) -> Outcome<Value<'v>> {
    operate(cx, first, others, |_, kept, more| Ok([&kept, more].concat()), true)
}

fn intersection<'v>(cx: &Cx<'v>, first: Value<'v>, Rest(others): Rest<'_, 'v>) -> Outcome<Value<'v>> {
    operate(cx, first, others, |cx, kept, other| selected(cx, &kept, other, true), false)
}

fn difference<'v>(cx: &Cx<'v>, first: Value<'v>, second: Value<'v>) -> Outcome<Value<'v>> {
    operate(cx, first, &[second], |cx, kept, other| selected(cx, &kept, other, false), false)
}

fn symmetric_difference<'v>(cx: &Cx<'v>, first: Value<'v>, Rest(others): Rest<'_, 'v>) -> Outcome<Value<'v>> {
    let either: Operation =
        |cx, kept, other| Ok([selected(cx, other, &kept, false)?, selected(cx, &kept, other, false)?].concat());
    operate(cx, first, others, either, false)
}

/// Returns those of `values` that are in `others`, or those that are not.
fn selected<'v>(cx: &Cx<'v>, values: &[Value<'v>], others: &[Value<'v>], wanted: bool) -> Outcome<Vec<Value<'v>>> {
    let others = Index::of(cx, others)?;
    let mut found = Vec::new();
    for value in values {
        if others.has(cx, *value)? == wanted {
            found.push(*value);
        }
    }
    Ok(found)
}

fn product_type<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Type<'v>> {
    if args.len() < 2 {
        return Err(Fault::wrong("at least two arguments are required"));
    }
    let mut elements = Vec::with_capacity(args.len());
    for (at, ty) in types_of(cx, args)?.into_iter().enumerate() {
        elements.push(match ty {
            Type::Set(element) | Type::List(element) => *element,
            Type::Tuple([]) => Type::Dynamic,
            Type::Tuple(types) => {
                let common = unified_type(cx, types, true)?;
                common.ok_or_else(|| Fault::argument(at, "the elements have no common type"))?
            }
            _ => return Err(Fault::argument(at, "a set or list is required")),
        });
    }
    let element = cx.arena().tuple_type(&elements);
    let lists = args.iter().all(|arg| is_sequence(cx, *arg));
    Ok(if lists { cx.arena().list_type(element) } else { cx.arena().set_type(element) })
}

fn product<'v>(cx: &Cx<'v>, Rest(args): Rest<'_, 'v>) -> Outcome<Value<'v>> {
    let ty = product_type(cx, args)?;
    for arg in args {
        if !length_is_known(cx, *arg)? {
            return Ok(marked_as(cx, unknown_product(cx, ty, args)?, args));
        }
    }
    let element = element_of(&ty);
    let Type::Tuple(types) = element else { return Err(cx.arity().into()) };
    let combinations = combinations(cx, args, types)?;
    let product = match ty {
        Type::List(_) => list_of(cx, element, &combinations)?,
        _ => set_of(cx, element, &combinations)?,
    };
    Ok(marked_as(cx, product, args))
}

/// Returns all combinations of one element of each of `args`. The last one changes fastest.
fn combinations<'v>(cx: &Cx<'v>, args: &[Value<'v>], types: &[Type<'v>]) -> Outcome<Vec<Value<'v>>> {
    let mut columns = Vec::with_capacity(args.len());
    let mut count = 1_usize;
    for (arg, ty) in args.iter().zip(types) {
        cx.charge(size_of_val(items(*arg)))?;
        let column: Vec<_> = items(*arg).iter().map(|item| convert(cx, *item, ty)).collect::<Outcome<_>>()?;
        count = count.saturating_mul(column.len());
        columns.push(column);
    }
    cx.charge(count.saturating_mul((args.len() + 3) * size_of::<Value>()))?;
    let mut made = Vec::with_capacity(count);
    let mut row = Vec::with_capacity(args.len());
    for at in 0..count {
        row.clear();
        let mut rest = at;
        for column in columns.iter().rev() {
            row.extend(column.get(rest % column.len()));
            rest /= column.len();
        }
        row.reverse();
        made.push(cx.list(&row)?);
    }
    Ok(made)
}

/// Maximum length of an unknown product that is tracked.
const COUNTED: u64 = 2048;

/// Maximum length of one factor of such a product.
const COUNTED_EACH: u64 = 1024;

/// Returns the unknown product of sets of which some have an unknown length.
fn unknown_product<'v>(cx: &Cx<'v>, ty: Type<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let mut most = 1_u64;
    for arg in args {
        let own = most_elements(cx, *arg)?;
        most = most.saturating_mul(own);
        if own > COUNTED_EACH || most > COUNTED {
            return Ok(cx.arena().unknown(ty));
        }
    }
    settled(cx, ty, Refinement { len_least: most.min(1), len_most: most, ..Refinement::NOT_NULL })
}

/// Returns the maximum length of a set, list or tuple.
fn most_elements<'v>(cx: &Cx<'v>, value: Value<'v>) -> Outcome<u64> {
    Ok(match (type_of(cx, value)?, value.as_unknown()) {
        (Type::Tuple(types), _) => types.len() as u64,
        (_, Some(unknown)) => unknown.refinement.len_most,
        (_, None) if length_is_known(cx, value)? => items(value).len() as u64,
        // Like the reference, assumes nothing about a set with unknown elements.
        (_, None) => u64::MAX,
    })
}
