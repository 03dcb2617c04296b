//! Expressions, compiled once and evaluated many times; the value of a constant is made once.

use std::sync::Arc;

use self_cell::{MutBorrow, self_cell};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::check::cost::{Hints, Range, estimate};
use crate::check::{Checked, Kind, check_with};
use crate::lower::{LowerOptions, compile_expression};
use crate::semantics::Rules;
use crate::settings::{Declarations, Names, OwnedNames, Settings};
use crate::syntax::parse_within;
use crate::syntax::tree::Tree;
use dropforge_base::diagnostics::{Diagnostics, Result as Outcome};
use dropforge_base::limits::Limits;
use dropforge_base::text::{Source, Span};
use dropforge_machine::bytecode::{Control, Fails, OpInfo, Place, Program, Provenance};
use dropforge_machine::function::{Capabilities, Linked, Registry};
use dropforge_machine::vm::{Evaluator, Run, Space, value};
use dropforge_value::{Arena, InputBuilder, Inputs, Shapes, Value, from_value};

/// A compiled expression.
///
/// ```
/// use dropforge::{Dialect, Engine, cel::Expression};
/// use dropforge::limits::Limits;
/// use dropforge::text::Source;
/// use dropforge::{Inputs, Value};
/// use dropforge::Space;
///
/// let limits = Limits::default();
/// let expression = Expression::new(&Source::new("sum", "[1, 2, n].map(x, x * 2)[2]"), Engine::new().registry(Dialect::Cel), &limits)?;
/// let space = Space::new();
/// let inputs = Inputs::new(space.arena().map(&[("n", Value::Int(3))]));
/// assert!(matches!(expression.evaluate(&space, inputs, &limits)?, Value::Int(6)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Expression {
    pub(super) tree: Arc<Tree>,
    /// The result of the checker, if the expression was checked.
    checked: Option<Arc<Checked>>,
    program: Program,
    linked: Linked,
    /// The value, if the expression is a constant.
    pub(super) constant: Option<Arc<Constant>>,
    /// The functions and names to compile parts of it with.
    pub(super) registry: Registry,
    pub(super) names: OwnedNames,
    /// `true` if presence tests find nothing in values without members.
    pub(super) lenient: bool,
}

impl Expression {
    /// Compiles an expression with the functions of `registry` and the default settings.
    ///
    /// # Errors
    /// All syntax errors; limits of source and code.
    pub fn new(source: &Arc<Source>, registry: &Registry, limits: &Limits) -> Result<Self, Diagnostics> {
        Self::with(source, &Settings::default(), registry, limits)
    }

    /// Compiles an expression with settings.
    ///
    /// # Errors
    /// All syntax errors, and all type errors if it is checked; limits of source and code.
    pub fn with(
        source: &Arc<Source>,
        settings: &Settings<'_>,
        registry: &Registry,
        limits: &Limits,
    ) -> Result<Self, Diagnostics> {
        limits.check_size(source)?;
        let tree = parse_within(source, &settings.syntax, limits)?;
        let Settings { optimise, cost: metered, lenient, .. } = *settings;
        match settings.declarations {
            Declarations::Names(names) => {
                let options = LowerOptions { checked: None, optimise, metered, lenient, files: None };
                Self::from_tree(Arc::new(tree), registry, &names, options, limits)
            }
            Declarations::Environment(environment) => {
                let checked = check_with(&tree, environment, settings.strictness)?;
                let declared = |name: &str| environment.declares(name);
                let names = Names { container: environment.container(), declared: Some(&declared) };
                let options = LowerOptions { checked: Some(&checked), optimise, metered, lenient, files: None };
                let mut expression = Self::from_tree(Arc::new(tree), registry, &names, options, limits)?;
                expression.checked = Some(Arc::new(checked));
                Ok(expression)
            }
        }
    }

    pub(super) fn from_tree(
        tree: Arc<Tree>,
        registry: &Registry,
        names: &Names<'_>,
        options: LowerOptions<'_>,
        limits: &Limits,
    ) -> Result<Self, Diagnostics> {
        let program = compile_expression(&tree, registry, names, options, limits)?;
        let linked = registry.link(program.imports())?;
        let names = names.owned(&tree);
        let lenient = options.lenient;
        let constant = Constant::of(&program, &linked).map(Arc::new);
        Ok(Self { tree, checked: None, program, linked, constant, registry: registry.clone(), names, lenient })
    }

    /// Returns the type of the expression as text, if it was checked.
    pub fn ty(&self) -> Option<String> {
        self.checked.as_ref().map(|checked| checked.result_text())
    }

    /// Estimates the cost of evaluation, if the expression was checked.
    pub fn estimate(&self, hints: &Hints) -> Option<Range> {
        self.checked.as_ref().map(|checked| estimate(&self.tree, checked, hints))
    }

