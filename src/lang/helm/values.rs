//! Values as Go sees them: their types, truth, equality, text.
//!
//! | Go | value |
//! |---|---|
//! | nil interface | [`Value::Null`] |
//! | no value at all (reflect's zero `Value`): a nil that was a pipeline's value | [`Value::Undefined`] |
//! | `bool`, `int`, `float64` | [`Value::Bool`], [`Value::Int`], [`Value::Float`] |
//! | `int64`, `uint8` and so on | [`Extended::Sized`] |
//! | `string` | [`Value::Str`], or [`Extended::Bytes`] if it is not UTF-8 |
//! | `[]byte` | [`Extended::Typed`] of [`BYTES`] around [`Extended::Bytes`] |
//! | `[]interface{}`, `map[string]interface{}` | [`Value::List`], [`Value::Map`] |
//! | `[]string`, `[]int` | [`Extended::Typed`] of [`STRINGS`], [`INTS`] |
//! | `map[string]string` | [`Extended::Typed`] of `STRING_MAP` |
//! | a slice or a map that is nil | [`Extended::Typed`] of `NIL_LIST`, `NIL_MAP` and so on |
//! | `time.Time`, `time.Duration` | [`Extended::Timestamp`], [`Extended::Duration`] |
//! | `complex128` | [`Extended::Typed`] of `COMPLEX` around a list of two floats |
//! | other types | [`Extended::Capsule`], named as in Go |

pub use super::print::print;
pub(crate) use super::print::strval;

use std::borrow::Cow;

use dropforge_base::diagnostics::Result;
use dropforge_machine::function::{Cx, Target};
use dropforge_value::{Extended, Map, Sized, Type, Value, Width};

/// The type `[]byte`. Its elements are [`Extended::Bytes`].
pub const BYTES: Type<'static> = Type::Capsule("bytes");

/// The type `complex128`. Its elements are a list of the real and the imaginary part.
pub(crate) const COMPLEX: Type<'static> = Type::Capsule("complex128");

/// The type `[]string`.
pub const STRINGS: Type<'static> = Type::List(&Type::String);

/// The type `[]int`.
pub const INTS: Type<'static> = Type::List(&Type::Capsule("int"));

/// The type `[]interface{}` of a list that is nil. Its elements are an empty list.
pub(crate) const NIL_LIST: Type<'static> = Type::List(&Type::Dynamic);

/// The type `map[string]interface{}` of a map that is nil. Its content is an empty map.
pub(crate) const NIL_MAP: Type<'static> = Type::Map(&Type::Dynamic);

/// The type `[]string` of a list that is nil. Its elements are an empty list.
pub(crate) const NIL_STRINGS: Type<'static> = Type::List(&Type::Capsule("string"));

/// The type `[][]interface{}`.
pub(crate) const CHUNKS: Type<'static> = Type::List(&Type::Capsule("[]interface {}"));

/// The type of a certificate and its key. Its content is a map of its fields.
pub const CERTIFICATE: Type<'static> = Type::Capsule("sprig.certificate");

/// The type `map[string]string`.
pub(crate) const STRING_MAP: Type<'static> = Type::Map(&Type::String);

/// The type `map[string]string` of a map that is nil. Its content is an empty map.
pub(crate) const NIL_STRING_MAP: Type<'static> = Type::Map(&Type::Capsule("string"));

/// The kind of a value's Go type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GoKind {
    /// Nil.
    Nil,
    /// `bool`.
    Bool,
    /// `int`.
    Int,
    /// `int64` and other signed integers of a width.
    Int64,
    /// `uint8`.
    Uint8,
    /// Other unsigned integers.
    Uint,
    /// `float64`.
    Float,
    /// `string`.
    Str,
    /// `[]byte`.
    Bytes,
    /// Other slices.
    List,
    /// Maps.
    Map,
    /// `time.Time`.
    Time,
    /// `time.Duration`.
    Duration,
    /// Other types.
    Object,
}

