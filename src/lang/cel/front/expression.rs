//! Expressions, compiled once and evaluated many times.

use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::check::cost::{Hints, Range, estimate};
use crate::check::{Checked, Kind, check};
use crate::constant::Constant;
use crate::lower::{LowerOptions, compile_expression};
use crate::resolution::{Names, OwnedNames};
use crate::semantics::Rules;
use crate::settings::{Declarations, Settings};
use crate::syntax::parse;
use crate::syntax::tree::Tree;
use dropforge_base::diagnostics::{Diagnostics, Result as Outcome};
use dropforge_base::limits::Limits;
use dropforge_base::text::{Source, Span};
use dropforge_machine::bytecode::Program;
use dropforge_machine::function::{Capabilities, Linked, Registry};
use dropforge_machine::vm::{Evaluator, Run, Space, value};
use dropforge_value::{InputBuilder, Inputs, Shapes, Value, from_value};

/// A compiled expression.
///
/// ```
/// use dropforge::dialect::cel::{Expression, registry};
/// use dropforge::limits::Limits;
/// use dropforge::text::Source;
/// use dropforge::value::{Inputs, Value};
/// use dropforge::vm::Space;
///
/// let limits = Limits::default();
/// let expression = Expression::new(&Source::new("sum", "[1, 2, n].map(x, x * 2)[2]"), &registry(), &limits)?;
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
        let tree = parse(source, &settings.syntax)?;
        let Settings { optimise, cost: metered, lenient, .. } = *settings;
        match settings.declarations {
            Declarations::Names(names) => {
                let options = LowerOptions { checked: None, optimise, metered, lenient };
                Self::from_tree(Arc::new(tree), registry, &names, options, limits)
            }
            Declarations::Environment(environment) => {
                let checked = check(&tree, environment)?;
                let declared = |name: &str| environment.declares(name);
                let names = Names { container: environment.container(), declared: Some(&declared) };
                let options = LowerOptions { checked: Some(&checked), optimise, metered, lenient };
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
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Returns the program.
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
    /// use dropforge::dialect::cel::{Expression, registry};
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
    /// let expression = Expression::new(&Source::new("verdict", text), &registry(), &limits)?;
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
    /// use dropforge::dialect::cel::{Expression, Settings, check::Environment, registry};
    /// use dropforge::{diagnostics::Code, limits::Limits, text::Source, value::Inputs, vm::Space};
    /// let (registry, limits, space) = (registry(), Limits::default(), Space::new());
    /// let environment = Environment::new(&registry);
    /// let settings = Settings { cost: true, ..Settings::checked(&environment) };
    /// let expression = Expression::with(&Source::new("e", "[1, 2, 3].map(x, x * 2)"), &settings, &registry, &limits)?;
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
