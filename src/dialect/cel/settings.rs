//! How an expression is read, checked and compiled.

use super::check::Environment;
use super::lower::Names;
use super::syntax::Options;

/// What is known of the names in an expression.
#[derive(Clone, Copy)]
pub enum Known<'k> {
    /// What they may stand for; nothing is checked.
    Names(Names<'k>),
    /// What there is, and of which type. The expression is checked: names that are not declared, calls that no function
    /// fits, and operators on types that they do not go with are errors, all of them at once.
    Environment(&'k Environment),
}

/// How an expression is read, checked and compiled.
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
    /// How the text is read.
    pub syntax: Options,
    /// What is known of the names in it.
    pub known: Known<'s>,
    /// Whether what is known before anything runs is computed when the expression is compiled, and other things are done
    /// that change nothing but the time it takes. On unless set.
    pub optimise: bool,
    /// Whether evaluations are metered: [`Expression::evaluate_metered`](super::Expression::evaluate_metered) says what
    /// they cost, and [`Limits::cost`](crate::limits::Limits::cost) bounds it. Takes time, so off unless set.
    pub cost: bool,
}

impl Default for Settings<'_> {
    fn default() -> Self {
        Self { syntax: Options::default(), known: Known::Names(Names::default()), optimise: true, cost: false }
    }
}

impl<'s> Settings<'s> {
    /// Of an expression that is checked.
    pub fn checked(environment: &'s Environment) -> Self {
        Self { known: Known::Environment(environment), ..Self::default() }
    }

    /// Of an expression that is not checked, where this is known of names.
    pub fn naming(names: Names<'s>) -> Self {
        Self { known: Known::Names(names), ..Self::default() }
    }
}
