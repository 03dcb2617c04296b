//! Assignments of the command line: `a.b=1,c={x,y}`, `a[0].b=2`, `\,` for a literal comma.
//!
//! An expression is parsed once into [`Assignment`]s, which then apply to any number of maps. Paths have at most 30 steps
//! and indexes at most 65,536; all indexes together skip at most 262,144 list items. [`Rules`] has the rules that
//! differ between users of the grammar.

mod parse;

use std::sync::Arc;

use crate::{Data, DataMap, Step, value_at};
use dropforge_base::diagnostics::{Code, Diagnostic, Result, thousands};
use dropforge_base::stdlib::strings::prefix;

pub use parse::{Rules, parse_path, parse_set, parse_set_in, set_to, typed};

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
    fn shown(self, text: &str) -> Arc<str> {
        format!("{} {}", self.flag(), prefix(text, SHOWN)).into()
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

impl Assignment {
    /// Returns the top-level key that the assignment changes.
    pub fn top(&self) -> &str {
        match self.path.first() {
            Some(Step::Key(key)) => key,
            _ => "",
        }
    }

    /// Returns the assigned value.
    pub fn value_mut(&mut self) -> Option<&mut Data> {
        match &mut self.action {
            Action::Set(value) => Some(value),
            _ => None,
        }
    }

    /// Applies the assignment to `map`.
    ///
    /// # Errors
    /// `input.set_conflict` if the path leads through a value of another kind; `input.bad_set` if its indexes skip more
    /// than the remaining `gaps`.
    pub fn apply(&self, map: &mut DataMap, gaps: &mut Gaps) -> Result<()> {
        if self.action == Action::Delete {
            self.delete(map);
            return Ok(());
        }
        let (Some(Step::Key(top)), Some(rest)) = (self.path.first(), self.path.get(1..)) else { return Ok(()) };
        let mut here = map.entry(top.clone()).or_default();
        for (at, step) in rest.iter().enumerate() {
            let inside_list = matches!(self.path.get(at), Some(Step::Index(_)));
            here = match step {
                Step::Key(key) => as_map(here, inside_list).map(|map| map.entry(key.clone()).or_default()),
                Step::Index(index) => as_list(here).and_then(|items| list_item(items, *index, gaps)),
            }
            .map_err(|obstacle| self.error(at, obstacle))?;
        }
        self.finish(here)
    }

    /// Returns `true` if the assignment gives the value at `path`, alone or as a part of a larger value.
    pub fn gives(&self, path: &[Step]) -> bool {
        let Some(rest) = path.strip_prefix(self.path.as_slice()) else { return false };
        match &self.action {
            Action::Set(value) => value_at(value, rest).is_some(),
            Action::Merge(map) => match rest {
                [Step::Key(first), rest @ ..] => map.get(first).is_some_and(|value| value_at(value, rest).is_some()),
                _ => false,
            },
            Action::Delete | Action::MakeList => false,
        }
    }

    /// Deletes the key at the end of the path. Creates nothing.
    fn delete(&self, map: &mut DataMap) {
        let Some((Step::Key(last), way)) = self.path.split_last() else { return };
        let Some((Step::Key(top), way)) = way.split_first() else {
            map.shift_remove(last);
            return;
        };
        let mut here = map.get_mut(top);
        for step in way {
            here = match (step, here) {
                (Step::Key(key), Some(Data::Map(map))) => map.get_mut(key),
                (Step::Index(index), Some(Data::List(items))) => items.get_mut(*index),
                _ => None,
            };
        }
        if let Some(Data::Map(map)) = here {
            map.shift_remove(last);
        }
    }

    fn finish(&self, here: &mut Data) -> Result<()> {
        match &self.action {
            Action::Set(value) => *here = value.clone(),
            Action::Delete => {}
            Action::MakeList => match here {
                Data::Null => *here = Data::List(Vec::new()),
                Data::List(_) => {}
                other => {
                    let last = self.path.len().saturating_sub(1);
                    return Err(self.error(last, Some([other.kind(), "list"])));
                }
            },
            Action::Merge(over) => match here {
                Data::Map(map) => merge(map, over.clone()),
                other => *other = Data::Map(over.clone()),
            },
        }
        Ok(())
    }

    fn error(&self, at: usize, obstacle: Option<[&str; 2]>) -> Box<Diagnostic> {
        match obstacle {
            Some([found, expected]) => self.conflict(at, found, expected),
            None => {
                let most = thousands(MAX_GAPS);
                let message = format!("`{}`: the indexes of all options skip more than {most} list items", self.origin);
                Diagnostic::new(Code::BadSet, message).with_help("count indexes from 0 without gaps")
            }
        }
    }

    /// Returns the error of a value of another kind at the step `at`.
    fn conflict(&self, at: usize, found: &str, expected: &str) -> Box<Diagnostic> {
        let path = Step::joined(self.path.get(..=at).unwrap_or(&self.path));
        Diagnostic::new(
            Code::SetConflict,
            format!("`{}`: expected a {expected} at `{path}`, found {found}", self.origin),
        )
        .with_help(format!("set `{path}` itself to replace it"))
        .with_field("found", found)
        .with_field("expected", expected)
    }
}

/// A value that a path leads to. The error is a value of another kind and the kind that is expected there, or `None` for
/// too many skipped list items.
type Found<'d, T> = std::result::Result<&'d mut T, Option<[&'static str; 2]>>;

/// Returns the map to descend into. A list item of another kind is replaced.
fn as_map(here: &mut Data, inside_list: bool) -> Found<'_, DataMap> {
    if *here == Data::Null || (inside_list && here.as_map().is_none()) {
        *here = Data::Map(DataMap::default());
    }
    match here {
        Data::Map(map) => Ok(map),
        other => Err(Some([other.kind(), "map"])),
    }
}

fn as_list(here: &mut Data) -> Found<'_, Vec<Data>> {
    if *here == Data::Null {
        *here = Data::List(Vec::new());
    }
    match here {
        Data::List(items) => Ok(items),
        other => Err(Some([other.kind(), "list"])),
    }
}

fn list_item<'d>(items: &'d mut Vec<Data>, index: usize, gaps: &mut Gaps) -> Found<'d, Data> {
    gaps.0 = gaps.0.checked_sub(index.saturating_sub(items.len())).ok_or(None)?;
    if items.len() <= index {
        items.resize(index + 1, Data::Null);
    }
    items.get_mut(index).ok_or(None)
}
