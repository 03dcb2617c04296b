//! Probes: runs of a program in which some inputs are not known.
//!
//! [`Probing`] are the rules of a language for such a run. It fails as soon as something depends on a value that is not
//! known, so a result is that of every run whose inputs differ from these only in such values. A value that is not known
//! ([`Extended::Unknown`](dropforge_value::Extended::Unknown)) stands for any number, text or list: it is there, it has no
//! entries, and it is no boolean.
//!
//! Such values may be moved: into slots, lists and maps, through calls of chunks, and by functions that declare to look only
//! at parts of their arguments ([`Looks`]). Every other use fails, also of a list or map with such a value in it.
//!
//! If the value is faulty ([`Unknown`](dropforge_value::Unknown)), the entry that holds it may be missing. Then it may even be no
//! value, and nothing looks at the keys of the map. That map has other entries.

use std::borrow::Cow;

use super::access::Access;
use super::machine::Interpreter;
use super::output::Output;
use super::semantics::{Form, Items, Logic, Missing, Semantics};
use crate::bytecode::{BinaryOp, Delivery, EscapeMode, Op, Probe, Role};
use crate::function::{Builtin, Cx, Looks};
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_value::Value;

/// The rules of a language for a run in which some inputs are not known.
pub(crate) struct Probing<'s>(pub &'s dyn Semantics);

/// Returns the error of something that depends on a value that is not known.
#[cold]
fn depends() -> Box<Diagnostic> {
    Diagnostic::new(Code::Internal, "the result depends on a value that is not known")
}

/// Returns `true` if nothing is known of a value but that it is there.
fn is_open(value: Value<'_>) -> bool {
    matches!(value, Value::Extended(_)) && value.is_qualified()
}

/// Returns `true` for a map with entries that may be missing.
fn has_open_keys<'v>(cx: &Cx<'v>, value: Value<'v>) -> bool {
    let may_be_missing = |value: &Value<'_>| value.as_unknown().is_some_and(|unknown| unknown.faulty);
    matches!(cx.current(value), Value::Map(map) if map.values().iter().any(may_be_missing))
}

/// # Errors
/// Nothing is known of the value. Values in it may be unknown, too.
fn known(value: Value<'_>) -> Result<()> {
    if is_open(value) { Err(depends()) } else { Ok(()) }
}

/// # Errors
/// The value or another one in it is not known, or a limit.
fn whole<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<()> {
    if !matches!(value, Value::List(_) | Value::Map(_) | Value::Extended(_)) {
        return Ok(());
    }
    if cx.settled(value)?.is_qualified() { Err(depends()) } else { Ok(()) }
}

impl<A: Access, S: Semantics + ?Sized> Interpreter<'_, '_, A, S> {
    /// Checks that a probe may take the step of an instruction.
    ///
    /// # Errors
    /// The instruction is one that probes do not follow.
    #[inline(never)]
    pub(super) fn probe(&self, op: Op, operand: u32) -> Result<()> {
        let follows = match op.info().probe {
            Probe::Runs => true,
            Probe::Known => self.topmost(1).iter().all(|value| !is_open(*value)),
            Probe::Name => self.program.path(operand).is_empty(),
            Probe::Fails => false,
        };
        if follows { Ok(()) } else { Err(depends()) }
    }

    /// Checks that the result of a call with the top values depends on nothing that is not known.
    ///
    /// # Errors
    /// The function looks at more than is known of an argument, or at other things than its arguments; a limit.
    #[inline(never)]
    pub(super) fn probe_call(&self, at: u32) -> Result<()> {
        let site = self.program.call_site(at);
        let Some(builtin) = self.linked.get(site.import as usize) else { return Err(self.corrupt()) };
        if !builtin.local {
            return Err(depends());
        }
        let mut given = self.topmost(site.params.len()).iter().copied();
        given.try_for_each(|value| match builtin.looks {
            Looks::All => whole(&self.cx, value),
            Looks::Keys if has_open_keys(&self.cx, value) => Err(depends()),
            Looks::Keys | Looks::Kinds => known(value),
        })
    }
}

