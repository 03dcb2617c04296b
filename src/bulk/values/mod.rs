//! Values from the command line: the grammar of Helm's `--set` family, and the deep merge of `-f` files.
//!
//! An expression is read once into [`Assignment`]s and then applied to any number of maps, because a `--set`
//! counts for the shared layer and for every cluster that brings its own value of the same top-level key.
//!
//! The grammar is Helm's: `a.b=1,c={x,y}`, `a[0].b=2`, `\,` for a literal comma; at most 30 names below one
//! another and indexes up to 65,536. `null` deletes a key.

mod assign;
mod parse;

pub use parse::parse_set;

use crate::value::{Data, DataMap};

/// The largest index of a list.
pub const MAX_INDEX: usize = 65_536;
/// The most names and indexes in one path.
pub const MAX_NESTING: usize = 30;

/// How the text behind `=` becomes a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetKind {
    /// `--set`: booleans, `null` and whole numbers are recognised, all else is text.
    Typed,
    /// `--set-string`: always text.
    Text,
    /// `--set-json`: JSON; a whole object without `name=` is merged deeply.
    Json,
    /// `--set-file`: the text of the file named.
    File,
    /// `--set-literal`: one `name=text`, the text taken as it is.
    Literal,
}

impl SetKind {
    /// The option as it is typed.
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
enum Step {
    Key(String),
    Index(usize),
}

/// What is done at the end of a path.
#[derive(Debug, Clone, PartialEq)]
enum Action {
    Set(Data),
    Delete,
    /// `a[0]` without a value: `a` becomes a list if it is nothing yet.
    MakeList,
    Merge(DataMap),
}

/// One value and where it goes.
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
    path: Vec<Step>,
    action: Action,
    /// The option and its text, for errors.
    origin: String,
}

/// Lays `over` on `base`: maps merge key by key, anything else replaces what was there.
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

#[cfg(test)]
mod tests;
