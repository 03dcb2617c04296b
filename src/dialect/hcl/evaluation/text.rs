//! Text of values, and numbers of literals.

use super::{mark_union, note_error, ok_or_note};
use crate::diagnostics::Result;
use crate::dialect::hcl::values::convert::convert;
use crate::dialect::hcl::values::refine::{Refine, safe_prefix};
use crate::function::{Cx, Subject, fitting};
use crate::stdlib::strings::prefix;
use crate::value::{BigNum, Refinement, Type, Value};

/// The maximum number of bytes of an unknown string's known prefix.
const PREFIX: usize = 128;

/// Returns the number of a literal.
pub fn literal_number<'v>(cx: &Cx<'v>, digits: &str) -> Value<'v> {
    // The parser accepts nothing else.
    BigNum::parse(digits).map_or_else(|| cx.arena().faulty(Type::Number), |number| cx.arena().number(number))
}

/// Converts an interpolated value to text with its marks. A value without text is noted.
///
/// # Errors
/// A limit was reached.
pub fn interpolated<'v>(cx: &Cx<'v>, value: Value<'v>, subject: Subject) -> Result<Option<Value<'v>>> {
    let summary = "Invalid template interpolation value";
    if value.is_null() {
        note_error(cx, summary, "The value is null, which has no text", subject);
        return Ok(None);
    }
    ok_or_note(cx, convert(cx, value, &Type::String), summary, subject)
}

/// Joins values to one string. If one of them is unknown, so is the string, except for its prefix. Text after a value
/// without text is dropped.
///
/// # Errors
/// A limit was reached.
pub fn join<'v>(cx: &Cx<'v>, values: &[Value<'v>], subject: impl Fn(u32) -> Subject) -> Result<Value<'v>> {
    let (mut text, mut known, mut failed, mut marks) = (String::new(), true, false, &[][..]);
    for (at, value) in (0..).zip(values) {
        let (plain, own) = value.unmarked();
        marks = mark_union(cx, marks, own);
        if let Some(unknown) = plain.as_unknown() {
            if known && !failed {
                text.push_str(unknown.refinement.prefix);
            }
            failed |= unknown.faulty;
            known = false;
            continue;
        }
        match interpolated(cx, plain, subject(at))? {
            Some(piece) if known && !failed => {
                let piece = piece.as_str().unwrap_or("");
                cx.charge(piece.len())?;
                text.push_str(piece);
            }
            Some(_) => {}
            None => failed = true,
        }
    }
    let value = if known {
        cx.text(&text)?
    } else if failed {
        cx.arena().faulty_refined(Type::String, Refinement::NOT_NULL)
    } else {
        let prefix = safe_prefix(prefix(&text, PREFIX));
        let refined = Refine::of(cx.arena().unknown(Type::String)).not_null().prefix(cx, &prefix);
        fitting(refined.and_then(|refined| refined.done(cx)))?.unwrap_or_else(|| cx.arena().faulty(Type::String))
    };
    Ok(cx.arena().marked(value, marks))
}
