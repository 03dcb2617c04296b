//! The language's rules for the machine: values that can be interpolated, missing values, values as text.
//!
//! A value can be interpolated if it is a string, a boolean or a finite number. In shell mode a string must not contain
//! NUL, which no token can. Null, lists and maps count as missing. Of `steps`, only outputs of completed steps count; a
//! step without a `status` has completed.

use super::{RenderMode, Scope, error};
use dropforge_base::diagnostics::{Code, Result};
use dropforge_machine::bytecode::{BinaryOp, EscapeMode};
use dropforge_machine::function::Cx;
use dropforge_machine::vm::{Items, Missing, Output, Semantics};
use dropforge_value::{Map, Text, Value};

/// The semantics of `tower`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Rules;

/// The mark of a key of `steps`, which no expression can spell. [`look_up`] resolves such keys.
const STEPS: char = '%';

/// Returns the attribute that reads the key `name` of `scope`.
#[cfg(feature = "compile")]
pub(super) fn attribute(scope: Scope, name: &str) -> std::borrow::Cow<'_, str> {
    if scope == Scope::Steps { format!("{STEPS}{name}").into() } else { name.into() }
}

/// Returns the key of an attribute, and `true` if it is a key of `steps`.
fn key_of(attribute: &str) -> (&str, bool) {
    attribute.strip_prefix(STEPS).map_or((attribute, false), |key| (key, true))
}

fn render_mode(mode: EscapeMode) -> RenderMode {
    if mode == EscapeMode::Shell { RenderMode::Shell } else { RenderMode::Literal }
}

fn has_nul(text: &Text<'_>) -> bool {
    memchr::memchr(0, text.as_str().as_bytes()).is_some()
}

/// Returns the reason that a value cannot be interpolated; `Some(None)` for null, which is simply missing.
fn refused(value: Value<'_>, mode: RenderMode) -> Option<Option<&'static str>> {
    match value {
        Value::Str(text) if mode == RenderMode::Shell && has_nul(text) => Some(Some("nul_byte")),
        Value::Float(n) if !n.is_finite() => Some(Some("not_finite")),
        Value::List(_) | Value::Map(_) => Some(Some("not_scalar")),
        Value::Undefined | Value::Null => Some(None),
        _ => None,
    }
}

/// Words the reason that a value cannot be interpolated.
fn why(reason: &str) -> &'static str {
    match reason {
        "nul_byte" => "its value has a NUL character, which no shell command can have",
        "not_finite" => "its value is not a finite number",
        _ => "its value is a list or a map: only texts, numbers and booleans can be inserted",
    }
}

fn is_completed(step: &Map<'_>) -> bool {
    step.get("status").is_none_or(|status| status.as_str() == Some("completed"))
}

/// Returns the value of a key. For `steps` the key is `<id>.outputs.<name>`.
fn look_up<'v>(scope: &'v Map<'v>, key: &str, of_steps: bool) -> Option<Value<'v>> {
    if !of_steps {
        return scope.get(key);
    }
    // Ids are short, and a search optimised for long strings costs more.
    let (id, rest) = key.split_at_checked(key.bytes().position(|byte| byte == b'.')?)?;
    let step = scope.get(id)?.as_map().filter(|step| is_completed(step))?;
    step.get("outputs")?.as_map()?.get(rest.strip_prefix(".outputs.")?)
}

/// Returns the names of a scope whose values can be interpolated.
fn available(scope: &Map<'_>, of_steps: bool, mode: RenderMode) -> Vec<String> {
    let usable = |value: &Value<'_>| refused(*value, mode).is_none();
    if !of_steps {
        return scope.iter().filter(|(_, value)| usable(value)).map(|(name, _)| name.to_owned()).collect();
    }
    let mut names = Vec::new();
    for (id, step) in scope.iter() {
        let outputs = step.as_map().filter(|step| is_completed(step)).and_then(|step| step.get("outputs"));
        for (name, value) in outputs.as_ref().and_then(Value::as_map).into_iter().flat_map(|outputs| outputs.iter()) {
            if usable(&value) {
                names.push(format!("{id}.outputs.{name}"));
            }
        }
    }
    names
}

