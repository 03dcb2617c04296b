//! Functions of maps and objects.

use std::collections::BTreeMap;

use super::{element_of, is_sequence, items, marked_as, type_name, type_of_list};
use crate::values::{convert, is_wholly_known, list_of, map_of, same_type, shallow_type, type_of, types_of};
use dropforge_machine::function::{Cx, Fault, Outcome, Rest, fitting};
use dropforge_machine::functions;
use dropforge_value::{Attribute, Map, Type, Value};

functions! {
    /// Map functions of the standard library and OpenTofu.
    pub(super) static MAPS:
    "keys" (inputMap: Any [unknown marked]) -> Any = keys,
        "Returns the keys of a map, or the attribute names of an object, sorted."
        ["keys({b = 1, a = 2})" => "[\"a\", \"b\"]"];
    "values" (mapping: Any [marked]) -> {values_type} = values,
        "Returns the values of a map or object, sorted by key." ["values({b = 1, a = 2})" => "[2, 1]"];
    "merge" (... maps: Any [null dynamic marked]) -> {merge_type} = merge,
        "Merges maps or objects. The last value of a key wins."
        ["merge({a = 1, b = 2}, {b = 3})" => "{a = 1, b = 3}", "merge()" => "{}"];
    "zipmap" (keys: (list String) [marked], values: Any [marked]) -> {zipmap_type} = zipmap,
        "Makes a map of a list of keys and a list of values, or an object of a tuple of values."
        ["zipmap([\"a\", \"b\"], [1, true])" => "{a = 1, b = true}"];
}

functions! {
    /// Map functions of OpenTofu.
    pub(super) static OPENTOFU_MAPS:
    "lookup" (inputMap: Any [marked], key: String [marked], ... default: Any [null unknown dynamic marked])
        -> {lookup_type} or null = lookup,
        "Returns the value of a key in a map or object, or the default if the key is missing."
        ["lookup({a = 1}, \"a\", 0)" => "1", "lookup({a = 1}, \"b\", 0)" => "0"];
    "transpose" (values: (map (list String))) -> (map (list String)) = transpose,
        "Swaps the keys and values of a map of lists: each string gets the sorted keys of the lists that contain it."
        ["transpose({a = [\"x\", \"y\"], b = [\"x\"]})" => "{x = [\"a\", \"b\"], y = [\"a\"]}"];
}

functions! {
    /// Map functions of the standard library.
    pub(super) static STANDARD_MAPS:
    "lookup" (inputMap: Any [marked], key: String [marked], default: Any [marked])
        -> {lookup_or_default_type} or null = lookup_or_default,
        "Returns the value of a key in a map or object, or the default if the key is missing."
        ["lookup({a = 1}, \"b\", 0)" => "0"];
}

/// Returns the entries of a known map or object.
fn entries<'v>(value: Value<'v>) -> impl Iterator<Item = (&'v str, Value<'v>)> {
    value.entries().into_iter().flat_map(Map::iter_sorted)
}

/// Returns the number of entries of a known map or object.
fn count(value: Value<'_>) -> usize {
    value.entries().map_or(0, Map::len)
}

fn not_a_map<'v>(cx: &Cx<'v>, value: Value<'v>) -> Outcome<String> {
    Ok(format!("a map or object is required, not {}", type_name(cx, value)?))
}

fn strings<'v>(cx: &Cx<'v>, texts: impl Iterator<Item = &'v str>) -> Outcome<Vec<Value<'v>>> {
    texts.map(|text| Ok(cx.borrowed(text)?)).collect()
}

fn keys<'v>(cx: &Cx<'v>, map: Value<'v>) -> Outcome<Value<'v>> {
    let keys = match (shallow_type(cx, map), map.is_known()) {
        (Type::Object(_), true) => cx.list(&strings(cx, entries(map).map(|(key, _)| key))?)?,
        (Type::Map(_), true) => list_of(cx, Type::String, &strings(cx, entries(map).map(|(key, _)| key))?)?,
        (Type::Object(attributes), false) => cx.list(&strings(cx, attributes.iter().map(|own| own.name))?)?,
        (Type::Map(_), false) => cx.arena().unknown(Type::List(&Type::String)),
        _ => return Err(Fault::argument(0, not_a_map(cx, map)?)),
    };
    Ok(marked_as(cx, keys, &[map]))
}

fn values_type<'v>(cx: &Cx<'v>, map: Value<'v>) -> Outcome<Type<'v>> {
    match type_of(cx, map)? {
        Type::Map(element) => Ok(Type::List(element)),
        Type::Object(attributes) => {
            cx.charge(attributes.len() * size_of::<Type>())?;
            Ok(cx.arena().tuple_type(&attributes.iter().map(|attribute| attribute.ty).collect::<Vec<_>>()))
        }
        _ => Err(Fault::wrong(not_a_map(cx, map)?)),
    }
}

