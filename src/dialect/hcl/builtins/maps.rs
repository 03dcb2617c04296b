//! Functions of maps and objects.

use super::parts::{Kind, element_of, items, marked_as, named};
use crate::dialect::hcl::values::convert::convert;
use crate::dialect::hcl::values::elements::{list_of, map_of};
use crate::dialect::hcl::values::types::{same_type, type_of, types_of};
use crate::dialect::hcl::values::{Fault, Outcome, is_wholly_known};
use crate::function::Cx;
use crate::positional;
use crate::value::{Attribute, Map, Type, Value};

positional! {
    /// Functions of maps and objects.
    pub(super) static MAPS:
    "keys" (inputMap: Any [unknown marked]) -> Any = keys,
        "The keys of a map, or the names of an object's attributes, sorted."
        ["keys({b = 1, a = 2})" => "[\"a\", \"b\"]"];
    "values" (mapping: Any [marked]) -> {values_type} = values,
        "The values of a map or object, sorted by their keys." ["values({b = 1, a = 2})" => "[2, 1]"];
    "merge" (... maps: Any [null dynamic marked]) -> {merge_type} = merge,
        "All entries of several maps or objects; of a key that comes twice the last value counts."
        ["merge({a = 1, b = 2}, {b = 3})" => "{a = 1, b = 3}", "merge()" => "{}"];
    "zipmap" (keys: (list String) [marked], values: Any [marked]) -> {zipmap_type} = zipmap,
        "A map of these keys, each with the value at its place in a list; from a tuple of values an object."
        ["zipmap([\"a\", \"b\"], [1, true])" => "{a = 1, b = true}"];
}

positional! {
    /// Functions of maps that only OpenTofu has, or has otherwise.
    pub(super) static OPENTOFU_MAPS:
    "lookup" (inputMap: Any [marked], key: String [marked], ... default: Any [null unknown dynamic marked])
        -> {lookup_type} or null = lookup,
        "The value of a key in a map or object; where there is none, the default, if one is given."
        ["lookup({a = 1}, \"a\", 0)" => "1", "lookup({a = 1}, \"b\", 0)" => "0"];
    "transpose" (values: (map (list String))) -> (map (list String)) = transpose,
        "A map of lists turned around: each text that is in a list, with the sorted keys of the lists it is in."
        ["transpose({a = [\"x\", \"y\"], b = [\"x\"]})" => "{x = [\"a\", \"b\"], y = [\"a\"]}"];
}

positional! {
    /// Functions of maps that OpenTofu has otherwise.
    pub(super) static STANDARD_MAPS:
    "lookup" (inputMap: Any [marked], key: String [marked], default: Any [marked])
        -> {lookup_type} or null = lookup_or_default,
        "The value of a key in a map or object; where there is none, the default."
        ["lookup({a = 1}, \"b\", 0)" => "0"];
}

/// The entries of a map or object that is known.
fn entries<'v>(value: Value<'v>) -> impl Iterator<Item = (&'v str, Value<'v>)> {
    value.entries().into_iter().flat_map(Map::iter_sorted)
}

/// How many entries a map or object has that is known.
fn count(value: Value<'_>) -> usize {
    value.entries().map_or(0, |entries| entries.values().len())
}

fn keys<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let [map] = args else { return Err(cx.arity().into()) };
    let keys = match (Kind::of(*map), map.as_unknown().map(|unknown| unknown.ty)) {
        (Kind::Object, None) => cx.list(&texts(cx, entries(*map).map(|(key, _)| key))?)?,
        (Kind::Map, None) => list_of(cx, Type::String, &texts(cx, entries(*map).map(|(key, _)| key))?)?,
        (_, Some(Type::Object(attributes))) => cx.list(&texts(cx, attributes.iter().map(|own| own.name))?)?,
        (_, Some(Type::Map(_))) => cx.arena().unknown(Type::List(&Type::String)),
        _ => return Err(Fault::argument(0, format!("a map or object is required, not {}", named(cx, *map)?))),
    };
    Ok(marked_as(cx, keys, args))
}

fn texts<'v>(cx: &Cx<'v>, texts: impl Iterator<Item = &'v str>) -> Outcome<Vec<Value<'v>>> {
    texts.map(|text| Ok(cx.borrowed(text)?)).collect()
}

