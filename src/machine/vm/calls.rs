//! Calls of imported functions and of chunks.

use std::iter::repeat;

use smallvec::SmallVec;

use super::access::Access;
use super::hooks::Hooks;
use super::machine::{Frame, Interpreter, NAMED};
use super::output::Output;
use super::semantics::{Form, Semantics};
use super::units::{CallTarget, Called};
use crate::bytecode::{CallSite, ChunkInfo, Delivery, EscapeMode, Gate, Op, Program};
use crate::function::{
    Body, Builtin, Capabilities, Cx, Direct, Fault, Linked, Param, Params, check_in_order, with_arranged,
};
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_base::limits::Limit;
use dropforge_value::Value;

/// Steps charged for calling a chunk, besides its code. A frame costs as much as several instructions.
const CALL_STEPS: u64 = 8;

/// Returns the steps of running `words` words of code, at most.
#[inline(always)]
pub(super) fn steps(words: usize) -> u64 {
    words as u64 / 4
}

impl<'r, A: Access, S: Semantics + ?Sized> Interpreter<'r, '_, A, S> {
    /// Calls the function of the call site at `at` with the top values. Returns the word to continue at: text that the
    /// next instruction, at `next`, writes as it is stays in the output.
    #[inline(never)]
    pub(super) fn call<H: Hooks>(&mut self, at: u32, next: usize) -> Result<usize> {
        if self.rules.probes() {
            self.probe_call(at)?;
        }
        let site = self.program.site(at);
        let (import, count, gate) = (A::at(site, 0), A::at(site, 1) as usize, Gate::of_word(A::at(site, 2)));
        let linked: &'r Linked = self.linked;
        let Some(link) = linked.get(import as usize) else { return Err(self.corrupt()) };
        let given = A::slice(self.values, self.top - count, self.top);
        // The most common calls. The others, and those that fail, are made below.
        if !link.accepts(gate, given) {
            return self.call_other::<H>(at, next);
        }
        match link.direct() {
            Direct::Native(body) => {
                self.cx.spend(1)?;
                let value = body(&self.cx, given)?;
                self.top -= count;
                self.push(value);
                Ok(next)
            }
            Direct::Text(body) => {
                self.cx.spend(1)?;
                let start = self.out.len();
                let result = self.out.lend(|out| body(&self.cx, given, out))?;
                self.top -= count;
                self.finish::<H>(result, start, next)
            }
            Direct::No => self.call_other::<H>(at, next),
        }
    }

    /// Calls the function of a call site in the general way.
    #[inline(never)]
    fn call_other<H: Hooks>(&mut self, at: u32, next: usize) -> Result<usize> {
        let start = self.out.len();
        let result = self.result_at(at)?;
        self.finish::<H>(result, start, next)
    }

    /// Pushes the result of a call, or leaves its text in the output if the instruction at `next` writes it. Returns the
    /// word to continue at.
    #[inline(always)]
    fn finish<H: Hooks>(&mut self, result: Option<Value<'r>>, start: usize, next: usize) -> Result<usize> {
        match result {
            Some(value) => self.push(value),
            None if !H::WATCHES && self.is_written(next) => {
                self.cx.go(next);
                self.out.check(start)?;
                return Ok(next + 1);
            }
            None => self.keep_output(start)?,
        }
        Ok(next)
    }

    /// Returns `true` if the instruction at `next` writes text as it is.
    #[inline]
    pub(super) fn is_written(&self, next: usize) -> bool {
        let word = A::at(self.program.words, next);
        A::op(word) == Op::Emit && EscapeMode::is_verbatim(word >> 8)
    }

    /// Calls the function of the call site at `at` with the top values, and pops them. Without a result, its text is at
    /// the end of the output.
    fn result_at(&mut self, at: u32) -> Result<Option<Value<'r>>> {
        self.cx.spend(1)?;
        let site = self.program.call_site(at);
        let result = self.result_of(&site)?;
        self.top -= site.params.len();
        Ok(result)
    }

    /// Calls a function whose arguments are the same in the whole render. A pure one is called once.
    pub(super) fn call_memo(&mut self, at: u32, memo: u32) -> Result<()> {
        if self.rules.probes() {
            self.probe_call(at)?;
        }
        let memo = self.program.start().inputs + memo as usize;
        let kept = A::at(self.values, memo);
        if kept.is_undefined() {
            let noted = self.cx.notes().count();
            let start = self.out.len();
            match self.result_at(at)? {
                Some(value) => self.push(value),
                None => self.keep_output(start)?,
            }
            // A call that recorded notes must record them every time.
            let quiet = self.cx.notes().count() == noted;
            if quiet && self.import_of(at).is_some_and(|builtin| builtin.pure) {
                *A::place(self.values, memo) = A::at(self.values, self.top - 1);
            }
            return Ok(());
        }
        self.cx.spend(1)?;
        self.top -= self.program.call_site(at).params.len();
        self.push(kept);
        Ok(())
    }

    /// Calls an imported function with the top `count` values, one for each parameter.
    #[inline]
    pub(super) fn apply(&mut self, count: u32, import: u32) -> Result<()> {
        self.cx.spend(1)?;
        let builtin = self.linked.get(import as usize).filter(|builtin| self.cx.capabilities().include(builtin.needs));
        let Some(Body::Native(body)) = builtin.map(|builtin| &builtin.body) else { return Err(self.corrupt()) };
        let result = body(&self.cx, self.topmost(count as usize))?;
        self.top -= count as usize;
        self.push(result);
        Ok(())
    }

    fn import_of(&self, at: u32) -> Option<&'r Builtin> {
        let linked: &'r Linked = self.linked;
        linked.get(self.program.call_site(at).import as usize).map(|builtin| &**builtin)
    }

    /// Returns the result of a call with the top values. Without one, its text is at the end of the output.
    fn result_of(&mut self, site: &CallSite<'r>) -> Result<Option<Value<'r>>> {
        let linked: &'r Linked = self.linked;
        let Some(builtin) = linked.get(site.import as usize) else { return Err(self.corrupt()) };
        if !self.cx.capabilities().include(builtin.needs) {
            return self.rules.fault(&self.cx, capability_off(builtin)).map(Some);
        }
        let first = self.top.checked_sub(site.params.len());
        let given = first.and_then(|first| self.values.get(first..self.top)).unwrap_or(&[]);
        let (cx, out) = (&self.cx, &mut self.out);
        let params = match builtin.params {
            Params::Named(params) => params,
            Params::Assigned(_) => {
                let given = self.rules.assign(cx, builtin, given)?;
                let result = run(cx, builtin, &given, out);
                if builtin.mutates {
                    self.flag_changed()?;
                }
                return result;
            }
            _ => return self.unnamed(builtin, site).map(Some),
        };
        if site.gate.is_in_order() {
            check_in_order(builtin, params, site.gate, given)?;
            return run(cx, builtin, given, out);
        }
        run_arranged(cx, builtin, params, (site.params, given), out)
    }

    /// Returns the result of a call of a function whose parameters have no names.
    #[inline(never)]
    fn unnamed(&self, builtin: &Builtin, site: &CallSite<'r>) -> Result<Value<'r>> {
        let given = self.topmost(site.params.len());
        match call_unnamed(self.rules, &self.cx, builtin, site.params, given)? {
            Some(result) => Ok(result),
            None => self.call_host(builtin, site, given),
        }
    }

    /// Calls a function of the embedding program. Arguments have places or names.
    #[inline(never)]
    fn call_host(&self, builtin: &Builtin, site: &CallSite<'r>, given: &[Value<'r>]) -> Result<Value<'r>> {
        let Body::Host(host) = &builtin.body else { return Err(self.corrupt()) };
        let (mut positional, mut named) = (SmallVec::<[_; 8]>::new(), SmallVec::<[_; 8]>::new());
        for (param, value) in site.params.iter().zip(given) {
            match Params::name_of(*param) {
                Some(name) => named.push((self.program.str(name), *value)),
                None => positional.push(*value),
            }
        }
        let form = Form::of(site.params);
        let result = host.call(&self.cx, &positional, &named);
        result.map_err(|fault| fault.into_error(builtin, |misfit| self.rules.misfit(builtin, misfit, given, form)))
    }

    /// Enters the chunk `id` with its parameters from the stack. Returns its first word.
    pub(super) fn enter(&mut self, id: u32, scope: u32, back: usize) -> Result<usize> {
        let Some(chunk) = self.program.chunk(id) else { return Err(self.corrupt()) };
        self.pay_for(&chunk)?;
        let stack = self.top - chunk.params as usize + chunk.slots as usize;
        if stack + chunk.stack as usize > self.values.len() {
            self.grow(stack + chunk.stack as usize);
        }
        if let Some(unset) = self.values.get_mut(self.top..stack) {
            unset.fill(Value::Undefined);
        }
        self.begin(&chunk, back, scope);
        Ok(chunk.entry as usize)
    }

    /// Charges for a chunk: call depth, code, frame.
    #[inline(always)]
    pub(super) fn pay_for(&self, chunk: &ChunkInfo) -> Result<()> {
        self.cx.spend(CALL_STEPS + steps((chunk.end - chunk.entry) as usize))?;
        let allowed = self.cx.limits().call_depth;
        if self.frames.len() - self.named >= allowed {
            return Err(Limit::CallDepth.error(allowed as u64));
        }
        self.cx.charge((chunk.slots + chunk.stack) as usize * size_of::<Value>())
    }

    /// Begins the frame of a chunk. There must be room for it, with unset slots.
    #[inline(always)]
    pub(super) fn begin(&mut self, chunk: &ChunkInfo, back: usize, scope: u32) {
        let slots = self.top - chunk.params as usize;
        let stack = slots + chunk.slots as usize;
        let (loops, captures) = (self.loops.len(), self.captures.len());
        self.frames.push(Frame { slots, stack, loops, captures, back, scope, unit: self.unit });
        (self.base, self.top) = (slots, stack);
    }

    /// Leaves the running chunk. Returns where its caller continues, or `None` without a caller.
    pub(super) fn leave(&mut self) -> Option<usize> {
        if self.frames.len() <= 1 {
            return None;
        }
        let frame = self.frames.pop()?;
        self.top = frame.slots;
        self.loops.truncate(frame.loops);
        self.captures.truncate(frame.captures);
        if frame.unit & NAMED != 0 {
            self.end_call();
        }
        let caller = self.frames.last()?;
        self.base = caller.slots;
        Some(frame.back)
    }

    /// Enters the chunk that the lowest of the top `count` values names. The others are its arguments. Returns its first
    /// word.
    #[inline(never)]
    pub(super) fn call_named(&mut self, count: u32, delivery: u32, back: usize) -> Result<usize> {
        let Some(name) = self.topmost(count as usize).first().copied() else { return Err(self.corrupt()) };
        let (delivery, at, unit) = (Delivery::of(delivery), self.cx.at(), self.unit);
        let Some(text) = name.as_str() else { return Err(self.no_chunk(name, delivery)) };
        let Some(target) = self.units().target(at, unit, text) else { return Err(self.no_chunk(name, delivery)) };
        if delivery == Delivery::Text {
            let allowed = self.cx.limits().same_name;
            if self.units().count(target.name) >= allowed {
                return Err(self.rules.nests(&self.cx, text, allowed));
            }
        }
        let visible = self.units().visible;
        self.enter_named(target, visible, count - 1, back)
    }

    /// Enters a chunk with the top `count` values as its arguments, above its name or text, which it drops. Returns its
    /// first word.
    pub(super) fn enter_named(&mut self, target: CallTarget, visible: u32, count: u32, back: usize) -> Result<usize> {
        let allowed = self.cx.limits().named_calls;
        if self.named >= allowed {
            return Err(Limit::NamedCalls.error(allowed as u64));
        }
        let chunk = self.program_of(target.unit).chunk(target.chunk).filter(|chunk| chunk.params == count);
        let Some(chunk) = chunk else { return Err(self.corrupt()) };
        self.pay_for(&chunk)?;
        self.cx.charge(size_of::<Called>())?;
        let arguments: SmallVec<[Value<'r>; 4]> = self.topmost(count as usize).into();
        self.top -= count as usize + 1;
        // No error from here on: it would be placed in the wrong program.
        self.begin_call(target, visible);
        let (slots, end) = (self.top + chunk.slots as usize, self.top + (chunk.slots + chunk.stack) as usize);
        if end > self.values.len() {
            self.grow(end);
        }
        let unset = self.values.get_mut(self.top..slots).unwrap_or_default();
        unset
            .iter_mut()
            .zip(arguments.into_iter().chain(repeat(Value::Undefined)))
            .for_each(|(slot, value)| *slot = value);
        self.top += count as usize;
        self.begin(&chunk, back, 0);
        if let Some(frame) = self.frames.last_mut() {
            frame.unit |= NAMED;
        }
        Ok(chunk.entry as usize)
    }

    /// Returns the language's error for a name of no chunk.
    #[cold]
    fn no_chunk(&mut self, name: Value<'r>, delivery: Delivery) -> Box<Diagnostic> {
        let programs: Vec<_> = self.units().visible().map(|(_, program)| program).collect();
        let names = programs.iter().flat_map(|program| program.named_chunks()).map(|(name, _)| name).collect();
        self.rules.no_chunk(&self.cx, name, delivery, names)
    }
}

