//! `include` and `tpl`. Lowering turns their calls into instructions.

use crate::error::failed;
use crate::made;
use dropforge_base::diagnostics::Result;
use dropforge_machine::assigned;
use dropforge_machine::function::{Builtin, Cx};
use dropforge_value::Value;

/// The name of the compiler of templates that are made at render time.
pub(crate) const MAKER: &str = "tpl";

/// The same, where a missing key is an error.
pub(crate) const STRICT_MAKER: &str = "tpl_strict";

assigned! {
    /// Templates as text.
    pub(super) static TEMPLATES:
    "include" (Str, Any) = instruction, "The text of a template with this data."
        [r#"{{ define "a" }}<{{ . }}>{{ end }}{{ include "a" 1 }}"# => "<1>"];
    "tpl" (Str, Any) = instruction, "The text of a template that is itself a text."
        [r#"{{ tpl "<{{ . }}>" 1 }}"# => "<1>"];
}

/// The compiler of templates that are made at render time.
pub(super) static MAKERS: &[Builtin] = &[
    Builtin::maker(MAKER, made::make, "Compiles a text as a template."),
    Builtin::maker(
        STRICT_MAKER,
        made::make_strict,
        "Compiles a text as a template in which a missing key is an error.",
    ),
];

fn instruction<'v>(_: &Cx<'v>, _: &[Value<'v>]) -> Result<Value<'v>> {
    Err(failed("this function runs templates, so it can only be called by a template"))
}