    /// Returns `true` for each node that the checker found to be a boolean; nothing if the expression was not checked.
    pub(super) fn booleans(&self) -> Vec<bool> {
        let is_boolean =
            |checked: &Arc<Checked>| self.tree.every().map(|id| *checked.kind_of(id) == Kind::Bool).collect();
        self.checked.as_ref().map(is_boolean).unwrap_or_default()
    }

    /// Returns the tree, for static analysis.
    #[doc(hidden)]
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Returns the program.
    #[doc(hidden)]
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Evaluates the expression. The value lives in `space`.
    ///
    /// # Errors
    /// The error of the expression, with its position; a limit that was reached.
    pub fn evaluate<'r>(&'r self, space: &'r Space, inputs: Inputs<'r>, limits: &'r Limits) -> Outcome<Value<'r>> {
        if let Some(value) = self.constant.as_ref().and_then(|constant| constant.within(limits)) {
            return Ok(value);
        }
        let (program, linked) = (&self.program, &self.linked);
        let run = Run { program, linked, inputs, limits, capabilities: Capabilities::NONE, budgets: None };
        value::<Rules>(space, run)
    }

    /// Evaluates the expression to a `T`. For types that borrow, use [`from_value`] on the result of
    /// [`Expression::evaluate`].
    ///
    /// ```
    /// use std::time::Duration;
    /// use dropforge::{Dialect, Engine, cel::Expression};
    /// use dropforge::{limits::Limits, text::Source};
    /// use serde::{Deserialize, Serialize};
    ///
    /// #[derive(Serialize)]
    /// struct Request<'a> {
    ///     path: &'a str,
    ///     retries: u32,
    /// }
    ///
    /// #[derive(Debug, Deserialize, PartialEq)]
    /// struct Verdict {
    ///     allowed: bool,
    ///     reason: Option<String>,
    ///     after: Duration,
    /// }
    ///
    /// let text = "{
    ///     'allowed': path.startsWith('/api/'),
    ///     'reason': retries > 2 ? optional.of('again') : optional.none(),
    ///     'after': duration('1.5s') + duration('1s'),
    /// }";
    /// let limits = Limits::default();
    /// let expression = Expression::new(&Source::new("verdict", text), Engine::new().registry(Dialect::Cel), &limits)?;
    /// let verdict: Verdict = expression.evaluate_as(&Request { path: "/api/v1", retries: 1 }, &limits)?;
    /// assert_eq!(verdict, Verdict { allowed: true, reason: None, after: Duration::from_millis(2500) });
    ///
    /// let error = expression.evaluate_as::<Vec<u8>>(&Request { path: "/", retries: 0 }, &limits).unwrap_err();
    /// assert_eq!(error.message, "expected a sequence, found a map");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Inputs that do not serialise to a map; the errors of [`Expression::evaluate`] and [`from_value`].
    pub fn evaluate_as<T: DeserializeOwned>(&self, inputs: &(impl Serialize + ?Sized), limits: &Limits) -> Outcome<T> {
        Space::of_thread(|space| {
            let shapes = Shapes::new(space.arena());
            let inputs = InputBuilder::new(space.arena(), &shapes).serialize(inputs)?;
            let value = self.evaluate(space, Inputs::new(inputs), limits)?;
            let source = self.tree.source();
            from_value(value).map_err(|error| error.at_if_nowhere(source, Span::of(0..source.text().len())))
        })
    }

    /// Evaluates the expression, and returns its cost by the constants of the reference, even after an error. The cost is 0
    /// unless the expression was compiled with [`Settings::cost`].
    ///
    /// ```
    /// use dropforge::{Dialect, Engine, cel::{Environment, Expression, Settings}};
    /// use dropforge::{diagnostics::Code, limits::Limits, text::Source, value::Inputs, vm::Space};
    /// let (engine, limits, space) = (Engine::new(), Limits::default(), Space::new());
    /// let registry = engine.registry(Dialect::Cel);
    /// let environment = Environment::new(registry);
    /// let settings = Settings { cost: true, ..Settings::checked(&environment) };
    /// let expression = Expression::with(&Source::new("e", "[1, 2, 3].map(x, x * 2)"), &settings, registry, &limits)?;
    /// let (value, cost) = expression.evaluate_metered(&space, Inputs::default(), &limits);
    /// assert_eq!((value.is_ok(), cost), (true, 63));
    /// let few = Limits { cost: 30, ..Limits::default() };
    /// let (value, cost) = expression.evaluate_metered(&space, Inputs::default(), &few);
    /// assert_eq!(value.unwrap_err().code, Code::LimitCost);
    /// assert!(cost > 30);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn evaluate_metered<'r>(
        &'r self,
        space: &'r Space,
        inputs: Inputs<'r>,
        limits: &'r Limits,
    ) -> (Outcome<Value<'r>>, u64) {
        let mut evaluator = Evaluator::new(space, &self.program, &self.linked, limits, Capabilities::NONE);
        let value = evaluator.run::<Rules>(0, inputs).map(|answer| answer.value);
        (value, evaluator.metered())
    }
}

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
