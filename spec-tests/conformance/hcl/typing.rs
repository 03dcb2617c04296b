//! Rows for types: conversion, unification, conformance and type names.

use dropforge::dialect::hcl::values::Fault;
use dropforge::dialect::hcl::values::convert::{conversion_exists, convert};
use dropforge::dialect::hcl::values::mismatch;
use dropforge::dialect::hcl::values::types::{conforms, has_known_type, type_of, without_optional};
use dropforge::dialect::hcl::values::unify::{Unified, unify};
use dropforge::dialect::hcl::values::unify::{compare_types, preferred};
use dropforge::function::Cx;
use dropforge::value::{Type, Value};

use super::encoding::{self, Check, Row, with_cx};
use dropforge::dialect::hcl::values::json::Json;

/// Returns the text of a fault.
pub fn said(fault: Fault) -> String {
    match fault {
        Fault::Limit(limit) => format!("a limit: {limit}"),
        Fault::Wrong(wrong) => wrong.message,
    }
}

fn got<T>(result: Result<T, Fault>) -> Check<T> {
    result.map_err(said)
}

/// Runs a `convert` or `typeexpr_convert` row: the value, the presence of an error, and the available conversions.
pub fn converts(row: &Row<'_>) -> Check {
    with_cx(|cx| {
        let value = row.value(cx.arena(), "value")?.ok_or("no value")?;
        let to = row.ty(cx.arena(), "to")?;
        check_converted(cx, row, "want", value, to)?;
        let from = got(type_of(cx, value))?;
        for (name, unsafe_) in [("safe", false), ("unsafe", true)] {
            let exists = got(conversion_exists(cx, &from, &to, unsafe_))?;
            if row.get(name).is_some() && row.flag(name) != exists {
                return Err(format!("the {name} conversion exists: {exists}"));
            }
        }
        Ok(())
    })
}

fn check_converted<'v>(cx: &Cx<'v>, row: &Row<'_>, name: &str, value: Value<'v>, to: Type<'v>) -> Check {
    match convert(cx, value, &to) {
        Ok(made) => encoding::want(cx.arena(), row, name, Some(made)),
        Err(fault) => {
            let why = said(fault);
            encoding::want(cx.arena(), row, name, None).map_err(|wanted| format!("{wanted}: {why}"))
        }
    }
}

/// Runs a `convert:ConvertCapsuleType` row. Only refusals are compared, because the conversions of a capsule belong to
/// the host.
pub fn converts_capsule(row: &Row<'_>) -> Check {
    with_cx(|cx| {
        let value = row.value(cx.arena(), "From")?.ok_or("no value")?;
        check_converted(cx, row, "Want", value, row.ty(cx.arena(), "To")?)
    })
}

/// Runs a `unify` row in both modes, with the conversions required.
pub fn unifies(row: &Row<'_>) -> Check {
    with_cx(|cx| {
        let types = row.list("types").iter().map(|ty| encoding::ty(cx.arena(), ty)).collect::<Check<Vec<_>>>()?;
        for (want, conversions, unsafe_) in
            [("want", "conversions", false), ("want_unsafe", "conversions_unsafe", true)]
        {
            let unified = got(unify(cx, &types, unsafe_))?;
            let wanted = row.get(want).map(|ty| encoding::ty(cx.arena(), ty)).transpose()?;
            if unified.as_ref().map(|unified| unified.ty) != wanted {
                return Err(format!("{want}: want {wanted:?}, got {unified:?}"));
            }
            let is_converted =
                |unified: Unified<'_>| types.iter().map(|ty| unified.undecided || *ty != unified.ty).collect();
            let converts: Vec<bool> = unified.map_or(Vec::new(), is_converted);
            let wanted: Vec<bool> = row.list(conversions).iter().map(|flag| *flag == Json::Bool(true)).collect();
            if converts != wanted {
                return Err(format!("{conversions}: want {wanted:?}, got {converts:?}"));
            }
        }
        Ok(())
    })
}

/// Runs a `mismatch_message` row.
pub fn mismatches(row: &Row<'_>) -> Check {
    with_cx(|cx| {
        let (have, want) = (row.ty(cx.arena(), "got_type")?, row.ty(cx.arena(), "want_type")?);
        equal(row.text("want")?.to_owned(), got(mismatch(cx, &have, &want))?)
    })
}

/// Runs a `convert:CompareTypes` row.
pub fn compares(row: &Row<'_>) -> Check {
    with_cx(|cx| {
        let ordering = got(compare_types(cx, &row.ty(cx.arena(), "A")?, &row.ty(cx.arena(), "B")?))?;
        equal(row.number("Want").cmp(&0), ordering)
    })
}

/// Runs a `convert:SortTypes` row.
pub fn sorts(row: &Row<'_>) -> Check {
    with_cx(|cx| {
        let types = |name| row.list(name).iter().map(|ty| encoding::ty(cx.arena(), ty)).collect::<Check<Vec<_>>>();
        let input = types("Input")?;
        let order = got(preferred(cx, &input))?;
        equal(types("Want")?, order.into_iter().map(|at| input[at]).collect())
    })
}

/// Runs a `cty:ObjectTypeEquals` or `cty:TupleTypeEquals` row.
pub fn type_equals(row: &Row<'_>) -> Check {
    with_cx(|cx| equal(row.flag("Expected"), row.ty(cx.arena(), "LHS")? == row.ty(cx.arena(), "RHS")?))
}

/// Runs a `cty:TypeIsPrimitiveType` row.
pub fn is_primitive(row: &Row<'_>) -> Check {
    with_cx(|cx| equal(row.flag("Want"), row.ty(cx.arena(), "Type")?.is_primitive()))
}

/// Runs a `cty:TypeTestConformance` row.
pub fn conformance(row: &Row<'_>) -> Check {
    with_cx(|cx| {
        let (receiver, given) = (row.ty(cx.arena(), "Receiver")?, row.ty(cx.arena(), "Given")?);
        equal(row.flag("Conforms"), conforms(&receiver, &given))
    })
}

/// Runs a `cty:HasDynamicTypes` row.
pub fn has_dynamic(row: &Row<'_>) -> Check {
    with_cx(|cx| equal(row.flag("expected"), row.ty(cx.arena(), "ty")?.has_dynamic()))
}

/// Runs a `cty:HasWhollyKnownType` row.
pub fn known_type(row: &Row<'_>) -> Check {
    with_cx(|cx| {
        let value = row.value(cx.arena(), "Value")?.ok_or("no value")?;
        equal(row.flag("Want"), got(has_known_type(cx, value))?)
    })
}

/// Runs a `cty:WithoutOptionalAttributesDeep` row.
pub fn required(row: &Row<'_>) -> Check {
    with_cx(|cx| equal(row.ty(cx.arena(), "expected")?, without_optional(cx.arena(), row.ty(cx.arena(), "ty")?)))
}

/// Compares the result with the expected one.
pub fn equal<T: PartialEq + std::fmt::Debug>(wanted: T, got: T) -> Check {
    if wanted == got { Ok(()) } else { Err(format!("want {wanted:?}, got {got:?}")) }
}
