//! Patterns of unknown attributes.

use crate::syntax::tree::{Expr, Literal, Tree};

/// The maximum number of parts of a pattern.
pub(super) const PARTS: usize = 250;

/// A key within an attribute. A number is the same key in every number type, as in maps and lists.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    Bool(bool),
    Number(i128),
    Text(String),
}

impl Key {
    /// Makes the key of a field.
    pub fn text(name: &str) -> Self {
        Self::Text(name.to_owned())
    }

    /// Returns the key that a literal is.
    pub fn of_literal(tree: &Tree, expr: Expr) -> Option<Self> {
        match expr {
            Expr::Literal(Literal::String(text)) => Some(Key::text(tree.name(text))),
            Expr::Literal(Literal::Int(number)) => Some(Key::Number(number.into())),
            Expr::Literal(Literal::Uint(number)) => Some(Key::Number(number.into())),
            // Every integer below 2^53 is exact as a float.
            Expr::Literal(Literal::Double(n)) if n.fract() == 0.0 && n.abs() < 9_007_199_254_740_992.0 => {
                Some(Key::Number(n as i128))
            }
            Expr::Literal(Literal::Bool(truth)) => Some(Key::Bool(truth)),
            _ => None,
        }
    }
}

/// A part of a pattern.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Part {
    /// Any key.
    Any,
    Key(Key),
}

/// A set of attributes: a variable, with fields and elements below it. It matches everything at and below it, and
/// everything that contains it.
///
/// In text form, fields follow dots, keys are in brackets, and `*` is any field or element.
///
/// ```
/// use dropforge::dialect::cel::Pattern;
/// let pattern = Pattern::new("request").field("auth").index(0).wildcard();
/// assert_eq!(pattern.to_string(), "request.auth[0].*");
/// assert_eq!("request.auth[0].*".parse::<Pattern>()?, pattern);
/// assert_eq!("labels['app.kubernetes.io/name']".parse::<Pattern>()?, Pattern::new("labels").field("app.kubernetes.io/name"));
/// assert!("request..auth".parse::<Pattern>().is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pattern {
    /// The parts of the variable's name, which are keys, and the parts below it.
    pub(super) parts: Vec<Part>,
}

impl Pattern {
    /// Makes the pattern of a variable, by its qualified name: `ns.request`.
    pub fn new(variable: &str) -> Self {
        Self { parts: variable.split('.').map(|part| Part::Key(Key::text(part))).collect() }
    }

    fn with(mut self, part: Part) -> Self {
        self.parts.push(part);
        self
    }

    /// Adds a field, or a string key.
    #[must_use]
    pub fn field(self, name: &str) -> Self {
        self.with(Part::Key(Key::text(name)))
    }

    /// Adds an element, or an integer key.
    #[must_use]
    pub fn index(self, index: i64) -> Self {
        self.with(Part::Key(Key::Number(index.into())))
    }

    /// Adds any field or element.
    #[must_use]
    pub fn wildcard(self) -> Self {
        self.with(Part::Any)
    }

    /// Returns the first part of the variable's name.
    pub fn root(&self) -> &str {
        match self.parts.first() {
            Some(Part::Key(Key::Text(name))) => name,
            _ => "",
        }
    }
}

/// A step of an attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Qualifier<E> {
    Key(Key),
    /// A key that is computed at runtime.
    Computed(E),
}