/// Returns the kind of a value's type.
pub fn kind(value: Value<'_>) -> GoKind {
    match value {
        Value::Undefined | Value::Null => GoKind::Nil,
        Value::Bool(_) => GoKind::Bool,
        Value::Int(_) => GoKind::Int,
        Value::Uint(_) => GoKind::Uint,
        Value::Float(_) => GoKind::Float,
        Value::Str(_) => GoKind::Str,
        Value::List(_) => GoKind::List,
        Value::Map(_) => GoKind::Map,
        Value::Extended(extension) => match extension.kind() {
            Extended::Sized(Sized::Signed(..)) => GoKind::Int64,
            Extended::Sized(Sized::Unsigned(Width::W8, _)) => GoKind::Uint8,
            Extended::Sized(Sized::Unsigned(..)) => GoKind::Uint,
            Extended::Bytes(_) => GoKind::Str,
            Extended::Typed(Type::Capsule("bytes"), _) => GoKind::Bytes,
            Extended::Typed(Type::Capsule(_), _) => GoKind::Object,
            Extended::Typed(_, Value::Map(_)) | Extended::Entries(_) => GoKind::Map,
            Extended::Typed(..) => GoKind::List,
            Extended::Timestamp { .. } => GoKind::Time,
            Extended::Duration(_) => GoKind::Duration,
            Extended::Written(inner, _) => kind(*inner),
            _ => GoKind::Object,
        },
    }
}

/// Returns the name of a value's type in Go: `float64`, `[]interface {}`.
pub fn type_name(value: Value<'_>) -> Cow<'_, str> {
    Cow::Borrowed(match value {
        Value::Undefined | Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Int(_) => "int",
        Value::Uint(_) => "uint64",
        Value::Float(_) => "float64",
        Value::Str(_) => "string",
        Value::List(_) => "[]interface {}",
        Value::Map(_) => "map[string]interface {}",
        Value::Extended(extension) => match extension.kind() {
            Extended::Sized(number) => sized_name(*number),
            Extended::Bytes(_) => "string",
            Extended::Typed(Type::Capsule("bytes"), _) => "[]uint8",
            Extended::Typed(Type::Capsule(name), _) => name,
            Extended::Typed(Type::List(Type::Capsule("common.Version")), _) => "common.VersionSet",
            Extended::Typed(Type::List(element), _) => return Cow::Owned(format!("[]{}", element_name(element))),
            Extended::Typed(Type::Map(element), _) => {
                return Cow::Owned(format!("map[string]{}", element_name(element)));
            }
            Extended::Entries(_) => "map[interface {}]interface {}",
            Extended::Timestamp { .. } => "time.Time",
            Extended::Duration(_) => "time.Duration",
            Extended::Capsule(capsule) => capsule.name,
            Extended::Written(inner, _) => return type_name(*inner),
            other => other.name(),
        },
    })
}

fn element_name<'v>(element: &Type<'v>) -> &'v str {
    match *element {
        Type::String => "string",
        Type::Bool => "bool",
        Type::Number => "float64",
        Type::Capsule("bytes") => "[]uint8",
        Type::Capsule(name) => name,
        _ => "interface {}",
    }
}

const fn sized_name(number: Sized) -> &'static str {
    match number {
        Sized::Signed(Width::W8, _) => "int8",
        Sized::Signed(Width::W16, _) => "int16",
        Sized::Signed(Width::W32, _) => "int32",
        Sized::Signed(Width::W64, _) => "int64",
        Sized::Signed(Width::Word, _) => "int",
        Sized::Unsigned(Width::W8, _) => "uint8",
        Sized::Unsigned(Width::W16, _) => "uint16",
        Sized::Unsigned(Width::W32, _) => "uint32",
        Sized::Unsigned(Width::W64, _) => "uint64",
        Sized::Unsigned(Width::Word, _) => "uint",
    }
}

