//! Calls: of imported functions, and of chunks.

use smallvec::SmallVec;

use super::dispatch::steps;
use super::machine::{Frame, Machine};
use crate::bytecode::{CallSite, ImportKind};
use crate::diagnostics::{Code, Diagnostic, Result};
use crate::function::{Body, Builtin, HostArgs, Params, arrange, in_order};
use crate::limits::Limit;
use crate::value::{DataMap, Value};

/// Steps that a call of a chunk costs beside its code: a frame is worth several instructions.
const CALL_STEPS: u64 = 8;

impl<'r> Machine<'r, '_> {
    /// Calls the function of the call site at `at` with the topmost values.
    pub(super) fn call(&mut self, at: u32) -> Result<()> {
        self.cx.spend(1)?;
        let site = self.program.call_site(at);
        let Some(builtin) = self.linked.get(site.import as usize) else { return Err(self.corrupt()) };
        if !self.cx.capabilities().include(builtin.needs) {
            return Err(capability_off(builtin));
        }
        let first = self.stack.len().saturating_sub(site.params.len());
        let given = self.stack.get(first..).unwrap_or(&[]);
        let answer = match (&builtin.body, builtin.params) {
            (Body::Native(body), Params::Named(params)) if in_order(builtin, params, site.params, given)? => {
                body(&self.cx, given)?
            }
            (Body::Native(body), Params::Named(params)) => {
                let arguments = arrange(&self.cx, builtin, params, site.params, given)?;
                body(&self.cx, &arguments)?
            }
            _ => self.call_host(builtin, &site, given)?,
        };
        self.stack.truncate(first);
        self.push(answer);
        Ok(())
    }

    /// Calls a function that takes open parameters: names and values as they were given.
    #[cold]
    fn call_host(&self, builtin: &Builtin, site: &CallSite<'r>, given: &[Value<'r>]) -> Result<Value<'r>> {
        let Body::Host(body) = &builtin.body else { return Err(self.corrupt()) };
        let mut named: DataMap = DataMap::new();
        let mut rest = site.params.iter().zip(given);
        let value = match builtin.kind {
            ImportKind::Function => None,
            ImportKind::Filter | ImportKind::Test => rest.next().map(|(_, value)| value.to_data()),
        };
        for (name, value) in rest {
            named.insert(self.program.str(*name).to_owned(), value.to_data());
        }
        let answer = body(&HostArgs::new(value, named)).map_err(|why| {
            let message = format!("{} `{}` failed: {why}", builtin.kind.name(), builtin.name);
            Diagnostic::new(Code::FunctionFailed, message)
        })?;
        self.import_data(&answer)
    }

    /// A charged copy of owned data.
    fn import_data(&self, data: &crate::value::Data) -> Result<Value<'r>> {
        use crate::value::Data;
        match data {
            Data::Null => Ok(Value::Null),
            Data::Bool(b) => Ok(Value::Bool(*b)),
            Data::Int(n) => Ok(Value::Int(*n)),
            Data::Uint(n) => Ok(Value::uint(*n)),
            Data::Float(n) => Ok(Value::Float(*n)),
            Data::Str(text) => self.cx.text(text),
            Data::List(items) => {
                let items: Result<Vec<_>> = items.iter().map(|item| self.import_data(item)).collect();
                self.cx.list(&items?)
            }
            Data::Map(map) => {
                let entries: Result<Vec<_>> = map
                    .iter()
                    .map(|(key, value)| {
                        self.cx.charge(key.len())?;
                        Ok((self.cx.arena().copy_str(key), self.import_data(value)?))
                    })
                    .collect();
                self.cx.map(&entries?)
            }
        }
    }

    /// Enters the chunk `id` with its parameters from the stack; the answer is where its code begins.
    pub(super) fn enter(&mut self, id: u32, scope: u32, back: usize) -> Result<usize> {
        let Some(chunk) = self.program.chunks().get(id as usize) else { return Err(self.corrupt()) };
        self.cx.spend(CALL_STEPS + steps((chunk.end - chunk.entry) as usize))?;
        let allowed = self.cx.limits().call_depth;
        if self.frames.len() >= allowed {
            return Err(Limit::CallDepth.error(allowed as u64));
        }
        let first = self.stack.len().saturating_sub(chunk.params as usize);
        let params: SmallVec<[Value<'r>; 8]> = self.stack.drain(first..).collect();
        let slots = self.slots.len();
        self.cx.charge(chunk.slots as usize * size_of::<Value>())?;
        self.slots.extend(params);
        self.slots.resize(slots + chunk.slots as usize, Value::Undefined);
        let (stack, loops, captures) = (self.stack.len(), self.loops.len(), self.captures.len());
        self.frames.push(Frame { slots, stack, loops, captures, back, scope });
        self.base = slots;
        Ok(chunk.entry as usize)
    }

    /// Leaves the running chunk; the answer is where its caller goes on, or `None` where it was the last.
    pub(super) fn leave(&mut self) -> Option<usize> {
        let frame = self.frames.pop()?;
        self.slots.truncate(frame.slots);
        self.stack.truncate(frame.stack);
        self.loops.truncate(frame.loops);
        self.captures.truncate(frame.captures);
        let caller = self.frames.last()?;
        self.base = caller.slots;
        Some(frame.back)
    }
}

#[cold]
fn capability_off(builtin: &Builtin) -> Box<Diagnostic> {
    let message = format!("{} `{}` exists only where the engine allows it", builtin.kind.name(), builtin.name);
    Diagnostic::new(Code::CapabilityOff, message)
        .with_help("build the engine with the capability it needs (clock, randomness or environment)")
}
