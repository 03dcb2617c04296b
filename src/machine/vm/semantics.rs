//! A language's rules, as called by the machine, and the items of its loops.

use std::borrow::Cow;

use super::output::Output;
use crate::bytecode::{BinaryOp, Delivery, EscapeMode, LoopField, Role};
use crate::function::{Builtin, Cx, Misfit, Params};
use dropforge_base::diagnostics::{CULPRIT, Code, Diagnostic, Result};
use dropforge_base::limits::Limit;
use dropforge_value::{Map, Value};

/// A path without a value.
#[derive(Debug, Clone, Copy)]
pub struct Missing<'m, 'v> {
    /// The step of the path that failed, from 0. `None` if its root has no value.
    pub step: Option<u32>,
    /// The whole path as written.
    pub path: &'m str,
    /// The failed step as written, or the root's name.
    pub name: &'m str,
    /// The value without the failed step. `None` if the root itself is missing.
    pub parent: Option<Value<'v>>,
    /// The computed index of the failed step.
    pub index: Option<Value<'v>>,
    /// The escape mode, if the value was to be written.
    pub mode: Option<EscapeMode>,
}

/// The form of a call with positional arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Each argument is a value.
    Plain,
    /// The last argument is a collection whose elements are the remaining arguments.
    Spread,
    /// The first argument is the receiver.
    Member,
}

impl Form {
    /// Returns the form of a call site with these parameters.
    #[inline]
    pub(super) fn of(params: &[u32]) -> Self {
        match params {
            [Params::RECEIVER, ..] => Form::Member,
            [.., Params::SPREAD] => Form::Spread,
            _ => Form::Plain,
        }
    }
}

/// A logical operator in languages that evaluate both operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Logic {
    /// Both operands are true.
    And,
    /// At least one operand is true.
    Or,
}

impl Logic {
    /// Applies the operator to booleans.
    #[inline(always)]
    pub fn of(self, a: bool, b: bool) -> bool {
        match self {
            Logic::And => a && b,
            Logic::Or => a || b,
        }
    }

    /// Returns the value of one operand that decides the result.
    pub fn decides(self) -> bool {
        self == Logic::Or
    }
}

