//! The error of clusters with the same name.

use std::collections::HashMap;

use super::{Fleet, MAX_REPORTED};
use crate::key_set::SortedKeys;
use dropforge_base::diagnostics::{Code, Diagnostic, Result, counted};

/// Two clusters with the same name.
struct Pair {
    name: String,
    first: usize,
    second: usize,
}

/// Returns the error of the clusters whose names are repeated among `names`, if there are any.
///
/// # Errors
/// Errors of reading clusters.
pub(super) fn error(fleet: &Fleet, names: &SortedKeys) -> Result<Option<Box<Diagnostic>>> {
    let (mut seen, mut pairs, mut more) = (HashMap::new(), Vec::new(), 0);
    fleet.each(&mut |second, cluster| {
        let name = cluster.name();
        let first = names.is_repeated(name).then(|| seen.insert(name.to_owned(), second)).flatten();
        match first {
            Some(first) if pairs.len() <= MAX_REPORTED => pairs.push(Pair { name: name.to_owned(), first, second }),
            Some(_) => more += 1,
            None => {}
        }
        Ok(())
    })?;
    let Some((first, others)) = pairs.split_first() else { return Ok(None) };
    let mut reader = fleet.reader();
    let mut error = Diagnostic::new(Code::DuplicateCluster, format!("duplicate cluster name {}", first.shown(fleet)))
        .with_help("give each cluster a unique name");
    for (at, text) in [(first.second, ""), (first.first, "the other cluster")] {
        error = reader.cluster(at)?.label(error, text);
    }
    for other in others {
        let place = reader.cluster(other.second)?.position().unwrap_or_default();
        error = error.with_note(format!("also {}{place}", other.shown(fleet)));
    }
    Ok(Some(if more > 0 { error.with_note(format!("and {}", counted(more, "more pair"))) } else { error }))
}

impl Pair {
    fn shown(&self, fleet: &Fleet) -> String {
        format!("`{}` ({} and {})", self.name, fleet.place(self.first), fleet.place(self.second))
    }
}
