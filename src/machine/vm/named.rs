//! Calls of chunks by names that are known at render time.

use std::iter::repeat;

use smallvec::SmallVec;

use super::access::Access;
use super::machine::{Machine, NAMED};
use super::semantics::Semantics;
use super::units::{Called, Target};
use crate::bytecode::Delivery;
use dropforge_base::diagnostics::{Diagnostic, Result};
use dropforge_base::limits::Limit;
use dropforge_value::Value;

impl<'r, A: Access> Machine<'r, '_, A> {
    /// Enters the chunk that the lowest of the top `count` values names. The others are its arguments. Returns its first
    /// word.
    #[inline(never)]
    pub(super) fn call_named<S: Semantics + Default>(
        &mut self,
        count: u32,
        delivery: u32,
        back: usize,
    ) -> Result<usize> {
        let Some(name) = self.topmost(count as usize).first().copied() else { return Err(self.corrupt()) };
        let (delivery, at, unit) = (Delivery::of(delivery), self.cx.at(), self.unit);
        let Some(text) = name.as_str() else { return Err(self.no_chunk::<S>(name, delivery)) };
        let Some(target) = self.units().target(at, unit, text) else { return Err(self.no_chunk::<S>(name, delivery)) };
        if delivery == Delivery::Text {
            let allowed = self.cx.limits().same_name;
            if self.units().count(target.name) >= allowed {
                return Err(S::default().nests(&self.cx, text, allowed));
            }
        }
        let visible = self.units().visible;
        self.enter_named(target, visible, count - 1, back)
    }

    /// Enters a chunk with the top `count` values as its arguments, above its name or text, which it drops. Returns its
    /// first word.
    pub(super) fn enter_named(&mut self, target: Target, visible: u32, count: u32, back: usize) -> Result<usize> {
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
    fn no_chunk<S: Semantics + Default>(&mut self, name: Value<'r>, delivery: Delivery) -> Box<Diagnostic> {
        let programs: Vec<_> = self.units().visible().map(|(_, program)| program).collect();
        let names = programs.iter().flat_map(|program| program.named_chunks()).map(|(name, _)| name).collect();
        S::default().no_chunk(&self.cx, name, delivery, names)
    }
}
