//! The language's rules for the machine: missing keys, truth, comparisons, loops, values as text.

use std::borrow::Cow;

use super::builtins::logic;
use super::error::{error, quoted};
use super::print::{NO_VALUE, not_utf8, print, shown};
use super::values::{GoKind, items, kind, map_of, nil_list, nil_map, target_name, truth, type_name, zero_element};
use super::{error, hints, objects};
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_base::stdlib::float_format::shortest;
use dropforge_machine::bytecode::{BinaryOp, Delivery, EscapeMode, Role};
use dropforge_machine::function::{Builtin, Cx, Growing, Misfit, Params, Target, Type};
use dropforge_machine::vm::{Form, Items, Missing, Output, Semantics};
use dropforge_value::{Extended, Sized, Value, Width};

/// The most integers of a sized type that a loop makes before it begins.
const MOST_SIZED: usize = 1 << 12;

/// The semantics of `helm`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Rules;

impl Semantics for Rules {
    #[cold]
    fn missing<'v>(&self, cx: &Cx<'v>, missing: &Missing<'_, 'v>) -> Result<Value<'v>> {
        let path = MissingPath::of(missing);
        match missing.parent {
            None if path.root.is_empty() => {
                path.missing_key(0).map_err(|error| error::lacking_input(cx, error, path.field(0).unwrap_or("")))
            }
            None => path.of_nothing(),
            Some(parent) => path.step(cx, parent, missing),
        }
    }

    fn present(&self, value: Value<'_>) -> bool {
        !matches!(value, Value::Undefined | Value::Null)
    }

    fn truth<'v>(&self, cx: &Cx<'v>, value: Value<'v>) -> Result<bool> {
        Ok(truth(cx, value))
    }

    fn binary<'v>(&self, cx: &Cx<'v>, op: BinaryOp, a: Value<'v>, b: Value<'v>) -> Result<Value<'v>> {
        logic::operator(cx, op, a, b).map(Value::Bool)
    }

    fn in_role<'v>(&self, _: &Cx<'v>, value: Value<'v>, role: Role) -> Result<Value<'v>> {
        match (role, value, kind(value)) {
            // The value of a pipeline is no interface: nil is nothing there.
            (Role::Value, Value::Null, _) => Ok(Value::Undefined),
            (Role::Answer, _, GoKind::Int | GoKind::Int64 | GoKind::Uint8 | GoKind::Uint) => {
                let message = format!("can't use {} to iterate over more than one variable", number_text(value));
                Err(error(Code::NotIterable, message))
            }
            _ => Ok(value),
        }
    }

    fn attr<'v>(&self, cx: &Cx<'v>, value: Value<'v>, key: &str) -> Option<Value<'v>> {
        match value {
            Value::Extended(_) => {
                objects::field(cx, value, key).ok()?.or_else(|| map_of(cx, value).and_then(|map| map.get(key)))
            }
            _ => None,
        }
    }

    /// No template has such a step. A program that is specialised reads the items of a list so, where it unrolls a loop.
    fn index<'v>(&self, _: &Cx<'v>, value: Value<'v>, index: Value<'v>) -> Result<Option<Value<'v>>> {
        let (Value::List(list), Value::Int(at)) = (value, index) else { return Ok(None) };
        Ok(usize::try_from(at).ok().and_then(|at| list.items().get(at)).copied())
    }

    fn iterate<'v>(&self, cx: &Cx<'v>, value: Value<'v>, _: u32) -> Result<Items<'v>> {
        if let Some(items) = items(value) {
            return Ok(Items::Indexed(items));
        }
        if let Some(map) = map_of(cx, value) {
            return Ok(Items::Sorted(map));
        }
        match (value, value.extended()) {
            (Value::Undefined | Value::Null, _) => Ok(Items::Indexed(&[])),
            (Value::Int(n), _) => Ok(Items::Numbers(count_of(n.into()))),
            (_, Some(Extended::Sized(number))) => sized_numbers(cx, *number),
            (_, Some(Extended::Typed(_, bytes))) => match bytes.extended() {
                Some(Extended::Bytes(bytes)) => {
                    cx.charge(bytes.len() * (size_of::<Value<'_>>() + size_of::<Extended<'_>>()))?;
                    let byte = |byte: &u8| Extended::Sized(Sized::Unsigned(Width::W8, (*byte).into()));
                    let items = bytes.iter().map(|one| cx.arena().extended(byte(one)));
                    Ok(Items::Indexed(cx.arena().bump().alloc_slice_fill_iter(items.collect::<Vec<_>>())))
                }
                _ => Err(not_iterable(cx, value)),
            },
            _ => Err(not_iterable(cx, value)),
        }
    }

    fn assign<'v, 'g>(&self, cx: &Cx<'v>, function: &Builtin, given: &'g [Value<'v>]) -> Result<Cow<'g, [Value<'v>]>> {
        let Params::Assigned(params) = &function.params else { return Ok(Cow::Borrowed(given)) };
        if let Some(message) = wrong_count(function, given.len()) {
            return Err(error(Code::BadArgument, message));
        }
        let mut assigned = Cow::Borrowed(given);
        for (at, value) in given.iter().enumerate() {
            let Some(target) = params.target(at).filter(|target| !target.admits(value)) else { continue };
            match zero(cx, target, *value)? {
                Some(zero) => assigned.to_mut().iter_mut().skip(at).take(1).for_each(|value| *value = zero),
                None => {
                    let mut error = wrong_type(target, *value);
                    error.part = u32::try_from(at).ok();
                    return Err(error);
                }
            }
        }
        Ok(assigned)
    }

    #[cold]
    fn misfit(&self, function: &Builtin, misfit: &Misfit, given: &[Value<'_>], _: Form) -> Box<Diagnostic> {
        let Misfit::Type(at, why) = misfit else {
            return error(Code::BadArgument, wrong_count(function, given.len()).unwrap_or_default());
        };
        let ty = function.host_params().and_then(|params| params.type_of(*at)).unwrap_or(Type::Any);
        let value = given.get(*at).copied().unwrap_or_default();
        let mut error = if ty.admits(&value) {
            error(Code::BadArgument, format!("error calling {}: {why}", function.name))
        } else {
            wrong_type(target_of(ty), value)
        };
        error.part = u32::try_from(*at).ok();
        error
    }

    fn no_chunk<'v>(&self, _: &Cx<'v>, name: Value<'v>, delivery: Delivery, names: Vec<&str>) -> Box<Diagnostic> {
        let Some(name) = name.as_str() else { return wrong_type(Target::Str, name) };
        let message = match delivery {
            Delivery::Output => format!("template {} not defined", quoted(name)),
            Delivery::Text => {
                format!(
                    "error calling include: template: no template {} associated with template \"gotpl\"",
                    quoted(name)
                )
            }
        };
        error(Code::UnknownTemplate, message).with_suggestion(name, names)
    }

    fn no_text<'v>(&self, _: &Cx<'v>, value: Value<'v>) -> Box<Diagnostic> {
        wrong_type(Target::Str, value)
    }

    fn nests(&self, _: &Cx<'_>, name: &str, allowed: usize) -> Box<Diagnostic> {
        let message = format!(
            "error calling include: rendering template has a nested reference name: {name}: unable to execute template"
        );
        error(Code::LimitRecursion, message).with_note(format!("a name may be included {allowed} times in itself"))
    }

    #[inline]
    fn write_simple(&self, value: Value<'_>, _: EscapeMode, out: &mut Output<'_>) -> Result<bool> {
        match value {
            Value::Bool(truth) => out.push(if truth { "true" } else { "false" })?,
            Value::Float(n) => write_float(n, out)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn to_text<'v>(&self, cx: &Cx<'v>, value: Value<'v>, _: EscapeMode, out: &mut Output<'_>) -> Result<()> {
        match value {
            Value::Undefined | Value::Null => out.push(NO_VALUE),
            Value::Bool(truth) => out.push(if truth { "true" } else { "false" }),
            Value::Float(n) => write_float(n, out),
            Value::Str(text) => out.push_text(text),
            Value::Int(n) => out.push_int(n),
            _ => {
                if let Some(text) = objects::written(value) {
                    return out.push(&text);
                }
                let mut text = Growing::new(cx);
                print(cx, value, &mut text)?;
                if let Ok(text) = std::str::from_utf8(text.bytes()) {
                    return out.push(text);
                }
                cx.charge(text.bytes().len().saturating_mul(Output::STRAY))?;
                if out.push_bytes(text.bytes())? { Ok(()) } else { Err(not_utf8()) }
            }
        }
    }
}

/// Writes a float. Most are small integers.
#[inline]
fn write_float(n: f64, out: &mut Output<'_>) -> Result<()> {
    if n.fract() == 0.0 && n.abs() < 1e6 && (n != 0.0 || n.is_sign_positive()) {
        return out.push_int(n as i64);
    }
    out.push(&shortest(n))
}

/// Returns the integers of a sized type from 0 to `count` as the items of a loop. Very many are plain integers, because
/// they are never all there.
fn sized_numbers<'v>(cx: &Cx<'v>, number: Sized) -> Result<Items<'v>> {
    let count = count_of(number.number());
    if count > MOST_SIZED {
        return Ok(Items::Numbers(count));
    }
    cx.charge(count * (size_of::<Value<'_>>() + size_of::<Extended<'_>>()))?;
    let all = (0..count as i64).map(|n| cx.arena().extended(Extended::Sized(number.with(n)))).collect::<Vec<_>>();
    Ok(Items::Indexed(cx.arena().bump().alloc_slice_copy(&all)))
}

