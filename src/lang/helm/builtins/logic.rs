//! Comparisons: `eq`, `ne`, `lt`, `le`, `gt`, `ge`, and `not`, `and`, `or`; defaults and choices;
//! semantic versions, their fields and methods.

use std::cmp::Ordering;

use super::format::{Spec, value_text};
use super::is_nil;
use crate::error::{error, failed, refused};
use crate::print::message;
use crate::values::{complex_parts, is_nil_of_type, kind, sized, text_bytes, truth, type_name};
use dropforge_base::diagnostics::{Code, Result};
use dropforge_base::stdlib::byte_texts::repaired;
use dropforge_base::stdlib::semver::LenientVersion;
use dropforge_machine::bytecode::BinaryOp;
use dropforge_machine::function::{Cx, Growing, Rest};
use dropforge_machine::functions;
use dropforge_value::{Capsule, CapsuleContent, Extended, Sized, Value, Width};

functions! {
    /// Comparisons and logic.
    pub(super) static COMPARE:
    "eq" [Raw, ... Raw] = eq, "True if the first argument equals one of the others."
        ["{{ eq 1 2 1 }}" => "true", r#"{{ eq "a" 1 }}"# => "E0301"];
    "ne" [Raw, Raw] = two(BinaryOp::Ne), "True if two values differ." [r#"{{ ne "a" "b" }}"# => "true"];
    "lt" [Raw, Raw] = two(BinaryOp::Lt), "True if the first value is less than the second." ["{{ lt 1 2 }}" => "true", "{{ lt true false }}" => "E0301"];
    "le" [Raw, Raw] = two(BinaryOp::Le), "True if the first value is less than the second, or equal to it." ["{{ le 2 2 }}" => "true"];
    "gt" [Raw, Raw] = two(BinaryOp::Gt), "True if the first value is greater than the second." ["{{ gt 1 2 }}" => "false"];
    "ge" [Raw, Raw] = two(BinaryOp::Ge), "True if the first value is greater than the second, or equal to it." ["{{ ge 2 2 }}" => "true"];
    "not" [Raw] = not, "True if a value is false, zero, nil or empty." [r#"{{ not "" }}"# => "true"];
    "and" [Raw, ... Raw] = decided(false),
        "The first argument that is false, zero, nil or empty, or else the last one."
        [r#"{{ and 1 "" 2 }}|{{ and 1 2 }}"# => "|2"];
    "or" [Raw, ... Raw] = decided(true),
        "The first argument that is neither false nor zero, nil or empty, or else the last one."
        [r#"{{ or "" 1 2 }}|{{ or 0 "" }}"# => "1|"];
}

fn eq<'v>(cx: &Cx<'v>, first: Value<'v>, Rest(others): Rest<'_, 'v>) -> Result<bool> {
    if others.is_empty() {
        return Err(error(Code::BadArgument, "error calling eq: missing argument for comparison"));
    }
    for other in others {
        if equals(cx, "eq", first, *other)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns a body that compares two values.
fn two<'v>(op: BinaryOp) -> impl Fn(&Cx<'v>, Value<'v>, Value<'v>) -> Result<bool> {
    move |cx, a, b| operator(cx, op, a, b)
}

fn not<'v>(cx: &Cx<'v>, value: Value<'v>) -> bool {
    !truth(cx, value)
}

/// Returns a body that returns the first value whose truth is `decides`, or else the last one.
fn decided<'a, 'v>(decides: bool) -> impl Fn(&Cx<'v>, Value<'v>, Rest<'a, 'v>) -> Value<'v> {
    move |cx, first, Rest(others)| match truth(cx, first) == decides {
        true => first,
        false => *others.iter().find(|value| truth(cx, **value) == decides).or(others.last()).unwrap_or(&first),
    }
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

/// Compares values of one kind. Nil equals nil, and no other value. That of maps and of slices does, too.
fn equals<'v>(cx: &Cx<'v>, name: &str, a: Value<'v>, b: Value<'v>) -> Result<bool> {
    let [a_nil, b_nil] = [a, b].map(|value| is_nil(value) || is_nil_of_type(value));
    if is_nil(a) || is_nil(b) || (a_nil || b_nil) && kind(a) == kind(b) {
        return Ok(a_nil && b_nil);
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
        let mut text = Growing::new(cx);
        value_text(cx, value, &Spec::default().of_verb(verb), 0, &mut text)?;
        message(cx, &text)
    };
    let (of, other) = (type_name(a), type_name(b));
    let message = if kind(a) == kind(b) {
        format!("error calling {name}: non-comparable type {}: {other}", text(b, 's')?)
    } else {
        format!("error calling {name}: non-comparable types {}: {of}, {other}: {}", text(a, 's')?, text(b, 'v')?)
    };
    Err(error(Code::TypeMismatch, message))
}

functions! {
    /// Defaults and choices.
    pub(super) static LOGIC:
    "default" [Any, ... Any] = default, looks Kinds, "Returns the second value, or the first if the second is empty."
        [r#"{{ "" | default "a" }}"# => "a", r#"{{ 5 | default 1 }}"# => "5"];
    "empty" [Any] = not, looks Kinds, "Returns `true` for false, 0, nil and everything without elements." [r#"{{ empty 0 }}"# => "true"];
    "coalesce" [... Any] = coalesce, looks Kinds, "Returns the first value that is not empty, or nil."
        [r#"{{ coalesce 0 "" 2 3 }}"# => "2"];
    "all" [... Any] = all, looks Kinds, "Returns `true` if no value is empty." [r#"{{ all 1 "a" }}"# => "true"];
    "any" [... Any] = any, looks Kinds, "Returns `true` if a value is not empty." [r#"{{ any 0 "" }}"# => "false"];
    "ternary" [Any, Any, Bool] = ternary, looks Kinds, "Returns the first value if the third is true, otherwise the second."
        [r#"{{ true | ternary "a" "b" }}"# => "a"];
    "fail" [Str] = fail, "Fails with a message." [r#"{{ fail "no name" }}"# => "E0305"];
    "required" [Str, Any] = required, looks Kinds, "Returns a value, or fails with a message if it is nil or an empty text."
        [r#"{{ required "no name" "a" }}"# => "a", r#"{{ required "no name" "" }}"# => "E0305"];
}

fn default<'v>(cx: &Cx<'v>, default: Value<'v>, Rest(given): Rest<'_, 'v>) -> Value<'v> {
    given.first().copied().filter(|given| truth(cx, *given)).unwrap_or(default)
}

fn coalesce<'v>(cx: &Cx<'v>, Rest(values): Rest<'_, 'v>) -> Value<'v> {
    values.iter().copied().find(|value| truth(cx, *value)).unwrap_or(Value::Null)
}

fn all<'v>(cx: &Cx<'v>, Rest(values): Rest<'_, 'v>) -> bool {
    values.iter().all(|value| truth(cx, *value))
}

fn any<'v>(cx: &Cx<'v>, Rest(values): Rest<'_, 'v>) -> bool {
    values.iter().any(|value| truth(cx, *value))
}

fn fail<'v>(message: &'v [u8]) -> Result<Value<'v>> {
    Err(refused(&repaired(message)))
}

fn ternary<'v>(yes: Value<'v>, no: Value<'v>, holds: bool) -> Value<'v> {
    if holds { yes } else { no }
}

fn required<'v>(message: &'v [u8], value: Value<'v>) -> Result<Value<'v>> {
    if is_nil(value) || text_bytes(value).is_some_and(<[u8]>::is_empty) {
        return Err(refused(&repaired(message)));
    }
    Ok(value)
}

functions! {
    /// Functions of semantic versions.
    pub(super) static SEMVER:
    "semver" [Str] = semver,
        "Reads a semantic version, which may lack numbers. It has the fields `Major`, `Minor`, `Patch`, `Prerelease`, `Metadata` and `Original`."
        [r#"{{ semver "v1.2" }}"# => "1.2.0", r#"{{ (semver "1.2.3-rc.1").Prerelease }}"# => "rc.1", r#"{{ semver "a" }}"# => "E0404"];
    "semverCompare" [Str, Str] = semver_compare,
        "Returns `true` if a version fulfils a constraint: `>=1.27, <2`, `~1.2`, `^1`, `1.x`, `1.2 - 1.4`, `a || b`. A prerelease only fulfils constraints that have one."
        [r#"{{ semverCompare "^1.2.0" "1.2.3" }}"# => "true", r#"{{ semverCompare ">=1.20-0" "v1.25.3-gke.100" }}"# => "true",
         r#"{{ semverCompare ">=1.20" "v1.25.3-gke.100" }}"# => "false"];
}

/// The name of the type of versions.
const VERSION: &str = "*semver.Version";

/// Returns the text of a version or constraint. Bytes that are not UTF-8 become invalid characters.
fn text<'v>(cx: &Cx<'v>, bytes: &'v [u8]) -> Result<std::borrow::Cow<'v, str>> {
    // Each part of a version takes a slice of its text.
    cx.charge(bytes.len().saturating_mul(size_of::<&str>()))?;
    Ok(String::from_utf8_lossy(bytes))
}

fn semver<'v>(cx: &Cx<'v>, original: &'v [u8]) -> Result<Value<'v>> {
    let original = text(cx, original)?;
    let version = LenientVersion::parse(&original).map_err(failed)?;
    let arena = cx.arena();
    let texts = [arena.copy_str(&version.to_text()), arena.copy_str(&original)];
    let content = CapsuleContent::Texts(arena.bump().alloc_slice_copy(&texts));
    cx.extended(Extended::Capsule(Capsule { name: VERSION, id: 0, content }))
}

fn semver_compare<'v>(cx: &Cx<'v>, constraint: &'v [u8], version: &'v [u8]) -> Result<bool> {
    let (constraint, version) = (text(cx, constraint)?, text(cx, version)?);
    cx.spend((version.len() as u64 / 8).saturating_mul(constraint.len() as u64 / 8))?;
    let (version, wrong) = match LenientVersion::parse(&version) {
        Ok(version) => (version, None),
        Err(why) => (LenientVersion::parse("0").map_err(failed)?, Some(why)),
    };
    // The error of a bad constraint wins.
    let fulfils = version.version.fulfils(&constraint).map_err(failed)?;
    wrong.map_or(Ok(fulfils), |why| Err(failed(why)))
}

/// Returns the text of a version and the text that it was read from. `None` for other values.
fn texts<'v>(value: Value<'v>) -> Option<(&'v str, &'v str)> {
    match value.extended() {
        Some(Extended::Capsule(Capsule {
            name: VERSION, content: CapsuleContent::Texts([text, original]), ..
        })) => Some((text, original)),
        _ => None,
    }
}

/// Returns the result of a method of a version without arguments, which a template reads like a field. `None` if the
/// value is no version or has no such method.
pub fn field<'v>(cx: &Cx<'v>, value: Value<'v>, name: &str) -> Result<Option<Value<'v>>> {
    let Some((text, original)) = texts(value) else { return Ok(None) };
    let version = LenientVersion::parse(text).map_err(failed)?;
    let number = |at: usize| sized(cx, Sized::Unsigned(Width::W64, version.version.numbers[at]));
    let field = match name {
        "Major" => number(0),
        "Minor" => number(1),
        "Patch" => number(2),
        "Prerelease" => cx.text(version.prerelease),
        "Metadata" => cx.text(version.build),
        "Original" => cx.borrowed(original),
        "String" => cx.borrowed(text),
        _ => return Ok(None),
    };
    field.map(Some)
}

/// The methods of a version with another one.
const METHODS: [&str; 6] = ["Compare", "Equal", "LessThan", "LessThanEqual", "GreaterThan", "GreaterThanEqual"];

/// Returns `true` if a value is a version that has a method of this name with an argument.
pub(crate) fn has_method(value: Value<'_>, name: &str) -> bool {
    texts(value).is_some() && METHODS.contains(&name)
}

/// Returns the result of a method of a version with another one. `None` if the value is no version or has no such method.
pub fn method<'v>(value: Value<'v>, name: &str, args: &[Value<'v>]) -> Result<Option<Value<'v>>> {
    let Some((text, _)) = texts(value).filter(|_| METHODS.contains(&name)) else { return Ok(None) };
    let [given] = args else {
        return Err(failed(format!("wrong number of args for {name}: want 1 got {}", args.len())));
    };
    let Some((other, _)) = texts(*given) else {
        return Err(failed(format!("wrong type for value; expected {VERSION}; got {}", type_name(*given))));
    };
    let (version, other) =
        (LenientVersion::parse(text).map_err(failed)?, LenientVersion::parse(other).map_err(failed)?);
    let order = version.version.cmp_version(&other.version);
    Ok(Some(match name {
        "Compare" => Value::Int(order as i64),
        "Equal" => Value::Bool(order.is_eq()),
        "LessThan" => Value::Bool(order.is_lt()),
        "LessThanEqual" => Value::Bool(order.is_le()),
        "GreaterThan" => Value::Bool(order.is_gt()),
        _ => Value::Bool(order.is_ge()),
    }))
}
