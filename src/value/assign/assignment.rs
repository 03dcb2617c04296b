//! Parsed `--set` expressions.

use std::sync::Arc;

use crate::{Data, DataMap};
use dropforge_base::stdlib::json_pointer::names;
use dropforge_base::stdlib::strings::prefix;

/// Maximum list index.
pub const MAX_INDEX: usize = 65_536;
/// Maximum number of keys and indexes in one path.
pub const MAX_NESTING: usize = 30;
/// Maximum number of list items that the assignments to one map skip, such as two in `a[2]=x`.
pub const MAX_GAPS: usize = 1 << 18;
/// Maximum number of bytes of an option that errors repeat.
const SHOWN: usize = 200;

/// The list items that assignments may still skip in one map. Each is created as null.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gaps(pub(super) usize);

impl Gaps {
    /// Allows to skip `more` items.
    pub fn allow(&mut self, more: usize) {
        self.0 += more;
    }
}

impl Default for Gaps {
    fn default() -> Self {
        Self(MAX_GAPS)
    }
}

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

    /// Returns the beginning of the option with `text`, for errors.
    pub(super) fn shown(self, text: &str) -> Arc<str> {
        format!("{} {}", self.flag(), prefix(text, SHOWN)).into()
    }
}

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Step {
    /// The key of a map.
    Key(String),
    /// The index of a list item.
    Index(usize),
}

impl Step {
    /// Returns the key, unless the step is an index.
    pub fn key(&self) -> Option<&str> {
        match self {
            Step::Key(key) => Some(key),
            Step::Index(_) => None,
        }
    }

    /// Returns the steps of a JSON pointer into `values`, up to the first that leads nowhere.
    pub fn of_pointer(pointer: &str, values: &DataMap) -> Vec<Step> {
        let (mut here, mut path): (Option<&Data>, _) = (None, Vec::new());
        for name in names(pointer) {
            let (step, next) = match (here, name.parse()) {
                (Some(Data::List(items)), Ok(at)) => (Step::Index(at), items.get(at)),
                (Some(data), _) => (Step::Key(name.to_string()), data.get(&name)),
                (None, _) => (Step::Key(name.to_string()), values.get(&*name)),
            };
            path.push(step);
            let Some(next) = next else { break };
            here = Some(next);
        }
        path
    }

    /// Returns a path as text, such as `spec.ports[0].port`.
    pub fn joined(path: &[Step]) -> String {
        path.iter().fold(String::new(), |text, step| match step {
            Step::Key(key) if text.is_empty() => key.clone(),
            Step::Key(key) => text + "." + key,
            Step::Index(at) => format!("{text}[{at}]"),
        })
    }
}

/// A value that an input of a template is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InputValue {
    /// The input as a template writes it.
    pub name: String,
    /// The path among the values. Empty for an input that is no value.
    pub path: Vec<Step>,
    /// The file and line of its default.
    pub default: Option<String>,
    /// A schema marks it secret.
    pub is_secret: bool,
}

/// The effect at the end of a path.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Sets a value.
    Set(Data),
    /// Deletes a key.
    Delete,
    /// `a[0]` without a value: makes `a` a list if it is missing or null.
    MakeList,
    /// Merges a map.
    Merge(DataMap),
}

/// One assignment of a `--set` expression: a path and its effect.
///
/// ```
/// use dropforge::bulk::values::{Gaps, SetKind, parse_set};
/// use dropforge::value::{Data, DataMap};
/// let mut map = DataMap::default();
/// for assignment in parse_set(SetKind::Typed, "image.tag=v2,hosts[1]=b", &mut |_| unreachable!()).unwrap() {
///     assignment.apply(&mut map, &mut Gaps::default()).unwrap();
/// }
/// assert_eq!(serde_json::to_string(&Data::Map(map)).unwrap(), r#"{"image":{"tag":"v2"},"hosts":[null,"b"]}"#);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Assignment {
    /// The path.
    pub path: Vec<Step>,
    /// What happens at the path.
    pub action: Action,
    /// The beginning of the option, for errors. The assignments of an option share it.
    pub origin: Arc<str>,
}

impl Assignment {
    /// Returns the path that it sets or deletes.
    pub fn path(&self) -> &[Step] {
        &self.path
    }
}

/// Merges `over` into `base`: maps merge key by key, a null removes the old value, and any other value replaces it. A
/// null without an old value stays null.
///
/// ```
/// use dropforge::{bulk::values::merge, value::Data};
/// let map = |text| serde_json::from_str::<Data>(text).unwrap().into_map().unwrap();
/// let mut base = map(r#"{"a": {"x": 1, "y": 2}, "b": [1, 2], "c": 1}"#);
/// merge(&mut base, map(r#"{"a": {"y": 3}, "b": [9], "c": null}"#));
/// assert_eq!(base, map(r#"{"a": {"x": 1, "y": 3}, "b": [9]}"#));
/// ```
pub fn merge(base: &mut DataMap, over: DataMap) {
    for (key, value) in over {
        match (base.get_mut(&key), value.try_into_map()) {
            (Some(Data::Map(below)), Ok(above)) => merge(below, above),
            (Some(_), Err(Data::Null)) => {
                base.shift_remove(&key);
            }
            (_, value) => {
                base.insert(key, value.map_or_else(std::convert::identity, Data::Map));
            }
        }
    }
}
