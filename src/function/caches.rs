//! Caches of a session: compiled regular expressions and schemas.

/// Compiled regular expressions and schemas, kept from render to render.
#[derive(Debug, Default)]
pub struct Caches {
    #[cfg(feature = "patterns")]
    pub(super) patterns: super::patterns::PatternCache,
    #[cfg(feature = "cel")]
    pub(super) schemas: super::schemas::SchemaCache,
}
