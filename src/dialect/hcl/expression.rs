//! An expression or a template on its own: compiled once, evaluated many times.

use std::sync::Arc;

use super::builtins::complete;
use super::explain::explain;
use super::lower::compile_expressions;
use super::semantics::Rules;
use super::syntax::parser::{Parsed, parse_expression, parse_template};
use super::syntax::tree::{ExprId, Tree};
use crate::bytecode::Program;
use crate::diagnostics::{Diagnostic, Diagnostics, Result as Outcome};
use crate::function::{Capabilities, Cx, Linked, Registry};
use crate::limits::{Limit, Limits};
use crate::text::{Source, Span};
use crate::value::Inputs;
use crate::vm::{Answer, Run, Space, evaluate};

/// A compiled expression or template.
///
/// ```
/// use dropforge::dialect::hcl::{Expression, registry};
/// use dropforge::limits::Limits;
/// use dropforge::text::Source;
/// use dropforge::value::{Inputs, Value};
/// use dropforge::vm::Space;
///
/// let limits = Limits::default();
/// let expression = Expression::new(&Source::new("sum", "1 + n * 2"), registry(), &limits)?;
/// let space = Space::new();
/// let inputs = Inputs::new(space.arena().map(&[("n", Value::Int(3))]));
/// let answer = expression.evaluate(&space, inputs, &limits)?;
/// assert!(answer.errors.is_empty());
/// assert!(matches!(answer.value, Value::Int(7)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Expression {
    tree: Arc<Tree>,
    root: ExprId,
    program: Program,
    linked: Linked,
}

impl Expression {
    /// Compiles an expression with the functions of `registry`.
    ///
    /// # Errors
    /// Everything that is wrong with its syntax; limits of source and code.
    pub fn new(source: &Arc<Source>, registry: Registry, limits: &Limits) -> Result<Self, Diagnostics> {
        Self::of(source, parse_expression, registry, limits)
    }

    /// Compiles a template: text with `${ … }` and `%{ … }`, whose value is text unless it is one interpolation.
    ///
    /// # Errors
    /// As [`Expression::new`].
    pub fn template(source: &Arc<Source>, registry: Registry, limits: &Limits) -> Result<Self, Diagnostics> {
        Self::of(source, parse_template, registry, limits)
    }

    fn of(
        source: &Arc<Source>,
        parse: fn(&Arc<Source>, &Limits) -> Parsed<ExprId>,
        registry: Registry,
        limits: &Limits,
    ) -> Result<Self, Diagnostics> {
        if source.text().len() > limits.source_bytes {
            let error = Limit::SourceBytes.error(limits.source_bytes as u64);
            return Err(error.at_if_nowhere(source, Span::default()).into());
        }
        Self::compile(parse(source, limits), registry, limits)
    }

    /// Compiles what was parsed.
    ///
    /// # Errors
    /// What was found when it was parsed; limits of the code.
    pub fn compile(parsed: Parsed<ExprId>, registry: Registry, limits: &Limits) -> Result<Self, Diagnostics> {
        Self::with(parsed, &registry, limits)
    }

    /// The same with functions that are shared.
    pub(super) fn with(parsed: Parsed<ExprId>, registry: &Registry, limits: &Limits) -> Result<Self, Diagnostics> {
        let Parsed { tree, root, diagnostics } = parsed;
        if !diagnostics.is_empty() {
            return Err(diagnostics.into());
        }
        let registry = complete(registry);
        let program = compile_expressions(&tree, &[root], &registry, limits)?;
        let linked = registry.link(program.imports())?;
        Ok(Self { tree: Arc::new(tree), root, program, linked })
    }

    /// The tree and its root, for static analysis.
    pub fn tree(&self) -> (&Tree, ExprId) {
        (&self.tree, self.root)
    }

    /// The program and the functions that it calls.
    pub(super) fn linked(&self) -> (&Program, &Linked) {
        (&self.program, &self.linked)
    }

    /// The instructions it was compiled to.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The value with these inputs; it lives in `space`. What is wrong is in the answer, beside the value that stands
    /// for what could not be computed.
    ///
    /// # Errors
    /// A limit that was reached.
    pub fn evaluate<'r>(&'r self, space: &'r Space, inputs: Inputs<'r>, limits: &'r Limits) -> Outcome<Answer<'r>> {
        self.evaluate_allowing(Capabilities::NONE, space, inputs, limits)
    }

    /// The same, where functions may reach what `capabilities` allow.
    ///
    /// # Errors
    /// As [`Expression::evaluate`].
    pub fn evaluate_allowing<'r>(
        &'r self,
        capabilities: Capabilities<'r>,
        space: &'r Space,
        inputs: Inputs<'r>,
        limits: &'r Limits,
    ) -> Outcome<Answer<'r>> {
        let (program, linked) = (&self.program, &self.linked);
        evaluate::<Rules>(space, Run { program, linked, inputs, limits, capabilities, budgets: None })
    }

    /// Adds to the errors of an evaluation with these inputs what the variables are that they are about: marked values
    /// are withheld.
    pub fn explain<'r>(
        &self,
        space: &'r Space,
        inputs: Inputs<'r>,
        limits: &'r Limits,
        errors: &mut [Box<Diagnostic>],
    ) {
        let cx = Cx::new(space.arena(), inputs, limits, Capabilities::NONE, &space.caches);
        explain(&cx, &self.tree, errors);
    }
}
