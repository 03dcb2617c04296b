//! Partial evaluation: with some attributes unknown, an expression evaluates to its value if they do not matter, or else to
//! a residual expression.
//!
//! An attribute is a variable with fields and elements below it. [`Pattern`](crate::Pattern)s select the unknown ones.
//! Reading one raises an error of its own kind, which propagates like all errors: operators and functions do not run
//! without their operands; `&&`, `||`, `all` and `exists` absorb it if another operand or element decides. If one operand of
//! those fails and another is unknown, the whole is unknown. The machine evaluates the expression part by part, and
//! constants take the place of parts with a value.

mod constants;
mod reduce;
mod unknowns;

pub use unknowns::UnknownAttribute;

use std::fmt;
use std::sync::Arc;

use crate::attributes::{Attribute, Key, Match, Pattern, Patterns, Qualifier, attribute};
use crate::expression::Expression;
use crate::lower::LowerOptions;
use crate::settings::{Names, OwnedNames};
use crate::syntax::tree::{Call, DEPTH, ExprId, Function, Name, Tree};
use crate::syntax::unparse;
use constants::{ConstantBudget, Runner};
use dropforge_base::diagnostics::{Code, Diagnostic, Diagnostics, Result as Outcome};
use dropforge_base::limits::Limits;
use dropforge_machine::bytecode::ImportKind;
use dropforge_machine::function::Registry;
use dropforge_machine::vm::Space;
use dropforge_value::{Inputs, Map, Value};
use reduce::reduced;
use unknowns::unknowns;

/// The result of partial evaluation.
#[derive(Debug, Clone)]
pub enum Partial<'r> {
    /// The value, whatever the unknown attributes are.
    Value(Value<'r>),
    /// A value that depends on unknown attributes.
    Unknown {
        /// The attributes that the expression waits for, sorted. They are needed first, such as the condition of
        /// `a ? b : c`.
        unknowns: Vec<UnknownAttribute>,
        /// The residual expression.
        residual: Residual,
    },
}

impl<'r> Partial<'r> {
    /// Returns the value.
    ///
    /// # Errors
    /// [`Code::UnknownAttribute`] if there is no value yet. It names the attributes that the expression waits for.
    pub fn value(self) -> Outcome<Value<'r>> {
        let (unknowns, residual) = match self {
            Partial::Value(value) => return Ok(value),
            Partial::Unknown { unknowns, residual } => (unknowns, residual),
        };
        let mut names: Vec<_> = unknowns.iter().map(|unknown| format!("`{}`", unknown.attribute)).collect();
        names.dedup();
        let message = format!("the value depends on unknown values: {}", names.join(", "));
        let error = Diagnostic::new(Code::UnknownAttribute, message);
        let shown = unknowns.iter().take(16);
        Err(shown.fold(error, |error, unknown| error.at(residual.tree.source(), unknown.span, "not known")))
    }
}

/// A residual: an expression with the value of the whole expression, once the unknown attributes are known.
///
/// It contains known values as constants. A part whose value cannot be written (an address, a quantity) or is too large
/// stays as it was, with its own parts reduced; so does a part that fails where that may not matter. It evaluates with all
/// inputs, or with the unknown ones and those that [`fmt::Display`] still shows.
#[derive(Debug, Clone)]
pub struct Residual {
    tree: Arc<Tree>,
    registry: Registry,
    names: OwnedNames,
    lenient: bool,
}

impl Residual {
    /// Returns its tree, with the positions of the whole expression.
    #[doc(hidden)]
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Compiles it with the functions and names of the whole expression.
    ///
    /// # Errors
    /// Limits of the code's size.
    pub fn compile(&self, limits: &Limits) -> Result<Expression, Diagnostics> {
        let options = LowerOptions { lenient: self.lenient, ..LowerOptions::default() };
        self.names.with(|names| Expression::from_tree(self.tree.clone(), &self.registry, names, options, limits))
    }
}

impl fmt::Display for Residual {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&unparse(&self.tree))
    }
}