/// Returns `true` if a value counts as true in `if`: it is not the zero value of its type, nor empty. An object of a
/// struct type always does.
pub fn truth<'v>(cx: &Cx<'v>, value: Value<'v>) -> bool {
    match value {
        Value::Undefined | Value::Null => false,
        Value::Bool(truth) => truth,
        Value::Int(n) => n != 0,
        Value::Uint(n) => n != 0,
        Value::Float(n) => n != 0.0,
        Value::Str(text) => !text.as_str().is_empty(),
        Value::List(list) => !list.items().is_empty(),
        Value::Map(map) => !cx.content(map).is_empty(),
        Value::Extended(extension) => match extension.kind() {
            Extended::Sized(number) => number.number() != 0,
            Extended::Bytes(bytes) => !bytes.is_empty(),
            Extended::Typed(_, inner) | Extended::Written(inner, _) => truth(cx, *inner),
            Extended::Entries(entries) => !entries.is_empty(),
            Extended::Duration(nanos) => *nanos != 0,
            _ => true,
        },
    }
}

/// Returns the content of a map of any type at this moment, if its keys are text.
pub fn map_of<'v>(cx: &Cx<'v>, value: Value<'v>) -> Option<&'v Map<'v>> {
    match value {
        Value::Map(map) => Some(cx.content(map)),
        Value::Extended(extension) => match extension.kind() {
            Extended::Typed(Type::Map(_), Value::Map(map)) => Some(cx.content(map)),
            Extended::Written(inner, _) => map_of(cx, *inner),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the items of a slice of any type except `[]byte`.
pub fn items<'v>(value: Value<'v>) -> Option<&'v [Value<'v>]> {
    match value {
        Value::List(list) => Some(list.items()),
        Value::Extended(extension) => match extension.kind() {
            Extended::Typed(Type::List(_), Value::List(list)) => Some(list.items()),
            Extended::Written(inner, _) => items(*inner),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the value of a key that a map does not have.
pub(crate) fn zero_element<'v>(cx: &Cx<'v>, map: Value<'v>) -> Result<Value<'v>> {
    match map.extended() {
        Some(Extended::Typed(STRING_MAP | NIL_STRING_MAP, _)) => cx.borrowed(""),
        _ => Ok(Value::Null),
    }
}

/// Returns `true` for a slice or a map that is nil.
pub(crate) fn is_nil_of_type(value: Value<'_>) -> bool {
    matches!(value.extended(), Some(Extended::Typed(NIL_LIST | NIL_STRINGS | NIL_MAP | NIL_STRING_MAP, _)))
}

/// Returns the bytes of a string.
pub fn text_bytes<'v>(value: Value<'v>) -> Option<&'v [u8]> {
    match value {
        Value::Str(text) => Some(text.as_str().as_bytes()),
        Value::Extended(extension) => match extension.kind() {
            Extended::Bytes(bytes) => Some(bytes),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the name of a parameter's type in Go.
pub(crate) fn target_name(target: Target) -> &'static str {
    match target {
        Target::Any | Target::Raw => "interface {}",
        Target::Bool => "bool",
        Target::Int => "int",
        Target::Int64 => "int64",
        Target::Uint32 => "uint32",
        Target::Float => "float64",
        Target::Str => "string",
        Target::Bytes => "[]uint8",
        Target::List => "[]interface {}",
        Target::Texts => "[]string",
        Target::Map => "map[string]interface {}",
        Target::Time => "time.Time",
        Target::Duration => "time.Duration",
        Target::Capsule(name) => name,
    }
}

/// Returns the real and the imaginary part of a complex number.
pub(crate) fn complex_parts(value: Value<'_>) -> Option<[f64; 2]> {
    let Some(Extended::Typed(ty, Value::List(parts))) = value.extended() else { return None };
    match parts.items() {
        [Value::Float(re), Value::Float(im)] if *ty == COMPLEX => Some([*re, *im]),
        _ => None,
    }
}

/// Returns `true` if two values are deeply equal, like Go's `reflect.DeepEqual`: an `int` never equals a `float64`, nor a
/// `[]string` a `[]interface{}`.
pub(crate) fn deep_equal<'v>(cx: &Cx<'v>, a: Value<'v>, b: Value<'v>) -> Result<bool> {
    let (mut open, mut next) = (Vec::new(), Some((a, b)));
    while let Some((a, b)) = next {
        cx.spend(1)?;
        if !alike(cx, a, b, &mut open)? {
            return Ok(false);
        }
        next = open.pop();
    }
    Ok(true)
}

/// Compares two values except for what they contain, which is added to `open`.
fn alike<'v>(cx: &Cx<'v>, a: Value<'v>, b: Value<'v>, open: &mut Vec<(Value<'v>, Value<'v>)>) -> Result<bool> {
    if type_name(a) != type_name(b) || is_nil_of_type(a) != is_nil_of_type(b) {
        return Ok(false);
    }
    if let (Some(a), Some(b)) = (items(a), items(b)) {
        cx.charge(a.len() * size_of::<(Value<'_>, Value<'_>)>())?;
        open.extend(a.iter().copied().zip(b.iter().copied()));
        return Ok(a.len() == b.len());
    }
    if let (Some(a), Some(b)) = (map_of(cx, a), map_of(cx, b)) {
        cx.charge(a.len() * size_of::<(Value<'_>, Value<'_>)>())?;
        for (key, value) in a.iter() {
            let Some(other) = b.get(key) else { return Ok(false) };
            open.push((value, other));
        }
        return Ok(a.len() == b.len());
    }
    if let (Some(a), Some(b)) = (text_bytes(a), text_bytes(b)) {
        cx.spend(a.len().min(b.len()) as u64 / 64)?;
        return Ok(a == b);
    }
    match (a.extended(), b.extended()) {
        (Some(Extended::Typed(_, a)), Some(Extended::Typed(_, b))) => Ok(text_bytes(*a) == text_bytes(*b)),
        // One kind of nothing equals the other.
        _ if matches!(a, Value::Null | Value::Undefined) => Ok(true),
        _ => cx.equal(a, b),
    }
}

/// Returns an integer of a sized type.
pub fn sized<'v>(cx: &Cx<'v>, number: Sized) -> Result<Value<'v>> {
    cx.extended(Extended::Sized(number))
}

