//! Operations that only lowering calls, and `include` and `tpl`, whose calls it turns into instructions.

use std::convert::identity;

use super::elements::{self, slice};
use super::{dicts, lists, made};
use crate::error::{error, failed};
use crate::print::NO_VALUE;
use crate::semantics::{wrong_type, zero};
use crate::values::{COMPLEX, int64, map_of, nil_list, sized, text_bytes, type_name};
use crate::{compile, objects};
use dropforge_base::diagnostics::{Code, Result};
use dropforge_base::stdlib::byte_texts;
use dropforge_machine::function::{Builtin, Cx, Rest, Target};
use dropforge_machine::functions;
use dropforge_value::{Extended, Sized, Value, Width};

functions! {
    /// Operations that only lowering calls.
    pub(super) static INTRINSICS:
    intrinsic "bytes" [Str] = bytes, "A string of the bytes that the characters of another one stand for." [];
    intrinsic "int64" [Int] = int64, "An integer as an `int64`." [];
    intrinsic "uint32" [Int] = to_uint32, "An integer as a `uint32`." [];
    intrinsic "complex" [Float, Float] = complex, "A complex number." [];
    intrinsic "receiver" [Any, Str, Bool] = receiver, looks Kinds, "A value that has a method of this name." [];
    intrinsic "method" [Any, ... Any] = method, "The result of a method of a value. Its name is the last argument." [];
    intrinsic "call" [Str, Any, ... Any] = call, "The error of a call of a value, with the text of that value." [];
    intrinsic "checked" [Any, Str] = checked, looks Kinds, "An argument for a parameter of the type of this name." [];
    intrinsic "nil list" [] = nil_list, "The nil of lists." [];
    intrinsic "slice" [Raw, ... Raw] = slice, "Go's own function of this name, where Helm's replaces it." [];
    intrinsic "fields" [... Any] = dicts::dict, makes Map, looks Kinds, "`dict`, where no other function has this name." [];
    intrinsic "items" [... Any] = lists::list, looks Kinds, "`list`, where no other function has this name." [];
    intrinsic "element" [Raw, ... Raw] = elements::index, looks Kinds, "`index`, where no other function has this name." [];
    intrinsic "put" [Map, Str, Any] = dicts::set, mutates Map, looks Kinds, "A map with a value under a key." [];
    intrinsic "text" [Str] = identity::<Value<'_>>, "A text, and nothing else." [];
    intrinsic "length" [] => |out: &mut String| Ok(Some(Value::Int(out.len() as i64))), reads Output, "The number of bytes of output." [];
    intrinsic "cleaned" [Any] = cleaned, "A text without the text of missing values." [];
}

/// The types of parameters that are checked before the call.
const TARGETS: [Target; 11] = [
    Target::Str,
    Target::Int,
    Target::Int64,
    Target::Uint32,
    Target::Float,
    Target::Bool,
    Target::List,
    Target::Texts,
    Target::Map,
    Target::Time,
    Target::Duration,
];

fn bytes<'v>(cx: &Cx<'v>, text: &'v str) -> Result<Value<'v>> {
    cx.charge(text.len())?;
    let bytes: Vec<u8> = text.chars().filter_map(|c| u8::try_from(c).ok()).collect();
    cx.string(&bytes)
}

fn to_uint32<'v>(cx: &Cx<'v>, n: i64) -> Result<Value<'v>> {
    sized(cx, Sized::Unsigned(Width::W32, n.cast_unsigned()))
}

fn checked<'v>(cx: &Cx<'v>, value: Value<'v>, name: &'v str) -> Result<Value<'v>> {
    match TARGETS.iter().find(|target| target.name() == name) {
        Some(target) if !target.admits(&value) => zero(cx, *target, value)?.ok_or_else(|| wrong_type(*target, value)),
        _ => Ok(value),
    }
}

fn complex<'v>(cx: &Cx<'v>, re: Value<'v>, im: Value<'v>) -> Result<Value<'v>> {
    let parts = cx.list(&[re, im])?;
    cx.extended(Extended::Typed(COMPLEX, parts))
}

fn receiver<'v>(cx: &Cx<'v>, value: Value<'v>, name: &'v str, is_item: bool) -> Result<Value<'v>> {
    let wrong = |message: String| Err(error(Code::UndefinedVariable, message));
    match value {
        Value::Undefined => Ok(Value::Undefined),
        Value::Null => wrong(format!("nil pointer evaluating interface {{}}.{name}")),
        value if objects::has_method(value, name) => Ok(value),
        value if map_of(cx, value).is_some() => wrong(format!("{name} is not a method but has arguments")),
        value => {
            let of = if is_item { "interface {}".into() } else { type_name(value) };
            wrong(format!("can't evaluate field {name} in type {of}"))
        }
    }
}

fn method<'v>(cx: &Cx<'v>, value: Value<'v>, Rest(args): Rest<'_, 'v>) -> Result<Value<'v>> {
    match (value, args) {
        (Value::Undefined, _) => Ok(value),
        (_, [args @ .., Value::Str(name)]) => objects::call(cx, value, name.as_str(), args),
        _ => Err(cx.arity()),
    }
}

fn call<'v>(text: &'v str, value: Value<'v>, _: Rest<'_, 'v>) -> Result<Value<'v>> {
    let of = type_name(value);
    Err(failed(match (value, text) {
        (Value::Undefined | Value::Null, _) => "error calling call: call of nil".to_owned(),
        // A piped value has no text of its own.
        (_, "") => format!("error calling call: non-function <{of} Value> of type {of}"),
        (_, text) => format!("error calling call: non-function {text} of type {of}"),
    }))
}

fn cleaned<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<Value<'v>> {
    let Some(text) = text_bytes(value) else { return Ok(value) };
    if memchr::memmem::find(text, NO_VALUE.as_bytes()).is_none() {
        return Ok(value);
    }
    made(cx, Some(text.len()), |push| byte_texts::replaced(text, NO_VALUE.as_bytes(), b"", &mut |part| push(part)))
}

/// The name of the compiler of templates that are made at render time.
pub(crate) const MAKER: &str = "tpl";

/// The same, where a missing key is an error.
pub(crate) const STRICT_MAKER: &str = "tpl_strict";

functions! {
    /// Templates as text.
    pub(super) static TEMPLATES:
    "include" [Str, Any] = instruction, "The text of a template with this data."
        [r#"{{ define "a" }}<{{ . }}>{{ end }}{{ include "a" 1 }}"# => "<1>"];
    "tpl" [Str, Any] = instruction, "The text of a template that is itself a text."
        [r#"{{ tpl "<{{ . }}>" 1 }}"# => "<1>"];
}

/// The compiler of templates that are made at render time.
pub(super) static MAKERS: &[Builtin] = &[
    Builtin::maker(MAKER, compile::make, "Compiles a text as a template."),
    Builtin::maker(
        STRICT_MAKER,
        compile::make_strict,
        "Compiles a text as a template in which a missing key is an error.",
    ),
];

fn instruction<'v>(_: Rest<'_, 'v>) -> Result<Value<'v>> {
    Err(failed("this function runs templates, so it can only be called by a template"))
}