fn count_of(number: i128) -> usize {
    usize::try_from(number.max(0)).unwrap_or(usize::MAX)
}

fn number_text(value: Value<'_>) -> String {
    match (value, value.extended()) {
        (Value::Int(n), _) => n.to_string(),
        (_, Some(Extended::Sized(n))) => n.number().to_string(),
        _ => String::new(),
    }
}

#[cold]
fn not_iterable<'v>(cx: &Cx<'v>, value: Value<'v>) -> Box<Diagnostic> {
    match shown(cx, value) {
        Ok(text) => error(Code::NotIterable, format!("range can't iterate over {text}")).with_help(match value {
            Value::Str(_) => "`range` needs a list or a map: give one, or write `splitList \",\" …` for a text",
            _ => "`range` needs a list, a map or a number",
        }),
        Err(limit) => limit,
    }
}

/// Returns the empty value that a parameter gets if its argument is no value, as the result of a pipeline may be. `None` if
/// values of its type cannot be nil.
#[cold]
pub(super) fn zero<'v>(cx: &Cx<'v>, target: Target, value: Value<'v>) -> Result<Option<Value<'v>>> {
    match (value, target) {
        (Value::Undefined, Target::Map) => nil_map(cx).map(Some),
        (Value::Undefined, Target::List) => nil_list(cx).map(Some),
        _ => Ok(None),
    }
}

