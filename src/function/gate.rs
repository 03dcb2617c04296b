//! The argument gate: arranges arguments into one value per parameter.

use smallvec::SmallVec;

use super::context::Cx;
use super::spec::{Builtin, Default, Param};
use crate::diagnostics::{Code, Diagnostic, Result};
use crate::stdlib::strings::prefix;
use crate::value::{JsonStyle, Value, write_json};

/// Arguments in the order of the parameters.
pub type Arranged<'v> = SmallVec<[Value<'v>; 6]>;

/// Checks arguments that are already in the order of `params`. Returns `false` if they are not.
pub fn in_order(builtin: &Builtin, params: &[Param], places: &[u32], given: &[Value<'_>]) -> Result<bool> {
    if places.len() != params.len() || !places.iter().enumerate().all(|(at, place)| at == *place as usize) {
        return Ok(false);
    }
    for (param, value) in params.iter().zip(given) {
        check(builtin, param, value)?;
    }
    Ok(true)
}

/// Arranges `given` in the order of `params`, adds defaults and checks the types. `places` has the parameter of each
/// argument. The last of duplicate arguments wins.
pub fn arrange<'v>(
    cx: &Cx<'v>,
    builtin: &Builtin,
    params: &[Param],
    places: &[u32],
    given: &[Value<'v>],
) -> Result<Arranged<'v>> {
    let mut arranged: Arranged<'v> = SmallVec::from_elem(Value::Undefined, params.len());
    for (place, value) in places.iter().zip(given) {
        if let Some(slot) = arranged.get_mut(*place as usize) {
            *slot = *value;
        }
    }
    for (at, (param, slot)) in params.iter().zip(&mut arranged).enumerate() {
        if places.contains(&u32::try_from(at).unwrap_or(u32::MAX)) {
            check(builtin, param, slot)?;
        } else {
            *slot = default(cx, builtin, param)?;
        }
    }
    Ok(arranged)
}

fn default<'v>(cx: &Cx<'v>, builtin: &Builtin, param: &Param) -> Result<Value<'v>> {
    Ok(match param.default {
        Default::Absent => Value::Undefined,
        Default::Bool(b) => Value::Bool(b),
        Default::Int(n) => Value::Int(n),
        Default::Str(text) => return cx.borrowed(text),
        Default::Required => return Err(missing(builtin, param)),
    })
}

fn missing(builtin: &Builtin, param: &Param) -> Box<Diagnostic> {
    let (kind, name, param, ty) = (builtin.kind.name(), &builtin.name, param.name, param.ty.name());
    Diagnostic::new(Code::MissingArgument, format!("{kind} `{name}` needs the argument `{param}`, {ty}"))
        .with_help(format!("add `{param}=…`"))
}

#[inline]
fn check(builtin: &Builtin, param: &Param, value: &Value<'_>) -> Result<()> {
    if param.ty.admits(value) { Ok(()) } else { Err(mismatch(builtin, param, value)) }
}

#[cold]
fn mismatch(builtin: &Builtin, param: &Param, value: &Value<'_>) -> Box<Diagnostic> {
    let (kind, name, param, ty) = (builtin.kind.name(), &builtin.name, param.name, param.ty.name());
    let (got, what) = (excerpt(*value), value.kind());
    let message = format!("{kind} `{name}`: `{param}` should be {ty}, but it is {got} ({what})");
    Diagnostic::new(Code::BadArgument, message)
}

/// Quotes `value` as JSON, truncated after about 60 bytes.
pub(crate) fn excerpt(value: Value<'_>) -> String {
    let mut text = String::new();
    let complete = write_json(value, JsonStyle::Compact, &mut text, &mut |len| if len > 60 { Err(()) } else { Ok(()) });
    if complete.is_err() {
        text.truncate(prefix(&text, 60).len());
        text.push('…');
    }
    format!("`{text}`")
}