impl Expression {
    /// Evaluates the expression while the attributes that `patterns` match are unknown. Returns its value, or a residual if
    /// it depends on them.
    ///
    /// Inputs under a pattern are not read. A name that neither the inputs nor the patterns have is an error, as always.
    ///
    /// # Errors
    /// The error that the expression has whatever the unknown attributes are, or a limit that was reached.
    ///
    /// ```
    /// use dropforge::{Dialect, Engine, cel::{Expression, Partial, Pattern}};
    /// use dropforge::limits::Limits;
    /// use dropforge::text::Source;
    /// use dropforge::{Inputs, Value};
    /// use dropforge::Space;
    ///
    /// let limits = Limits::default();
    /// let text = "request.method in allowed && request.user.startsWith(prefix + '-')";
    /// let policy = Expression::new(&Source::new("policy", text), Engine::new().registry(Dialect::Cel), &limits)?;
    /// let space = Space::new();
    /// let (arena, user) = (space.arena(), Pattern::new("request").field("user"));
    /// let known = [
    ///     ("request", arena.map(&[("method", arena.text("GET"))])),
    ///     ("allowed", arena.list(&[arena.text("GET"), arena.text("HEAD")])),
    ///     ("prefix", arena.text("svc")),
    /// ];
    /// let known = Inputs::new(arena.map(&known));
    /// let Partial::Unknown { unknowns, residual } = policy.partial(&space, known, &[user], &limits)? else { panic!() };
    /// assert_eq!(unknowns[0].attribute.to_string(), "request.user");
    /// assert_eq!(residual.to_string(), r#"request.user.startsWith("svc-")"#);
    ///
    /// let rest = residual.compile(&limits)?;
    /// let request = arena.map(&[("user", arena.text("svc-deploy"))]);
    /// let value = rest.evaluate(&space, Inputs::new(arena.map(&[("request", request)])), &limits)?;
    /// assert!(matches!(value, Value::Bool(true)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn partial<'r>(
        &'r self,
        space: &'r Space,
        inputs: Inputs<'r>,
        patterns: &[Pattern],
        limits: &'r Limits,
    ) -> Outcome<Partial<'r>> {
        let patterns = Patterns::new(patterns);
        let reduced = self.names.with(|names| {
            let (registry, patterns, lenient) = (&self.registry, &patterns, self.lenient);
            let context = PartialContext { registry, names, patterns, inputs, lenient };
            let runner = || Runner::new(&self.tree, context, space, limits);
            if runner().is_known()? {
                return Ok(None);
            }
            let tree = self.reduced(runner);
            // None, if a key turned out to be another than the patterns have.
            let unknowns = unknowns(&tree, context);
            Ok::<_, Box<Diagnostic>>((!unknowns.is_empty()).then_some((unknowns, tree)))
        })?;
        let Some((unknowns, tree)) = reduced else {
            // The unknown attributes do not matter, even if they are missing.
            return self.evaluate(space, inputs, limits).map(Partial::Value);
        };
        let (registry, names, lenient) = (self.registry.clone(), self.names.clone(), self.lenient);
        let residual = Residual { tree: Arc::new(tree), registry, names, lenient };
        Ok(Partial::Unknown { unknowns, residual })
    }

    /// Reduces the tree, with fewer constants if they would make it too deep to parse.
    fn reduced<'a>(&'a self, runner: impl Fn() -> Runner<'a>) -> Tree {
        let booleans = self.booleans();
        for budget in [ConstantBudget::beside(&self.tree), ConstantBudget::FLAT] {
            let tree = reduced(runner(), &booleans, budget);
            if tree.height(tree.root) as usize <= DEPTH {
                return tree;
            }
        }
        Tree::clone(&self.tree)
    }
}

/// The functions, names, known inputs and unknown attributes that an expression is evaluated with.
#[derive(Clone, Copy)]
struct PartialContext<'k> {
    pub registry: &'k Registry,
    pub names: &'k Names<'k>,
    pub patterns: &'k Patterns,
    pub inputs: Inputs<'k>,
    /// `true` if presence tests find nothing in values without members.
    pub lenient: bool,
}

/// The target of a call.
enum Callee {
    /// `cel.block`: its values and its body.
    Block(ExprId, ExprId),
    /// A function of the values of these nodes.
    Function(Vec<ExprId>),
    /// An unknown function, which fails before it evaluates any argument.
    Unknown,
}

impl PartialContext<'_> {
    /// Returns `true` if `name` is not a variable, known or unknown.
    pub fn is_no_variable(&self, name: &str) -> bool {
        let has = |map: &Map<'_>| map.get(name).is_some();
        let attribute: [Qualifier<ExprId>; 1] = [Qualifier::Key(Key::text(name))];
        self.names.declared.is_some()
            || !self.inputs.layers().into_iter().flatten().any(has)
                && matches!(self.patterns.matches(&attribute), Match::Known)
    }

    /// Returns the attribute that an expression is, with the variables of `scope` around it.
    pub fn attribute(&self, tree: &Tree, id: ExprId, scope: &[Name]) -> Option<Attribute> {
        attribute(tree, self.names, id, |name| scope.contains(&name))
    }

    /// Returns the target of a call, with the variables of `scope` around it.
    pub fn callee(&self, tree: &Tree, call: &Call, scope: &[Name]) -> Callee {
        let args = tree.ids(call.args);
        let Function::Named(name) = call.function else { return Callee::Function(args.to_vec()) };
        let name = tree.name(name);
        if let ("cel.@block", &[values, body]) = (name, args) {
            return Callee::Block(values, body);
        }
        if self.names.function(tree, self.registry, name, call, |name| scope.contains(&name)).is_some() {
            return Callee::Function(args.to_vec());
        }
        match self.registry.get(ImportKind::Function, name) {
            Some(_) => Callee::Function(call.receiver.into_iter().chain(args.iter().copied()).collect()),
            None => Callee::Unknown,
        }
    }
}

/// Returns the name of a value of `cel.block`, if anything refers to it.
fn block_name(tree: &Tree, at: usize) -> Option<Name> {
    tree.find_name(&format!("@index{at}"))
}
