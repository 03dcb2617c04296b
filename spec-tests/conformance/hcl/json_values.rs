//! Rows for values and types as JSON.

use dropforge::dialect::hcl::values::json::{
    Json, decode, decode_implied, decode_type, encode, encode_plain, encode_type,
};
use dropforge::dialect::hcl::values::types::type_of;

use super::encoding::{self, Check, Row, with_cx};
use super::typing::{equal, said};

/// Runs a `cty:TypeJSONable` row: a round trip.
pub fn types(row: &Row<'_>) -> Check {
    with_cx(|cx| {
        let ty = row.ty(cx.arena(), "Type")?;
        let text = encode_type(&ty).map_err(said)?;
        equal(row.text("Want")?, &text)?;
        equal(ty, decode_type(cx, &Json::read(&text, 64)?).map_err(said)?)
    })
}

/// Runs a `json:ImpliedType` row.
pub fn implied_types(row: &Row<'_>) -> Check {
    with_cx(|cx| {
        let value = decode_implied(cx, row.text("Input")?).map_err(said)?;
        equal(row.ty(cx.arena(), "Want")?, type_of(cx, value).map_err(said)?)
    })
}

/// Runs a `json:ImpliedTypeErrors` row.
pub fn implied_type_errors(row: &Row<'_>) -> Check {
    with_cx(|cx| match decode_implied(cx, row.text("Input")?) {
        Ok(value) => Err(format!("want an error, got {}", encoding::show(value))),
        Err(_) => Ok(()),
    })
}

/// Runs a `json:SimpleJSONValue` row: encodes, and decodes with the implied type.
pub fn plain(row: &Row<'_>) -> Check {
    with_cx(|cx| {
        let text = encode_plain(cx, row.value(cx.arena(), "Input")?.ok_or("no value")?).map_err(said)?;
        equal(row.text("JSON")?, &text)?;
        encoding::want(cx.arena(), row, "Want", Some(decode_implied(cx, &text).map_err(said)?))
    })
}

/// Runs a `json:ValueJSONable` row: a round trip with a type.
pub fn typed(row: &Row<'_>) -> Check {
    with_cx(|cx| {
        let ty = row.ty(cx.arena(), "Type")?;
        let text = encode(cx, row.value(cx.arena(), "Value")?.ok_or("no value")?, &ty).map_err(said)?;
        equal(row.text("Want")?, &text)?;
        encoding::want(cx.arena(), row, "DecVal", Some(decode(cx, &text, &ty).map_err(said)?))
    })
}
