//! Settings of an expression.

use crate::check::Environment;
use crate::resolution::Names;
use crate::syntax::Options;

/// The declarations of the names in an expression.
#[derive(Clone, Copy)]
pub enum Declarations<'d> {
    /// Names without types. The expression is not checked.
    Names(Names<'d>),
    /// Names with types. The expression is checked: undeclared names, and calls and operators without a matching overload,
    /// are errors, reported all at once.
    Environment(&'d Environment),
}

/// Settings for parsing, checking and compiling an expression.
///
/// ```
/// use dropforge::dialect::cel::{Expression, Settings, check::Environment, registry};
/// use dropforge::{limits::Limits, text::Source};
/// let (registry, limits) = (registry(), Limits::default());
/// let mut environment = Environment::new(&registry);
/// environment.declare("n", "int")?;
/// let settings = Settings::checked(&environment);
/// let expression = Expression::with(&Source::new("e", "n > 1 ? [n] : []"), &settings, &registry, &limits)?;
/// assert_eq!(expression.ty().as_deref(), Some("list(int)"));
/// let wrong = Expression::with(&Source::new("e", "m + size(1)"), &settings, &registry, &limits).unwrap_err();
/// assert_eq!(wrong.iter().count(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct Settings<'s> {
    /// Parser options.
    pub syntax: Options,
    /// The declarations of its names.
    pub declarations: Declarations<'s>,
    /// Fold constants, and apply other optimisations that preserve the result. On by default.
    pub optimise: bool,
    /// Meter evaluations: [`Expression::evaluate_metered`](crate::Expression::evaluate_metered) returns their cost, and
    /// [`Limits::cost`](dropforge_base::limits::Limits::cost) bounds it. Takes time, so off by default.
    pub cost: bool,
    /// Let presence tests find nothing in values without fields and elements: `has(x.a)` is false, `x.?a` and `x[?k]` are
    /// empty if `x` is null, a boolean, a number or a string, and its type is not known when it is checked. Otherwise they
    /// are errors. On by default, as in Kubernetes.
    pub lenient: bool,
}

impl Default for Settings<'_> {
    fn default() -> Self {
        Self {
            syntax: Options::default(),
            declarations: Declarations::Names(Names::default()),
            optimise: true,
            cost: false,
            lenient: true,
        }
    }
}

impl<'s> Settings<'s> {
    /// Settings of an expression that is checked.
    pub fn checked(environment: &'s Environment) -> Self {
        Self { declarations: Declarations::Environment(environment), ..Self::default() }
    }

    /// Settings of an expression that is not checked.
    pub fn naming(names: Names<'s>) -> Self {
        Self { declarations: Declarations::Names(names), ..Self::default() }
    }
}