fn values<'v>(cx: &Cx<'v>, map: Value<'v>) -> Outcome<Value<'v>> {
    cx.charge(count(map) * size_of::<Value>())?;
    let found: Vec<_> = entries(map).map(|(_, value)| value).collect();
    let found = match shallow_type(cx, map) {
        Type::Object(_) => cx.list(&found)?,
        _ => list_of(cx, element_of(&values_type(cx, map)?), &found)?,
    };
    Ok(marked_as(cx, found, &[map]))
}

fn merge_type<'v>(cx: &Cx<'v>, Rest(args): Rest<'_, 'v>) -> Outcome<Type<'v>> {
    match common_map(cx, args)? {
        Some(common) => Ok(common),
        None if args.iter().any(|arg| shallow_type(cx, *arg) == Type::Dynamic) => Ok(Type::Dynamic),
        None => merged_object(cx, args, &types_of(cx, args)?),
    }
}

/// Returns the type of all arguments, if all are maps of one type.
fn common_map<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Option<Type<'v>>> {
    let mut types = args.iter().map(|arg| shallow_type(cx, *arg)).take_while(|ty| *ty != Type::Dynamic);
    if !types.all(|ty| matches!(ty, Type::Map(_) | Type::Object(_))) {
        return Err(not_mergeable());
    }
    if !args.iter().all(|arg| matches!(shallow_type(cx, *arg), Type::Map(_))) {
        return Ok(None);
    }
    let types = types_of(cx, args)?;
    let Some((first, rest)) = types.split_first() else { return Ok(None) };
    for ty in rest {
        if !same_type(cx, first, ty)? {
            return Ok(None);
        }
    }
    Ok(Some(*first))
}

/// Returns the type of the object that maps and objects of several types merge to, if all its attributes are known.
fn merged_object<'v>(cx: &Cx<'v>, args: &[Value<'v>], types: &[Type<'v>]) -> Outcome<Type<'v>> {
    let mut attributes: Vec<Attribute<'v>> = Vec::new();
    for (arg, ty) in args.iter().zip(types) {
        match ty {
            _ if arg.is_null() => {}
            Type::Object(own) => {
                cx.charge(size_of_val(*own))?;
                attributes.extend_from_slice(own);
            }
            _ if !arg.is_known() => return Ok(Type::Dynamic),
            _ => {
                cx.charge(count(*arg) * size_of::<Attribute>())?;
                let ty = element_of(ty);
                attributes.extend(entries(*arg).map(|(name, _)| Attribute { name, ty, optional: false }));
            }
        }
    }
    Ok(cx.arena().object_type(&attributes))
}

fn not_mergeable() -> Fault {
    Fault::wrong("each argument must be a map or object")
}

fn merge<'v>(cx: &Cx<'v>, Rest(args): Rest<'_, 'v>) -> Outcome<Value<'v>> {
    let common = common_map(cx, args)?;
    let given: Vec<Value<'v>> = args.iter().copied().filter(|arg| !arg.is_null()).collect();
    let mut all = Vec::new();
    for arg in &given {
        if arg.entries().is_none() {
            return Err(not_mergeable());
        }
        cx.charge(count(*arg) * size_of::<(&str, Value)>())?;
        all.extend(entries(*arg));
    }
    let merged = match &common {
        Some(ty) => map_of(cx, element_of(ty), &all)?,
        None => cx.map(&all)?,
    };
    Ok(marked_as(cx, merged, &given))
}

fn zipmap_type<'v>(cx: &Cx<'v>, keys: Value<'v>, values: Value<'v>) -> Outcome<Type<'v>> {
    match type_of(cx, values)? {
        Type::List(element) => Ok(Type::Map(element)),
        Type::Tuple(_) if !is_wholly_known(cx, keys)? => Ok(Type::Dynamic),
        Type::Tuple(types) => {
            let names = names(keys, types.len())?;
            cx.charge(names.len() * size_of::<Attribute>())?;
            let named = names.iter().zip(types);
            let attributes: Vec<_> = named.map(|(name, ty)| Attribute { name, ty: *ty, optional: false }).collect();
            Ok(cx.arena().object_type(&attributes))
        }
        _ => Err(Fault::wrong("the values must be a list or tuple")),
    }
}

/// Returns the strings of a list of `count` keys.
fn names<'v>(keys: Value<'v>, count: usize) -> Outcome<Vec<&'v str>> {
    let keys = items(keys);
    if keys.len() != count {
        return Err(Fault::wrong(format!("there are {} keys for {count} values", keys.len())));
    }
    let name = |(at, key): (usize, &Value<'v>)| {
        key.unmarked().0.as_str().ok_or_else(|| Fault::wrong(format!("the key at index {at} is null")))
    };
    keys.iter().enumerate().map(name).collect()
}

fn zipmap<'v>(cx: &Cx<'v>, keys: Value<'v>, values: Value<'v>) -> Outcome<Value<'v>> {
    if !is_sequence(cx, values) {
        return Err(Fault::wrong("the values must be a list or tuple"));
    }
    if !is_wholly_known(cx, keys)? {
        return Ok(marked_as(cx, cx.arena().unknown(zipmap_type(cx, keys, values)?), &[keys, values]));
    }
    cx.charge(items(keys).len() * size_of::<(&str, Value)>())?;
    let names = names(keys, items(values).len())?;
    let zipped: Vec<_> = names.into_iter().zip(items(values).iter().copied()).collect();
    let zipped = match type_of_list(values) {
        Some(element) => map_of(cx, element, &zipped)?,
        None => cx.map(&zipped)?,
    };
    // Keys cannot carry marks, so the whole result gets them.
    Ok(marked_as(cx, marked_as(cx, zipped, items(keys)), &[keys, values]))
}

