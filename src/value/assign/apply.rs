//! Applying assignments to a map.
//!
//! A path creates the maps and lists that are missing or null on its way. A value of another kind is an error.

use super::assignment::{Action, Assignment, Gaps, MAX_GAPS, Step, merge};
use crate::{Data, DataMap};
use dropforge_base::diagnostics::{Code, Diagnostic, Result, thousands};

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
                    return Err(self.error(last, Obstacle::Kind { found: other.kind(), expected: "list" }));
                }
            },
            Action::Merge(over) => match here {
                Data::Map(map) => merge(map, over.clone()),
                other => *other = Data::Map(over.clone()),
            },
        }
        Ok(())
    }

    fn error(&self, at: usize, obstacle: Obstacle) -> Box<Diagnostic> {
        match obstacle {
            Obstacle::Kind { found, expected } => self.conflict(at, found, expected),
            Obstacle::Gaps => {
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

/// Returns the value at `path` in `data`.
pub fn value_at<'d>(data: &'d Data, path: &[Step]) -> Option<&'d Data> {
    path.iter().try_fold(data, |here, step| match step {
        Step::Key(key) => here.get(key),
        Step::Index(at) => here.index(*at),
    })
}

/// The reason why a path leads nowhere.
enum Obstacle {
    /// A value of another kind.
    Kind { found: &'static str, expected: &'static str },
    /// Too many skipped list items.
    Gaps,
}

type Found<'d, T> = std::result::Result<&'d mut T, Obstacle>;

/// Returns the map to descend into. A list item of another kind is replaced.
fn as_map(here: &mut Data, inside_list: bool) -> Found<'_, DataMap> {
    if *here == Data::Null || (inside_list && here.as_map().is_none()) {
        *here = Data::Map(DataMap::default());
    }
    match here {
        Data::Map(map) => Ok(map),
        other => Err(Obstacle::Kind { found: other.kind(), expected: "map" }),
    }
}

fn as_list(here: &mut Data) -> Found<'_, Vec<Data>> {
    if *here == Data::Null {
        *here = Data::List(Vec::new());
    }
    match here {
        Data::List(items) => Ok(items),
        other => Err(Obstacle::Kind { found: other.kind(), expected: "list" }),
    }
}

fn list_item<'d>(items: &'d mut Vec<Data>, index: usize, gaps: &mut Gaps) -> Found<'d, Data> {
    gaps.0 = gaps.0.checked_sub(index.saturating_sub(items.len())).ok_or(Obstacle::Gaps)?;
    if items.len() <= index {
        items.resize(index + 1, Data::Null);
    }
    items.get_mut(index).ok_or(Obstacle::Gaps)
}
