//! Functions as a program calls them, and templates that are made at render time.

use std::ops::Deref;

use super::body::{Body, NativeBody, TextBody};
use super::gate::Assigned;
use super::registry::{Function, Registry};
use super::spec::{Builtin, Params, Type};
use crate::bytecode::{Gate, Program};
use dropforge_base::diagnostics::Result;
use dropforge_base::limits::Limits;
use dropforge_value::Value;

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
    /// The parameters, if arguments are assigned to them.
    assigned: Option<Assigned>,
    /// The functions that templates made by this one are linked with.
    registry: Option<Registry>,
    function: Function,
}

/// A body that may be called with arguments that a [`Link`] accepts.
#[derive(Debug, Clone, Copy)]
pub enum Direct {
    /// A body that returns a value.
    Native(NativeBody),
    /// A body that appends text.
    Text(TextBody),
    /// Calls of the function need more checks.
    No,
}

impl Link {
    pub(super) fn new(function: Function) -> Self {
        let (mut takes, mut assigned) = ([Type::Any; FEW], None);
        let direct = match (&function.params, &function.body) {
            (Params::Named(params), _) if params.len() > FEW || !function.needs.is_none() => Direct::No,
            (Params::Named(params), body) => {
                takes.iter_mut().zip(*params).for_each(|(ty, param)| *ty = param.ty);
                Direct::of(body)
            }
            (Params::Assigned(params), body) if function.needs.is_none() && !function.mutates => {
                assigned = Some(*params);
                Direct::of(body)
            }
            _ => Direct::No,
        };
        Self { direct, takes, assigned, registry: None, function }
    }

    /// Returns the function with the registry that it comes from, if it needs one.
    pub(super) fn within(mut self, registry: &Registry) -> Self {
        if let Body::Maker(_) = &self.function.body {
            self.registry = Some(registry.clone());
        }
        self
    }

    /// Returns the compiler of templates made at render time, with the functions that they may call.
    pub fn maker(&self) -> Option<(MakerBody, &Registry)> {
        match &self.function.body {
            Body::Maker(body) => Some((*body, self.registry.as_ref()?)),
            _ => None,
        }
    }

    /// Returns the body for calls whose arguments are accepted.
    #[inline(always)]
    pub fn direct(&self) -> Direct {
        self.direct
    }

    /// Returns `true` if there is one argument for each parameter, in their order, and those that `gate` checks have the
    /// right types. The default of a parameter that may be absent is not accepted. Assigned arguments are all checked.
    #[inline(always)]
    pub fn accepts(&self, gate: Gate, given: &[Value<'_>]) -> bool {
        let fits = |at: usize| self.takes.get(at).zip(given.get(at)).is_some_and(|(ty, value)| ty.admits(value));
        gate.is_in_order() && gate.checked().all(fits)
            || self.assigned.as_ref().is_some_and(|params| params.admit(given))
    }
}

impl Direct {
    fn of(body: &Body) -> Self {
        match body {
            Body::Native(body) => Direct::Native(*body),
            Body::Text(body) => Direct::Text(*body),
            _ => Direct::No,
        }
    }
}

impl Deref for Link {
    type Target = Builtin;

    fn deref(&self) -> &Builtin {
        &self.function
    }
}

// A language that has them declares one function with the body [`Body::Maker`](super::Body::Maker), which compiles the
// text of such a template. The machine calls it once for each text, runs the program in frames of its own, and keeps the
// program for later renders of the session.

/// A body that compiles a text. The text may come from inputs, so its syntax errors are errors of the render.
///
/// In a build without the compiler it returns [`Making::AsItIs`] for texts without syntax of the language, and otherwise
/// an error that names the feature.
pub type MakerBody = fn(&Request<'_>) -> Result<Making>;

/// A text to compile.
#[derive(Debug, Clone, Copy)]
pub struct Request<'q> {
    /// The text.
    pub text: &'q str,
    /// The functions that the program which makes the template is linked with. The made program is linked with them, too.
    pub registry: &'q Registry,
    /// The limits of the render.
    pub limits: &'q Limits,
    /// The programs whose named chunks the template sees, the nearest first. Names of its own come before all of them.
    pub visible: &'q [&'q Program],
}

impl Request<'_> {
    /// Returns `true` if the template sees a chunk of this name.
    pub fn sees(&self, name: &str) -> bool {
        self.visible.iter().any(|program| program.named_chunk(name).is_some())
    }

    /// Returns the names of chunks that the template sees.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.visible.iter().flat_map(|program| program.named_chunks()).map(|(name, _)| name)
    }
}

/// The result of compiling a text.
#[derive(Debug, Clone)]
pub enum Making {
    /// The text has no syntax of the language: it is the output.
    AsItIs,
    /// A program. It may have inputs of its own, read from those of the render.
    Made(Made),
}

/// A program that was made at render time.
#[derive(Debug, Clone)]
pub struct Made {
    /// The program.
    pub program: Program,
    /// Its imports, linked.
    pub linked: Linked,
    /// The chunk to run. Its parameters are the arguments of the call.
    pub chunk: u32,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytecode::ImportKind;
    use crate::function::{Capabilities, Default, Param, check_in_order};
    use dropforge_value::Arena;

    const TYPES: [Type; 8] =
        [Type::Any, Type::Bool, Type::Int, Type::Size, Type::Number, Type::Str, Type::List, Type::Map];

    fn link(params: &'static [Param], needs: Capabilities<'static>) -> Link {
        let body = Body::Native(|_, given| Ok(given.first().copied().unwrap_or_default()));
        let builtin = Builtin::declared(ImportKind::Filter, "f", Params::Named(params), body, needs, "", &[]);
        Link::new(Function::own(builtin))
    }

    #[test]
    fn arguments_are_accepted_if_the_gate_lets_them_pass() {
        let arena = Arena::new();
        let numbers = [Value::Int(-1), Value::Int(0), Value::Uint(u64::MAX), Value::Float(-0.5)];
        let others =
            [Value::Null, Value::Undefined, Value::Bool(true), arena.text("a"), arena.list(&[]), arena.map(&[])];
        for ty in TYPES {
            let params: &'static [Param] = Box::leak(Box::new([
                Param { name: "x", ty: Type::Any, default: Default::Required },
                Param { name: "y", ty, default: Default::Required },
            ]));
            let link = link(params, Capabilities::NONE);
            for value in numbers.into_iter().chain(others) {
                let given = [Value::Undefined, value];
                for known in 0..4 {
                    let gate = Gate::new(&[0, 1], Some(2), known);
                    let passes = check_in_order(&link, params, gate, &given).is_ok();
                    assert_eq!(link.accepts(gate, &given), passes, "{ty:?} {value:?} {known}");
                }
                assert!(!link.accepts(Gate::new(&[1, 0], Some(2), 3), &given));
                assert!(!link.accepts(Gate::new(&[0, 1], Some(2), 0), &given[..1]));
            }
        }
    }

    #[test]
    fn only_functions_without_other_checks_are_called_directly() {
        static FEW_ANY: [Param; FEW + 1] = [Param { name: "x", ty: Type::Any, default: Default::Required }; FEW + 1];
        assert!(matches!(link(&FEW_ANY[..FEW], Capabilities::NONE).direct(), Direct::Native(_)));
        assert!(matches!(link(&FEW_ANY, Capabilities::NONE).direct(), Direct::No));
        assert!(matches!(link(&FEW_ANY[..1], Capabilities::CLOCK).direct(), Direct::No));
    }
}