/// A language's rules, which have no state. The loop is compiled once for each language, the specialiser once for all.
///
/// Errors need no position: the machine adds it, and replaces [`CULPRIT`](dropforge_base::diagnostics::CULPRIT) in the message
/// and in the help by the source text of the instruction.
pub trait Semantics {
    /// Returns the label of a call site.
    fn called(&self) -> &'static str {
        "called from here"
    }

    /// Returns `true` if [`Semantics::absorbed`] does nothing, so that an error for a handler needs no message.
    fn forgets(&self) -> bool {
        false
    }

    /// Returns `true` if the language has numbers beyond 64 bits. Other languages receive them as floats or not at all.
    fn has_long_numbers(&self) -> bool {
        false
    }

    /// Returns `true` for the rules of probes, which check what each step depends on.
    fn probes(&self) -> bool {
        false
    }

    /// Handles a path without a value: returns an error or a recovery value.
    fn missing<'v>(&self, cx: &Cx<'v>, missing: &Missing<'_, 'v>) -> Result<Value<'v>>;

    /// Returns `true` if a value is present, so that no default replaces it.
    fn present(&self, value: Value<'_>) -> bool;

    /// Returns `true` if a value counts as true.
    fn truth<'v>(&self, cx: &Cx<'v>, value: Value<'v>) -> Result<bool>;

    /// Applies an operator. In every language two strings are equal if and only if their bytes are: the machine relies
    /// on this to compare a path with a constant.
    fn binary<'v>(&self, cx: &Cx<'v>, op: BinaryOp, a: Value<'v>, b: Value<'v>) -> Result<Value<'v>>;

    /// Returns the result of an operator in its most common cases, which needs no more than a few instructions. `None`
    /// leaves it to [`Semantics::binary`].
    #[inline(always)]
    fn common<'v>(&self, op: BinaryOp, a: &Value<'v>, b: &Value<'v>) -> Option<Value<'v>> {
        let _ = (op, a, b);
        None
    }

    /// Negates a value other than a boolean.
    fn not<'v>(&self, cx: &Cx<'v>, value: Value<'v>) -> Result<Value<'v>> {
        self.truth(cx, value).map(|truth| Value::Bool(!truth))
    }

    /// Negates a number, in languages with an instruction for it.
    fn negative<'v>(&self, cx: &Cx<'v>, value: Value<'v>) -> Result<Value<'v>> {
        self.binary(cx, BinaryOp::Sub, Value::Int(0), value)
    }

    /// Combines two operands that are not both booleans, or that follow recorded errors. `from` has the numbers of
    /// notes before each operand was evaluated.
    fn logic<'v>(
        &self,
        cx: &Cx<'v>,
        logic: Logic,
        operands: [Value<'v>; 2],
        from: [Value<'v>; 2],
    ) -> Result<Value<'v>> {
        let _ = from;
        let [a, b] = operands;
        Ok(Value::Bool(logic.of(self.truth(cx, a)?, self.truth(cx, b)?)))
    }

    /// Called when a handler absorbs an error, which has its positions. Languages that may still raise it record it.
    fn absorbed(&self, cx: &Cx<'_>, error: Box<Diagnostic>) {
        let _ = (cx, error);
    }

    /// Recovers from an error that was known at compile time, or from a call that the engine does not allow. Languages
    /// whose errors are values record it; others raise it.
    fn fault<'v>(&self, cx: &Cx<'v>, error: Box<Diagnostic>) -> Result<Value<'v>> {
        let _ = cx;
        Err(error)
    }

    /// Checks positional arguments and calls the function.
    fn call<'v>(&self, cx: &Cx<'v>, function: &Builtin, given: &[Value<'v>], form: Form) -> Result<Value<'v>> {
        let _ = (function, given, form);
        Err(cx.arity())
    }

    /// Checks arguments that are assigned to the parameters of a function ([`Params::Assigned`]). Returns those that the
    /// body gets.
    fn assign<'v, 'g>(&self, cx: &Cx<'v>, function: &Builtin, given: &'g [Value<'v>]) -> Result<Cow<'g, [Value<'v>]>> {
        let _ = (function, given);
        Err(cx.arity())
    }

    /// Returns the error of arguments that do not fit the parameters of a function of the embedding program.
    fn misfit(&self, function: &Builtin, misfit: &Misfit, given: &[Value<'_>], form: Form) -> Box<Diagnostic> {
        let _ = (given, form);
        misfit.error(function)
    }

    /// Returns the error of a call by `name`, which no visible chunk has or which is no text. `names` are the names of the
    /// visible chunks, some of them perhaps several times.
    fn no_chunk<'v>(&self, cx: &Cx<'v>, name: Value<'v>, delivery: Delivery, names: Vec<&str>) -> Box<Diagnostic> {
        let _ = delivery;
        let Some(name) = name.as_str() else {
            return cx.fault(Code::TypeMismatch, format!("{CULPRIT}: a template is called by its name, which is text"));
        };
        let error = cx.fault(Code::UnknownTemplate, format!("template `{name}` not found"));
        error.with_suggestion(name, names.iter().copied()).with_available(names)
    }

    /// Returns the error of a value that is no text but is to be compiled as a template.
    fn no_text<'v>(&self, cx: &Cx<'v>, value: Value<'v>) -> Box<Diagnostic> {
        let message = format!("only text can be compiled as a template, not a value of kind {}", value.kind());
        cx.fault(Code::TypeMismatch, message)
    }

    /// Returns the error of a call whose output becomes text, of a name with `allowed` running calls.
    fn nests(&self, cx: &Cx<'_>, name: &str, allowed: usize) -> Box<Diagnostic> {
        let _ = cx;
        Limit::SameName.error(allowed as u64).with_note(format!("the name is `{name}`"))
    }

    /// Returns the cost of these values by one of the rules of a metered language.
    fn measure<'v>(&self, cx: &Cx<'v>, rule: u32, values: &[Value<'v>]) -> Result<u64> {
        let _ = (cx, rule, values);
        Ok(0)
    }

    /// Concatenates values that are not all strings, numbers or booleans. `None` leaves it to [`Semantics::to_text`].
    fn joined<'v>(&self, cx: &Cx<'v>, values: &[Value<'v>]) -> Result<Option<Value<'v>>> {
        let _ = (cx, values);
        Ok(None)
    }

    /// Converts a value to a role.
    fn in_role<'v>(&self, cx: &Cx<'v>, value: Value<'v>, role: Role) -> Result<Value<'v>> {
        let _ = (cx, role);
        Ok(value)
    }

    /// Returns `true` if the value of a path can be written. Otherwise it counts as missing.
    fn writable(&self, value: Value<'_>, mode: EscapeMode) -> bool {
        let _ = (value, mode);
        true
    }

    /// Appends the text of a path's value and returns `true` if nothing else is needed. Otherwise appends nothing and
    /// leaves it to [`Semantics::writable`] and [`Semantics::to_text`].
    fn write_simple(&self, value: Value<'_>, mode: EscapeMode, out: &mut Output<'_>) -> Result<bool> {
        let _ = (value, mode, out);
        Ok(false)
    }

    /// Returns an attribute of a value that is not a map, or of a map without the key.
    fn attr<'v>(&self, cx: &Cx<'v>, value: Value<'v>, key: &str) -> Option<Value<'v>>;

    /// Returns the element of a value at a computed index.
    fn index<'v>(&self, cx: &Cx<'v>, value: Value<'v>, index: Value<'v>) -> Result<Option<Value<'v>>>;

    /// Returns the items of a loop with 1 or 2 variables.
    fn iterate<'v>(&self, cx: &Cx<'v>, value: Value<'v>, names: u32) -> Result<Items<'v>>;

    /// Appends the text of a value. The machine itself writes unescaped strings, and integers except in
    /// [`EscapeMode::Shell`].
    fn to_text<'v>(&self, cx: &Cx<'v>, value: Value<'v>, mode: EscapeMode, out: &mut Output<'_>) -> Result<()>;
}