fn values_type<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Type<'v>> {
    let [map] = args else { return Err(cx.arity().into()) };
    match type_of(cx, *map)? {
        Type::Map(element) => Ok(Type::List(element)),
        Type::Object(attributes) => {
            cx.charge(attributes.len() * size_of::<Type>())?;
            Ok(cx.arena().tuple_type(&attributes.iter().map(|attribute| attribute.ty).collect::<Vec<_>>()))
        }
        _ => Err(Fault::wrong(format!("a map or object is required, not {}", named(cx, *map)?))),
    }
}

fn values<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let [map] = args else { return Err(cx.arity().into()) };
    cx.charge(count(*map) * size_of::<Value>())?;
    let found: Vec<_> = entries(*map).map(|(_, value)| value).collect();
    let found = match Kind::of(*map) {
        Kind::Object => cx.list(&found)?,
        _ => list_of(cx, element_of(&values_type(cx, args)?), &found)?,
    };
    Ok(marked_as(cx, found, args))
}

fn merge_type<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Type<'v>> {
    match common_map(cx, args)? {
        Some(common) => Ok(common),
        None if args.iter().any(|arg| Kind::of(*arg) == Kind::Dynamic) => Ok(Type::Dynamic),
        None => merged_object(cx, args, &types_of(cx, args)?),
    }
}

/// The type of all arguments, where they are maps and have one.
fn common_map<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Option<Type<'v>>> {
    let mut kinds = args.iter().map(|arg| Kind::of(*arg)).take_while(|kind| *kind != Kind::Dynamic);
    if !kinds.all(|kind| matches!(kind, Kind::Map | Kind::Object)) {
        return Err(not_merged());
    }
    if !args.iter().all(|arg| Kind::of(*arg) == Kind::Map) {
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

/// The type of the object that maps and objects of several types are merged to, where all its names are known.
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

fn not_merged() -> Fault {
    Fault::wrong("each argument must be a map or object")
}

fn merge<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let common = common_map(cx, args)?;
    let given: Vec<Value<'v>> = args.iter().copied().filter(|arg| !arg.is_null()).collect();
    let mut all = Vec::new();
    for arg in &given {
        if arg.entries().is_none() {
            return Err(not_merged());
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

fn zipmap_type<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Type<'v>> {
    let [keys, values] = args else { return Err(cx.arity().into()) };
    match type_of(cx, *values)? {
        Type::List(element) => Ok(Type::Map(element)),
        Type::Tuple(_) if !is_wholly_known(cx, *keys)? => Ok(Type::Dynamic),
        Type::Tuple(types) => {
            let names = names(*keys, types.len())?;
            cx.charge(names.len() * size_of::<Attribute>())?;
            let named = names.iter().zip(types);
            let attributes: Vec<_> = named.map(|(name, ty)| Attribute { name, ty: *ty, optional: false }).collect();
            Ok(cx.arena().object_type(&attributes))
        }
        _ => Err(Fault::wrong("the values must be a list or tuple")),
    }
}

/// The texts of a list of keys, which must be `count`.
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

fn zipmap<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let [keys, values] = args else { return Err(cx.arity().into()) };
    if !Kind::of(*values).is_sequence() {
        return Err(Fault::wrong("the values must be a list or tuple"));
    }
    if !is_wholly_known(cx, *keys)? {
        return Ok(marked_as(cx, cx.arena().unknown(zipmap_type(cx, args)?), args));
    }
    cx.charge(items(*keys).len() * size_of::<(&str, Value)>())?;
    let names = names(*keys, items(*values).len())?;
    let zipped: Vec<_> = names.into_iter().zip(items(*values).iter().copied()).collect();
    let made = match type_of_elements(*values) {
        Some(element) => map_of(cx, element, &zipped)?,
        None => cx.map(&zipped)?,
    };
    // A key cannot carry marks: they go to the whole.
    Ok(marked_as(cx, marked_as(cx, made, items(*keys)), args))
}

/// The type of the elements of a list; nothing for a tuple.
fn type_of_elements<'v>(value: Value<'v>) -> Option<Type<'v>> {
    super::parts::type_of_list(value)
}

