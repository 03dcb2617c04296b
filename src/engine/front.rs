//! Options of an engine that only compiling needs.

use std::sync::Arc;

use super::cache::Cache;
use super::loader::MemoryLoader;
use crate::bytecode::Dialect;
use crate::compiler::{Loader, NoLoader};
use crate::text::Source;

/// When a name that the engine does not have is an error: a filter, test, function, macro or template.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum UnknownNames {
    /// Compiling fails, unless the name is [declared](super::EngineBuilder::declare).
    #[default]
    Early,
    /// Compiling lists it in [`Template::lints`](super::Template::lints). A render fails when it reaches the name.
    Late,
}

/// Options of an engine that only compiling needs.
pub(super) struct Front {
    pub loader: Arc<dyn Loader>,
    /// Templates found before the loader's. They are put over it when the engine is built.
    pub templates: Vec<Arc<Source>>,
    pub escape_suffixes: Vec<String>,
    pub shell: bool,
    pub strict_let: bool,
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
            unknown_names: UnknownNames::default(),
            cache: None,
        }
    }
}

impl Front {
    /// Puts the added templates over the loader's.
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
