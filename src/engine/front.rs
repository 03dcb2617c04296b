//! Engine options for compiling only.

use std::sync::Arc;

use super::cache::Cache;
use super::loader::MemoryLoader;
use crate::bytecode::Dialect;
use crate::compiler::{Loader, NoLoader};
use crate::text::Source;

/// The time at which an unknown filter, test, function, macro or template is an error.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnknownNames {
    /// Compiling fails, unless the name is [declared](super::EngineBuilder::declare).
    #[default]
    Early,
    /// Compiling lists it in [`Template::lints`](super::Template::lints). A render fails if it reaches the name.
    Late,
}

/// The result of a presence test on a value that has no fields and no elements: `has(x.a)`, `x.?a` and `x[?k]` where `x` is
/// null, a boolean, a number or a string, and its type is not known when the template is compiled.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum CelPresence {
    /// Nothing is found, as in Kubernetes: `has(x.a)` is false, `x.?a` and `x[?k]` are empty.
    #[default]
    Lenient,
    /// The test is an error.
    Strict,
}

/// Engine options for compiling only.
pub(super) struct Front {
    pub loader: Arc<dyn Loader>,
    /// Templates that take precedence over the loader's. They are put in front of it when the engine is built.
    pub templates: Vec<Arc<Source>>,
    pub escape_suffixes: Vec<String>,
    pub shell: bool,
    pub strict_let: bool,
    pub cel_presence: CelPresence,
    pub unknown_names: UnknownNames,
    pub cache: Option<Cache>,
}

impl Default for Front {
    fn default() -> Self {
        let escape_suffixes = [".html", ".htm", ".xml"].map(str::to_owned).into();
        Self {
            loader: Arc::new(NoLoader),
            templates: Vec::new(),
            escape_suffixes,
            shell: false,
            strict_let: false,
            cel_presence: CelPresence::default(),
            unknown_names: UnknownNames::default(),
            cache: None,
        }
    }
}

impl Front {
    /// Puts the added templates in front of the loader.
    pub fn complete(mut self) -> Self {
        if !self.templates.is_empty() {
            let over = MemoryLoader::over(self.loader);
            self.loader = Arc::new(self.templates.drain(..).fold(over, MemoryLoader::with));
        }
        self
    }

    /// Returns `true` if the output of this entry template is escaped: for HTML, or for a shell.
    pub fn escapes(&self, dialect: Dialect, name: &str) -> bool {
        if !dialect.escapes_by_name() {
            return self.shell;
        }
        self.escape_suffixes.iter().any(|suffix| name.ends_with(suffix.as_str()))
    }
}