/// The items of a loop.
#[derive(Debug, Clone, Copy)]
pub enum Items<'v> {
    /// The items of a list.
    List(&'v [Value<'v>]),
    /// The entries of a map in the byte order of its keys.
    Sorted(&'v Map<'v>),
    /// The items of a list, each with its index.
    Indexed(&'v [Value<'v>]),
    /// The entries of a map in insertion order.
    Entries(&'v Map<'v>),
    /// Keys and values.
    Pairs(&'v [[Value<'v>; 2]]),
    /// The integers from 0 up to a number, each with itself as its index.
    Numbers(usize),
}

impl Items<'_> {
    pub(super) fn len(&self) -> usize {
        match self {
            Items::List(items) | Items::Indexed(items) => items.len(),
            Items::Sorted(map) | Items::Entries(map) => map.len(),
            Items::Pairs(pairs) => pairs.len(),
            Items::Numbers(count) => *count,
        }
    }
}

/// A running loop.
#[derive(Debug, Clone, Copy)]
pub(super) struct Loop<'v> {
    pub items: Items<'v>,
    /// The number of items started.
    pub begun: usize,
    pub len: usize,
}

impl<'v> Loop<'v> {
    #[inline]
    pub fn field(&self, field: LoopField) -> Value<'v> {
        match field {
            LoopField::Index => Value::uint(self.begun as u64),
            LoopField::Index0 => Value::uint(self.begun.saturating_sub(1) as u64),
            LoopField::First => Value::Bool(self.begun == 1),
            LoopField::Last => Value::Bool(self.begun == self.len),
        }
    }
}
