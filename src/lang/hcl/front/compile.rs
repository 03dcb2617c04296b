//! The entrance of the language: from sources to linked programs, and single expressions and templates.
//!
//! ```text
//! source ─parse─▶ tree ─lower─▶ program ─link─▶ executable
//! ```
//! A template reaches other templates only when it is rendered, so there is nothing to load. Errors of templates and
//! configurations that do not depend on variables: [`check`](crate::check).

use std::sync::Arc;

use crate::Rules;
use crate::builtins::complete;
use crate::json::{JsonDocument, JsonId, Templates};
use crate::lower::{Root, lower_expressions, lower_json, lower_template};
use crate::syntax::{ExprId, Parsed, Tree, parse_expression, parse_template};
use crate::value_notes::explain;
use crate::values::copied;
use dropforge_base::diagnostics::{Diagnostic, Diagnostics, Result as Checked};
use dropforge_base::limits::Limits;
use dropforge_base::text::Source;
use dropforge_machine::bytecode::Program;
use dropforge_machine::compiler::{Compiled, Unit};
use dropforge_machine::function::{Capabilities, Cx, Fault, Linked, Outcome, Registry};
use dropforge_machine::vm::{Evaluation, Evaluator, Run, Space, evaluate};
use dropforge_value::{Inputs, Value};

/// Compiles a template file to a program that writes its text.
///
/// # Errors
/// All syntax errors, or a limit of the code.
pub fn compile(unit: &Unit<'_>) -> Result<Compiled, Vec<Box<Diagnostic>>> {
    let parsed = parse_template(unit.entry, unit.limits);
    if !parsed.diagnostics.is_empty() {
        return Err(parsed.diagnostics);
    }
    let compiled = lower_template(&parsed.tree, parsed.root, unit.registry, unit.limits);
    let compiled = compiled.map_err(|error| vec![error])?;
    Ok(Compiled { tree: unit.keeps_tree.then(|| Arc::new(parsed) as _), ..compiled })
}

/// The functions and limits that expressions are compiled with.
#[derive(Debug, Clone)]
pub(super) struct Compiler {
    registry: Registry,
    limits: Limits,
}

impl Compiler {
    /// A compiler with the functions of `registry` and the language's intrinsics.
    pub fn new(registry: &Registry, limits: &Limits) -> Self {
        Self { registry: complete(registry), limits: limits.clone() }
    }

    /// The functions.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// The limits.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Compiles expressions to a chunk each, in their order.
    ///
    /// # Errors
    /// A limit of the code.
    pub fn expressions<R: Copy + Into<Root>>(&self, tree: &Tree, roots: &[R]) -> Checked<Executable> {
        Executable::new(lower_expressions(tree, roots, &self.registry, &self.limits)?, &self.registry)
    }

    /// Compiles values of a JSON document to a chunk each, in their order. Without `templates`, strings are literal.
    ///
    /// # Errors
    /// A limit of the code.
    pub fn json(
        &self,
        document: &JsonDocument,
        templates: Option<&Templates>,
        roots: &[JsonId],
    ) -> Checked<Executable> {
        Executable::new(lower_json(document, templates, roots, &self.registry, &self.limits)?, &self.registry)
    }
}

/// A program with the functions it calls.
#[derive(Debug, Clone)]
pub(crate) struct Executable {
    pub(super) program: Program,
    linked: Linked,
}

impl Executable {
    /// Links a program.
    ///
    /// # Errors
    /// The registry has no function of a name that the program calls.
    pub fn new(program: Program, registry: &Registry) -> Checked<Self> {
        let linked = registry.link(program.imports())?;
        Ok(Self { program, linked })
    }

    /// The program.
    #[doc(hidden)]
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Creates an evaluator for any number of its chunks.
    pub fn evaluator<'r>(
        &'r self,
        space: &'r Space,
        limits: &'r Limits,
        capabilities: Capabilities<'r>,
    ) -> Evaluator<'r> {
        Evaluator::new(space, &self.program, &self.linked, limits, capabilities)
    }

    /// Evaluates the first chunk within a function call: in its own space, with the remaining budgets of the run. The
    /// value is copied to the arena of `cx`.
    ///
    /// # Errors
    /// A limit was reached, or the first error of the evaluation.
    pub fn evaluate_nested<'v>(
        &self,
        cx: &Cx<'v>,
        variables: &[(&str, Value<'_>)],
        limits: &Limits,
        capabilities: Capabilities<'_>,
    ) -> Outcome<Value<'v>> {
        let space = Space::new();
        let inputs = Inputs::new(space.arena().map(variables));
        let mut evaluator = self.evaluator(&space, limits, capabilities);
        evaluator.set_budgets(cx.budgets());
        let evaluation = evaluator.run::<Rules>(0, inputs);
        cx.set_budgets(evaluator.budgets());
        let evaluation = evaluation?;
        match evaluation.errors.first() {
            Some(error) => Err(Fault::wrong(in_one_line(error))),
            None => copied(cx, evaluation.value),
        }
    }
}

/// Formats an error as the reason of another error.
fn in_one_line(error: &Diagnostic) -> String {
    let detail = error.detail.as_ref().or(error.help.as_ref());
    let detail = detail.map(|detail| format!(": {detail}")).unwrap_or_default();
    let place = error.primary().map(|label| format!(" ({}:{})", label.source.path(), label.position()));
    format!("{}{detail}{}", error.message, place.unwrap_or_default())
}

/// A compiled expression or template, which can be evaluated many times.
///
/// ```
/// use dropforge::{Dialect, Engine, hcl::Expression};
/// use dropforge::limits::Limits;
/// use dropforge::text::Source;
/// use dropforge::{Inputs, Value};
/// use dropforge::Space;
///
/// let limits = Limits::default();
/// let expression = Expression::new(&Source::new("sum", "1 + n * 2"), Engine::new().registry(Dialect::Hcl), &limits)?;
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
    #[doc(hidden)]
    pub fn compile(parsed: Parsed<ExprId>, registry: &Registry, limits: &Limits) -> Result<Self, Diagnostics> {
        let Parsed { tree, root, diagnostics } = parsed;
        if !diagnostics.is_empty() {
            return Err(diagnostics.into());
        }
        let executable = Compiler::new(registry, limits).expressions(&tree, &[root])?;
        Ok(Self { tree: Arc::new(tree), root, executable })
    }

    /// The tree and its root, for static analysis.
    #[doc(hidden)]
    pub fn tree(&self) -> (&Tree, ExprId) {
        (&self.tree, self.root)
    }

    pub(crate) fn executable(&self) -> &Executable {
        &self.executable
    }

    /// The compiled program.
    #[doc(hidden)]
    pub fn program(&self) -> &Program {
        self.executable.program()
    }

    /// Evaluates the expression with these inputs. The value lives in `space`. If there are errors, it is a recovery
    /// value.
    ///
    /// # Errors
    /// A limit was reached.
    pub fn evaluate<'r>(&'r self, space: &'r Space, inputs: Inputs<'r>, limits: &'r Limits) -> Checked<Evaluation<'r>> {
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
    ) -> Checked<Evaluation<'r>> {
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