/// Returns the error of a call with this many arguments, unless the function takes that many.
pub(super) fn wrong_count(function: &Builtin, count: usize) -> Option<String> {
    let (least, most) = match (&function.params, function.host_params()) {
        (Params::Assigned(params), _) => (params.params.len(), params.rest.is_none().then_some(params.params.len())),
        (_, Some(params)) => (params.required(), params.rest().is_none().then(|| params.iter().len())),
        _ => return None,
    };
    let wanted = match most {
        Some(most) if count > most && most > least => format!("at most {most}"),
        Some(most) if count > most || count < least && most == least => least.to_string(),
        _ if count < least => format!("at least {least}"),
        _ => return None,
    };
    Some(format!("wrong number of args for {}: want {wanted} got {count}", function.name))
}

/// Returns the type of Go that stands for the type of a parameter of the embedding program.
fn target_of(ty: Type) -> Target {
    match ty {
        Type::Any => Target::Any,
        Type::Bool => Target::Bool,
        Type::Int | Type::Size => Target::Int,
        Type::Number => Target::Float,
        Type::Str => Target::Str,
        Type::List => Target::List,
        Type::Map => Target::Map,
    }
}

#[cold]
pub(super) fn wrong_type(target: Target, value: Value<'_>) -> Box<Diagnostic> {
    let expected = target_name(target);
    let message = match value {
        Value::Undefined => format!("invalid value; expected {expected}"),
        Value::Null => format!("wrong type for value; expected {expected}; got interface {{}}"),
        _ => format!("wrong type for value; expected {expected}; got {}", type_name(value)),
    };
    let found = (!matches!(value, Value::Undefined | Value::Null)).then(|| type_name(value));
    error(Code::BadArgument, message).with_help(hints::argument(expected, found.as_deref()))
}

/// The name of a missing path: a mark, a root, and the fields after it.
struct MissingPath<'m> {
    mark: Option<char>,
    /// The root: empty if the first field is a top-level input.
    root: &'m str,
    /// The names of the fields, with dots between them.
    fields: Option<&'m str>,
}

