//! Functions that convert to a type, and functions that pick one of several values.

use super::collections::type_name;
use super::table::functions;
use crate::dialect::hcl::values::convert::{conversion_exists, convert};
use crate::dialect::hcl::values::mismatch::mismatch;
use crate::dialect::hcl::values::types::{constraint_name, same_type, shallow_type, type_of, types_of};
use crate::dialect::hcl::values::unify::unified_type;
use crate::dialect::hcl::values::{Fault, Outcome};
use crate::function::{Cx, fitting};
use crate::value::{Type, Value};

functions! {
    /// Conversions and `coalesce` of OpenTofu.
    pub(super) static OPENTOFU_CONVERSIONS:
    "tostring" (v: Any [null dynamic marked]) -> {type_to [Type::String]} or null = value_to [Type::String],
        "Converts a value to a string." ["tostring(1.5)" => "\"1.5\"", "tostring(true)" => "\"true\""];
    "tonumber" (v: Any [null dynamic marked]) -> {type_to [Type::Number]} or null = value_to [Type::Number],
        "Converts a value to a number." ["tonumber(\"1.50\")" => "1.5"];
    "tobool" (v: Any [null dynamic marked]) -> {type_to [Type::Bool]} or null = value_to [Type::Bool],
        "Converts a value to a boolean." ["tobool(\"true\")" => "true"];
    "tolist" (v: Any [null dynamic marked]) -> {type_to [Type::List(&Type::Dynamic)]} or null
        = value_to [Type::List(&Type::Dynamic)],
        "Converts a tuple or set to a list with one element type." ["tolist([1, \"a\"])" => "[\"1\", \"a\"]"];
    "toset" (v: Any [null dynamic marked]) -> {type_to [Type::Set(&Type::Dynamic)]} or null
        = value_to [Type::Set(&Type::Dynamic)],
        "Converts a tuple or list to a set, which drops duplicates." ["toset([\"b\", \"a\", \"b\"])" => "[\"a\", \"b\"]"];
    "tomap" (v: Any [null dynamic marked]) -> {type_to [Type::Map(&Type::Dynamic)]} or null
        = value_to [Type::Map(&Type::Dynamic)],
        "Converts an object to a map with one element type." ["tomap({a = 1, b = \"c\"})" => "{a = \"1\", b = \"c\"}"];
    "coalesce" (... vals: Any [null unknown dynamic]) -> Any = coalesce_text,
        "Returns the first value that is neither null nor the empty string." ["coalesce(\"\", null, \"a\")" => "\"a\""];
}

functions! {
    /// `assertnotnull` and `coalesce` of the standard library.
    pub(super) static STANDARD_CONVERSIONS:
    "assertnotnull" (v: Any) -> {type_of} = itself,
        "Returns the value, which must not be null." ["assertnotnull(1)" => "1"];
    "coalesce" (... vals: Any [null unknown dynamic]) -> Any = coalesce,
        "Returns the first value that is not null." ["coalesce(null, \"\")" => "\"\""];
}

/// Returns `wanted` if a conversion from the type of `value` exists.
fn type_to<'v>(cx: &Cx<'v>, value: Value<'v>, wanted: Type<'v>) -> Outcome<Type<'v>> {
    let from = type_of(cx, value)?;
    if same_type(cx, &from, &wanted)? || conversion_exists(cx, &from, &wanted, true)? {
        return Ok(wanted);
    }
    Err(Fault::argument(0, mismatch(cx, &from, &wanted)?))
}

fn value_to<'v>(cx: &Cx<'v>, value: Value<'v>, wanted: Type<'v>) -> Outcome<Value<'v>> {
    fitting(convert(cx, value, &wanted))?.map_or_else(|| Err(unconvertible(cx, value, &wanted)?), Ok)
}

/// Explains why `value` does not convert, without revealing a marked value.
fn unconvertible<'v>(cx: &Cx<'v>, value: Value<'v>, wanted: &Type<'v>) -> Outcome<Fault> {
    let hint = match (shallow_type(cx, value), wanted) {
        (Type::String, Type::Bool) => "; only \"true\" and \"false\" are allowed",
        (Type::String, Type::Number) => "; expected the decimal digits of a number",
        _ => "",
    };
    let what = match value.as_str() {
        Some(text) if text.len() <= 64 => format!("{text:?}"),
        _ => format!("this {}", type_name(cx, value)?),
    };
    Ok(Fault::argument(0, format!("cannot convert {what} to {}{hint}", constraint_name(wanted))))
}

fn coalesce_type<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Type<'v>> {
    let common = unified_type(cx, &types_of(cx, args)?, true)?;
    common.ok_or_else(|| Fault::wrong("the arguments have no common type"))
}

fn coalesce<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let ty = coalesce_type(cx, args)?;
    match args.iter().find(|arg| !arg.is_null()) {
        Some(arg) if !arg.is_known() => Ok(cx.arena().unknown(ty)),
        Some(arg) => convert(cx, *arg, &ty),
        None => Err(Fault::wrong("all arguments are null")),
    }
}

fn coalesce_text<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let ty = coalesce_type(cx, args)?;
    for arg in args {
        // Like the reference, skips a value that does not convert.
        let Some(value) = fitting(convert(cx, *arg, &ty))? else { continue };
        if !value.is_known() {
            return Ok(cx.arena().unknown(ty));
        }
        if !value.is_null() && value.as_str() != Some("") {
            return Ok(value);
        }
    }
    Err(Fault::wrong("all arguments are null or empty strings"))
}

fn itself<'v>(_: &Cx<'v>, value: Value<'v>) -> Outcome<Value<'v>> {
    Ok(value)
}
