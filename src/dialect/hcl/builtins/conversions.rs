//! Functions that convert to a type, and those that choose among values.

use super::parts::{Kind, named};
use crate::dialect::hcl::values::convert::{conversion_exists, convert};
use crate::dialect::hcl::values::mismatch::mismatch;
use crate::dialect::hcl::values::types::{constraint_name, same_type, type_of, types_of};
use crate::dialect::hcl::values::unify::unified_type;
use crate::dialect::hcl::values::{Fault, Outcome};
use crate::function::Cx;
use crate::positional;
use crate::value::{Type, Value};

positional! {
    /// Functions that convert and choose, as only OpenTofu has them.
    pub(super) static OPENTOFU_CONVERSIONS:
    "tostring" (v: Any [null dynamic marked]) -> {string_type} or null = to_string,
        "A value as text." ["tostring(1.5)" => "\"1.5\"", "tostring(true)" => "\"true\""];
    "tonumber" (v: Any [null dynamic marked]) -> {number_type} or null = to_number,
        "A value as a number." ["tonumber(\"1.50\")" => "1.5"];
    "tobool" (v: Any [null dynamic marked]) -> {bool_type} or null = to_bool,
        "A value as a boolean." ["tobool(\"true\")" => "true"];
    "tolist" (v: Any [null dynamic marked]) -> {list_type} or null = to_list,
        "A sequence or set as a list, whose elements are of one type." ["tolist([1, \"a\"])" => "[\"1\", \"a\"]"];
    "toset" (v: Any [null dynamic marked]) -> {set_type} or null = to_set,
        "A sequence as a set: each value once, all of one type." ["toset([\"b\", \"a\", \"b\"])" => "[\"a\", \"b\"]"];
    "tomap" (v: Any [null dynamic marked]) -> {map_type} or null = to_map,
        "An object as a map, whose values are of one type." ["tomap({a = 1, b = \"c\"})" => "{a = \"1\", b = \"c\"}"];
    "coalesce" (... vals: Any [null unknown dynamic]) -> Any = coalesce_text,
        "The first value that is neither null nor empty text." ["coalesce(\"\", null, \"a\")" => "\"a\""];
}

positional! {
    /// Functions that choose, as OpenTofu has not or has otherwise.
    pub(super) static STANDARD_CONVERSIONS:
    "assertnotnull" (v: Any) -> {same} = itself,
        "The value, which must not be null." ["assertnotnull(1)" => "1"];
    "coalesce" (... vals: Any [null unknown dynamic]) -> Any = coalesce,
        "The first value that is not null." ["coalesce(null, \"\")" => "\"\""];
}

/// The type that `wanted` is for a value, where there is a conversion to it.
fn type_to<'v>(cx: &Cx<'v>, args: &[Value<'v>], wanted: Type<'v>) -> Outcome<Type<'v>> {
    let [value] = args else { return Err(cx.arity().into()) };
    let from = type_of(cx, *value)?;
    if same_type(cx, &from, &wanted)? || conversion_exists(cx, &from, &wanted, true)? {
        return Ok(wanted);
    }
    Err(Fault::argument(0, mismatch(cx, &from, &wanted)?))
}

fn value_to<'v>(cx: &Cx<'v>, args: &[Value<'v>], wanted: Type<'v>) -> Outcome<Value<'v>> {
    let [value] = args else { return Err(cx.arity().into()) };
    match convert(cx, *value, &wanted) {
        Err(Fault::Wrong(_)) => Err(unconvertible(cx, *value, &wanted)?),
        done => done,
    }
}

/// Why `value` does not convert. What carries marks is not told.
fn unconvertible<'v>(cx: &Cx<'v>, value: Value<'v>, wanted: &Type<'v>) -> Outcome<Fault> {
    let hint = match (Kind::of(value), wanted) {
        (Kind::String, Type::Bool) => "; only \"true\" and \"false\" are one",
        (Kind::String, Type::Number) => "; it must be the decimal digits of a number",
        _ => "",
    };
    let what = match value.as_str() {
        Some(text) if text.len() <= 64 => format!("{text:?}"),
        _ => format!("this {}", named(cx, value)?),
    };
    Ok(Fault::argument(0, format!("cannot convert {what} to {}{hint}", constraint_name(wanted))))
}

fn string_type<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Type<'v>> {
    type_to(cx, args, Type::String)
}

fn to_string<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    value_to(cx, args, Type::String)
}

fn number_type<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Type<'v>> {
    type_to(cx, args, Type::Number)
}

fn to_number<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    value_to(cx, args, Type::Number)
}

fn bool_type<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Type<'v>> {
    type_to(cx, args, Type::Bool)
}

fn to_bool<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    value_to(cx, args, Type::Bool)
}

fn list_type<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Type<'v>> {
    type_to(cx, args, Type::List(&Type::Dynamic))
}

fn to_list<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    value_to(cx, args, Type::List(&Type::Dynamic))
}

fn set_type<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Type<'v>> {
    type_to(cx, args, Type::Set(&Type::Dynamic))
}

fn to_set<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    value_to(cx, args, Type::Set(&Type::Dynamic))
}

fn map_type<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Type<'v>> {
    type_to(cx, args, Type::Map(&Type::Dynamic))
}

fn to_map<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    value_to(cx, args, Type::Map(&Type::Dynamic))
}

fn coalesce_type<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Type<'v>> {
    let common = unified_type(cx, &types_of(cx, args)?, true)?;
    common.ok_or_else(|| Fault::wrong("there is no one type for all arguments"))
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
        let value = match convert(cx, *arg, &ty) {
            // The reference passes over what does not convert, as over null.
            Err(Fault::Wrong(_)) => continue,
            converted => converted?,
        };
        if !value.is_known() {
            return Ok(cx.arena().unknown(ty));
        }
        if !value.is_null() && value.as_str() != Some("") {
            return Ok(value);
        }
    }
    Err(Fault::wrong("all arguments are null or empty text"))
}

fn same<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Type<'v>> {
    let [value] = args else { return Err(cx.arity().into()) };
    type_of(cx, *value)
}

fn itself<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let [value] = args else { return Err(cx.arity().into()) };
    Ok(*value)
}
