//! The filters that lowering applies itself, because they change how the value before them is read or written. Templates
//! use them; they are in no registry.

use dropforge_base::diagnostics::Result;
use dropforge_machine::builtins;
use dropforge_machine::function::{Builtin, Cx};
use dropforge_value::Value;

builtins! {
    /// The filters that lowering applies itself.
    static MARKS:
    filter "default" (variable: Any = absent, value: Any) = default,
        "The variable, or `value` if it is missing or null. It must come first."
        [r"{{ tag | default(value='latest') }}" => "latest", r"{{ '' | upper | default(value='x') }}" => ""];
    filter "safe" (value: Any) = safe,
        "Not escaped where the template's output is escaped. It must come last."
        [r"{{ '<b>' | safe }}" => "<b>"];
}

/// Returns the filters that lowering applies itself.
pub fn marks() -> &'static [Builtin] {
    MARKS
}

fn default<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    match args {
        [Value::Null | Value::Undefined, value] => Ok(*value),
        [variable, _] => Ok(*variable),
        _ => Err(cx.arity()),
    }
}

fn safe<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    args.first().copied().ok_or_else(|| cx.arity())
}
