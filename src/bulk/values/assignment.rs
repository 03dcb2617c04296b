//! Parsed `--set` expressions.

use crate::value::{Data, DataMap};

/// Maximum list index.
pub const MAX_INDEX: usize = 65_536;
/// Maximum number of keys and indexes in one path.
pub const MAX_NESTING: usize = 30;

/// A `--set` option: how it turns the text after `=` into a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SetKind {
    /// `--set`: recognises booleans, `null` and integers. Everything else is a string.
    Typed,
    /// `--set-string`: always a string.
    Text,
    /// `--set-json`: JSON. An object without `name=` is merged deeply.
    Json,
    /// `--set-file`: the content of the named file.
    File,
    /// `--set-literal`: one `name=text`, taken verbatim.
    Literal,
}

impl SetKind {
    /// Returns the option as typed.
    pub fn flag(self) -> &'static str {
        match self {
            SetKind::Typed => "--set",
            SetKind::Text => "--set-string",
            SetKind::Json => "--set-json",
            SetKind::File => "--set-file",
            SetKind::Literal => "--set-literal",
        }
    }
}

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    Key(String),
    Index(usize),
}

/// The effect at the end of a path.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Action {
    Set(Data),
    Delete,
    /// `a[0]` without a value: makes `a` a list if it is missing or null.
    MakeList,
    Merge(DataMap),
}

/// One assignment of a `--set` expression: a path and its effect.
///
/// ```
/// use dropforge::bulk::values::{parse_set, SetKind};
/// use dropforge::value::{Data, DataMap};
/// let mut map = DataMap::new();
/// for assignment in parse_set(SetKind::Typed, "image.tag=v2,hosts[1]=b", &mut |_| unreachable!()).unwrap() {
///     assignment.apply(&mut map).unwrap();
/// }
/// assert_eq!(serde_json::to_string(&Data::Map(map)).unwrap(), r#"{"image":{"tag":"v2"},"hosts":[null,"b"]}"#);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Assignment {
    pub(super) path: Vec<Step>,
    pub(super) action: Action,
    /// The option and its text, for errors.
    pub(super) origin: String,
}

/// Merges `over` into `base`: maps merge key by key, any other value replaces the old one.
///
/// ```
/// use dropforge::{bulk::values::merge, value::Data};
/// let map = |text| serde_json::from_str::<Data>(text).unwrap().into_map().unwrap();
/// let mut base = map(r#"{"a": {"x": 1, "y": 2}, "b": [1, 2]}"#);
/// merge(&mut base, map(r#"{"a": {"y": 3}, "b": [9]}"#));
/// assert_eq!(base, map(r#"{"a": {"x": 1, "y": 3}, "b": [9]}"#));
/// ```
pub fn merge(base: &mut DataMap, over: DataMap) {
    for (key, value) in over {
        match (base.get_mut(&key), value) {
            (Some(Data::Map(below)), Data::Map(above)) => merge(below, above),
            (_, value) => {
                base.insert(key, value);
            }
        }
    }
}
