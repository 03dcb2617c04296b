//! Applies what was set to a map.
//!
//! A path makes what is missing (or null) on its way; where it meets a value of another kind it stops with an
//! error and names the place.

use super::{Action, Assignment, Step, merge};
use crate::diagnostics::{Code, Diagnostic, Result};
use crate::value::{Data, DataMap};

impl Assignment {
    /// The top-level key it changes.
    pub fn top(&self) -> &str {
        match self.path.first() {
            Some(Step::Key(key)) => key,
            _ => "",
        }
    }

    /// Applies it to `map`.
    ///
    /// # Errors
    /// `input.set_conflict` where the path leads through a value that is neither missing, null nor of the
    /// kind the next step needs.
    pub fn apply(&self, map: &mut DataMap) -> Result<()> {
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
                Step::Index(index) => item(here, *index),
            }
            .map_err(|kind| self.conflict(at, kind))?;
        }
        self.finish(here)
    }

    /// Takes the key at the end of the path away; makes nothing on the way there.
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
                other => return Err(self.conflict(self.path.len().saturating_sub(1), other.kind())),
            },
            Action::Merge(over) => match here {
                Data::Map(map) => merge(map, over.clone()),
                other => *other = Data::Map(over.clone()),
            },
        }
        Ok(())
    }

    fn conflict(&self, at: usize, kind: &'static str) -> Box<Diagnostic> {
        let mut path = String::new();
        for step in self.path.iter().take(at + 1) {
            match step {
                Step::Key(key) if path.is_empty() => path.push_str(key),
                Step::Key(key) => path.extend([".", key]),
                Step::Index(index) => path.push_str(&format!("[{index}]")),
            }
        }
        Diagnostic::new(Code::SetConflict, format!("`{}`: `{path}` is a {kind}", self.origin))
            .with_help(format!("set `{path}` as a whole, or leave out what follows it"))
    }
}

/// The map to go on in. In a list an item of another kind gives way, as it does in Helm.
fn as_map(here: &mut Data, inside_list: bool) -> std::result::Result<&mut DataMap, &'static str> {
    if *here == Data::Null || (inside_list && here.as_map().is_none()) {
        *here = Data::Map(DataMap::new());
    }
    match here {
        Data::Map(map) => Ok(map),
        other => Err(other.kind()),
    }
}

fn item(here: &mut Data, index: usize) -> std::result::Result<&mut Data, &'static str> {
    if *here == Data::Null {
        *here = Data::List(Vec::new());
    }
    let Data::List(items) = here else { return Err(here.kind()) };
    if items.len() <= index {
        items.resize(index + 1, Data::Null);
    }
    items.get_mut(index).ok_or("list")
}
