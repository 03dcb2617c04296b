//! Making values of Go's types.

use super::{BYTES, INTS, NIL_LIST, STRINGS};
use dropforge_base::diagnostics::Result;
use dropforge_machine::function::Cx;
use dropforge_value::{Extended, Sized, Value, Width};

/// Returns an integer of a sized type.
pub fn sized<'v>(cx: &Cx<'v>, number: Sized) -> Result<Value<'v>> {
    cx.extended(Extended::Sized(number))
}

/// Returns an `int64`.
pub fn int64<'v>(cx: &Cx<'v>, n: i64) -> Result<Value<'v>> {
    sized(cx, Sized::Signed(Width::W64, n))
}

/// Returns a string of these bytes.
pub fn string<'v>(cx: &Cx<'v>, bytes: &[u8]) -> Result<Value<'v>> {
    match std::str::from_utf8(bytes) {
        Ok(text) => cx.text(text),
        Err(_) => cx.bytes(bytes),
    }
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
    let empty = cx.list(&[])?;
    cx.extended(Extended::Typed(NIL_LIST, empty))
}