/// Returns an `int64`.
pub fn int64<'v>(cx: &Cx<'v>, n: i64) -> Result<Value<'v>> {
    sized(cx, Sized::Signed(Width::W64, n))
}

/// Returns a `[]byte`.
pub(crate) fn byte_list<'v>(cx: &Cx<'v>, bytes: &[u8]) -> Result<Value<'v>> {
    let bytes = cx.bytes(bytes)?;
    cx.extended(Extended::Typed(BYTES, bytes))
}

/// Returns a `[]string` of these strings.
pub fn strings<'v>(cx: &Cx<'v>, items: &[Value<'v>]) -> Result<Value<'v>> {
    let list = cx.list(items)?;
    cx.extended(Extended::Typed(STRINGS, list))
}

/// Returns a `[]int` of these integers.
pub fn integers<'v>(cx: &Cx<'v>, items: &[Value<'v>]) -> Result<Value<'v>> {
    let list = cx.list(items)?;
    cx.extended(Extended::Typed(INTS, list))
}

/// Returns a `[]interface {}` that is nil.
pub(crate) fn nil_list<'v>(cx: &Cx<'v>) -> Result<Value<'v>> {
    nil_of_type(cx, NIL_LIST)
}

/// Returns a `map[string]interface {}` that is nil.
pub(crate) fn nil_map<'v>(cx: &Cx<'v>) -> Result<Value<'v>> {
    let empty = cx.map(&[])?;
    cx.extended(Extended::Typed(NIL_MAP, empty))
}

/// Returns a slice that is nil.
pub(crate) fn nil_of_type<'v>(cx: &Cx<'v>, ty: Type<'v>) -> Result<Value<'v>> {
    let empty = cx.list(&[])?;
    cx.extended(Extended::Typed(ty, empty))
}
