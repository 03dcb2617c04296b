//! Hints about the sizes of variables.

use std::collections::HashMap;

use crate::cost::Range;

/// The sizes of variables: characters of strings, bytes, elements of lists and maps. A path is a variable's name followed
/// by dots and names of fields, `@items` (the elements of a list), `@keys` or `@values` (of a map).
#[derive(Debug, Clone, Default)]
pub struct Hints {
    pub(super) sizes: HashMap<String, Range>,
    /// Set if `has(…)` costs nothing.
    pub free_presence: bool,
}

impl Hints {
    /// Adds the size of a path.
    #[must_use]
    pub fn with(mut self, path: impl Into<String>, size: Range) -> Self {
        self.sizes.insert(path.into(), size);
        self
    }
}
