//! Single expressions and templates.

use std::sync::Arc;

use crate::compile::{Compiler, Executable};
use crate::semantics::Rules;
use crate::syntax::{ExprId, Parsed, Tree, parse_expression, parse_template};
use crate::value_notes::explain;
use dropforge_base::diagnostics::{Diagnostic, Diagnostics, Result as Outcome};
use dropforge_base::limits::Limits;
use dropforge_base::text::Source;
use dropforge_machine::bytecode::Program;
use dropforge_machine::function::{Capabilities, Cx, Registry};
use dropforge_machine::vm::{Evaluation, Run, Space, evaluate};
use dropforge_value::Inputs;

/// A compiled expression or template, which can be evaluated many times.
///
/// ```
/// use dropforge::dialect::hcl::{Expression, registry};
/// use dropforge::limits::Limits;
/// use dropforge::text::Source;
/// use dropforge::value::{Inputs, Value};
/// use dropforge::vm::Space;
///
/// let limits = Limits::default();
/// let expression = Expression::new(&Source::new("sum", "1 + n * 2"), &registry(), &limits)?;
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
    executable: Executable,
}

impl Expression {
    /// Compiles an expression with the functions of `registry`.
    ///
    /// # Errors
    /// All syntax errors, or a limit of the source or the code.
    pub fn new(source: &Arc<Source>, registry: &Registry, limits: &Limits) -> Result<Self, Diagnostics> {
        limits.check_size(source)?;
        Self::compile(parse_expression(source, limits), registry, limits)
    }

    /// Compiles a template: text with `${ … }` and `%{ … }`. Its value is a string unless it is a single interpolation.
    ///
    /// # Errors
    /// See [`Expression::new`].
    pub fn template(source: &Arc<Source>, registry: &Registry, limits: &Limits) -> Result<Self, Diagnostics> {
        Self::compile(parse_template(source, limits), registry, limits)
    }

    /// Compiles a parsed expression or template.
    ///
    /// # Errors
    /// The syntax errors, or a limit of the code.
    pub fn compile(parsed: Parsed<ExprId>, registry: &Registry, limits: &Limits) -> Result<Self, Diagnostics> {
        let Parsed { tree, root, diagnostics } = parsed;
        if !diagnostics.is_empty() {
            return Err(diagnostics.into());
        }
        let executable = Compiler::new(registry, limits).expressions(&tree, &[root])?;
        Ok(Self { tree: Arc::new(tree), root, executable })
    }

    /// The tree and its root, for static analysis.
    pub fn tree(&self) -> (&Tree, ExprId) {
        (&self.tree, self.root)
    }

    pub(crate) fn executable(&self) -> &Executable {
        &self.executable
    }

    /// The compiled program.
    pub fn program(&self) -> &Program {
        self.executable.program()
    }

    /// Evaluates the expression with these inputs. The value lives in `space`. If there are errors, it is a recovery
    /// value.
    ///
    /// # Errors
    /// A limit was reached.
    pub fn evaluate<'r>(&'r self, space: &'r Space, inputs: Inputs<'r>, limits: &'r Limits) -> Outcome<Evaluation<'r>> {
        self.evaluate_allowing(Capabilities::NONE, space, inputs, limits)
    }

    /// Evaluates the expression with functions that may use `capabilities`.
    ///
    /// # Errors
    /// A limit was reached.
    pub fn evaluate_allowing<'r>(
        &'r self,
        capabilities: Capabilities<'r>,
        space: &'r Space,
        inputs: Inputs<'r>,
        limits: &'r Limits,
    ) -> Outcome<Evaluation<'r>> {
        let Executable { program, linked } = &self.executable;
        evaluate::<Rules>(space, Run { program, linked, inputs, limits, capabilities, budgets: None })
    }

    /// Adds the values of variables to errors of an evaluation with these inputs. Marked values are withheld.
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
