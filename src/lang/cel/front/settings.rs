//! Settings of an expression, and the resolution of its names in a container.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use crate::check::{Environment, Strictness};
use crate::syntax::Options;
use crate::syntax::tree::{Call, Name, Tree};
use crate::values::{type_named, type_names};
use dropforge_machine::bytecode::ImportKind;
use dropforge_machine::function::Registry;

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
/// use dropforge::{Dialect, Engine, cel::{Environment, Expression, Settings}};
/// use dropforge::{limits::Limits, text::Source};
/// let (engine, limits) = (Engine::new(), Limits::default());
/// let registry = engine.registry(Dialect::Cel);
/// let mut environment = Environment::new(registry);
/// environment.declare("n", "int")?;
/// let settings = Settings::checked(&environment);
/// let expression = Expression::with(&Source::new("e", "n > 1 ? [n] : []"), &settings, registry, &limits)?;
/// assert_eq!(expression.ty().as_deref(), Some("list(int)"));
/// let wrong = Expression::with(&Source::new("e", "m + size(1)"), &settings, registry, &limits).unwrap_err();
/// assert_eq!(wrong.iter().count(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct Settings<'s> {
    /// Parser options.
    #[doc(hidden)]
    pub syntax: Options,
    /// The declarations of its names.
    pub declarations: Declarations<'s>,
    /// The strictness of the checker.
    pub strictness: Strictness,
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
            strictness: Strictness::default(),
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

/// The names that an expression can see.
#[derive(Clone, Copy, Default)]
pub struct Names<'n> {
    /// The namespace to search first: `a.b`.
    pub container: &'n str,
    /// Returns `true` for the qualified name of a variable. If absent, the first part of any qualified name is a variable.
    pub declared: Option<&'n dyn Fn(&str) -> bool>,
}

/// The meaning of a qualified name.
pub(super) enum Resolution<'p> {
    /// A variable of this name, and the number of parts after it, which are fields.
    Variable(Cow<'p, str>, usize),
    /// A type.
    Type(&'static str),
    /// Neither.
    Undeclared,
}

/// Returns the names that `name` may denote in a container, the first that exists being the one.
pub(super) fn candidates<'n>(
    container: &str,
    name: &'n str,
    rooted: bool,
) -> impl Iterator<Item = Cow<'n, str>> + use<'n> {
    let mut inside = Vec::new();
    let mut container = if rooted { "" } else { container };
    while !container.is_empty() {
        inside.push(Cow::Owned(format!("{container}.{name}")));
        container = container.rsplit_once('.').map_or("", |(outer, _)| outer);
    }
    inside.into_iter().chain([Cow::Borrowed(name)])
}

impl Names<'_> {
    /// Resolves a qualified name: the longest part of it that is declared.
    pub(super) fn resolve<'p>(&self, parts: &[&'p str], rooted: bool) -> Resolution<'p> {
        // Most names with fields are inputs, and need not be joined to see that they are no types.
        if let (None, "", [first, fields @ ..]) = (self.declared, self.container, parts)
            && !fields.is_empty()
            && !type_names().any(|name| name.starts_with(first))
        {
            return Resolution::Variable(Cow::Borrowed(first), fields.len());
        }
        // Only declared names can be a part of the whole.
        let lengths = if self.declared.is_some() { parts.len() } else { parts.len().min(1) };
        for fields in 0..lengths {
            let name = match parts.get(..parts.len() - fields) {
                Some([name]) => Cow::Borrowed(*name),
                parts => parts.unwrap_or(&[]).join(".").into(),
            };
            for candidate in candidates(self.container, &name, rooted) {
                if self.declared.is_some_and(|declared| declared(&candidate)) {
                    return Resolution::Variable(candidate.into_owned().into(), fields);
                }
                if let (0, Some(name)) = (fields, type_named(&candidate)) {
                    return Resolution::Type(name);
                }
            }
        }
        match (self.declared, parts) {
            (None, [first, fields @ ..]) => Resolution::Variable(Cow::Borrowed(first), fields.len()),
            _ => Resolution::Undeclared,
        }
    }

    /// Returns the full name of the function that `name`, the name in a call, denotes without a receiver: alone, or in the
    /// namespace before it.
    pub(super) fn function(
        &self,
        tree: &Tree,
        registry: &Registry,
        name: &str,
        call: &Call,
        is_local: impl Fn(Name) -> bool,
    ) -> Option<String> {
        let (path, rooted) = match call.receiver {
            None => (name.to_owned(), call.rooted),
            Some(receiver) => {
                let namespace = tree.qualified(receiver).filter(|of| !of.local().is_some_and(&is_local))?;
                (format!("{}.{name}", namespace.text()), namespace.rooted)
            }
        };
        let exists = |name: &Cow<'_, str>| registry.get(ImportKind::Function, name).is_some();
        candidates(self.container, &path, rooted).find(exists).map(Cow::into_owned)
    }

    /// Returns the declared names that a tree mentions, for compiling parts of it later.
    pub(super) fn owned(&self, tree: &Tree) -> OwnedNames {
        let declared = self.declared.map(|declared| {
            let mentioned = tree.every().filter_map(|id| tree.qualified(id));
            let names = mentioned.flat_map(|of| {
                let name = of.text();
                candidates(self.container, &name, of.rooted).map(Cow::into_owned).collect::<Vec<_>>()
            });
            Arc::new(names.filter(|name| declared(name)).collect())
        });
        OwnedNames { container: self.container.into(), declared }
    }
}

/// The names that one tree can see.
#[derive(Debug, Clone)]
pub(super) struct OwnedNames {
    container: Arc<str>,
    declared: Option<Arc<BTreeSet<String>>>,
}

impl OwnedNames {
    /// Calls `then` with the names.
    pub fn with<R>(&self, then: impl FnOnce(&Names<'_>) -> R) -> R {
        let container = &self.container;
        match &self.declared {
            Some(names) => then(&Names { container, declared: Some(&|name| names.contains(name)) }),
            None => then(&Names { container, declared: None }),
        }
    }
}
