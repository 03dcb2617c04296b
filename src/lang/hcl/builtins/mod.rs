//! The functions of the language.
//!
//! Each file has one topic and its tables. A function that the reference's standard library and OpenTofu share is in a
//! table that both use; a function that only one of them has, or that they define differently, is in a separate table.
//! The registries combine the tables. `intrinsics` are operations that only lowering calls: conditionals, loops, splats
//! and object constructors.

mod assumptions;
mod charsets;
mod conversions;
mod encodings;
mod files;
mod format;
mod intrinsics;
mod loops;
mod maps;
mod numbers;
mod searches;
mod sequences;
mod strings;
#[cfg(feature = "compile")]
mod templates;
mod yaml;

use super::values::types::name;
use super::values::{is_set, is_wholly_known, number_of, shallow_type, type_of};
use dropforge_base::diagnostics::Result;
use dropforge_base::stdlib::strings::nfc;
use dropforge_machine::function::{ASCII, Builtin, Cx, Outcome, Registry};
use dropforge_value::{Extended, Type, Value};
use intrinsics::INTRINSICS;

pub use assumptions::{EPHEMERAL, SENSITIVE};

/// Functions that the reference's standard library and OpenTofu share.
static SHARED: &[&[Builtin]] = &[
    conversions::ATTEMPTS,
    conversions::DOCUMENTS,
    format::FORMATS,
    maps::MAPS,
    numbers::NUMBERS,
    numbers::SHARED_OPERATORS,
    strings::PATTERNS,
    sequences::RANGES,
    searches::SEARCHES,
    sequences::SEQUENCES,
    searches::SETS,
    strings::STRINGS,
    numbers::TIMES,
];

/// Functions of the reference's standard library only.
static STANDARD: &[&[Builtin]] = &[
    conversions::STANDARD_CONVERSIONS,
    maps::STANDARD_MAPS,
    numbers::STANDARD_NUMBERS,
    numbers::OPERATORS,
    strings::STANDARD_PATTERNS,
    searches::STANDARD_SEARCHES,
    sequences::STANDARD_SEQUENCES,
    searches::STANDARD_SETS,
    strings::STANDARD_STRINGS,
    numbers::STANDARD_TIMES,
];

/// Functions of OpenTofu only.
static OPENTOFU: &[&[Builtin]] = &[
    assumptions::ASSUMPTIONS,
    encodings::CIPHERS,
    conversions::OPENTOFU_CONVERSIONS,
    encodings::ENCODINGS,
    files::FILES,
    maps::OPENTOFU_MAPS,
    numbers::NETWORKS,
    strings::OPENTOFU_PATTERNS,
    sequences::OPENTOFU_REDUCTIONS,
    searches::OPENTOFU_SEARCHES,
    assumptions::SECRETS,
    sequences::OPENTOFU_SEQUENCES,
    strings::OPENTOFU_STRINGS,
    numbers::OPENTOFU_TIMES,
    yaml::YAML,
];

/// Functions of OpenTofu that compile templates.
static COMPILED: &[&[Builtin]] = &[
    #[cfg(feature = "compile")]
    templates::TEMPLATES,
];

/// Returns the functions of the reference's standard library, with `try`, `can` and `convert`.
pub fn stdlib() -> Registry {
    of(&[SHARED, STANDARD])
}

/// Returns the functions of OpenTofu.
pub fn opentofu() -> Registry {
    of(&[SHARED, OPENTOFU, COMPILED])
}

/// Returns all functions: those of OpenTofu, and those of the standard library that have other names.
pub fn registry() -> Registry {
    of(&[SHARED, STANDARD, OPENTOFU, COMPILED])
}

/// Returns all functions except those that render templates.
#[cfg(feature = "compile")]
fn without_templates() -> Registry {
    of(&[SHARED, STANDARD, OPENTOFU])
}

/// Returns the language's own operations, and no function that a source can call.
pub fn bare() -> Registry {
    of(&[])
}

