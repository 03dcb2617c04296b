//! The rules of the language, for the machine.
//!
//! Errors are raised. Where an operand of `&&` or `||`, or the predicate of `all` or `exists`, may fail without its error
//! counting, a handler absorbs the error: it is noted, and raised after all where nothing decides without it.

use super::builtins::capsules::is_omit;
use super::values::access::{self, pairs};
use super::values::compare::{Relation, equal, related};
use super::values::errors::no_such_overload;
use super::values::{arithmetic, as_optional, text, type_name};
use super::{call, cost};
use crate::bytecode::{BinaryOp, EscapeMode, Role, Whole};
use crate::diagnostics::{Code, Diagnostic, Result};
use crate::function::{Builtin, Cx, Noted, Subject};
use crate::value::Value;
use crate::vm::{Form, Items, Logic, Missing, Output, Semantics};

/// The rules of `cel`.
#[derive(Debug, Clone, Copy)]
pub struct Rules;

/// The first error that was noted since there were `from` notes; all of these are dropped. One of an attribute that is
/// not known comes before all others: when it is known, that may decide.
pub(super) fn noted_since(cx: &Cx<'_>, from: Value<'_>) -> Option<Box<Diagnostic>> {
    let from = if let Value::Int(from) = from { usize::try_from(from).unwrap_or(usize::MAX) } else { usize::MAX };
    let errors = cx.notes().take(from).into_iter().filter_map(|note| match note.what {
        Noted::Error(error, _) => Some(error),
        Noted::Unanswered | Noted::Marks(_) => None,
    });
    errors.reduce(|first, next| match next.code {
        Code::UnknownAttribute if first.code != Code::UnknownAttribute => next,
        _ => first,
    })
}

impl Semantics for Rules {
    const CALLED: &'static str = "included here";

    #[cold]
    fn missing<'v>(cx: &Cx<'v>, missing: &Missing<'_, 'v>) -> Result<Value<'v>> {
        match missing.parent {
            Some(parent) => access::select(cx, parent, missing.name).map_err(|error| match parent.as_map() {
                Some(map) => {
                    let names = || map.iter().map(|(name, _)| name);
                    error.with_suggestion(missing.name, names()).with_available(names())
                }
                None => error,
            }),
            None => {
                let names = || cx.inputs().iter().map(|(name, _)| name);
                Err(Diagnostic::new(Code::UndefinedVariable, format!("no such attribute: {}", missing.name))
                    .with_suggestion(missing.name, names())
                    .with_available(names()))
            }
        }
    }

    fn present(value: Value<'_>) -> bool {
        !value.is_undefined()
    }

    fn truth<'v>(_: &Cx<'v>, value: Value<'v>) -> Result<bool> {
        match value {
            Value::Bool(truth) => Ok(truth),
            _ => Err(no_such_overload("_?_:_", false, &[value])),
        }
    }

    #[inline]
    fn binary<'v>(cx: &Cx<'v>, op: BinaryOp, a: Value<'v>, b: Value<'v>) -> Result<Value<'v>> {
        match (a, b) {
            (Value::Int(x), Value::Int(y)) => whole(cx, op, x, y),
            (Value::Str(x), Value::Str(y)) if op == BinaryOp::Eq => Ok(Value::Bool(x == y)),
            (Value::Str(x), Value::Str(y)) if op == BinaryOp::Ne => Ok(Value::Bool(x != y)),
            _ => operation(cx, op, a, b),
        }
    }

    #[cold]
    fn not<'v>(_: &Cx<'v>, value: Value<'v>) -> Result<Value<'v>> {
        Err(no_such_overload("!_", false, &[value]))
    }

    fn negative<'v>(_: &Cx<'v>, value: Value<'v>) -> Result<Value<'v>> {
        arithmetic::negate(value)
    }

    #[cold]
    fn logic<'v>(cx: &Cx<'v>, logic: Logic, answers: [Value<'v>; 2], from: [Value<'v>; 2]) -> Result<Value<'v>> {
        let decides = |answer: &Value<'v>| matches!(answer, Value::Bool(answer) if *answer == logic.decides());
        let error = noted_since(cx, from[0]);
        if answers.iter().any(decides) {
            return Ok(Value::Bool(logic.decides()));
        }
        match (answers, error) {
            ([Value::Bool(a), Value::Bool(b)], _) => Ok(Value::Bool(logic.of(a, b))),
            (_, Some(error)) => Err(error),
            (_, None) => Err(no_such_overload(if logic == Logic::And { "_&&_" } else { "_||_" }, false, &answers)),
        }
    }

    #[cold]
    fn absorbed(cx: &Cx<'_>, error: impl FnOnce() -> Box<Diagnostic>) {
        cx.note_error(error(), Subject::Whole);
    }

    fn call<'v>(cx: &Cx<'v>, function: &Builtin, given: &[Value<'v>], form: Form) -> Result<Value<'v>> {
        call::call(cx, function, form == Form::Member, given)
    }

    fn in_role<'v>(_: &Cx<'v>, value: Value<'v>, role: Role) -> Result<Value<'v>> {
        match value {
            _ if role == Role::Value => Ok(in_document(value)),
            Value::Bool(_) => Ok(value),
            _ => Err(no_such_overload("_&&_", false, &[Value::Bool(true), value])),
        }
    }

    fn measure<'v>(cx: &Cx<'v>, rule: u32, values: &[Value<'v>]) -> Result<u64> {
        cost::measure(cx, rule, values)
    }

    fn attr<'v>(cx: &Cx<'v>, value: Value<'v>, key: &str) -> Option<Value<'v>> {
        // What fails says so in `missing`.
        match value {
            Value::Extended(_) => access::select(cx, value, key).ok(),
            _ => None,
        }
    }

    fn index<'v>(cx: &Cx<'v>, value: Value<'v>, index: Value<'v>) -> Result<Option<Value<'v>>> {
        access::index(cx, value, index).map(Some)
    }

    fn iterate<'v>(cx: &Cx<'v>, value: Value<'v>, names: u32) -> Result<Items<'v>> {
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
    fn to_text<'v>(_: &Cx<'v>, value: Value<'v>, _: EscapeMode, out: &mut Output<'_>) -> Result<()> {
        if let Some(digits) = text::digits(value, &mut itoa::Buffer::new()) {
            return out.push(digits);
        }
        match text::plain(value)? {
            Some(text) => out.push(&text),
            None => {
                let message = format!("a value of type '{}' is no text", type_name(value));
                Err(Diagnostic::new(Code::TypeMismatch, message)
                    .with_help("make it text with a function, or let it stand alone"))
            }
        }
    }
}

