//! Comparisons: `eq`, `ne`, `lt`, `le`, `gt`, `ge`, and `not`, `and`, `or`.

use std::cmp::Ordering;

use super::format::{Spec, value_text};
use crate::error::error;
use crate::values::{complex_parts, kind, text_bytes, truth, type_name};
use dropforge_base::diagnostics::{Code, Result};
use dropforge_machine::assigned;
use dropforge_machine::bytecode::BinaryOp;
use dropforge_machine::function::Cx;
use dropforge_value::{Extended, Value};

assigned! {
    /// Comparisons and logic.
    pub(super) static COMPARE:
    "eq" (Raw, ... Raw) = eq, "True if the first argument equals one of the others."
        ["{{ eq 1 2 1 }}" => "true", r#"{{ eq "a" 1 }}"# => "E0301"];
    "ne" (Raw, Raw) = ne, "True if two values differ." [r#"{{ ne "a" "b" }}"# => "true"];
    "lt" (Raw, Raw) = lt, "True if the first value is less than the second." ["{{ lt 1 2 }}" => "true", "{{ lt true false }}" => "E0301"];
    "le" (Raw, Raw) = le, "True if the first value is less than the second, or equal to it." ["{{ le 2 2 }}" => "true"];
    "gt" (Raw, Raw) = gt, "True if the first value is greater than the second." ["{{ gt 1 2 }}" => "false"];
    "ge" (Raw, Raw) = ge, "True if the first value is greater than the second, or equal to it." ["{{ ge 2 2 }}" => "true"];
    "not" (Raw) = not, "True if a value is false, zero, nil or empty." [r#"{{ not "" }}"# => "true"];
    "and" (Raw, ... Raw) = and, "The first argument that is false, zero, nil or empty, or else the last one."
        [r#"{{ and 1 "" 2 }}|{{ and 1 2 }}"# => "|2"];
    "or" (Raw, ... Raw) = or, "The first argument that is neither false nor zero, nil or empty, or else the last one."
        [r#"{{ or "" 1 2 }}|{{ or 0 "" }}"# => "1|"];
}

fn eq<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let [first, others @ ..] = args else { return Err(cx.arity()) };
    if others.is_empty() {
        return Err(error(Code::BadArgument, "error calling eq: missing argument for comparison"));
    }
    for other in others {
        if equals(cx, "eq", *first, *other)? {
            return Ok(Value::Bool(true));
        }
    }
    Ok(Value::Bool(false))
}

fn ne<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    two(cx, BinaryOp::Ne, args)
}

fn lt<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    two(cx, BinaryOp::Lt, args)
}

fn le<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    two(cx, BinaryOp::Le, args)
}

fn gt<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    two(cx, BinaryOp::Gt, args)
}

fn ge<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    two(cx, BinaryOp::Ge, args)
}

fn two<'v>(cx: &Cx<'v>, op: BinaryOp, args: &[Value<'v>]) -> Result<Value<'v>> {
    let [a, b] = args else { return Err(cx.arity()) };
    operator(cx, op, *a, *b).map(Value::Bool)
}

fn not<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let [value] = args else { return Err(cx.arity()) };
    Ok(Value::Bool(!truth(cx, *value)))
}

fn and<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    decided(cx, args, false)
}

fn or<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    decided(cx, args, true)
}

fn decided<'v>(cx: &Cx<'v>, args: &[Value<'v>], decides: bool) -> Result<Value<'v>> {
    let found = args.iter().find(|value| truth(cx, **value) == decides).or(args.last());
    found.copied().ok_or_else(|| cx.arity())
}

/// A value of a basic kind.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Basic<'v> {
    Bool(bool),
    Int(i128),
    Float(f64),
    Complex([f64; 2]),
    Str(&'v [u8]),
}

fn basic<'v>(value: Value<'v>) -> Option<Basic<'v>> {
    if let Some(parts) = complex_parts(value) {
        return Some(Basic::Complex(parts));
    }
    Some(match value {
        Value::Bool(truth) => Basic::Bool(truth),
        Value::Int(n) => Basic::Int(n.into()),
        Value::Uint(n) => Basic::Int(n.into()),
        Value::Float(n) => Basic::Float(n),
        _ => match value.extended() {
            Some(Extended::Sized(n)) => Basic::Int(n.number()),
            Some(Extended::Duration(n)) => Basic::Int((*n).into()),
            _ => Basic::Str(text_bytes(value)?),
        },
    })
}

