//! Functions for authors of manifests: files, merged maps, JSON, hashes, values from seeds, omitted entries.

use crate::values::access::{entry, is_map, map, pairs};
use crate::values::written::as_float;
use crate::values::{OMIT, bad_argument, no_such_overload};
use dropforge_base::diagnostics::Result;
use dropforge_base::stdlib::hashes;
use dropforge_base::stdlib::hashes::sha256;
use dropforge_machine::function::{Cx, Held};
use dropforge_machine::functions;
use dropforge_value::marshal::{Refused, exchange_json};
use dropforge_value::{ByKey, Capsule, CapsuleContent, Extended, JsonStyle, Value, Viewed};

functions! {
    /// The function that reads a file.
    pub static FILES:
    "raw_file", "Returns the text of a file next to the template, as it is. The path is a literal string: the file is read when the template is compiled, and found as an `$include` is."
        ["raw_file(1 > 0 ? 'a' : 'b')" => "E0403"]
        | "raw_file_string" (String) -> String = raw_file;
}

/// Fails: a call with a literal path in a template is the text of the file.
fn raw_file<'v>(_: &Cx<'v>, _: &'v str) -> Result<Value<'v>> {
    let error = bad_argument("`raw_file` has no file to read");
    Err(error.with_help("call it in a template, with a literal string: the file is read when the template is compiled"))
}

functions! {
    /// The library of merged maps.
    pub static MAPS:
    "merge", "Merges two maps. For a key of both, the value of the second map wins." ["{'a': 1, 'b': 1}.merge({'b': 2, 'c': 3})" => "{'a': 1, 'b': 2, 'c': 3}"]
        | "map_merge" member ((map K Dyn), (map K Dyn)) -> (map K Dyn) = merge;
    "deepMerge", "Merges two maps, and the maps under a key of both. Otherwise the value of the second map wins."
        ["{'a': {'x': 1, 'y': [1]}}.deepMerge({'a': {'y': [2]}})" => "{'a': {'x': 1, 'y': [2]}}"]
        | "map_deepMerge" member ((map K Dyn), (map K Dyn)) -> (map K Dyn) = deep_merge;
        | "dyn_deepMerge" member (Dyn, Dyn) -> Dyn = deep_merge;
}

fn merge<'v>(cx: &Cx<'v>, a: Value<'v>, b: Value<'v>) -> Result<Value<'v>> {
    merged(cx, a, b, &|_, value| Ok(value))
}

fn deep_merge<'v>(cx: &Cx<'v>, a: Value<'v>, b: Value<'v>) -> Result<Value<'v>> {
    if is_map(a) && is_map(b) { deeply(cx, a, b) } else { Err(no_such_overload("deepMerge", true, &[a, b])) }
}

/// Merges maps recursively. The depth of values is limited.
fn deeply<'v>(cx: &Cx<'v>, a: Value<'v>, b: Value<'v>) -> Result<Value<'v>> {
    merged(cx, a, b, &|old, new| if is_map(old) && is_map(new) { deeply(cx, old, new) } else { Ok(new) })
}

/// Merges two maps, and the two values of a key of both with `both`.
fn merged<'v>(
    cx: &Cx<'v>,
    a: Value<'v>,
    b: Value<'v>,
    both: &dyn Fn(Value<'v>, Value<'v>) -> Result<Value<'v>>,
) -> Result<Value<'v>> {
    let (mut keys, mut values) = pairs(cx, a)?.unwrap_or_default();
    for pair in cx.in_turn(keys.iter().zip(&mut values)) {
        let (key, value) = pair?;
        if let Some(other) = entry(b, *key) {
            *value = both(*value, other)?;
        }
    }
    let (more_keys, more_values) = pairs(cx, b)?.unwrap_or_default();
    for pair in cx.in_turn(more_keys.into_iter().zip(more_values)) {
        let (key, value) = pair?;
        if entry(a, key).is_none() {
            keys.push(key);
            values.push(value);
        }
    }
    map(cx, &keys, &values)
}

functions! {
    /// The library `json`.
    pub static JSON:
    "json.marshal", "Encodes a value as JSON, with sorted keys. `<`, `>` and `&` are escaped."
        ["json.marshal({'b': [1, 1.5, null], 'a': 'x'})" => "'{\"a\":\"x\",\"b\":[1,1.5,null]}'", "json.marshal([1.0, '<'])" => "'[1,\"\\\\u003c\"]'"]
        | "json.marshal_dyn" (Dyn) -> String = marshal;
    "json.unmarshal", "Decodes JSON. Integers have the type `int`."
        ["json.unmarshal('{\"a\": [1, 1.5]}').a" => "[1, 1.5]", "json.unmarshal('{')" => "E0403"]
        | "json.unmarshal_string" (String) -> Dyn = unmarshal;
}