fn lookup_type<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Type<'v>> {
    let [map, key, ..] = args else { return Err(cx.arity().into()) };
    let default = check_lookup(cx, args)?;
    match type_of(cx, *map)? {
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

fn no_attribute() -> Fault {
    Fault::argument(0, "the object has no attribute of this name")
}

/// Whether the arguments of a look-up fit each other, and the default, if there is one.
fn check_lookup<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Option<Value<'v>>> {
    let [map, _, rest @ ..] = args else { return Err(cx.arity().into()) };
    if rest.len() > 1 {
        return Err(Fault::wrong(format!("two or three arguments are required, not {}", args.len())));
    }
    match (Kind::of(*map), rest.first()) {
        (Kind::Map, Some(default)) => check_default(cx, *default, &element_of(&type_of(cx, *map)?))?,
        (Kind::Map | Kind::Object, _) => {}
        _ => return Err(Fault::argument(0, format!("a map or object is required, not {}", named(cx, *map)?))),
    }
    Ok(rest.first().copied())
}

/// Whether the default of a look-up fits a map of `element`.
fn check_default<'v>(cx: &Cx<'v>, default: Value<'v>, element: &Type<'v>) -> Outcome<()> {
    match convert(cx, default, element) {
        Err(Fault::Wrong(_)) => Err(Fault::argument(2, "the default must be of the type of the map's elements")),
        Err(limit) => Err(limit),
        Ok(_) => Ok(()),
    }
}

fn lookup<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    look_up(cx, args, true)
}

fn lookup_or_default<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let [map, ..] = args else { return Err(cx.arity().into()) };
    look_up(cx, args, is_wholly_known(cx, *map)?)
}

/// Looks up in a map that is known; with `known` off what is found in it is not.
fn look_up<'v>(cx: &Cx<'v>, args: &[Value<'v>], known: bool) -> Outcome<Value<'v>> {
    let [map, key, ..] = args else { return Err(cx.arity().into()) };
    let default = check_lookup(cx, args)?;
    let text = key.unmarked().0.as_str().unwrap_or_default();
    let found = match (map.entries().and_then(|entries| entries.get(text)), default, Kind::of(*map)) {
        _ if !known => cx.arena().unknown(lookup_type(cx, args)?),
        (Some(found), ..) => found,
        (None, Some(default), Kind::Map) => convert(cx, default, &element_of(&type_of(cx, *map)?))?,
        (None, Some(default), _) => default,
        (None, None, Kind::Map) => return Err(Fault::wrong(format!("there is no key {}", quoted(*key)))),
        (None, None, _) => return Err(no_attribute()),
    };
    Ok(marked_as(cx, found, &[*map, *key]))
}

/// A key for a message, which must not give away what is marked.
fn quoted(key: Value<'_>) -> String {
    match key.as_str() {
        Some(text) => format!("{text:?}"),
        None => "of this text".to_owned(),
    }
}

fn transpose<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let [map] = args else { return Err(cx.arity().into()) };
    let ty = Type::Map(&Type::List(&Type::String));
    if !is_wholly_known(cx, *map)? {
        return Ok(cx.arena().unknown(ty));
    }
    let mut turned: std::collections::BTreeMap<&'v str, Vec<Value<'v>>> = std::collections::BTreeMap::new();
    // The keys come sorted, so each list of them is.
    for (key, list) in entries(*map) {
        let key = cx.borrowed(key)?;
        let Some(texts) = list.elements() else { return Err(null_at("list", key, None)) };
        for (at, text) in texts.iter().enumerate() {
            cx.charge(size_of::<Value>())?;
            let text = text.as_str().ok_or_else(|| null_at("text", key, Some(at)))?;
            turned.entry(text).or_default().push(key);
        }
    }
    let mut made = Vec::with_capacity(turned.len());
    for (text, keys) in turned {
        made.push((text, list_of(cx, Type::String, &keys)?));
    }
    map_of(cx, Type::List(&Type::String), &made)
}

fn null_at(what: &str, key: Value<'_>, at: Option<usize>) -> Fault {
    let index = at.map(|at| format!("[{at}]")).unwrap_or_default();
    Fault::argument(0, format!("the {what} at [{:?}]{index} is null", key.as_str().unwrap_or_default()))
}