/// Returns the result of a comparison of two values.
pub fn operator<'v>(cx: &Cx<'v>, op: BinaryOp, a: Value<'v>, b: Value<'v>) -> Result<bool> {
    let name = match op {
        BinaryOp::Eq => return equals(cx, "eq", a, b),
        BinaryOp::Ne => return equals(cx, "ne", a, b).map(|equal| !equal),
        BinaryOp::Lt => "lt",
        BinaryOp::Le => "le",
        BinaryOp::Gt => "gt",
        _ => "ge",
    };
    let order = order(cx, name, a, b)?;
    Ok(match op {
        BinaryOp::Lt => order == Some(Ordering::Less),
        BinaryOp::Le => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        BinaryOp::Gt => order == Some(Ordering::Greater),
        _ => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
    })
}

/// Compares values of one basic kind. Not-a-number has no order.
fn order<'v>(cx: &Cx<'v>, name: &str, a: Value<'v>, b: Value<'v>) -> Result<Option<Ordering>> {
    let wrong = || Err(error(Code::TypeMismatch, format!("error calling {name}: invalid type for comparison")));
    let (Some(x), Some(y)) = (basic(a), basic(b)) else { return wrong() };
    match (x, y) {
        (Basic::Int(x), Basic::Int(y)) => Ok(Some(x.cmp(&y))),
        (Basic::Float(x), Basic::Float(y)) => Ok(x.partial_cmp(&y)),
        (Basic::Str(x), Basic::Str(y)) => {
            cx.spend(x.len().min(y.len()) as u64 / 64)?;
            Ok(Some(x.cmp(y)))
        }
        (Basic::Bool(_), Basic::Bool(_)) | (Basic::Complex(_), Basic::Complex(_)) => wrong(),
        _ => Err(incompatible(name, a, b)),
    }
}

#[cold]
fn incompatible(name: &str, a: Value<'_>, b: Value<'_>) -> Box<dropforge_base::diagnostics::Diagnostic> {
    let types = format!("{} and {}", type_name(a), type_name(b));
    error(Code::TypeMismatch, format!("error calling {name}: incompatible types for comparison: {types}"))
}

/// Compares values of one kind. Nil equals nil, and no other value.
fn equals<'v>(cx: &Cx<'v>, name: &str, a: Value<'v>, b: Value<'v>) -> Result<bool> {
    let is_nil = |value: Value<'_>| matches!(value, Value::Undefined | Value::Null);
    if is_nil(a) || is_nil(b) {
        return Ok(is_nil(a) && is_nil(b));
    }
    match (basic(a), basic(b)) {
        (Some(Basic::Str(x)), Some(Basic::Str(y))) => {
            cx.spend(x.len().min(y.len()) as u64 / 64)?;
            Ok(x == y)
        }
        (Some(x), Some(y)) if std::mem::discriminant(&x) == std::mem::discriminant(&y) => Ok(x == y),
        (None, None) => others(cx, name, a, b),
        _ => Err(incompatible(name, a, b)),
    }
}

/// Compares values of no basic kind: times and objects have an equality, lists and maps do not.
fn others<'v>(cx: &Cx<'v>, name: &str, a: Value<'v>, b: Value<'v>) -> Result<bool> {
    let is_container = |value: Value<'_>| match value {
        Value::List(_) | Value::Map(_) => true,
        _ => matches!(value.extended(), Some(Extended::Typed(..) | Extended::Entries(_))),
    };
    if !is_container(a) && !is_container(b) {
        return cx.equal(a, b);
    }
    let text = |value, verb| -> Result<String> {
        let mut text = Vec::new();
        value_text(cx, value, verb, &Spec::default(), 0, &mut text)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    };
    let (of, other) = (type_name(a), type_name(b));
    let message = if kind(a) == kind(b) {
        format!("error calling {name}: non-comparable type {}: {other}", text(b, 's')?)
    } else {
        format!("error calling {name}: non-comparable types {}: {of}, {other}: {}", text(a, 's')?, text(b, 'v')?)
    };
    Err(error(Code::TypeMismatch, message))
}