/// Encodes a value as the reference does: markup is escaped, and a double without a fraction has no `.0`.
fn marshal<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<String> {
    let (mut json, mut held) = (String::new(), Held::new(cx));
    let style = JsonStyle::Exchanged { pretty: false, markup: true };
    let written = exchange_json(Viewed(value, ByKey), style, &mut json, &mut |len: usize| held.step(len));
    match written {
        Ok(()) => Ok(json),
        Err(Refused::Stopped(error)) => Err(error),
        Err(Refused::Value(why)) => Err(bad_argument(format!("json.marshal failed to encode value: {why}"))),
    }
}

fn unmarshal<'v>(cx: &Cx<'v>, json: &'v str) -> Result<Value<'v>> {
    cx.json(json)?.map_err(|error| bad_argument(format!("json.unmarshal failed to parse JSON: {error}")))
}

/// Works like `json.unmarshal`, but every number is a double.
pub(crate) fn unmarshal_doubles<'v>(cx: &Cx<'v>, json: &'v str) -> Result<Value<'v>> {
    doubles(cx, unmarshal(cx, json)?)
}

/// Converts the numbers of a value. The recursion is bounded by the depth of values.
fn doubles<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<Value<'v>> {
    let all = |values: &[Value<'v>]| values.iter().map(|value| doubles(cx, *value)).collect::<Result<Vec<_>>>();
    match value {
        Value::List(list) => cx.list(&all(list.items())?),
        Value::Map(map) => cx.shaped_map(map.shape(), &all(map.values())?).map(Value::Map),
        value => Ok(as_float(value)),
    }
}

functions! {
    /// The library `hash`.
    pub static HASHES:
    "hash.fnv64a", "Returns the 64-bit FNV-1a hash of a string: fast, but not cryptographic." ["base64.encode(hash.fnv64a('hello'))" => "'pDDYRoCqvQs='"]
        | "hash.fnv64a_string" (String) -> Bytes = hash(hashes::fnv64a);
    "hash.sha256", "Returns the SHA-256 hash of a string." ["size(hash.sha256('hello'))" => "32"]
        | "hash.sha256_string" (String) -> Bytes = hash(hashes::sha256);
    "hash.md5", "Returns the MD5 hash of a string." ["base64.encode(hash.md5('hello'))" => "'XUFAKrxLKna5cZ2REBfFkg=='"]
        | "hash.md5_string" (String) -> Bytes = hash(hashes::md5);
}

fn hash<'v, const N: usize>(of: fn(&[u8]) -> [u8; N]) -> impl Fn(&Cx<'v>, &'v str) -> Result<Value<'v>> {
    move |cx, text| {
        cx.spend(text.len() as u64 / 16)?;
        cx.bytes(&of(text.as_bytes()))
    }
}

functions! {
    /// The functions that extend the library `lists`.
    pub static LISTS:
    "lists.setAtIndex", "Replaces the element at an index." ["lists.setAtIndex([1, 2, 3], 1, 9)" => "[1, 9, 3]", "lists.setAtIndex([1], 1, 9)" => "E0403"]
        | "lists.setAtIndex_list_int_T" ((list T), Int, T) -> (list T) = set;
    "lists.insertAtIndex", "Inserts an element at an index or at the end."
        ["lists.insertAtIndex([1, 2], 0, 9)" => "[9, 1, 2]", "lists.insertAtIndex([1, 2], 2, 9)" => "[1, 2, 9]", "lists.insertAtIndex([1], 2, 9)" => "E0403"]
        | "lists.insertAtIndex_list_int_T" ((list T), Int, T) -> (list T) = insert;
    "lists.removeAtIndex", "Removes the element at an index." ["lists.removeAtIndex([1, 2, 3], 1)" => "[1, 3]", "lists.removeAtIndex([], 0)" => "E0403"]
        | "lists.removeAtIndex_list_int" ((list T), Int) -> (list T) = remove;
    "range", "Returns the integers from 0 or a start, up to, but not including, an end, by a step of 1 or another."
        ["range(3)" => "[0, 1, 2]", "range(2, 4)" => "[2, 3]", "range(5, 0, -2)" => "[5, 3, 1]", "range(1, 2, 0)" => "E0403", "range(1000000000)" => "E0604"]
        | "range_int" (Int) -> (list Int) = range;
        | "range_int_int" (Int, Int) -> (list Int) = range;
        | "range_int_int_int" (Int, Int, Int) -> (list Int) = range;
}

/// Splits a list at an index; the end of the list is an index if `end` is set.
fn split<'v>(
    function: &str,
    list: &'v [Value<'v>],
    index: i64,
    end: bool,
) -> Result<(&'v [Value<'v>], &'v [Value<'v>])> {
    let at = usize::try_from(index).ok().filter(|at| *at < list.len() + usize::from(end));
    at.and_then(|at| list.split_at_checked(at)).ok_or_else(|| {
        let bracket = if end { ']' } else { ')' };
        bad_argument(format!("{function}: index {index} out of bounds [0, {}{bracket}", list.len()))
    })
}

