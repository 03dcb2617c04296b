//! Inputs known before a render.

use dropforge_value::{Map, Value};

/// An input as far as it is known: a tree of paths.
///
/// ```
/// use dropforge::specialise::Known;
/// use dropforge::value::Value;
/// let cluster = Known::Fields(vec![("env", Known::Value(Value::Bool(true)))]);
/// assert!(matches!(cluster.field("env"), Known::Value(Value::Bool(true))));
/// assert!(matches!(cluster.field("name"), Known::Open));
/// ```
#[derive(Debug, Clone, Default)]
pub enum Known<'v> {
    /// Nothing is known. Unlike an unknown value of a language, this is no value.
    #[default]
    Open,
    /// There is no value.
    Absent,
    /// The whole value is known.
    Value(Value<'v>),
    /// A string whose content is not known.
    Text,
    /// A map of which these entries are known. Nothing is known of others.
    Fields(Vec<(&'v str, Known<'v>)>),
    /// A map with exactly these entries, in this order.
    Entries(Vec<(&'v str, Known<'v>)>),
}

/// Nothing is known.
const OPEN: &Known<'static> = &Known::Open;

impl<'v> Known<'v> {
    /// Returns the top-level inputs of a map, all known. Nothing is known of other names.
    pub fn of_map(map: &'v Map<'v>) -> Self {
        Known::Fields(map.iter().map(|(name, value)| (name, Known::Value(value))).collect())
    }

    /// Returns the entry of a map of known fields.
    pub fn field(&self, name: &str) -> &Known<'v> {
        let (Known::Fields(fields) | Known::Entries(fields)) = self else { return OPEN };
        fields.iter().find(|(field, _)| *field == name).map_or(OPEN, |(_, known)| known)
    }
}