fn lookup_type<'v>(cx: &Cx<'v>, map: Value<'v>, key: Value<'v>, Rest(default): Rest<'_, 'v>) -> Outcome<Type<'v>> {
    let default = check_default(cx, map, default)?;
    match type_of(cx, map)? {
        ty @ Type::Object(_) => {
            let Some(key) = key.unmarked().0.as_str() else { return Ok(Type::Dynamic) };
            match (ty.attribute(key), default) {
                (Some(attribute), _) => Ok(attribute.ty),
                (None, Some(default)) => type_of(cx, default),
                (None, None) => Err(no_attribute()),
            }
        }
        ty => Ok(element_of(&ty)),
    }
}

fn lookup_or_default_type<'v>(cx: &Cx<'v>, map: Value<'v>, key: Value<'v>, default: Value<'v>) -> Outcome<Type<'v>> {
    lookup_type(cx, map, key, Rest(&[default]))
}

fn no_attribute() -> Fault {
    Fault::argument(0, "the object has no attribute of this name")
}

/// Returns the default of a look-up, which must fit the elements of the map.
fn check_default<'v>(cx: &Cx<'v>, map: Value<'v>, default: &[Value<'v>]) -> Outcome<Option<Value<'v>>> {
    if default.len() > 1 {
        return Err(Fault::wrong(format!("expected two or three arguments, found {}", default.len() + 2)));
    }
    match (shallow_type(cx, map), default.first()) {
        (Type::Map(element), Some(default)) => {
            if fitting(convert(cx, *default, element))?.is_none() {
                return Err(Fault::argument(2, "the default must have the type of the map's elements"));
            }
        }
        (Type::Map(_) | Type::Object(_), _) => {}
        _ => return Err(Fault::argument(0, not_a_map(cx, map)?)),
    }
    Ok(default.first().copied())
}

fn lookup<'v>(cx: &Cx<'v>, map: Value<'v>, key: Value<'v>, Rest(default): Rest<'_, 'v>) -> Outcome<Value<'v>> {
    look_up(cx, map, key, default, true)
}

fn lookup_or_default<'v>(cx: &Cx<'v>, map: Value<'v>, key: Value<'v>, default: Value<'v>) -> Outcome<Value<'v>> {
    look_up(cx, map, key, &[default], is_wholly_known(cx, map)?)
}

/// Looks up a key in a known map. The result is unknown unless `known`.
fn look_up<'v>(cx: &Cx<'v>, map: Value<'v>, key: Value<'v>, default: &[Value<'v>], known: bool) -> Outcome<Value<'v>> {
    let valid = check_default(cx, map, default)?;
    let text = key.unmarked().0.as_str().unwrap_or_default();
    let found = match (map.entries().and_then(|entries| entries.get(text)), valid, shallow_type(cx, map)) {
        _ if !known => cx.arena().unknown(lookup_type(cx, map, key, Rest(default))?),
        (Some(found), ..) => found,
        (None, Some(default), Type::Map(element)) => convert(cx, default, element)?,
        (None, Some(default), _) => default,
        (None, None, Type::Map(_)) => {
            // A marked key must not show up in a message.
            let shown = key.as_str().map_or_else(|| "of this name".to_owned(), |key| format!("{key:?}"));
            return Err(Fault::wrong(format!("the map has no key {shown}")));
        }
        (None, None, _) => return Err(no_attribute()),
    };
    Ok(marked_as(cx, found, &[map, key]))
}

fn transpose<'v>(cx: &Cx<'v>, map: Value<'v>) -> Outcome<Value<'v>> {
    let ty = Type::Map(&Type::List(&Type::String));
    if !is_wholly_known(cx, map)? {
        return Ok(cx.arena().unknown(ty));
    }
    let mut transposed: BTreeMap<&'v str, Vec<Value<'v>>> = BTreeMap::new();
    // The keys are visited in order, so each list of keys is sorted.
    for (key, list) in entries(map) {
        let null_at = |what: &str, index: &str| Fault::argument(0, format!("the {what} at [{key:?}]{index} is null"));
        let Some(texts) = list.elements() else { return Err(null_at("list", "")) };
        let key = cx.borrowed(key)?;
        for (at, text) in texts.iter().enumerate() {
            cx.charge(size_of::<Value>())?;
            let text = text.as_str().ok_or_else(|| null_at("string", &format!("[{at}]")))?;
            transposed.entry(text).or_default().push(key);
        }
    }
    let lists = transposed.into_iter().map(|(text, keys)| Ok((text, list_of(cx, Type::String, &keys)?)));
    map_of(cx, Type::List(&Type::String), &lists.collect::<Outcome<Vec<_>>>()?)
}