fn joined<'v>(cx: &Cx<'v>, parts: &[&[Value<'v>]]) -> Result<Vec<Value<'v>>> {
    cx.charge(parts.iter().map(|part| size_of_val(*part)).sum())?;
    Ok(parts.concat())
}

fn set<'v>(cx: &Cx<'v>, list: &'v [Value<'v>], index: i64, value: Value<'v>) -> Result<Vec<Value<'v>>> {
    let (front, rest) = split("lists.setAtIndex", list, index, false)?;
    joined(cx, &[front, &[value], rest.get(1..).unwrap_or(&[])])
}

fn insert<'v>(cx: &Cx<'v>, list: &'v [Value<'v>], index: i64, value: Value<'v>) -> Result<Vec<Value<'v>>> {
    let (front, rest) = split("lists.insertAtIndex", list, index, true)?;
    joined(cx, &[front, &[value], rest])
}

fn remove<'v>(cx: &Cx<'v>, list: &'v [Value<'v>], index: i64) -> Result<Vec<Value<'v>>> {
    let (front, rest) = split("lists.removeAtIndex", list, index, false)?;
    joined(cx, &[front, rest.get(1..).unwrap_or(&[])])
}

fn range<'v>(cx: &Cx<'v>, first: i64, end: Option<i64>, step: Option<i64>) -> Result<Vec<Value<'v>>> {
    let (first, end) = end.map_or((0, first), |end| (first, end));
    let step = step.unwrap_or(1);
    if step == 0 {
        return Err(bad_argument("range: the step must not be 0"));
    }
    let (way, stride) = (i128::from(end) - i128::from(first), i128::from(step));
    let count = if (way > 0) == (step > 0) { (way.abs() + stride.abs() - 1) / stride.abs() } else { 0 };
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    cx.charge(count.saturating_mul(size_of::<Value>()))?;
    Ok(std::iter::successors(Some(first), |n| n.checked_add(step)).take(count).map(Value::Int).collect())
}

functions! {
    /// The library `random`.
    pub static RANDOM:
    "random.seededString", "Returns a string of lowercase letters and digits from a seed. It repeats after eight characters."
        ["random.seededString(8, 'a') == random.seededString(8, 'a')" => "true", "random.seededString(3, 'a').size()" => "3", "random.seededString(0, 'a')" => "E0403"]
        | "random.seededString_int_string" (Int, String) -> String = seeded_string;
    "random.seededInt", "Returns an integer from a seed, from a minimum up to, but not including, a maximum."
        ["random.seededInt(30000, 30001, 'a')" => "30000", "random.seededInt(1, 1, 'a')" => "E0403"]
        | "random.seededInt_int_int_string" (Int, Int, String) -> Int = seeded_int;
}

/// The alphabet of seeded strings.
const LETTERS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";

fn hash_of_seed(cx: &Cx<'_>, seed: &str) -> Result<[u8; 32]> {
    cx.spend(seed.len() as u64 / 16)?;
    Ok(sha256(seed.as_bytes()))
}

fn seeded_string<'v>(cx: &Cx<'v>, length: i64, seed: &'v str) -> Result<String> {
    let length = usize::try_from(length).ok().filter(|length| *length > 0);
    let length = length.ok_or_else(|| bad_argument("random.seededString length must be positive"))?;
    let hash = hash_of_seed(cx, seed)?;
    cx.charge(length)?;
    let letters = hash.as_chunks::<4>().0.iter().map(|word| {
        let at = u32::from_be_bytes(*word) as usize % LETTERS.len();
        LETTERS.get(at).copied().unwrap_or(b'0') as char
    });
    Ok(letters.cycle().take(length).collect())
}

fn seeded_int<'v>(cx: &Cx<'v>, min: i64, max: i64, seed: &'v str) -> Result<i64> {
    if min >= max {
        return Err(bad_argument("random.seededInt min must be less than max"));
    }
    let hash = hash_of_seed(cx, seed)?;
    let first = hash.first_chunk::<8>().copied().unwrap_or_default();
    Ok(min.wrapping_add_unsigned(u64::from_be_bytes(first) % max.abs_diff(min)))
}

functions! {
    /// The library `omit`.
    pub static OMITTED:
    "omit", "Removes the entry or list element of a document whose value it is."
        ["type(omit()) == type(omit())" => "true"]
        | "omit_void" () -> Dyn = omit;
}

fn omit<'v>(cx: &Cx<'v>) -> Result<Value<'v>> {
    cx.extended(Extended::Capsule(Capsule { name: OMIT, id: 0, content: CapsuleContent::Opaque }))
}
