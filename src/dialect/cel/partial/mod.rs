//! Evaluation where some attributes are not known yet: the value, if they do not matter to it, or else the expression
//! that is left.
//!
//! An attribute is a variable with fields and elements below it; [`Pattern`]s say which of them are not known. Reading
//! one is an error of its own kind, which goes the way of all errors: operators and functions do not run without their
//! operands, `&&`, `||`, `all` and `exists` absorb it where another operand or element decides. Where an operand of
//! those fails and another one is not known, the whole is not known. Everything runs on the machine, part by part; what
//! parts are is put in as constants.

pub(super) mod attribute;
mod constant;
mod expand;
mod facts;
mod needed;
pub(super) mod pattern;
mod reduce;
mod run;
mod text;

use std::fmt;
use std::sync::Arc;

pub use needed::Needed;
pub use pattern::Pattern;

use super::Expression;
use super::lower::How;
use super::lower::names::Kept;
use super::syntax::tree::{DEPTH, Tree};
use super::syntax::unparse;
use crate::diagnostics::{Code, Diagnostic, Diagnostics, Result as Outcome};
use crate::function::Registry;
use crate::limits::Limits;
use crate::value::{Inputs, Value};
use crate::vm::Space;
use constant::Room;
use facts::Known;
use pattern::Patterns;
use run::Runner;

/// What an expression is where some attributes are not known.
#[derive(Debug, Clone)]
pub enum Partial<'r> {
    /// Its value, whatever the attributes are that are not known.
    Value(Value<'r>),
    /// It depends on them.
    Unknown {
        /// Those it waits for, sorted: what has to be known first, such as the condition of `a ? b : c`.
        unknowns: Vec<Needed>,
        /// What is left.
        residual: Residual,
    },
}

impl<'r> Partial<'r> {
    /// The value.
    ///
    /// # Errors
    /// [`Code::UnknownAttribute`] where there is none yet; it names the attributes that are waited for.
    pub fn value(self) -> Outcome<Value<'r>> {
        let (unknowns, residual) = match self {
            Partial::Value(value) => return Ok(value),
            Partial::Unknown { unknowns, residual } => (unknowns, residual),
        };
        let mut names: Vec<_> = unknowns.iter().map(|needed| format!("`{}`", needed.attribute)).collect();
        names.dedup();
        let message = format!("the value depends on what is not known yet: {}", names.join(", "));
        let error = Diagnostic::new(Code::UnknownAttribute, message);
        let places = unknowns.iter().take(16);
        Err(places.fold(error, |error, needed| error.at(residual.tree.source(), needed.span, "not known")))
    }
}

/// What is left of an expression: an expression that has the value that the whole has, once what was not known is there.
///
/// What was known stands in it as constants. What has a value that cannot be written (an address, a quantity), or that
/// is too large, stays as it was with its parts reduced, as does what fails where that may not matter. So it is
/// evaluated with all inputs, or with those that were not known and whatever [`fmt::Display`] still shows.
#[derive(Debug, Clone)]
pub struct Residual {
    tree: Arc<Tree>,
    registry: Registry,
    names: Kept,
}

impl Residual {
    /// Its tree; places are those of the expression that it is left of.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Compiles it with the functions and the names that the whole was compiled with.
    ///
    /// # Errors
    /// Limits of the code's size.
    pub fn compile(&self, limits: &Limits) -> Result<Expression, Diagnostics> {
        self.names.with(|names| Expression::of(self.tree.clone(), &self.registry, names, How::default(), limits))
    }
}

impl fmt::Display for Residual {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&unparse(&self.tree))
    }
}

impl Expression {
    /// The value with these inputs where the attributes that `patterns` fit are not known: if it depends on them, what is
    /// left of the expression.
    ///
    /// What the inputs have under a pattern is not looked at. A name that the inputs lack and no pattern names is an
    /// error, as it always is.
    ///
    /// # Errors
    /// The error that the expression has whatever the unknown attributes are; a limit that was reached.
    ///
    /// ```
    /// use dropforge::dialect::cel::{Expression, Partial, Pattern, registry};
    /// use dropforge::limits::Limits;
    /// use dropforge::text::Source;
    /// use dropforge::value::{Inputs, Value};
    /// use dropforge::vm::Space;
    ///
    /// let limits = Limits::default();
    /// let text = "request.method in allowed && request.user.startsWith(prefix + '-')";
    /// let policy = Expression::new(&Source::new("policy", text), &registry(), &limits)?;
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
        let left = self.names.with(|names| {
            let known = Known { registry: &self.registry, names, patterns: &patterns, inputs };
            let runner = || Runner::new(&self.tree, known, space, inputs, limits);
            if runner().is_known()? {
                return Ok(None);
            }
            let tree = self.left(runner);
            Ok::<_, Box<Diagnostic>>(Some((needed::needed(&tree, known), tree)))
        })?;
        let Some((unknowns, tree)) = left else {
            // What is not known does not matter: nor does it whether it is there.
            return self.evaluate(space, inputs, limits).map(Partial::Value);
        };
        let residual = Residual { tree: Arc::new(tree), registry: self.registry.clone(), names: self.names.clone() };
        Ok(Partial::Unknown { unknowns, residual })
    }

    /// The tree that is left; constants that would make it too deep to be read are left out.
    fn left<'a>(&'a self, runner: impl Fn() -> Runner<'a>) -> Tree {
        let booleans = self.booleans();
        for room in [Room::most(&self.tree), Room::FLAT] {
            let tree = reduce::reduced(runner(), &booleans, room);
            if tree.depth(tree.root) as usize <= DEPTH {
                return tree;
            }
        }
        Tree::clone(&self.tree)
    }
}
