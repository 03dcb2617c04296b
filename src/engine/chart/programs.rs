//! The compiled programs of a chart, one for each set of enabled charts.

use std::sync::{Mutex, PoisonError};

use crate::Template;
use dropforge_helm::chart::Plan;

/// Maximum number of programs that are kept.
const KEPT: usize = 16;

/// The enabled charts: the path of each and its number in the source.
type Enabled = Vec<(String, usize)>;

/// The part of the templates that a program has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Extent {
    /// What some values seem to need.
    Partial,
    /// Everything.
    Whole,
}

/// Returns the name that the program of a plan has in an artifact: that of the chart and a digest of the enabled charts.
pub(super) fn name(plan: &Plan) -> String {
    let mut key = Vec::new();
    for (path, number) in enabled(plan) {
        key.extend_from_slice(path.as_bytes());
        key.push(0);
        key.extend_from_slice(&(number as u64).to_le_bytes());
    }
    let chart = plan.charts().first().map_or("", |chart| chart.path());
    format!("{chart}@{:016x}", xxhash_rust::xxh3::xxh3_64(&key))
}

fn enabled(plan: &Plan) -> Enabled {
    plan.charts().iter().map(|chart| (chart.path().to_owned(), chart.number())).collect()
}

/// Programs, the most recently used last.
#[derive(Debug, Default)]
pub(super) struct Programs {
    kept: Mutex<Vec<(Enabled, Extent, Template)>>,
}

impl Programs {
    /// Returns the program of a plan, of at least this extent, which `compile` makes if there is none.
    ///
    /// # Errors
    /// Those of `compile`.
    pub fn get<E>(
        &self,
        plan: &Plan,
        extent: Extent,
        compile: impl FnOnce() -> Result<Template, E>,
    ) -> Result<(Template, Extent), E> {
        let enabled = enabled(plan);
        if let Some(known) = self.take(&enabled, extent) {
            return Ok(known);
        }
        // Other renders go on meanwhile.
        let template = compile()?;
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        // A whole program replaces a partial one.
        kept.retain(|(known, had, _)| *known != enabled || *had > extent);
        if kept.len() == KEPT {
            kept.remove(0);
        }
        kept.push((enabled, extent, template.clone()));
        Ok((template, extent))
    }

    fn take(&self, enabled: &Enabled, extent: Extent) -> Option<(Template, Extent)> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let at = kept.iter().position(|(known, had, _)| known == enabled && *had >= extent)?;
        let found = kept.remove(at);
        let answer = (found.2.clone(), found.1);
        kept.push(found);
        Some(answer)
    }

    /// Returns the number of programs.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}
