//! What the loop asks of a language.

use super::loops::Items;
use super::output::Output;
use crate::bytecode::{BinaryOp, EscapeMode, Role};
use crate::diagnostics::{Diagnostic, Result};
use crate::function::{Builtin, Cx, Params};
use crate::value::Value;

/// A path that names nothing.
#[derive(Debug, Clone, Copy)]
pub struct Missing<'m, 'v> {
    /// Which step of the path failed, counted from 0; `None` where its root names nothing.
    pub step: Option<u32>,
    /// The whole path as it is written.
    pub path: &'m str,
    /// The step that failed as it is written, or the root's name.
    pub name: &'m str,
    /// What the failed step was looked up in; `None` where the root itself is missing.
    pub parent: Option<Value<'v>>,
    /// The computed index of the failed step, where it has one.
    pub index: Option<Value<'v>>,
    /// How it was to be written, where it was.
    pub mode: Option<EscapeMode>,
}

/// How a function whose arguments are given by place is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Each argument is one.
    Plain,
    /// The last one is a collection whose elements are given.
    Spread,
    /// On the first one.
    Member,
}

impl Form {
    /// The form of a call site with these words for its arguments.
    #[inline]
    pub(super) fn of(params: &[u32]) -> Self {
        match params {
            [Params::RECEIVER, ..] => Form::Member,
            [.., Params::SPREAD] => Form::Spread,
            _ => Form::Plain,
        }
    }
}

/// How two answers become one, in languages that evaluate both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Logic {
    /// Both are true.
    And,
    /// One is true.
    Or,
}

impl Logic {
    /// The answer to two that are booleans.
    #[inline(always)]
    pub fn of(self, a: bool, b: bool) -> bool {
        match self {
            Logic::And => a && b,
            Logic::Or => a || b,
        }
    }

    /// The answer that one of the two decides by itself.
    pub fn decides(self) -> bool {
        self == Logic::Or
    }
}

/// A language's rules. Static functions without state: the loop is compiled once for each language.
///
/// An error made here needs no place: the machine adds it, and puts the instruction's source text where the
/// message says [`CULPRIT`](crate::diagnostics::CULPRIT).
pub trait Semantics: 'static {
    /// What an error says of the place that a chunk was called from.
    const CALLED: &'static str = "called from here";

    /// A path that must name something names nothing: an error, or the value to go on with.
    fn missing<'v>(cx: &Cx<'v>, missing: &Missing<'_, 'v>) -> Result<Value<'v>>;

    /// Whether a value counts as there, for a default that replaces what is not.
    fn present(value: Value<'_>) -> bool;

    /// Whether a value counts as true.
    fn truth<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<bool>;

    /// The result of an operator. In every language two texts are equal exactly when their bytes are: the machine
    /// answers that itself where it compares a path with a constant.
    fn binary<'v>(cx: &Cx<'v>, op: BinaryOp, a: Value<'v>, b: Value<'v>) -> Result<Value<'v>>;

    /// The opposite of an answer that is no boolean.
    fn not<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<Value<'v>> {
        Self::truth(cx, value).map(|truth| Value::Bool(!truth))
    }

    /// The negative of a number, in languages that negate by an instruction of its own.
    fn negative<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<Value<'v>> {
        Self::binary(cx, BinaryOp::Sub, Value::Int(0), value)
    }

    /// What two answers become of which one is no boolean, or where errors were noted; `from` are the numbers of notes
    /// that there were before each was looked for.
    fn logic<'v>(cx: &Cx<'v>, logic: Logic, answers: [Value<'v>; 2], from: [Value<'v>; 2]) -> Result<Value<'v>> {
        let _ = from;
        let [a, b] = answers;
        Ok(Value::Bool(logic.of(Self::truth(cx, a)?, Self::truth(cx, b)?)))
    }

    /// An error that a handler absorbs; `error` gives it with its places. Languages that may raise it after all note it.
    fn absorbed(cx: &Cx<'_>, error: impl FnOnce() -> Box<Diagnostic>) {
        let _ = (cx, error);
    }

    /// What a run goes on with after an error that is not one of a value: it was known when the program was compiled, or
    /// the engine does not allow what is called. In languages whose errors are values; others raise it.
    fn fault<'v>(cx: &Cx<'v>, error: Box<Diagnostic>) -> Result<Value<'v>> {
        let _ = cx;
        Err(error)
    }

    /// The argument gate and the call of a function whose arguments are given by place.
    fn call<'v>(cx: &Cx<'v>, function: &Builtin, given: &[Value<'v>], form: Form) -> Result<Value<'v>> {
        let _ = (function, given, form);
        Err(cx.arity())
    }

    /// What a step with these values costs by rule `rule`, in languages whose runs are metered.
    fn measure<'v>(cx: &Cx<'v>, rule: u32, values: &[Value<'v>]) -> Result<u64> {
        let _ = (cx, rule, values);
        Ok(0)
    }

    /// What values are as one text where one of them is no plain text, number or boolean; `None` leaves it to
    /// [`Semantics::to_text`] of each.
    fn joined<'v>(cx: &Cx<'v>, values: &[Value<'v>]) -> Result<Option<Value<'v>>> {
        let _ = (cx, values);
        Ok(None)
    }

    /// What a value is in a role.
    fn in_role<'v>(cx: &Cx<'v>, value: Value<'v>, role: Role) -> Result<Value<'v>> {
        let _ = (cx, role);
        Ok(value)
    }

    /// Whether a value that a path names can be written; one that cannot counts as missing.
    fn writable(value: Value<'_>, mode: EscapeMode) -> bool {
        let _ = (value, mode);
        true
    }

    /// Appends the text of a value that a path names where that is all there is to do, and answers whether it was;
    /// where not, nothing is appended and [`Semantics::writable`] and [`Semantics::to_text`] have the word.
    fn write_simple(value: Value<'_>, mode: EscapeMode, out: &mut Output<'_>) -> Result<bool> {
        let _ = (value, mode, out);
        Ok(false)
    }

    /// An attribute of a value that is not a map, or of a map that lacks the key.
    fn attr<'v>(cx: &Cx<'v>, value: Value<'v>, key: &str) -> Option<Value<'v>>;

    /// The element of a value at a computed index.
    fn index<'v>(cx: &Cx<'v>, value: Value<'v>, index: Value<'v>) -> Result<Option<Value<'v>>>;

    /// What a loop with `names` (1 or 2) loop variables goes over.
    fn iterate<'v>(cx: &Cx<'v>, value: Value<'v>, names: u32) -> Result<Items<'v>>;

    /// Appends a value's text. Strings in [`EscapeMode::Plain`] and integers outside
    /// [`EscapeMode::Shell`] never get here: the machine writes them as they are.
    fn to_text<'v>(cx: &Cx<'v>, value: Value<'v>, mode: EscapeMode, out: &mut Output<'_>) -> Result<()>;
}
