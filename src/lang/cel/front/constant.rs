//! Expressions that are constants: their value, made once.

use self_cell::{MutBorrow, self_cell};

use crate::semantics::Rules;
use dropforge_base::limits::Limits;
use dropforge_machine::bytecode::{Control, Fails, OpInfo, Place, Program, Provenance};
use dropforge_machine::function::{Capabilities, Linked};
use dropforge_machine::vm::{Evaluator, Space};
use dropforge_value::{Arena, Inputs, Value};

/// The maximum length of the code of a constant, in words.
const WORDS: usize = 256;

self_cell!(
    struct Held {
        owner: MutBorrow<Arena>,
        #[covariant]
        dependent: Value,
    }
);

/// The value of a program that only pushes constants and builds lists and maps of them. Evaluating it again would give an
/// equal value.
pub(super) struct Constant {
    held: Held,
    /// The steps, bytes and levels that building the value takes.
    fuel: u64,
    memory: u64,
    depth: usize,
}

impl Constant {
    /// Returns the constant that a program is, if any.
    pub(super) fn of(program: &Program, linked: &Linked) -> Option<Self> {
        if !is_constant(program) {
            return None;
        }
        let (space, limits) = (Space::new(), Limits::default());
        let mut evaluator = Evaluator::new(&space, program, linked, &limits, Capabilities::NONE);
        let full = evaluator.budgets();
        let value = evaluator.run::<Rules>(0, Inputs::default()).ok()?.value;
        let left = evaluator.budgets();
        Some(Self {
            held: Held::try_new(MutBorrow::new(Arena::new()), |arena| copied(arena.borrow_mut(), value).ok_or(()))
                .ok()?,
            fuel: full.fuel - left.fuel,
            memory: full.memory - left.memory,
            depth: value.depth().into(),
        })
    }

    /// Returns the value if a run with these limits would succeed.
    #[inline]
    pub(super) fn within(&self, limits: &Limits) -> Option<Value<'_>> {
        let fits = self.fuel <= limits.fuel
            && self.memory <= limits.memory
            && self.depth <= limits.value_depth
            && limits.call_depth > 0;
        fits.then(|| *self.held.borrow_dependent())
    }
}

impl std::fmt::Debug for Constant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Constant").field(self.held.borrow_dependent()).finish()
    }
}

/// Returns `true` if the code only pushes constants and builds lists and maps of them.
fn is_constant(program: &Program) -> bool {
    let builds = |row: &OpInfo| match row.provenance {
        Provenance::Constant | Provenance::Items | Provenance::Fields => row.pushes == 1 && row.fails < Fails::Error,
        _ => row.control == Control::Return || row.writes.contains(Place::Result),
    };
    let mut all = program.chunks().flat_map(|chunk| program.code().instructions(chunk));
    program.words().len() <= WORDS && all.all(|instruction| builds(instruction.op.info()))
}

/// Copies a constant to `arena`.
fn copied<'a>(arena: &'a Arena, value: Value<'_>) -> Option<Value<'a>> {
    Some(match value {
        Value::Null => Value::Null,
        Value::Bool(truth) => Value::Bool(truth),
        Value::Int(n) => Value::Int(n),
        Value::Float(n) => Value::Float(n),
        Value::Str(text) => arena.text(text.as_str()),
        Value::List(list) => {
            let items: Option<Vec<_>> = list.items().iter().map(|item| copied(arena, *item)).collect();
            arena.list(&items?)
        }
        Value::Map(map) => {
            let entry = |(key, value)| Some((arena.copy_str(key), copied(arena, value)?));
            arena.map(&map.iter().map(entry).collect::<Option<Vec<_>>>()?)
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use crate::{Expression, registry};
    use dropforge_base::diagnostics::Code;
    use dropforge_base::limits::Limits;
    use dropforge_base::text::Source;
    use dropforge_machine::vm::Space;
    use dropforge_value::{Inputs, Value};

    fn expression(text: &str) -> Expression {
        Expression::new(&Source::new("e", text), &registry(), &Limits::default()).unwrap()
    }

    #[test]
    fn a_constant_is_made_once() {
        let expression = expression("{'a': [1, 2.5, 'x', null], 'b': {'c': true}}");
        let limits = Limits::default();
        let (one, two) = (Space::new(), Space::new());
        let [first, second] = [&one, &two].map(|space| expression.evaluate(space, Inputs::default(), &limits).unwrap());
        let (Value::Map(a), Value::Map(b)) = (first, second) else { panic!("{first:?}") };
        assert!(std::ptr::eq(a, b));
        assert_eq!(serde_json::to_string(&first.to_data()).unwrap(), r#"{"a":[1,2.5,"x",null],"b":{"c":true}}"#);
    }

    #[test]
    fn other_expressions_are_evaluated() {
        for text in ["[n]", "1u", "b'a'", "[1][n]"] {
            assert!(expression(text).constant.is_none(), "{text}");
        }
    }

    #[test]
    fn limits_hold_for_constants_as_well() {
        let expression = expression("[[1], ['a', 'b']]");
        let space = Space::new();
        let fails = |limits: Limits| expression.evaluate(&space, Inputs::default(), &limits).unwrap_err().code;
        assert_eq!(fails(Limits { fuel: 1, ..Limits::default() }), Code::LimitFuel);
        assert_eq!(fails(Limits { memory: 64, ..Limits::default() }), Code::LimitMemory);
        assert_eq!(fails(Limits { value_depth: 1, ..Limits::default() }), Code::LimitDepth);
        assert_eq!(fails(Limits { call_depth: 0, ..Limits::default() }), Code::LimitRecursion);
    }

    #[test]
    fn the_least_sufficient_limits_are_those_of_a_run() {
        let constant = expression("[[1], ['a', 'b']]");
        let mut run = constant.clone();
        run.constant = None;
        let space = Space::new();
        for fuel in 0..40 {
            for memory in (0..400).step_by(8) {
                let limits = Limits { fuel, memory, ..Limits::default() };
                let [a, b] =
                    [&constant, &run].map(|of| of.evaluate(&space, Inputs::default(), &limits).map_err(|e| e.code));
                assert_eq!(a.is_ok(), b.is_ok(), "{fuel} {memory}");
                assert_eq!(a.err(), b.err(), "{fuel} {memory}");
            }
        }
    }
}