/// Calls the body of a builtin like [`run`], with values for the parameters in `given.0`.
#[inline(never)]
fn run_arranged<'v>(
    cx: &Cx<'v>,
    builtin: &Builtin,
    params: &'static [Param],
    given: (&[u32], &[Value<'v>]),
    out: &mut Output<'_>,
) -> Result<Option<Value<'v>>> {
    with_arranged(builtin, params, given.0, given.1, |given| run(cx, builtin, given, out))
}

/// Calls a function with the arguments of a call site for these parameters. A text is a value of the run. `None` if the
/// body takes other arguments.
pub fn call_builtin<'r>(
    rules: &dyn Semantics,
    cx: &Cx<'r>,
    builtin: &Builtin,
    places: &[u32],
    given: &[Value<'r>],
) -> Result<Option<Value<'r>>> {
    let result = |given: &[Value<'r>]| {
        let mut text = String::new();
        match run(cx, builtin, given, &mut Output::new(&mut text, usize::MAX))? {
            Some(result) => Ok(Some(result)),
            // The body has charged for it.
            None => Ok(Some(cx.arena().text(&text))),
        }
    };
    match builtin.params {
        Params::Named(params) => with_arranged(builtin, params, places, given, result),
        Params::Assigned(_) => {
            let given = rules.assign(cx, builtin, given)?;
            result(&given)
        }
        _ => call_unnamed(rules, cx, builtin, places, given),
    }
}

