//! The rules of the language for the machine.
//!
//! Errors propagate. Where an operand of `&&` or `||`, or the predicate of `all` or `exists`, may fail, a handler notes the
//! error. It is raised later unless another operand or element decides. A call takes the overload that takes its arguments.

use std::cmp::Ordering;

use super::cost;
use super::values::compare::{equal, related};
use super::values::{access, type_name, written};
use crate::values::access::pairs;
use crate::values::{compare, convert, in_document, no_such_overload, noted_since, undefined_input};
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_machine::bytecode::{BinaryOp, EscapeMode, Role};
use dropforge_machine::function::{Builtin, Cx, Misfit, Overload, Params, Subject, Ty};
use dropforge_machine::vm::{Form, Items, Logic, Missing, Output, Semantics};
use dropforge_value::{Extended, Value};

/// The rules of CEL.
#[derive(Debug, Clone, Copy, Default)]
pub struct Rules;

impl Semantics for Rules {
    fn called(&self) -> &'static str {
        "included here"
    }

    #[cold]
    fn missing<'v>(&self, cx: &Cx<'v>, missing: &Missing<'_, 'v>) -> Result<Value<'v>> {
        match missing.parent {
            Some(parent) => {
                access::select(cx, parent, missing.name).map_err(|error| match parent.unwritten().as_map() {
                    Some(map) => {
                        let names = || map.iter().map(|(name, _)| name);
                        error.with_suggestion(missing.name, names()).with_available(names())
                    }
                    None => error,
                })
            }
            None => Err(undefined_input(cx, missing.name)),
        }
    }

    fn present(&self, value: Value<'_>) -> bool {
        !value.is_undefined()
    }

    fn truth<'v>(&self, _: &Cx<'v>, value: Value<'v>) -> Result<bool> {
        match value.unwritten() {
            Value::Bool(truth) => Ok(truth),
            _ => Err(no_such_overload("_?_:_", false, &[value])),
        }
    }

    #[inline]
    fn binary<'v>(&self, cx: &Cx<'v>, op: BinaryOp, a: Value<'v>, b: Value<'v>) -> Result<Value<'v>> {
        match (a, b) {
            (Value::Int(x), Value::Int(y)) => integer_operation(cx, op, x, y),
            (Value::Str(x), Value::Str(y)) if op == BinaryOp::Eq => Ok(Value::Bool(x == y)),
            (Value::Str(x), Value::Str(y)) if op == BinaryOp::Ne => Ok(Value::Bool(x != y)),
            _ => operation(cx, op, a, b),
        }
    }

    #[cold]
    fn not<'v>(&self, _: &Cx<'v>, value: Value<'v>) -> Result<Value<'v>> {
        written::not(value)
    }

    fn negative<'v>(&self, cx: &Cx<'v>, value: Value<'v>) -> Result<Value<'v>> {
        if value.has_notation() { written::negative(cx, value) } else { compare::negate(value) }
    }

    #[cold]
    fn logic<'v>(
        &self,
        cx: &Cx<'v>,
        logic: Logic,
        operands: [Value<'v>; 2],
        from: [Value<'v>; 2],
    ) -> Result<Value<'v>> {
        let operands = operands.map(|operand| operand.unwritten());
        let decides = |operand: &Value<'v>| matches!(operand, Value::Bool(truth) if *truth == logic.decides());
        let error = noted_since(cx, from[0]);
        if operands.iter().any(decides) {
            return Ok(Value::Bool(logic.decides()));
        }
        match (operands, error) {
            ([Value::Bool(a), Value::Bool(b)], _) => Ok(Value::Bool(logic.of(a, b))),
            (_, Some(error)) => Err(error),
            (_, None) => Err(no_such_overload(if logic == Logic::And { "_&&_" } else { "_||_" }, false, &operands)),
        }
    }

    #[cold]
    fn absorbed(&self, cx: &Cx<'_>, error: Box<Diagnostic>) {
        cx.note_error(error, Subject::Whole);
    }

    fn call<'v>(&self, cx: &Cx<'v>, function: &Builtin, given: &[Value<'v>], form: Form) -> Result<Value<'v>> {
        let member = form == Form::Member;
        if given.iter().any(Value::has_notation) {
            return call_plain(cx, function, member, given);
        }
        call(cx, function, member, given)
    }

    #[cold]
    fn misfit(&self, function: &Builtin, misfit: &Misfit, given: &[Value<'_>], form: Form) -> Box<Diagnostic> {
        let error = no_such_overload(&function.name, form == Form::Member, given);
        let takes = function.host_params().map(ToString::to_string).unwrap_or_default();
        let help = format!("it takes ({takes})");
        match misfit {
            Misfit::Type(at, why) => error.with_help(format!("argument {} {why}; {help}", at + 1)),
            _ => error.with_help(help),
        }
    }

    fn in_role<'v>(&self, _: &Cx<'v>, value: Value<'v>, role: Role) -> Result<Value<'v>> {
        match value {
            _ if role == Role::Value => Ok(in_document(value)),
            _ if matches!(value.unwritten(), Value::Bool(_)) => Ok(value.unwritten()),
            _ => Err(no_such_overload("_&&_", false, &[Value::Bool(true), value])),
        }
    }

    fn measure<'v>(&self, cx: &Cx<'v>, rule: u32, values: &[Value<'v>]) -> Result<u64> {
        cost::measure(cx, rule, values)
    }

    fn attr<'v>(&self, cx: &Cx<'v>, value: Value<'v>, key: &str) -> Option<Value<'v>> {
        // `missing` reports failures.
        match value {
            Value::Extended(_) => access::select(cx, value, key).ok(),
            _ => None,
        }
    }

    fn index<'v>(&self, cx: &Cx<'v>, value: Value<'v>, index: Value<'v>) -> Result<Option<Value<'v>>> {
        access::index(cx, value, index).map(Some)
    }

    fn iterate<'v>(&self, cx: &Cx<'v>, value: Value<'v>, names: u32) -> Result<Items<'v>> {
        let value = value.unwritten();
        match value {
            Value::List(list) if names == 1 => return Ok(Items::List(list.items())),
            Value::List(list) => return Ok(Items::Indexed(list.items())),
            Value::Map(map) if names == 2 => return Ok(Items::Entries(map)),
            _ => {}
        }
        let Some((keys, values)) = pairs(cx, value)? else {
            let message = format!("a loop cannot go over a value of type '{}'", type_name(value));
            return Err(Diagnostic::new(Code::NotIterable, message));
        };
        let bump = cx.arena().bump();
        if names == 1 {
            return Ok(Items::List(bump.alloc_slice_copy(&keys)));
        }
        Ok(Items::Pairs(bump.alloc_slice_fill_iter(keys.into_iter().zip(values).map(|(key, value)| [key, value]))))
    }

    #[cold]
    fn to_text<'v>(&self, _: &Cx<'v>, value: Value<'v>, _: EscapeMode, out: &mut Output<'_>) -> Result<()> {
        let value = value.unwritten();
        if let Some(digits) = convert::digits(value, &mut itoa::Buffer::new()) {
            return out.push(digits);
        }
        match convert::plain(value)? {
            Some(text) => out.push(&text),
            None => {
                let message = format!("a value of type '{}' is not text", type_name(value));
                Err(Diagnostic::new(Code::TypeMismatch, message)
                    .with_help("make it text with a function, or let it stand alone"))
            }
        }
    }
}

