//! `hcl`: the native syntax, the JSON syntax and the information model of HCL, compatible with the reference
//! implementation.
//!
//! | module | contents |
//! |---|---|
//! | [`syntax`], [`json`] | lexers, parsers and trees of the two syntaxes |
//! | [`lower`] | trees to bytecode |
//! | [`values`] | the information model: operators, conversions, types |
//! | `evaluation`, `Rules`, `argument_gate` | evaluation whose errors are diagnostics beside a value |
//! | [`builtins`] | the functions |
//! | `compile`, [`Expression`] | the entrance: templates and expressions |
//! | [`body`], [`decode`], [`typeexpr`] | configurations by a schema, by a specification, and type expressions |
//! | [`check`] | errors that do not depend on data |
//! | `variables` | defaults, types and validation of `variable` blocks |
//! | [`edit`], [`format`](mod@format) | changing and formatting sources |

#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo, clippy::unimplemented)
)]

mod argument_gate;
#[doc(hidden)]
pub mod builtins;
mod evaluation;
#[cfg(feature = "compile")]
mod front;
pub mod values;

use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_machine::bytecode::{BinaryOp, Dialect, EscapeMode, Role};
use dropforge_machine::function::{Builtin, Cx, Noted, Registry, Subject, fitting};
use dropforge_machine::language::{Language, Machine, MachineOf};
use dropforge_machine::vm::{Form, Items, Logic, Missing, Output, Semantics};
use dropforge_value::{Type, Value};
use evaluation::{interpolated, join};
use values::{operators, traverse};

#[doc(hidden)]
pub use argument_gate::invoke;
#[doc(hidden)]
pub use builtins::registry;
#[cfg(feature = "compile")]
pub use front::*;

/// The language of templates and expressions.
#[derive(Debug)]
pub struct Hcl;

/// The machine. A static, so that its code is made in this package and not in those that ask for it.
static MACHINE: &dyn Machine = &MachineOf::<Rules>::INSTANCE;

impl Language for Hcl {
    fn dialect(&self) -> Dialect {
        Dialect::Hcl
    }

    fn machine(&self) -> &'static dyn Machine {
        MACHINE
    }

    #[cfg(feature = "compile")]
    fn front(&self) -> Option<&'static dyn dropforge_machine::language::Front> {
        Some(&HclFront)
    }

    fn registry(&self) -> Registry {
        registry()
    }

    fn adopt(&self, function: Builtin) -> Builtin {
        argument_gate::adopted(function)
    }
}

/// The machine's view of the language: errors are values, and diagnostics are notes.
///
/// Common cases (integers, strings, booleans, attributes of objects) are decided here. The rest of the information model
/// is in [`values`].
#[doc(hidden)]
#[derive(Debug, Clone, Copy, Default)]
pub struct Rules;

impl Semantics for Rules {
    fn has_long_numbers(&self) -> bool {
        true
    }