impl Semantics for Probing<'_> {
    fn called(&self) -> &'static str {
        self.0.called()
    }

    fn forgets(&self) -> bool {
        self.0.forgets()
    }

    fn has_long_numbers(&self) -> bool {
        self.0.has_long_numbers()
    }

    fn probes(&self) -> bool {
        true
    }

    fn missing<'v>(&self, cx: &Cx<'v>, missing: &Missing<'_, 'v>) -> Result<Value<'v>> {
        missing.parent.into_iter().chain(missing.index).try_for_each(known)?;
        self.0.missing(cx, missing)
    }

    fn present(&self, value: Value<'_>) -> bool {
        is_open(value) || self.0.present(value)
    }

    fn truth<'v>(&self, cx: &Cx<'v>, value: Value<'v>) -> Result<bool> {
        known(value)?;
        self.0.truth(cx, value)
    }

    fn binary<'v>(&self, cx: &Cx<'v>, op: BinaryOp, a: Value<'v>, b: Value<'v>) -> Result<Value<'v>> {
        whole(cx, a)?;
        whole(cx, b)?;
        self.0.binary(cx, op, a, b)
    }

    fn not<'v>(&self, cx: &Cx<'v>, value: Value<'v>) -> Result<Value<'v>> {
        known(value)?;
        self.0.not(cx, value)
    }

    fn negative<'v>(&self, cx: &Cx<'v>, value: Value<'v>) -> Result<Value<'v>> {
        whole(cx, value)?;
        self.0.negative(cx, value)
    }

    fn logic<'v>(
        &self,
        cx: &Cx<'v>,
        logic: Logic,
        operands: [Value<'v>; 2],
        from: [Value<'v>; 2],
    ) -> Result<Value<'v>> {
        operands.into_iter().try_for_each(|operand| whole(cx, operand))?;
        self.0.logic(cx, logic, operands, from)
    }

    fn absorbed(&self, cx: &Cx<'_>, error: Box<Diagnostic>) {
        self.0.absorbed(cx, error);
    }

    fn fault<'v>(&self, cx: &Cx<'v>, error: Box<Diagnostic>) -> Result<Value<'v>> {
        self.0.fault(cx, error)
    }

    fn call<'v>(&self, cx: &Cx<'v>, function: &Builtin, given: &[Value<'v>], form: Form) -> Result<Value<'v>> {
        self.0.call(cx, function, given, form)
    }

    fn assign<'v, 'g>(&self, cx: &Cx<'v>, function: &Builtin, given: &'g [Value<'v>]) -> Result<Cow<'g, [Value<'v>]>> {
        self.0.assign(cx, function, given)
    }

    fn no_chunk<'v>(&self, cx: &Cx<'v>, name: Value<'v>, delivery: Delivery, names: Vec<&str>) -> Box<Diagnostic> {
        self.0.no_chunk(cx, name, delivery, names)
    }

    fn no_text<'v>(&self, cx: &Cx<'v>, value: Value<'v>) -> Box<Diagnostic> {
        self.0.no_text(cx, value)
    }

    fn nests(&self, cx: &Cx<'_>, name: &str, allowed: usize) -> Box<Diagnostic> {
        self.0.nests(cx, name, allowed)
    }

    fn joined<'v>(&self, cx: &Cx<'v>, values: &[Value<'v>]) -> Result<Option<Value<'v>>> {
        values.iter().try_for_each(|value| whole(cx, *value))?;
        self.0.joined(cx, values)
    }

    fn in_role<'v>(&self, cx: &Cx<'v>, value: Value<'v>, role: Role) -> Result<Value<'v>> {
        match role {
            // What is there stays as it is.
            Role::Value if is_open(value) => Ok(value),
            _ => {
                known(value)?;
                self.0.in_role(cx, value, role)
            }
        }
    }

    fn writable(&self, value: Value<'_>, mode: EscapeMode) -> bool {
        is_open(value) || self.0.writable(value, mode)
    }

    fn write_simple(&self, value: Value<'_>, mode: EscapeMode, out: &mut Output<'_>) -> Result<bool> {
        if matches!(value, Value::List(_) | Value::Map(_) | Value::Extended(_)) {
            return Ok(false);
        }
        self.0.write_simple(value, mode, out)
    }

    fn attr<'v>(&self, cx: &Cx<'v>, value: Value<'v>, key: &str) -> Option<Value<'v>> {
        // It counts as missing, and a missing attribute of such a value is an error.
        if is_open(value) { None } else { self.0.attr(cx, value, key) }
    }

    fn index<'v>(&self, cx: &Cx<'v>, value: Value<'v>, index: Value<'v>) -> Result<Option<Value<'v>>> {
        known(value)?;
        known(index)?;
        self.0.index(cx, value, index)
    }

    fn iterate<'v>(&self, cx: &Cx<'v>, value: Value<'v>, names: u32) -> Result<Items<'v>> {
        known(value)?;
        if has_open_keys(cx, value) {
            return Err(depends());
        }
        self.0.iterate(cx, value, names)
    }

    fn to_text<'v>(&self, cx: &Cx<'v>, value: Value<'v>, mode: EscapeMode, out: &mut Output<'_>) -> Result<()> {
        whole(cx, value)?;
        self.0.to_text(cx, value, mode, out)
    }
}