/// Calls a function whose parameters have no names. `None` if its body takes the names and values of a host.
fn call_unnamed<'r>(
    rules: &(impl Semantics + ?Sized),
    cx: &Cx<'r>,
    builtin: &Builtin,
    places: &[u32],
    given: &[Value<'r>],
) -> Result<Option<Value<'r>>> {
    match (&builtin.body, &builtin.params) {
        (Body::Positional(_) | Body::Closure(_) | Body::Host(_), Params::Positional(_))
        | (Body::Overloaded, Params::Overloaded(_)) => rules.call(cx, builtin, given, Form::of(places)).map(Some),
        _ => Ok(None),
    }
}

/// Calls the body of a builtin with one value for each parameter. Without a result, its text is at the end of the output.
#[inline(always)]
fn run<'v>(cx: &Cx<'v>, builtin: &Builtin, given: &[Value<'v>], out: &mut Output<'_>) -> Result<Option<Value<'v>>> {
    match &builtin.body {
        Body::Native(body) => body(cx, given).map(Some),
        Body::Text(body) => out.lend(|out| body(cx, given, out)),
        Body::Closure(body) => body(cx, given).map(Some).map_err(Fault::into_error),
        _ => Err(cx.arity()),
    }
}

/// Returns the errors of the calls in a program that these capabilities do not allow, whether they are reached or not.
pub fn refused_calls(program: &Program, linked: &Linked, capabilities: Capabilities<'_>) -> Vec<Box<Diagnostic>> {
    let code = program.code();
    let instructions = program.chunks().flat_map(|chunk| code.instructions(chunk));
    let refused = instructions.filter_map(|instruction| {
        let function = linked.get(code.import(instruction)? as usize)?;
        let error = (!capabilities.include(function.needs)).then(|| capability_off(function))?;
        let place = program.place(instruction.at)?;
        Some(error.at(program.source(place)?, place.span, ""))
    });
    refused.collect()
}

#[cold]
fn capability_off(builtin: &Builtin) -> Box<Diagnostic> {
    let message = format!("{} `{}` is not allowed by default", builtin.kind.name(), builtin.name);
    let needs = builtin.needs.names().collect::<Vec<_>>().join(" and ");
    let flag = |name| if name == "files" { "--allow files=DIR".to_owned() } else { format!("--allow {name}") };
    let flags = builtin.needs.names().map(flag).collect::<Vec<_>>().join(" ");
    Diagnostic::new(Code::CapabilityOff, message)
        .with_help(format!("it needs the capability {needs}: use `{flags}`, or grant it in your program"))
}
