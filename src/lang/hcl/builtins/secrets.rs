//! Functions of the marks of sensitive and ephemeral values.

use super::functions;
use crate::values::elements::any;
use crate::values::{marked_by, rebuilt, type_of};
use dropforge_machine::function::{Cx, Outcome};
use dropforge_value::{Type, Value};

/// The mark of a value that must not be shown.
pub const SENSITIVE: &str = "sensitive";

/// The mark of a value that must not be stored.
pub const EPHEMERAL: &str = "ephemeral";

functions! {
    /// Mark functions of OpenTofu.
    pub(super) static SECRETS:
    "sensitive" (value: Any [null unknown dynamic marked]) -> {type_of} or null = sensitive,
        "Marks a value as sensitive." ["issensitive(sensitive(1))" => "true"];
    "nonsensitive" (value: Any [null unknown dynamic marked]) -> {type_of} or null = unmarked [SENSITIVE],
        "Removes the sensitive mark of a value." ["nonsensitive(sensitive(1))" => "1"];
    "issensitive" (value: Any [null unknown dynamic marked]) -> Bool = is_sensitive,
        "Returns `true` if a value is marked as sensitive." ["issensitive(1)" => "false"];
    "ephemeralasnull" (value: Any [null unknown dynamic marked]) -> {type_of} or null = ephemeral_as_null,
        "Replaces all ephemeral values in a value by null." ["ephemeralasnull(\"a\")" => "\"a\""];
}

fn sensitive<'v>(cx: &Cx<'v>, value: Value<'v>) -> Outcome<Value<'v>> {
    marked_by(cx, value, &[SENSITIVE])
}

/// Removes one of the outer marks of `value`.
fn unmarked<'v>(cx: &Cx<'v>, value: Value<'v>, mark: &str) -> Outcome<Value<'v>> {
    let (value, marks) = value.unmarked();
    let kept: Vec<&str> = marks.iter().copied().filter(|own| *own != mark).collect();
    marked_by(cx, value, &kept)
}

fn has(value: Value<'_>, mark: &str) -> bool {
    value.unmarked().1.contains(&mark)
}

fn is_sensitive<'v>(cx: &Cx<'v>, value: Value<'v>) -> Outcome<Value<'v>> {
    Ok(if value.is_known() { Value::Bool(has(value, SENSITIVE)) } else { cx.arena().unknown(Type::Bool) })
}

fn ephemeral_as_null<'v>(cx: &Cx<'v>, value: Value<'v>) -> Outcome<Value<'v>> {
    if any(cx, value, &|value| has(value, EPHEMERAL))? { without_ephemeral(cx, value) } else { Ok(value) }
}

fn without_ephemeral<'v>(cx: &Cx<'v>, value: Value<'v>) -> Outcome<Value<'v>> {
    cx.spend(1)?;
    let (plain, marks) = value.unmarked();
    if !has(value, EPHEMERAL) {
        return marked_by(cx, rebuilt(cx, plain, &mut |_, item| without_ephemeral(cx, item))?, marks);
    }
    let nothing = if plain.is_known() { cx.arena().null(type_of(cx, plain)?) } else { plain };
    unmarked(cx, marked_by(cx, nothing, marks)?, EPHEMERAL)
}
