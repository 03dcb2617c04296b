//! What an expression costs at least and at most, before it runs: by the constants of the reference, so that limits
//! mean the same here and there.
//!
//! A name, a select or a call costs 1, a constant nothing; making a list 10, a map 30; going through a text 0.1 for
//! each character; a loop what its body costs for each element. Sizes come from constants and constructors, from hints
//! about variables, and are unknown otherwise.

mod calls;
mod extensions;
mod range;
mod strings;
#[cfg(test)]
mod tests;
mod walk;

use std::collections::HashMap;

pub use range::Range;

use super::Checked;
use crate::dialect::cel::syntax::tree::Tree;

/// What is known of the sizes of variables: of a text how many characters, of bytes how many, of a list or map how many
/// elements. A path is a variable's name, then names of fields, `@items` (the elements of a list), `@keys` and
/// `@values` (those of a map), with dots between them.
#[derive(Debug, Clone, Default)]
pub struct Hints {
    sizes: HashMap<String, Range>,
    /// Whether `has(…)` costs nothing.
    pub free_presence: bool,
}

impl Hints {
    /// The same with what is known of a path.
    #[must_use]
    pub fn with(mut self, path: impl Into<String>, size: Range) -> Self {
        self.sizes.insert(path.into(), size);
        self
    }
}

/// What an expression costs.
///
/// ```
/// use dropforge::dialect::cel::check::{Environment, check, cost::{Hints, Range, estimate}};
/// use dropforge::dialect::cel::{builtins, syntax::{Options, parse}};
/// use dropforge::{function::Registry, text::Source};
/// let mut environment = Environment::new(&Registry::of(builtins::STANDARD));
/// environment.declare("ports", "list(int)").unwrap();
/// let tree = parse(&Source::new("e", "ports.all(p, p > 1024)"), &Options::default()).unwrap();
/// let checked = check(&tree, &environment).unwrap();
/// let hints = Hints::default().with("ports", Range::new(0, 10));
/// assert_eq!(estimate(&tree, &checked, &hints), Range::new(2, 52));
/// assert_eq!(estimate(&tree, &checked, &Hints::default()).max, u64::MAX);
/// ```
pub fn estimate(tree: &Tree, checked: &Checked, hints: &Hints) -> Range {
    walk::Walk::new(tree, checked, hints).cost(tree.root)
}
