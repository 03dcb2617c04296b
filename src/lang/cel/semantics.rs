//! The rules of the language for the machine.
//!
//! Errors propagate. Where an operand of `&&` or `||`, or the predicate of `all` or `exists`, may fail, a handler notes the
//! error. It is raised later unless another operand or element decides.

use std::cmp::Ordering;

use super::values::compare::{equal, related};
use super::values::errors::{no_such_overload, noted_since, undefined_input};
use super::values::maps::pairs;
use super::values::{access, arithmetic, text, type_name, written};
use super::{cost, dispatch};
use crate::values::in_document;
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_machine::bytecode::{BinaryOp, EscapeMode, Role};
use dropforge_machine::function::{Builtin, Cx, Misfit, Subject};
use dropforge_machine::vm::{Form, Items, Logic, Missing, Output, Semantics};
use dropforge_value::Value;

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
        if value.has_notation() { written::negative(cx, value) } else { arithmetic::negate(value) }
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
            return dispatch::call_plain(cx, function, member, given);
        }
        dispatch::call(cx, function, member, given)
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
        if let Some(digits) = text::digits(value, &mut itoa::Buffer::new()) {
            return out.push(digits);
        }
        match text::plain(value)? {
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
        BinaryOp::Add => return arithmetic::add(cx, a, b),
        BinaryOp::Sub => return arithmetic::subtract(cx, a, b),
        BinaryOp::Mul => return arithmetic::multiply(a, b),
        BinaryOp::Div => return arithmetic::divide(a, b),
        BinaryOp::Rem => return arithmetic::modulo(a, b),
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
