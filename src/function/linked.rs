//! Functions as a program calls them.

use std::ops::Deref;
use std::sync::Arc;

use super::body::{Body, NativeBody, TextBody};
use super::spec::{Builtin, Params, Type};
use crate::bytecode::Gate;
use crate::value::Value;

/// The functions of a program, in the order of its imports.
pub type Linked = Box<[Link]>;

/// The most parameters of a function that is called directly.
const FEW: usize = 8;

/// A linked function. The facts that most calls need stand beside each other.
#[derive(Debug, Clone)]
pub struct Link {
    direct: Direct,
    /// The types of the parameters.
    takes: [Type; FEW],
    builtin: Arc<Builtin>,
}

/// A body that may be called with arguments that a [`Link`] accepts.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Direct {
    /// A body that returns a value.
    Native(NativeBody),
    /// A body that appends text.
    Text(TextBody),
    /// Calls of the function need more checks.
    No,
}

impl Link {
    pub(super) fn new(builtin: Arc<Builtin>) -> Self {
        let mut takes = [Type::Any; FEW];
        let direct = match (&builtin.params, &builtin.body) {
            (Params::Named(params), _) if params.len() > FEW || !builtin.needs.is_none() => Direct::No,
            (Params::Named(params), body) => {
                takes.iter_mut().zip(*params).for_each(|(ty, param)| *ty = param.ty);
                match body {
                    Body::Native(body) => Direct::Native(*body),
                    Body::Text(body) => Direct::Text(*body),
                    _ => Direct::No,
                }
            }
            _ => Direct::No,
        };
        Self { direct, takes, builtin }
    }

    /// Returns the body for calls whose arguments are accepted.
    #[inline(always)]
    pub(crate) fn direct(&self) -> Direct {
        self.direct
    }

    /// Returns `true` if there is one argument for each parameter, in their order, and those that `gate` checks have the
    /// right types. The default of a parameter that may be absent is not accepted.
    #[inline(always)]
    pub(crate) fn accepts(&self, gate: Gate, given: &[Value<'_>]) -> bool {
        let fits = |at: usize| self.takes.get(at).zip(given.get(at)).is_some_and(|(ty, value)| ty.admits(value));
        gate.is_in_order() && gate.checked().all(fits)
    }
}

impl Deref for Link {
    type Target = Builtin;

    fn deref(&self) -> &Builtin {
        &self.builtin
    }
}