impl Semantics for Rules {
    fn missing<'v>(&self, cx: &Cx<'v>, missing: &Missing<'_, 'v>) -> Result<Value<'v>> {
        let (scope, name) = missing.path.split_once('.').unwrap_or((missing.path, ""));
        let scope = Scope::from_name(scope).unwrap_or(Scope::Params);
        let expression = format!("${{{}}}", missing.path);
        let map = missing.parent.and_then(|parent| parent.as_map());
        let (key, of_steps) = key_of(missing.name);
        let mode = render_mode(missing.mode.unwrap_or(EscapeMode::Plain));
        let Some(map) = map else {
            return Err(error::missing(scope, name, &expression, Vec::<String>::new()));
        };
        cx.charge(map.len() * size_of::<Value<'_>>())?;
        let mut error = error::missing(scope, name, &expression, available(map, of_steps, mode));
        if let Some(reason) = look_up(map, key, of_steps).and_then(|value| refused(value, mode)).flatten() {
            error = error.with_field("reason", reason).with_note(why(reason));
        }
        if of_steps
            && let Some((id, _)) = key.split_once('.')
            && map.get(id).is_some_and(|step| step.as_map().is_some_and(|step| !is_completed(step)))
        {
            error.message = format!("{}: step '{id}' has not completed", error.message);
        }
        Err(error)
    }

    fn present(&self, value: Value<'_>) -> bool {
        refused(value, RenderMode::Literal).is_none()
    }

    fn truth<'v>(&self, cx: &Cx<'v>, _: Value<'v>) -> Result<bool> {
        Err(cx.fault(Code::TypeMismatch, "nothing is tested in this language"))
    }

    fn binary<'v>(&self, cx: &Cx<'v>, _: BinaryOp, _: Value<'v>, _: Value<'v>) -> Result<Value<'v>> {
        Err(cx.fault(Code::TypeMismatch, "there are no operators in this language"))
    }

    fn writable(&self, value: Value<'_>, mode: EscapeMode) -> bool {
        refused(value, render_mode(mode)).is_none()
    }

    #[inline(always)] // one caller
    fn write_simple(&self, value: Value<'_>, mode: EscapeMode, out: &mut Output<'_>) -> Result<bool> {
        match value {
            Value::Str(text) if mode == EscapeMode::Shell && !text.has_either(b'\'', 0) => {
                out.push_between("'", text, "'")?;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    fn attr<'v>(&self, _: &Cx<'v>, value: Value<'v>, key: &str) -> Option<Value<'v>> {
        let (key, of_steps) = key_of(key);
        look_up(value.as_map()?, key, of_steps)
    }

    fn index<'v>(&self, _: &Cx<'v>, _: Value<'v>, _: Value<'v>) -> Result<Option<Value<'v>>> {
        Ok(None)
    }

    fn iterate<'v>(&self, cx: &Cx<'v>, _: Value<'v>, _: u32) -> Result<Items<'v>> {
        Err(cx.fault(Code::NotIterable, "there are no loops in this language"))
    }

    fn to_text<'v>(&self, cx: &Cx<'v>, value: Value<'v>, mode: EscapeMode, out: &mut Output<'_>) -> Result<()> {
        if mode == EscapeMode::Shell {
            out.push("'")?;
        }
        match value {
            Value::Str(text) if mode == EscapeMode::Shell => quote(text.as_str(), out)?,
            Value::Str(text) => out.push_text(text)?,
            Value::Bool(b) => out.push(if b { "true" } else { "false" })?,
            Value::Int(n) => out.push(itoa::Buffer::new().format(n))?,
            Value::Uint(n) => out.push(itoa::Buffer::new().format(n))?,
            Value::Float(n) if n.is_finite() => out.push(zmij::Buffer::new().format_finite(n))?,
            other => return Err(cx.fault(Code::TypeMismatch, format!("a {} has no text", other.kind()))),
        }
        if mode == EscapeMode::Shell { out.push("'") } else { Ok(()) }
    }
}

/// Writes the inside of single quotes. A quote closes them, is escaped, and opens them again.
fn quote(text: &str, out: &mut Output<'_>) -> Result<()> {
    let mut rest = text;
    while let Some((before, after)) = memchr::memchr(b'\'', rest.as_bytes()).and_then(|at| rest.split_at_checked(at)) {
        out.push(before)?;
        out.push("'\\''")?;
        rest = after.get(1..).unwrap_or("");
    }
    out.push(rest)
}
