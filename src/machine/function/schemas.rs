//! JSON Schemas in programs, compiled once per session.

use std::sync::Arc;

use super::context::Cx;
use dropforge_base::diagnostics::{Code, Result};
use dropforge_schema::Schemas;

/// Maximum number of cached schemas.
const SCHEMAS: usize = 256;

impl Cx<'_> {
    /// Returns the schemas in a program's text. Spends one step per 64 bytes, cached or not.
    pub fn schemas(&self, text: &str) -> Result<Arc<Schemas>> {
        self.spend(text.len() as u64 / 64)?;
        if let Some(schemas) = self.caches.schemas.0.borrow().get(text) {
            return Ok(schemas.clone());
        }
        let schemas = Schemas::read(text).map(Arc::new);
        let schemas = schemas.ok_or_else(|| self.fault(Code::CorruptProgram, "a schema cannot be read"))?;
        let mut kept = self.caches.schemas.0.borrow_mut();
        if kept.len() < SCHEMAS {
            kept.insert(text.to_owned(), schemas.clone());
        }
        Ok(schemas)
    }
}