/// Applies an operator to integers.
#[inline]
fn integer_operation<'v>(cx: &Cx<'v>, op: BinaryOp, a: i64, b: i64) -> Result<Value<'v>> {
    let made = match op {
        BinaryOp::Div => a.checked_div(b).map(Value::Int),
        BinaryOp::Rem => a.checked_rem(b).map(Value::Int),
        op => op.of_integers(a, b),
    };
    match made {
        Some(value) => Ok(value),
        None => operation(cx, op, Value::Int(a), Value::Int(b)),
    }
}

/// Applies an operator to any values.
#[inline(never)]
fn operation<'v>(cx: &Cx<'v>, op: BinaryOp, a: Value<'v>, b: Value<'v>) -> Result<Value<'v>> {
    let (a, b) = match a.has_notation() || b.has_notation() {
        true => match written::mixed(cx, op, a, b)? {
            Some(result) => return Ok(result),
            None => (written::plain(cx, a)?, written::plain(cx, b)?),
        },
        false => (a, b),
    };
    let (name, holds): (_, fn(Ordering) -> bool) = match op {
        BinaryOp::Add => return compare::add(cx, a, b),
        BinaryOp::Sub => return compare::subtract(cx, a, b),
        BinaryOp::Mul => return compare::multiply(a, b),
        BinaryOp::Div => return compare::divide(a, b),
        BinaryOp::Rem => return compare::modulo(a, b),
        BinaryOp::Eq => return equal(cx, a, b).map(Value::Bool),
        BinaryOp::Ne => return equal(cx, a, b).map(|equal| Value::Bool(!equal)),
        BinaryOp::In => return access::contains(cx, b, a).map(Value::Bool),
        BinaryOp::Lt => ("_<_", Ordering::is_lt),
        BinaryOp::Le => ("_<=_", Ordering::is_le),
        BinaryOp::Gt => ("_>_", Ordering::is_gt),
        BinaryOp::Ge => ("_>=_", Ordering::is_ge),
    };
    related(cx, name, holds, a, b).map(Value::Bool)
}

