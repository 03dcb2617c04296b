//! Caches of a session: compiled regular expressions and schemas.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use regex::Regex;

use dropforge_schema::Schemas;

/// Compiled regular expressions and schemas, kept from render to render.
#[derive(Debug, Default)]
pub struct Caches {
    pub(super) patterns: PatternCache,
    pub(super) re2: Re2Cache,
    pub(super) schemas: SchemaCache,
}

/// Compiled patterns. They are shared, not cloned: a clone starts with an empty automaton cache.
type Patterns = hashbrown::HashMap<String, Arc<Regex>>;

/// The patterns of a session.
#[derive(Debug, Default)]
pub struct PatternCache(pub(super) RefCell<Patterns>);

/// The patterns of a session in RE2 syntax, in the order of their first use: as many as a context has bits for. They are
/// never replaced. Allocated with the first pattern.
#[derive(Debug, Default)]
pub struct Re2Cache(pub(super) OnceCell<Box<[OnceCell<super::patterns::Translated>]>>);

/// Patterns that the current render has paid for. The cost of a render must not depend on earlier ones. Allocated with
/// the first pattern.
#[derive(Debug, Default)]
pub(super) struct PaidPatterns(pub(super) OnceCell<Rc<RefCell<Patterns>>>);

/// The schemas of a session, by their text.
#[derive(Debug, Default)]
pub struct SchemaCache(pub(super) RefCell<hashbrown::HashMap<String, Arc<Schemas>>>);
