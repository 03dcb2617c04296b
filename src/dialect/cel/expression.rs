//! An expression on its own: compiled once, evaluated many times.

use std::sync::Arc;

use super::check::{Environment, check};
use super::lower::{Names, compile_expression};
use super::semantics::Rules;
use super::syntax::tree::Tree;
use super::syntax::{Options, parse};
use crate::bytecode::Program;
use crate::diagnostics::{Diagnostics, Result as Outcome};
use crate::function::{Capabilities, Linked, Registry};
use crate::limits::Limits;
use crate::text::Source;
use crate::value::{Inputs, Value};
use crate::vm::{Evaluator, Space};

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
    tree: Arc<Tree>,
    /// The type that the checker found.
    ty: Option<String>,
    program: Program,
    linked: Linked,
}

impl Expression {
    /// Compiles an expression with the functions of `registry`.
    ///
    /// # Errors
    /// Everything that is wrong with its syntax; limits of source and code.
    pub fn new(source: &Arc<Source>, registry: &Registry, limits: &Limits) -> Result<Self, Diagnostics> {
        Self::with(source, &Options::default(), registry, &Names::default(), limits)
    }

    /// The same where more is known of names.
    ///
    /// # Errors
    /// As [`Expression::new`].
    pub fn with(
        source: &Arc<Source>,
        options: &Options,
        registry: &Registry,
        names: &Names<'_>,
        limits: &Limits,
    ) -> Result<Self, Diagnostics> {
        Self::of(parse(source, options)?, None, registry, names, limits)
    }

    /// The same of an expression that is checked first: names that are not declared, calls that no function fits, and
    /// operators on types that they do not go with are errors, all of them at once.
    ///
    /// # Errors
    /// Everything that is wrong with it; limits of source and code.
    ///
    /// ```
    /// use dropforge::dialect::cel::{Expression, check::Environment, registry};
    /// use dropforge::{limits::Limits, text::Source};
    /// let (registry, limits) = (registry(), Limits::default());
    /// let mut environment = Environment::new(&registry);
    /// environment.declare("n", "int")?;
    /// let expression = Expression::checked(&Source::new("e", "n > 1 ? [n] : []"), &environment, &registry, &limits)?;
    /// assert_eq!(expression.ty(), Some("list(int)"));
    /// let wrong = Expression::checked(&Source::new("e", "m + size(1)"), &environment, &registry, &limits).unwrap_err();
    /// assert_eq!(wrong.iter().count(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn checked(
        source: &Arc<Source>,
        environment: &Environment,
        registry: &Registry,
        limits: &Limits,
    ) -> Result<Self, Diagnostics> {
        let tree = parse(source, &Options::default())?;
        let ty = check(&tree, environment)?.result_text();
        let declared = |name: &str| environment.declares(name);
        let names = Names { container: environment.container(), declared: Some(&declared) };
        Self::of(tree, Some(ty), registry, &names, limits)
    }

    fn of(
        tree: Tree,
        ty: Option<String>,
        registry: &Registry,
        names: &Names<'_>,
        limits: &Limits,
    ) -> Result<Self, Diagnostics> {
        let program = compile_expression(&tree, registry, names, limits)?;
        let linked = registry.link(program.imports())?;
        Ok(Self { tree: Arc::new(tree), ty, program, linked })
    }

    /// The type that the checker found, as CEL writes it, where the expression was checked.
    pub fn ty(&self) -> Option<&str> {
        self.ty.as_deref()
    }

    /// The tree, for static analysis.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// The instructions it was compiled to.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The value with these inputs; it lives in `space`.
    ///
    /// # Errors
    /// The error that the expression has, with its place; a limit that was reached.
    pub fn evaluate<'r>(&'r self, space: &'r Space, inputs: Inputs<'r>, limits: &'r Limits) -> Outcome<Value<'r>> {
        let mut evaluator = Evaluator::new(space, &self.program, &self.linked, limits, Capabilities::NONE);
        evaluator.run::<Rules>(0, inputs).map(|answer| answer.value)
    }
}