/// Calls `function`. The first argument is the receiver if the call is `member`.
///
/// # Errors
/// No overload takes the arguments, the error of its body, or a limit of the render.
#[inline]
pub fn call<'v>(cx: &Cx<'v>, function: &Builtin, member: bool, given: &[Value<'v>]) -> Result<Value<'v>> {
    match overload(function, member, given) {
        Some(overload) => (overload.body)(cx, given),
        None => Err(no_such_overload(&function.name, member, given)),
    }
}

/// Calls `function` with arguments of which some have a notation.
///
/// # Errors
/// The errors of [`call`].
#[cold]
fn call_plain<'v>(cx: &Cx<'v>, function: &Builtin, member: bool, given: &[Value<'v>]) -> Result<Value<'v>> {
    let plain = given.iter().map(|value| written::plain(cx, *value)).collect::<Result<Vec<_>>>()?;
    if overload(function, member, &plain).is_none()
        && let Some(floats) = written::with_floats(cx, given)?
        && overload(function, member, &floats).is_some()
    {
        return call(cx, function, member, &floats);
    }
    call(cx, function, member, &plain)
}

/// Returns the first overload of `function` that takes the arguments; if there is none, the first one that takes
/// collections with other elements, whose body then rejects them.
#[inline]
pub fn overload<'f>(function: &'f Builtin, member: bool, given: &[Value<'_>]) -> Option<&'f Overload> {
    let Params::Overloaded(overloads) = &function.params else { return None };
    let matching = overloads.iter().find(|overload| takes(overload, member, given, is_of));
    matching.or_else(|| by_kinds(overloads, member, given))
}

/// Returns the first overload that takes collections, whatever their elements.
#[cold]
fn by_kinds<'f>(overloads: &'f [Overload], member: bool, given: &[Value<'_>]) -> Option<&'f Overload> {
    overloads.iter().find(|overload| takes(overload, member, given, is_of_kind))
}

/// Returns `true` if `overload` takes arguments, each by `is_of`.
#[inline(always)]
fn takes(overload: &Overload, member: bool, given: &[Value<'_>], is_of: impl Fn(Value<'_>, &Ty) -> bool) -> bool {
    let params = overload.params;
    overload.member == member
        && params.len() == given.len()
        && params.iter().zip(given).all(|(param, value)| is_of(*value, param))
}

/// Returns `true` if a value has type `ty`, whatever the elements of a collection.
fn is_of_kind(value: Value<'_>, ty: &Ty) -> bool {
    match ty {
        Ty::List(_) => is_of(value, &Ty::List(&Ty::Dyn)),
        Ty::Map(..) => is_of(value, &Ty::Map(&Ty::Dyn, &Ty::Dyn)),
        Ty::Optional(_) => is_of(value, &Ty::Optional(&Ty::Dyn)),
        ty => is_of(value, ty),
    }
}

/// Returns `true` if a value has type `ty`. Only the first element of a collection is examined.
#[inline(always)]
pub fn is_of(value: Value<'_>, ty: &Ty) -> bool {
    match (ty, value) {
        (Ty::Dyn | Ty::Param(_), _)
        | (Ty::Null, Value::Null)
        | (Ty::Bool, Value::Bool(_))
        | (Ty::Int, Value::Int(_))
        | (Ty::Uint, Value::Uint(_))
        | (Ty::Double, Value::Float(_))
        | (Ty::String, Value::Str(_)) => true,
        (Ty::Null | Ty::Bool | Ty::Int | Ty::Uint | Ty::Double | Ty::String, _)
        | (_, Value::Null | Value::Bool(_) | Value::Int(_) | Value::Uint(_) | Value::Float(_) | Value::Str(_)) => false,
        _ => is_of_composite(value, ty),
    }
}

/// The slow path of [`is_of`]: composite and extended types.
#[inline(never)]
fn is_of_composite(value: Value<'_>, ty: &Ty) -> bool {
    let first = |values: &[Value<'_>], ty: &Ty| values.first().is_none_or(|value| is_of(*value, ty));
    match (ty, value, value.extended()) {
        (Ty::Bytes, _, Some(Extended::Bytes(_)))
        | (Ty::Timestamp, _, Some(Extended::Timestamp { .. }))
        | (Ty::Duration, _, Some(Extended::Duration(_)))
        | (Ty::Type(_), _, Some(Extended::Named(_))) => true,
        (Ty::List(element), Value::List(list), _) => first(list.items(), element),
        (Ty::Map(key, element), Value::Map(map), _) => {
            map.is_empty() || (matches!(key, Ty::Dyn | Ty::Param(_) | Ty::String) && first(map.values(), element))
        }
        (Ty::Map(key, element), _, Some(Extended::Entries(entries))) => {
            first(entries.keys(), key) && first(entries.values(), element)
        }
        (Ty::Optional(held), _, Some(Extended::Optional(value))) => value.is_undefined() || is_of(*value, held),
        (Ty::Opaque(name), _, Some(Extended::Capsule(_))) => type_name(value) == *name,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtins::{EXTENSIONS, STANDARD};
    use dropforge_machine::bytecode::ImportKind;
    use dropforge_machine::function::Registry;
    use dropforge_value::{Arena, Entries};

    fn chosen(function: &str, member: bool, given: &[Value<'_>]) -> Option<&'static str> {
        let registry = Registry::of(&[STANDARD, EXTENSIONS].concat());
        overload(registry.get(ImportKind::Function, function).unwrap(), member, given).map(|overload| overload.id)
    }

    #[test]
    fn what_the_arguments_are_decides() {
        let arena = Arena::new();
        let list = |items: &[Value<'_>]| -> Value<'_> {
            arena.list(
                &items
                    .iter()
                    .map(|item| match item {
                        Value::Int(n) => Value::Int(*n),
                        Value::Uint(n) => Value::Uint(*n),
                        _ => Value::Null,
                    })
                    .collect::<Vec<_>>(),
            )
        };
        let entries = arena.entries(Entries::new(&arena, &[Value::Int(1)], &[Value::Null]).unwrap());
        assert_eq!(chosen("_+_", false, &[Value::Int(1), Value::Int(1)]), Some("add_int64"));
        assert_eq!(chosen("_+_", false, &[Value::Uint(1), Value::Uint(1)]), Some("add_uint64"));
        assert_eq!(chosen("_+_", false, &[Value::Int(1), Value::Uint(1)]), None);
        assert_eq!(chosen("_+_", true, &[Value::Int(1), Value::Int(1)]), None);
        assert_eq!(chosen("size", false, &[entries]), Some("size_map"));
        assert_eq!(chosen("size", true, &[arena.map(&[])]), Some("map_size"));
        assert_eq!(chosen("sort", true, &[list(&[Value::Uint(1), Value::Int(2)])]), Some("list_uint_sort"));
        assert_eq!(chosen("sort", true, &[list(&[])]), Some("list_int_sort"));
        assert_eq!(chosen("size", false, &[]), None);
    }

    #[test]
    fn elements_that_do_not_fit_are_left_to_the_body() {
        let arena = Arena::new();
        let nulls = arena.list(&[Value::Null]);
        assert_eq!(chosen("sort", true, &[nulls]), Some("list_int_sort"));
        assert_eq!(chosen("flatten", true, &[arena.list(&[Value::Int(1)])]), Some("list_flatten"));
        let held = arena.extended(Extended::Optional(Value::Int(1)));
        assert_eq!(chosen("_[_]", false, &[held, Value::Int(0)]), Some("optional_list_index_int"));
        assert_eq!(chosen("flatten", true, &[Value::Null]), None);
    }
}
