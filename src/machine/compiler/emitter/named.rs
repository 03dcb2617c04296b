//! Calls of chunks by names that are known at render time, and of templates that are made at render time.

use super::state::Emitter;
use crate::bytecode::{Delivery, Op};
use crate::function::Builtin;

impl Emitter<'_> {
    /// Gives a declared chunk a name by which it can be called. A chunk may have several names. The last of several chunks
    /// with one name keeps it. The first chunk cannot be called.
    pub fn name_chunk(&mut self, name: &str, chunk: u32) {
        let name = self.tables.string(name);
        self.tables.parts.names.push([name, chunk]);
    }

    /// Calls the chunk whose name is on the stack, below `count` arguments: one for each parameter of the chunk. With
    /// [`Delivery::Text`], its output is pushed as text.
    pub fn call_named(&mut self, count: u32, delivery: Delivery) {
        self.delivered(delivery, |emitter| emitter.op(Op::CallNamed, &[count + 1, delivery as u32]));
    }

    /// Compiles the text on the stack, below `count` arguments, and runs it with these arguments. `maker` is the function
    /// that compiles it: its body is a [`Body::Maker`](crate::function::Body::Maker). With [`Delivery::Text`], the output
    /// is pushed as text.
    pub fn call_made(&mut self, maker: &Builtin, count: u32, delivery: Delivery) {
        self.delivered(delivery, |emitter| {
            if !emitter.is_dead(Op::CallMade, count as usize + 1) {
                let import = emitter.tables.import(maker.kind, &maker.name, maker.signature());
                emitter.op(Op::CallMade, &[count + 1, import]);
            }
        });
    }

    /// Emits a call whose output is output or text.
    fn delivered(&mut self, delivery: Delivery, call: impl FnOnce(&mut Self)) {
        match delivery {
            Delivery::Output => call(self),
            Delivery::Text => {
                self.begin_capture();
                call(self);
                self.end_capture();
            }
        }
    }
}