    #[cold]
    fn missing<'v>(&self, cx: &Cx<'v>, missing: &Missing<'_, 'v>) -> Result<Value<'v>> {
        let nothing = || Ok(cx.arena().faulty(Type::Dynamic));
        let Some(parent) = missing.parent else {
            cx.note_error(unknown_variable(cx, missing.name), Subject::Root);
            return nothing();
        };
        let found = match missing.index {
            Some(index) => traverse::index(cx, parent, index),
            None => traverse::attribute(cx, parent, missing.name),
        };
        let wrong = match fitting(found)? {
            None => return nothing(),
            Some(Ok(found)) => return Ok(found),
            Some(Err(wrong)) => wrong,
        };
        let mut error = Diagnostic::new(Code::BadIndex, wrong.summary).with_detail(wrong.detail);
        if let (None, Some(entries)) = (missing.index, parent.entries()) {
            let names = || entries.iter().map(|(name, _)| name);
            error = error.with_suggestion(missing.name, names()).with_available(names());
        }
        cx.note_error(error, missing.step.map_or(Subject::Whole, Subject::Part));
        nothing()
    }

    fn present(&self, value: Value<'_>) -> bool {
        !value.is_undefined()
    }

    fn in_role<'v>(&self, cx: &Cx<'v>, value: Value<'v>, role: Role) -> Result<Value<'v>> {
        match (role, value) {
            (_, Value::Bool(_)) => Ok(value),
            (Role::Answer, _) => evaluation::answer(cx, value),
            _ => Ok(value),
        }
    }

    fn truth<'v>(&self, cx: &Cx<'v>, value: Value<'v>) -> Result<bool> {
        evaluation::condition(cx, value, Subject::Whole)
    }

    #[inline]
    fn binary<'v>(&self, cx: &Cx<'v>, op: BinaryOp, a: Value<'v>, b: Value<'v>) -> Result<Value<'v>> {
        match (a, b) {
            (Value::Int(x), Value::Int(y)) => match operators::whole(op, x, y) {
                Some(value) => Ok(value),
                None => evaluation::binary(cx, op, a, b),
            },
            (Value::Str(a), Value::Str(b)) if op == BinaryOp::Eq => Ok(Value::Bool(a == b)),
            (Value::Str(a), Value::Str(b)) if op == BinaryOp::Ne => Ok(Value::Bool(a != b)),
            _ => evaluation::binary(cx, op, a, b),
        }
    }

    #[cold]
    fn not<'v>(&self, cx: &Cx<'v>, value: Value<'v>) -> Result<Value<'v>> {
        evaluation::unary(cx, value, Type::Bool, operators::not)
    }

    fn negative<'v>(&self, cx: &Cx<'v>, value: Value<'v>) -> Result<Value<'v>> {
        match value {
            // Zero has a sign.
            Value::Int(n) if n != 0 && n != i64::MIN => Ok(Value::Int(-n)),
            _ => evaluation::unary(cx, value, Type::Number, operators::neg),
        }
    }

    #[cold]
    fn logic<'v>(&self, cx: &Cx<'v>, logic: Logic, answers: [Value<'v>; 2], from: [Value<'v>; 2]) -> Result<Value<'v>> {
        evaluation::logic(cx, logic, answers, from)
    }

    #[cold]
    fn fault<'v>(&self, cx: &Cx<'v>, error: Box<Diagnostic>) -> Result<Value<'v>> {
        cx.note_error(error, Subject::Whole);
        Ok(cx.arena().faulty(Type::Dynamic))
    }

    fn call<'v>(&self, cx: &Cx<'v>, function: &Builtin, given: &[Value<'v>], form: Form) -> Result<Value<'v>> {
        argument_gate::call(cx, function, given, form == Form::Spread)
    }

    #[cold]
    fn joined<'v>(&self, cx: &Cx<'v>, values: &[Value<'v>]) -> Result<Option<Value<'v>>> {
        join(cx, values, Subject::Part).map(Some)
    }

    fn attr<'v>(&self, cx: &Cx<'v>, value: Value<'v>, key: &str) -> Option<Value<'v>> {
        match value {
            Value::Map(map) => map.get(key),
            Value::Extended(_) => traverse::attribute(cx, value, key).ok()?.ok(),
            _ => None,
        }
    }

    fn index<'v>(&self, cx: &Cx<'v>, value: Value<'v>, index: Value<'v>) -> Result<Option<Value<'v>>> {
        match (value, index) {
            (Value::List(list), Value::Int(at)) => {
                Ok(usize::try_from(at).ok().and_then(|at| list.items().get(at).copied()))
            }
            (Value::Map(map), Value::Str(key)) => Ok(map.get(key.as_str())),
            _ => Ok(fitting(traverse::index(cx, value, index))?.and_then(std::result::Result::ok)),
        }
    }

    fn iterate<'v>(&self, cx: &Cx<'v>, value: Value<'v>, names: u32) -> Result<Items<'v>> {
        evaluation::items(cx, value, names)
    }

    #[cold]
    fn to_text<'v>(&self, cx: &Cx<'v>, value: Value<'v>, _: EscapeMode, out: &mut Output<'_>) -> Result<()> {
        match value {
            Value::Bool(truth) => return out.push(if truth { "true" } else { "false" }),
            Value::Str(text) => return out.push(text.as_str()),
            Value::Int(n) => return out.push(itoa::Buffer::new().format(n)),
            _ => {}
        }
        if let Some(text) = interpolated(cx, value, Subject::Whole)? {
            match text.unmarked().0 {
                Value::Str(text) => out.push(text.as_str())?,
                _ => cx.note(Noted::Unanswered),
            }
        }
        Ok(())
    }
}

fn unknown_variable(cx: &Cx<'_>, name: &str) -> Box<Diagnostic> {
    let names: Vec<_> = cx.inputs().iter().map(|(name, _)| name).collect();
    if names.is_empty() {
        return Diagnostic::new(Code::UndefinedVariable, "Variables not allowed")
            .with_detail(format!("`{name}` has no value: no variables are given"))
            .with_help(format!("a text has quotes: `\"{name}\"`"));
    }
    let error = Diagnostic::new(Code::UndefinedVariable, "Unknown variable")
        .with_detail(format!("There is no variable named `{name}`"));
    let error = match difference(name, &names) {
        Some(difference) => error.with_help(format!("`-` is part of a name; a difference has spaces: `{difference}`")),
        None => error.with_suggestion(name, names.iter().copied()),
    };
    error.with_available(names)
}

/// Returns the difference that a name was likely meant to be: of a variable, and a number or another variable.
fn difference(name: &str, names: &[&str]) -> Option<String> {
    let (left, right) = name.split_once('-')?;
    let is_number = !right.is_empty() && right.bytes().all(|byte| byte.is_ascii_digit());
    let meant = names.contains(&left) && (is_number || names.contains(&right));
    meant.then(|| format!("{left} - {right}"))
}