impl<'m> MissingPath<'m> {
    fn of(missing: &Missing<'m, '_>) -> Self {
        let mark = missing.path.chars().next().filter(|first| matches!(first, '?' | '!'));
        let rest = missing.path.get(mark.map_or(0, char::len_utf8)..).unwrap_or("");
        let (root, fields) = cut(rest);
        Self { mark, root, fields }
    }

    /// Returns the names of the fields from `at` on.
    fn fields_at(&self, at: usize) -> Option<&'m str> {
        (0..at).try_fold(self.fields?, |fields, _| cut(fields).1)
    }

    /// Returns the name of a field.
    fn field(&self, at: usize) -> Option<&'m str> {
        self.fields_at(at).map(|fields| cut(fields).0)
    }

    /// Returns the value of the key that is the field `at`, missing in a map.
    fn missing_key<'v>(&self, at: usize) -> Result<Value<'v>> {
        match self.mark {
            Some('!') => {
                let message = format!("map has no entry for key {}", quoted(self.field(at).unwrap_or("")));
                Err(error(Code::UndefinedVariable, message))
            }
            Some(_) => Ok(Value::Undefined),
            None => match self.field(at + 1) {
                None => Ok(Value::Null),
                Some(next) => Err(of_nil(next)),
            },
        }
    }

    /// Returns the value of a path whose root is nothing.
    fn of_nothing<'v>(&self) -> Result<Value<'v>> {
        match (self.mark, self.field(0)) {
            (Some('!'), Some(name)) => {
                let message = format!("nil data; no entry for key {}", quoted(name));
                Err(error(Code::UndefinedVariable, message))
            }
            _ => Ok(Value::Undefined),
        }
    }

    /// Returns the value of a path whose step from `parent` failed.
    fn step<'v>(&self, cx: &Cx<'v>, parent: Value<'v>, missing: &Missing<'_, 'v>) -> Result<Value<'v>> {
        let step = missing.step.unwrap_or(0) as usize;
        let at = step + usize::from(self.root.is_empty());
        let name = missing.name;
        if let Some(error) = objects::no_field(parent, name) {
            return Err(error);
        }
        if map_of(cx, parent).is_some() {
            let failed = |error| {
                let error = error::lacking(cx, error, parent, name, self.written(at).as_deref());
                error::give(error, self.written(at + 1).as_deref(), self.field(at + 1))
            };
            return match (self.mark, self.field(at + 1)) {
                (None, None) => zero_element(cx, parent),
                _ => self.missing_key(at).map_err(failed),
            };
        }
        match parent {
            Value::Null if self.root == "data" && step == 0 => self.of_nothing(),
            Value::Null => {
                let within = self.written(at);
                let error = error::no_map(of_nil(name), parent, name, within.as_deref());
                Err(error::give(error, within.as_deref().filter(|within| !within.is_empty()), Some(name)))
            }
            Value::Undefined => Ok(Value::Undefined),
            _ => {
                // A value in a map or a list is an interface; that of a variable is not.
                let alone = step == 0 && !self.root.is_empty() && !self.root.starts_with("item");
                let of = if alone { type_name(parent) } else { "interface {}".into() };
                let error = error(Code::UndefinedVariable, format!("can't evaluate field {name} in type {of}"));
                Err(error::no_map(error, parent, name, self.written(at).as_deref()))
            }
        }
    }

    /// Returns the path up to the field `at` as a template writes it. `None` if it begins with an expression.
    fn written(&self, at: usize) -> Option<String> {
        let root = match self.root.strip_prefix("item").unwrap_or(self.root) {
            "" | "dot" | "data" => "",
            root if root.starts_with('$') => root,
            _ => return None,
        };
        let fields = (0..at).map_while(|at| self.field(at));
        Some(fields.fold(root.to_owned(), |path, field| path + "." + field))
    }
}

/// Cuts a path after its first name. Names are short.
fn cut(path: &str) -> (&str, Option<&str>) {
    match path.bytes().position(|byte| byte == b'.') {
        Some(dot) => (path.get(..dot).unwrap_or(path), path.get(dot + 1..)),
        None => (path, None),
    }
}

fn of_nil(name: &str) -> Box<Diagnostic> {
    error(Code::UndefinedVariable, format!("nil pointer evaluating interface {{}}.{name}"))
}
