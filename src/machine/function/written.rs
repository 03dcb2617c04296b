//! Text that bodies append, and its charges.

use super::context::Cx;
use dropforge_base::diagnostics::Result;
use dropforge_value::Value;

/// The result of a body that appends text, or a text value that exists.
pub type Written<'v> = Result<Option<Value<'v>>>;

/// Lets `write` append text of at most `len` bytes, which are charged first. A length that does not fit a `usize` exceeds
/// any limit.
#[inline]
pub fn written<'v>(cx: &Cx<'v>, len: Option<usize>, out: &mut String, write: impl FnOnce(&mut String)) -> Written<'v> {
    cx.charge(len.unwrap_or(usize::MAX).saturating_add(size_of::<Value>()))?;
    write(out);
    Ok(None)
}

/// Lets `write` append text of at most a few times the length of the arguments, which is charged afterwards.
#[inline]
pub fn grown<'v>(cx: &Cx<'v>, out: &mut String, write: impl FnOnce(&mut String)) -> Written<'v> {
    let start = out.len();
    write(out);
    cx.charge(out.len() - start + size_of::<Value>())?;
    Ok(None)
}