/// What a value is in a document: an optional what it holds; what leaves out its place, and an optional of nothing, are
/// undefined.
pub(super) fn in_document(value: Value<'_>) -> Value<'_> {
    let mut value = value;
    while let Some(held) = as_optional(value) {
        value = held;
    }
    if is_omit(value) { Value::Undefined } else { value }
}

/// An operator on whole numbers.
#[inline]
fn whole<'v>(cx: &Cx<'v>, op: BinaryOp, a: i64, b: i64) -> Result<Value<'v>> {
    let made = match op {
        BinaryOp::Div => a.checked_div(b).map(Whole::Number),
        BinaryOp::Rem => a.checked_rem(b).map(Whole::Number),
        op => op.of_whole(a, b),
    };
    match made {
        Some(Whole::Number(number)) => Ok(Value::Int(number)),
        Some(Whole::Answer(truth)) => Ok(Value::Bool(truth)),
        None => operation(cx, op, Value::Int(a), Value::Int(b)),
    }
}

/// An operator on any values.
#[inline(never)]
fn operation<'v>(cx: &Cx<'v>, op: BinaryOp, a: Value<'v>, b: Value<'v>) -> Result<Value<'v>> {
    let relation = match op {
        BinaryOp::Add => return arithmetic::add(cx, a, b),
        BinaryOp::Sub => return arithmetic::subtract(cx, a, b),
        BinaryOp::Mul => return arithmetic::multiply(a, b),
        BinaryOp::Div => return arithmetic::divide(a, b),
        BinaryOp::Rem => return arithmetic::modulo(a, b),
        BinaryOp::Eq => return equal(cx, a, b).map(Value::Bool),
        BinaryOp::Ne => return equal(cx, a, b).map(|equal| Value::Bool(!equal)),
        BinaryOp::In => return access::contains(cx, b, a).map(Value::Bool),
        BinaryOp::Lt => Relation::Less,
        BinaryOp::Le => Relation::LessEquals,
        BinaryOp::Gt => Relation::Greater,
        BinaryOp::Ge => Relation::GreaterEquals,
    };
    related(cx, relation, a, b).map(Value::Bool)
}
