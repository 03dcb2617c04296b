//! Helpers of bodies: arguments of Go's types, their text, and strings as results.

use std::borrow::Cow;

use bumpalo::collections::Vec as BumpVec;

use crate::error::failed;
use crate::values::{GoKind, items, kind, sized, strval, text_bytes, type_name};
use dropforge_base::diagnostics::{Diagnostic, Result};
use dropforge_machine::function::Cx;
use dropforge_value::{Extended, Sized, Value, Width};

/// Returns `true` for nil.
pub(super) fn is_nil(value: Value<'_>) -> bool {
    kind(value) == GoKind::Nil
}

/// Returns a string of any value, like the functions that take any value and need a string.
pub(super) fn string_of<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<Value<'v>> {
    if text_bytes(value).is_some() { Ok(value) } else { part(cx, strval(cx, value)?) }
}

/// Returns a string that is a part of another.
pub(super) fn part<'v>(cx: &Cx<'v>, bytes: &'v [u8]) -> Result<Value<'v>> {
    cx.spend(bytes.len() as u64 / 64)?;
    match std::str::from_utf8(bytes) {
        Ok(text) => cx.borrowed(text),
        Err(_) => cx.extended(Extended::Bytes(bytes)),
    }
}

/// Returns a string of these pieces.
pub(super) fn copied<'v>(cx: &Cx<'v>, pieces: &[&[u8]]) -> Result<Value<'v>> {
    let len = pieces.iter().try_fold(0_usize, |len, piece| len.checked_add(piece.len()));
    made(cx, len, |push| pieces.iter().for_each(|piece| push(piece)))
}

/// Returns a string of the pieces that `write` passes on: at most `len` bytes, which are charged first. A length that does
/// not fit a `usize` exceeds any limit.
pub(super) fn made<'v>(
    cx: &Cx<'v>,
    len: Option<usize>,
    write: impl FnOnce(&mut dyn FnMut(&[u8])),
) -> Result<Value<'v>> {
    cx.charge(len.unwrap_or(usize::MAX))?;
    let mut bytes = BumpVec::with_capacity_in(len.unwrap_or(0), cx.arena().bump());
    write(&mut |piece| bytes.extend_from_slice_copy(piece));
    part(cx, bytes.into_bump_slice())
}

/// Returns the items of a slice of any type. `None` for other values.
pub(super) fn elements<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<Option<Cow<'v, [Value<'v>]>>> {
    if let Some(items) = items(value) {
        return Ok(Some(Cow::Borrowed(items)));
    }
    let Some(Extended::Typed(_, content)) = value.extended() else { return Ok(None) };
    let Some(bytes) = text_bytes(*content) else { return Ok(None) };
    let byte = |byte: &u8| sized(cx, Sized::Unsigned(Width::W8, u64::from(*byte)));
    bytes.iter().map(byte).collect::<Result<Vec<_>>>().map(|items| Some(Cow::Owned(items)))
}

/// Returns the name of the kind of a value's type, as reflection names it: `slice`, `float64`.
pub(super) fn kind_name(value: Value<'_>) -> Cow<'_, str> {
    Cow::Borrowed(match kind(value) {
        GoKind::Nil => "invalid",
        GoKind::Bytes | GoKind::List => "slice",
        GoKind::Map => "map",
        GoKind::Time => "struct",
        GoKind::Duration => "int64",
        GoKind::Object if type_name(value).starts_with('*') => "ptr",
        GoKind::Object => "struct",
        _ => return type_name(value),
    })
}

/// Returns the error of a nil where reflection needs a type.
pub(super) fn nil_pointer() -> Box<Diagnostic> {
    failed("runtime error: invalid memory address or nil pointer dereference")
}
