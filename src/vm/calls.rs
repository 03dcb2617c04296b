//! Calls of imported functions and of chunks.

use super::access::Access;
use super::machine::{Frame, Machine};
use super::semantics::{Form, Semantics};
use crate::bytecode::{CallSite, ChunkInfo, ImportKind};
use crate::diagnostics::{Code, Diagnostic, Result};
use crate::function::{Body, Builtin, Cx, HostArgs, Linked, Params, arrange, in_order};
use crate::limits::Limit;
use crate::value::{DataMap, Value};

/// Steps charged for calling a chunk, besides its code. A frame costs as much as several instructions.
const CALL_STEPS: u64 = 8;

/// Returns the steps of running `words` words of code, at most.
#[inline(always)]
pub(super) fn steps(words: usize) -> u64 {
    words as u64 / 4
}

impl<'r, A: Access> Machine<'r, '_, A> {
    /// Calls the function of the call site at `at` with the top values.
    pub(super) fn call<S: Semantics>(&mut self, at: u32) -> Result<()> {
        self.cx.spend(1)?;
        let site = self.program.call_site(at);
        let result = self.result_of::<S>(&site)?;
        self.top -= site.params.len();
        self.push(result);
        Ok(())
    }

    /// Calls a function whose arguments are the same in the whole render. A pure one is called once.
    pub(super) fn call_memo<S: Semantics>(&mut self, at: u32, memo: u32) -> Result<()> {
        let memo = self.program.start().inputs + memo as usize;
        let kept = A::at(self.values, memo);
        if kept.is_undefined() {
            let noted = self.cx.notes().count();
            self.call::<S>(at)?;
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

    /// Returns the result of a call with the top values.
    fn result_of<S: Semantics>(&self, site: &CallSite<'r>) -> Result<Value<'r>> {
        let Some(builtin) = self.linked.get(site.import as usize) else { return Err(self.corrupt()) };
        if !self.cx.capabilities().include(builtin.needs) {
            return S::fault(&self.cx, capability_off(builtin));
        }
        let given = self.topmost(site.params.len());
        match &builtin.body {
            Body::Host(_) => self.call_host(builtin, site, given),
            _ => call_builtin::<S>(&self.cx, builtin, site.params, given)?.ok_or_else(|| self.corrupt()),
        }
    }

    /// Calls a function with open parameters, passing names and values as given.
    #[cold]
    fn call_host(&self, builtin: &Builtin, site: &CallSite<'r>, given: &[Value<'r>]) -> Result<Value<'r>> {
        let Body::Host(body) = &builtin.body else { return Err(self.corrupt()) };
        let mut named: DataMap = DataMap::new();
        let mut rest = site.params.iter().zip(given);
        let value = match builtin.kind {
            ImportKind::Function | ImportKind::Template | ImportKind::Intrinsic => None,
            ImportKind::Filter | ImportKind::Test => rest.next().map(|(_, value)| value.to_data()),
        };
        for (name, value) in rest {
            named.insert(self.program.str(*name).to_owned(), value.to_data());
        }
        let result = body(&HostArgs::new(value, named)).map_err(|why| {
            let message = format!("{} `{}` failed: {why}", builtin.kind.name(), builtin.name);
            Diagnostic::new(Code::FunctionFailed, message).caused_by(why)
        })?;
        self.cx.data(&result)
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
        if self.frames.len() >= allowed {
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
        self.frames.push(Frame { slots, stack, loops, captures, back, scope });
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
        let caller = self.frames.last()?;
        self.base = caller.slots;
        Some(frame.back)
    }
}

/// Calls a function with the arguments of a call site for these parameters. `None` if its body takes others.
#[inline]
pub(crate) fn call_builtin<'r, S: Semantics>(
    cx: &Cx<'r>,
    builtin: &Builtin,
    places: &[u32],
    given: &[Value<'r>],
) -> Result<Option<Value<'r>>> {
    let result = match (&builtin.body, &builtin.params) {
        (Body::Native(body), Params::Named(params)) if in_order(builtin, params, places, given)? => body(cx, given),
        (Body::Native(body), Params::Named(params)) => body(cx, &arrange(cx, builtin, params, places, given)?),
        (Body::Template(body), Params::Named(params)) => {
            let arguments = arrange(cx, builtin, params, places, given)?;
            body(cx, arguments.first().copied().unwrap_or_default())
        }
        (Body::Positional(_) | Body::Closure(_), Params::Positional(_)) | (Body::Overloaded, Params::Overloaded(_)) => {
            S::call(cx, builtin, given, Form::of(places))
        }
        _ => return Ok(None),
    };
    result.map(Some)
}

#[cold]
fn capability_off(builtin: &Builtin) -> Box<Diagnostic> {
    let message = format!("{} `{}` exists only where the engine allows it", builtin.kind.name(), builtin.name);
    let needs = builtin.needs.names().collect::<Vec<_>>().join(" and ");
    let flag = |name| if name == "files" { "--allow files=DIR".to_owned() } else { format!("--allow {name}") };
    let flags = builtin.needs.names().map(flag).collect::<Vec<_>>().join(" ");
    Diagnostic::new(Code::CapabilityOff, message)
        .with_help(format!("it needs the capability {needs}: allow it when the engine is built, or with `{flags}`"))
}