/// Adds the intrinsics to a registry that lacks them.
#[cfg(feature = "compile")]
pub fn complete(registry: &Registry) -> Registry {
    let mut all = registry.clone();
    // A registry has all of them or none.
    if INTRINSICS.first().is_some_and(|one| registry.get(one.kind, &one.name).is_none()) {
        INTRINSICS.iter().for_each(|builtin| all.insert(builtin.clone()));
    }
    all
}

fn of(tables: &[&[&'static [Builtin]]]) -> Registry {
    let all = [&[INTRINSICS][..], &tables.concat()].concat();
    Registry::of(&all)
}

/// Bytes of a text that is brought to normal form in pieces.
const LONG: usize = 1 << 16;

/// Makes a string value. Strings of the language are in normal form C.
fn string<'v>(cx: &Cx<'v>, text: &str) -> Outcome<Value<'v>> {
    if text.len() < LONG || text.is_ascii() {
        return Ok(cx.text(&nfc(text))?);
    }
    let normal: Result<String> = cx.pieces(text, ASCII).map(|piece| Ok(nfc(piece?))).collect();
    Ok(cx.text(&normal?)?)
}

/// Makes a list of strings.
fn string_list<'v, 't>(cx: &Cx<'v>, texts: impl Iterator<Item = &'t str>) -> Outcome<Value<'v>> {
    let texts: Vec<_> = texts.map(|text| string(cx, text)).collect::<Outcome<_>>()?;
    Ok(cx.arena().typed(Type::List(&Type::String), cx.list(&texts)?))
}

/// Returns `true` if `value`, which may be unknown, is a list or tuple.
fn is_sequence<'v>(cx: &Cx<'v>, value: Value<'v>) -> bool {
    matches!(shallow_type(cx, value), Type::List(_) | Type::Tuple(_))
}

/// Returns `true` if `value`, which may be unknown, is a list, tuple or set.
fn has_elements<'v>(cx: &Cx<'v>, value: Value<'v>) -> bool {
    is_sequence(cx, value) || is_set(value)
}

/// Returns the name of the type of `value`, for messages.
fn type_name<'v>(cx: &Cx<'v>, value: Value<'v>) -> Outcome<String> {
    Ok(name(&type_of(cx, value)?))
}

/// Returns `value` as a 64-bit integer.
fn to_i64(value: Value<'_>) -> Option<i64> {
    match value {
        Value::Int(n) => Some(n),
        value => number_of(value)?.to_i64(),
    }
}

/// The message for an index or a size that is not a 64-bit integer.
const WHOLE: &str = "a whole number of 64 bits is required";

/// Returns the elements of a known list, set or tuple.
fn items<'v>(value: Value<'v>) -> &'v [Value<'v>] {
    value.elements().unwrap_or(&[])
}

/// Adds the outer marks of each of `from` to `value`.
fn marked_as<'v>(cx: &Cx<'v>, value: Value<'v>, from: &[Value<'v>]) -> Value<'v> {
    from.iter().fold(value, |value, from| cx.arena().marked(value, from.unmarked().1))
}

/// Returns the element type of a list, set or map type, or the dynamic type.
fn element_of<'v>(ty: &Type<'v>) -> Type<'v> {
    ty.element().copied().unwrap_or(Type::Dynamic)
}

/// Returns the element type of a known list, and `None` for any other value.
fn type_of_list<'v>(value: Value<'v>) -> Option<Type<'v>> {
    match value.unmarked().0.extended() {
        Some(Extended::Typed(Type::List(element), _)) => Some(**element),
        _ => None,
    }
}

/// Returns `true` if the length of a list, set or tuple is known. Unknown elements of a set may turn out to be equal.
fn length_is_known<'v>(cx: &Cx<'v>, value: Value<'v>) -> Outcome<bool> {
    match value.elements() {
        None => Ok(false),
        Some(items) => Ok(!is_set(value) || items.len() == 1 || is_wholly_known(cx, value)?),
    }
}

/// Returns `true` if `value` is known to be true.
fn is_true(value: Value<'_>) -> bool {
    matches!(value.unmarked().0, Value::Bool(true))
}

#[cfg(test)]
pub(crate) mod tests;
