//! Selection of documents.

use serde_json::Value;

use super::compare::{same, short};
use super::output::Output;
use super::suite::{Documents, Selector};

/// A document that an assertion is about.
#[derive(Debug, Clone, Copy)]
pub(super) struct Selected<'o> {
    pub output: &'o Output,
    /// The number of the document in its output.
    pub at: usize,
    pub document: &'o Value,
}

/// Selects documents of outputs.
///
/// # Errors
/// What is wrong with the selection.
pub(super) fn select<'o>(wanted: &Documents, outputs: &[&'o Output]) -> Result<Vec<Selected<'o>>, String> {
    match wanted {
        Documents { selector: Some(selector), .. } => by_value(selector, outputs),
        Documents { index: Some(index), .. } => {
            let one = |output: &&'o Output| {
                let documents = all(output);
                let count = documents.len();
                let missing = || format!("`{}` has {count} documents, so none has index {index}", output.template);
                documents.into_iter().nth(*index).ok_or_else(missing)
            };
            outputs.iter().map(one).collect()
        }
        _ => Ok(outputs.iter().flat_map(all).collect()),
    }
}

fn all<'o>(output: &&'o Output) -> Vec<Selected<'o>> {
    let output: &'o Output = output;
    let documents = output.documents().as_ref().map(Vec::as_slice).unwrap_or_default();
    documents.iter().enumerate().map(|(at, document)| Selected { output, at, document }).collect()
}

fn by_value<'o>(selector: &Selector, outputs: &[&'o Output]) -> Result<Vec<Selected<'o>>, String> {
    let mut selected = Vec::new();
    let path = selector.path.text();
    let value = selector.value.as_ref().map(|value| format!(" is {}", short(value))).unwrap_or_default();
    for output in outputs {
        let is_it = |one: &Selected<'_>| {
            let found = selector.path.find(one.document);
            match &selector.value {
                Some(value) => found.into_iter().any(|other| same(value, other)),
                None => !found.is_empty(),
            }
        };
        let before = selected.len();
        selected.extend(all(output).into_iter().filter(is_it));
        if selected.len() == before && !selector.skips_empty && (selector.many || outputs.len() == 1) {
            return Err(format!("`{}` has no document whose `{path}`{value}", output.template));
        }
    }
    match selected.len() {
        0 => Err(format!("there is no document whose `{path}`{value}")),
        1 => Ok(selected),
        _ if selector.many => Ok(selected),
        count => Err(format!("the `{path}` of {count} documents{value}: set `matchMany`, or select one")),
    }
}
