//! Maps: reading, changing, merging and copying them.

use super::is_nil;
use crate::error::failed;
use crate::values::{
    NIL_MAP, deep_equal, is_nil_of_type, items, map_of, strings, strval, text_bytes, truth, type_name,
};
use dropforge_base::diagnostics::{Diagnostic, Result};
use dropforge_base::stdlib::byte_texts;
use dropforge_machine::function::{Cx, Held, Rest};
use dropforge_machine::functions;
use dropforge_value::{Extended, Map, Value};

functions! {
    /// Maps.
    pub(super) static DICTS:
    "dict" [... Any] = dict, makes Map, looks Kinds, "Returns a map of keys and values. A key without a value gets an empty text."
        [r#"{{ dict "a" 1 "b" 2 }}"# => "map[a:1 b:2]"];
    "get" [Map, Str] = get, looks Kinds, "Returns the value under a key, or an empty text." [r#"{{ get (dict "a" 1) "a" }}"# => "1"];
    "set" [Map, Str, Any] = set, mutates Map, looks Kinds, "Puts a value under a key of a map, and returns the map."
        [r#"{{ $d := dict }}{{ $_ := set $d "a" 1 }}{{ $d }}"# => "map[a:1]"];
    "unset" [Map, Str] = unset, mutates Map, looks Keys, "Removes a key from a map, and returns the map."
        [r#"{{ unset (dict "a" 1 "b" 2) "a" }}"# => "map[b:2]"];
    "hasKey" [Map, Str] = has_key, looks Keys, "Returns `true` if a map has a key." [r#"{{ hasKey (dict "a" 1) "a" }}"# => "true"];
    "pluck" [Str, ... Map] = pluck, looks Keys, "Returns the values under a key of several maps."
        [r#"{{ pluck "a" (dict "a" 1) (dict) (dict "a" 2) }}"# => "[1 2]"];
    "dig" [... Any] = dig, looks Kinds, "Returns the value at a path of keys, or a default: `dig \"a\" \"b\" default map`."
        [r#"{{ dict "a" (dict "b" 1) | dig "a" "b" 0 }}"# => "1", r#"{{ dict "a" 1 | dig "a" "b" 0 }}"# => "E0404"];
    "keys" [... Map] = keys, looks Keys, "Returns the keys of maps, in the order of their entries."
        [r#"{{ dict "a" 1 "b" 2 | keys }}"# => "[a b]"];
    "values" [Map] = values, looks Keys, "Returns the values of a map, in the order of its entries."
        [r#"{{ dict "a" 1 "b" 2 | values }}"# => "[1 2]"];
    "pick" [Map, ... Str] = pick, makes Map, looks Keys, "Returns a map of some keys of another."
        [r#"{{ pick (dict "a" 1 "b" 2) "a" }}"# => "map[a:1]"];
    "omit" [Map, ... Str] = omit, makes Map, looks Keys, "Returns a map without some keys of another."
        [r#"{{ omit (dict "a" 1 "b" 2) "a" }}"# => "map[b:2]"];
    "merge" [Map, ... Map] = merge, mutates Map,
        "Adds entries of other maps to the first one, unless it has a value that is not empty. Returns it."
        [r#"{{ merge (dict "a" 1) (dict "a" 2 "b" 3) }}"# => "map[a:1 b:3]"];
    "mustMerge" [Map, ... Map] = merge, mutates Map,
        "Adds entries of other maps to the first one, unless it has a value that is not empty. Returns it."
        [r#"{{ mustMerge (dict "a" 1) (dict "a" 2 "b" 3) }}"# => "map[a:1 b:3]"];
    "mergeOverwrite" [Map, ... Map] = merge_overwrite, mutates Map,
        "Adds entries of other maps to the first one, whatever it has. Returns it."
        [r#"{{ mergeOverwrite (dict "a" 1) (dict "a" 2) }}"# => "map[a:2]"];
    "mustMergeOverwrite" [Map, ... Map] = merge_overwrite, mutates Map,
        "Adds entries of other maps to the first one, whatever it has. Returns it."
        [r#"{{ mustMergeOverwrite (dict "a" 1) (dict "a" 2) }}"# => "map[a:2]"];
    "deepCopy" [Any] = deep_copy, makes Map, "Returns a copy of a value and everything in it."
        [r#"{{ deepCopy (dict "a" 1) }}"# => "map[a:1]", r#"{{ deepCopy nil }}"# => "E0404"];
    "mustDeepCopy" [Any] = deep_copy, makes Map, "Returns a copy of a value and everything in it."
        [r#"{{ mustDeepCopy (dict "a" 1) }}"# => "map[a:1]"];
    "deepEqual" [Any, Any] = deep_equal, "Returns `true` if values of the same types are equal."
        [r#"{{ deepEqual (list 1) (list 1) }}"# => "true", r#"{{ deepEqual 1 1.0 }}"# => "false"];
}

/// Returns a key of a map. Keys are text: bytes that are not UTF-8 become U+FFFD.
fn key<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<&'v str> {
    if let Some(key) = value.as_str() {
        return Ok(key);
    }
    let key = strval(cx, value)?;
    match std::str::from_utf8(key) {
        Ok(key) => Ok(key),
        Err(_) => {
            // U+FFFD takes three bytes.
            cx.charge(key.len().saturating_mul(6))?;
            Ok(cx.arena().copy_str(&byte_texts::repaired(key)))
        }
    }
}

pub(super) fn dict<'v>(cx: &Cx<'v>, Rest(args): Rest<'_, 'v>) -> Result<Value<'v>> {
    cx.charge(args.len().saturating_mul(2 * size_of::<Value<'_>>()))?;
    let mut pairs = Vec::with_capacity(args.len().div_ceil(2));
    for pair in args.chunks(2) {
        let value = pair.get(1).copied().map_or_else(|| cx.borrowed(""), Ok)?;
        let name = pair.first().copied().unwrap_or_default();
        pairs.push((if is_nil(name) { "<nil>" } else { key(cx, name)? }, value));
    }
    cx.map(&pairs)
}

fn get<'v>(cx: &Cx<'v>, map: Value<'v>, name: Value<'v>) -> Result<Value<'v>> {
    cx.entry(map, key(cx, name)?).map_or_else(|| cx.borrowed(""), Ok)
}

pub(super) fn set<'v>(cx: &Cx<'v>, map: Value<'v>, name: Value<'v>, value: Value<'v>) -> Result<Value<'v>> {
    let value = if is_nil(value) { Value::Null } else { value };
    if is_nil_of_type(map) {
        return Err(failed("error calling set: assignment to entry in nil map"));
    }
    cx.set_entry(map, key(cx, name)?, value)?;
    Ok(map)
}

fn unset<'v>(cx: &Cx<'v>, map: Value<'v>, name: Value<'v>) -> Result<Value<'v>> {
    let name = key(cx, name)?;
    if !is_nil_of_type(map) {
        cx.remove_entry(map, name)?;
    }
    Ok(map)
}

fn has_key<'v>(cx: &Cx<'v>, map: Value<'v>, name: Value<'v>) -> Result<bool> {
    Ok(cx.entry(map, key(cx, name)?).is_some())
}

fn pluck<'v>(cx: &Cx<'v>, name: Value<'v>, Rest(maps): Rest<'_, 'v>) -> Result<Value<'v>> {
    let name = key(cx, name)?;
    cx.charge(maps.len().saturating_mul(size_of::<Value<'_>>()))?;
    cx.list(&maps.iter().filter_map(|map| cx.entry(*map, name)).collect::<Vec<_>>())
}

fn dig<'v>(cx: &Cx<'v>, Rest(args): Rest<'_, 'v>) -> Result<Value<'v>> {
    let [path @ .., default, map] = args else { return Err(too_few()) };
    if path.is_empty() {
        return Err(too_few());
    }
    map_or_error(cx, *map)?;
    for step in path {
        text_bytes(*step).ok_or_else(|| not_convertible(*step, "string"))?;
    }
    let mut found = *map;
    for step in path {
        map_or_error(cx, found)?;
        match cx.entry(found, key(cx, *step)?) {
            Some(value) => found = value,
            None => return Ok(*default),
        }
    }
    Ok(found)
}

fn too_few() -> Box<Diagnostic> {
    failed("dig needs at least three arguments")
}

fn map_or_error<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<()> {
    cx.spend(1)?;
    match (value, value.extended()) {
        (Value::Map(_), _) | (_, Some(Extended::Typed(NIL_MAP, _))) => Ok(()),
        _ => Err(not_convertible(value, "map[string]interface {}")),
    }
}

/// Returns the error of a value that does not have the type `wanted`.
fn not_convertible(value: Value<'_>, wanted: &str) -> Box<Diagnostic> {
    let found = if is_nil(value) { "nil".into() } else { type_name(value) };
    failed(format!("interface conversion: interface {{}} is {found}, not {wanted}"))
}

fn keys<'v>(cx: &Cx<'v>, Rest(maps): Rest<'_, 'v>) -> Result<Value<'v>> {
    let mut names = Vec::new();
    for map in maps {
        let Some(map) = map_of(cx, *map) else { continue };
        cx.charge(map.len().saturating_mul(2 * size_of::<Value<'_>>()))?;
        names.extend(map.shape().keys().iter().map(Value::Str));
    }
    strings(cx, &names)
}

fn values<'v>(cx: &Cx<'v>, map: &'v Map<'v>) -> Result<Value<'v>> {
    cx.list(cx.content(map).values())
}

fn pick<'v>(cx: &Cx<'v>, map: &'v Map<'v>, Rest(names): Rest<'_, 'v>) -> Result<Value<'v>> {
    let map = cx.content(map);
    cx.charge(names.len().saturating_mul(2 * size_of::<Value<'_>>()))?;
    let mut picked = Vec::new();
    for name in names {
        let name = key(cx, *name)?;
        picked.extend(map.get(name).map(|value| (name, value)));
    }
    cx.map(&picked)
}

fn omit<'v>(cx: &Cx<'v>, map: &'v Map<'v>, Rest(names): Rest<'_, 'v>) -> Result<Value<'v>> {
    let map = cx.content(map);
    cx.charge(map.len().saturating_mul(2 * size_of::<Value<'_>>()))?;
    cx.spend((map.len() as u64).saturating_mul(names.len() as u64))?;
    let omitted = names.iter().map(|name| key(cx, *name)).collect::<Result<Vec<_>>>()?;
    cx.map(&map.iter().filter(|(name, _)| !omitted.contains(name)).collect::<Vec<_>>())
}

/// A step of a merge.
enum MergeStep<'v> {
    /// Merges the second map into the first.
    Merge(Value<'v>, Value<'v>),
    /// Sets the entry of a map to this one, unless the map under its key has entries now.
    Settle(Value<'v>, &'v str, Value<'v>),
}

pub(super) fn merge<'v>(cx: &Cx<'v>, first: Value<'v>, Rest(others): Rest<'_, 'v>) -> Result<Value<'v>> {
    merged(cx, first, others, false)
}

fn merge_overwrite<'v>(cx: &Cx<'v>, first: Value<'v>, Rest(others): Rest<'_, 'v>) -> Result<Value<'v>> {
    merged(cx, first, others, true)
}

/// Merges maps into the first one. With `overwrites`, values replace existing ones, even by nil or an empty value;
/// without it, only empty ones are replaced. If the first map is nil, a new one takes its place.
fn merged<'v>(cx: &Cx<'v>, first: Value<'v>, others: &[Value<'v>], overwrites: bool) -> Result<Value<'v>> {
    let is_new = is_nil_of_type(first) && !others.iter().all(|other| is_nil_of_type(*other));
    let first = if is_new { cx.map(&[])? } else { first };
    for other in others {
        let (mut steps, mut held) = (vec![MergeStep::Merge(first, *other)], Held::new(cx));
        while let Some(step) = steps.pop() {
            held.grow(steps.capacity().saturating_mul(size_of::<MergeStep<'_>>()))?;
            match step {
                MergeStep::Merge(to, from) => merge_entries(cx, to, from, overwrites, &mut steps)?,
                MergeStep::Settle(to, key, value) => {
                    if !cx.entry(to, key).is_some_and(|now| truth(cx, now)) {
                        cx.set_entry(to, key, value)?;
                    }
                }
            }
        }
    }
    Ok(first)
}

/// Merges the entries of one map into another. Maps in both are left to further steps.
fn merge_entries<'v>(
    cx: &Cx<'v>,
    to: Value<'v>,
    from: Value<'v>,
    overwrites: bool,
    steps: &mut Vec<MergeStep<'v>>,
) -> Result<()> {
    let Some(entries) = map_of(cx, from) else { return Ok(()) };
    for (key, value) in entries.iter() {
        cx.spend(1)?;
        match (cx.entry(to, key), value) {
            (_, Value::Null | Value::Undefined) if !overwrites => {}
            (Some(there @ Value::Map(_)), Value::Map(_)) => {
                // The last step comes first.
                steps.extend([MergeStep::Settle(to, key, value), MergeStep::Merge(there, value)]);
            }
            (Some(Value::Map(_)), nil) if is_nil_of_type(nil) && map_of(cx, nil).is_some() => {}
            (Some(there), _) if !overwrites && truth(cx, there) => {}
            _ => cx.set_entry(to, key, value)?,
        }
    }
    Ok(())
}

/// A list or map that is being copied.
struct Copying<'c, 'v> {
    of: Value<'v>,
    parts: &'v [Value<'v>],
    copies: Vec<Value<'v>>,
    _copies: Held<'c, 'v>,
}

impl<'c, 'v> Copying<'c, 'v> {
    /// Returns the copying of a container. `None` for values without maps in them, which need no copy.
    fn of(cx: &'c Cx<'v>, of: Value<'v>) -> Result<Option<Self>> {
        cx.spend(1)?;
        let parts = match (map_of(cx, of), items(of)) {
            (Some(map), _) => map.values(),
            (None, Some(items)) if of.depth() > 1 => items,
            _ => return Ok(None),
        };
        let _copies = cx.hold(size_of_val(parts))?;
        Ok(Some(Self { of, parts, copies: Vec::with_capacity(parts.len()), _copies }))
    }

    /// Returns the copy.
    fn end(self, cx: &Cx<'v>) -> Result<Value<'v>> {
        let copy = match map_of(cx, self.of) {
            Some(map) => Value::Map(cx.shaped_map(map.shape(), &self.copies)?),
            None => cx.list(&self.copies)?,
        };
        match self.of.extended() {
            Some(Extended::Typed(ty, _)) => cx.extended(Extended::Typed(*ty, copy)),
            _ => Ok(copy),
        }
    }
}

fn deep_copy<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<Value<'v>> {
    if is_nil(value) {
        return Err(failed("reflect: call of reflect.Value.Type on zero Value"));
    }
    let Some(first) = Copying::of(cx, value)? else { return Ok(value) };
    let mut open = vec![first];
    loop {
        let depth = open.len();
        let Some(innermost) = open.last_mut() else { return Ok(value) };
        let Some(part) = innermost.parts.get(innermost.copies.len()) else {
            let Some(copied) = open.pop() else { continue };
            let copy = copied.end(cx)?;
            match open.last_mut() {
                Some(outer) => outer.copies.push(copy),
                None => return Ok(copy),
            }
            continue;
        };
        match Copying::of(cx, *part)? {
            // A map that contains itself has no end.
            Some(_) if depth >= cx.limits().value_depth => return Err(cx.too_deep()),
            Some(inner) => open.push(inner),
            None => innermost.copies.push(*part),
        }
    }
}
