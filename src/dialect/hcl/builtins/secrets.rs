//! Functions of what the host says about values: which are secret, which do not last.

use crate::dialect::hcl::values::elements::rebuilt;
use crate::dialect::hcl::values::marks::marked_by;
use crate::dialect::hcl::values::types::type_of;
use crate::dialect::hcl::values::within::any;
use crate::dialect::hcl::values::{Fault, Outcome};
use crate::function::Cx;
use crate::positional;
use crate::value::{Type, Value};

/// The mark of a value that must not be shown.
pub const SENSITIVE: &str = "sensitive";

/// The mark of a value that is not kept.
pub const EPHEMERAL: &str = "ephemeral";

positional! {
    /// Functions of marks, all of them OpenTofu's.
    pub(super) static SECRETS:
    "sensitive" (value: Any [null unknown dynamic marked]) -> {its_type} or null = sensitive,
        "The value, marked as one that must not be shown." ["issensitive(sensitive(1))" => "true"];
    "nonsensitive" (value: Any [null unknown dynamic marked]) -> {its_type} or null = nonsensitive,
        "The value without the mark of one that must not be shown." ["nonsensitive(sensitive(1))" => "1"];
    "issensitive" (value: Any [null unknown dynamic marked]) -> Bool = is_sensitive,
        "Whether a value is marked as one that must not be shown." ["issensitive(1)" => "false"];
    "ephemeralasnull" (value: Any [null unknown dynamic marked]) -> {its_type} or null = ephemeral_as_null,
        "The value with null for everything in it that is not kept." ["ephemeralasnull(\"a\")" => "\"a\""];
}

fn its_type<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Type<'v>> {
    args.first().map_or(Ok(Type::Dynamic), |value| type_of(cx, *value))
}

fn argument<'v>(args: &[Value<'v>]) -> Outcome<Value<'v>> {
    args.first().copied().ok_or_else(|| Fault::wrong("one argument is required"))
}

fn sensitive<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    marked_by(cx, argument(args)?, &[SENSITIVE], &[])
}

fn nonsensitive<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    unmarked(cx, argument(args)?, SENSITIVE)
}

/// `value` without one of its own marks.
fn unmarked<'v>(cx: &Cx<'v>, value: Value<'v>, mark: &str) -> Outcome<Value<'v>> {
    let (value, marks) = value.unmarked();
    let kept: Vec<&str> = marks.iter().copied().filter(|own| *own != mark).collect();
    marked_by(cx, value, &kept, &[])
}

fn has(value: Value<'_>, mark: &str) -> bool {
    value.unmarked().1.contains(&mark)
}

fn is_sensitive<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let value = argument(args)?;
    Ok(if value.is_known() { Value::Bool(has(value, SENSITIVE)) } else { cx.arena().unknown(Type::Bool) })
}

fn ephemeral_as_null<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Outcome<Value<'v>> {
    let value = argument(args)?;
    if any(cx, value, &|value| has(value, EPHEMERAL))? { without_ephemeral(cx, value) } else { Ok(value) }
}

fn without_ephemeral<'v>(cx: &Cx<'v>, value: Value<'v>) -> Outcome<Value<'v>> {
    cx.spend(1)?;
    let (plain, marks) = value.unmarked();
    if !has(value, EPHEMERAL) {
        return marked_by(cx, rebuilt(cx, plain, &mut |_, item| without_ephemeral(cx, item))?, marks, &[]);
    }
    let nothing = if plain.is_known() { cx.arena().null(type_of(cx, plain)?) } else { plain };
    unmarked(cx, marked_by(cx, nothing, marks, &[])?, EPHEMERAL)
}
