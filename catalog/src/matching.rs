//! Matching of templates and stacks: a stack must have every label and annotation that the template requires. It may
//! have others. Texts are compared byte for byte, and a label never matches an annotation.

use std::collections::HashSet;

use serde_json::json;

use super::error::{CatalogError, ErrorKind, Result};
use super::store::Metadata;

/// Returns everything in `required` that is not in `actual`, in the order of `required`.
///
/// ```
/// use dropforge_catalog::matching::missing;
/// use dropforge_catalog::store::Metadata;
/// let required = Metadata { labels: vec!["env=prod".into(), "tier=1".into()], ..Metadata::default() };
/// let actual = Metadata { labels: vec!["team=a".into(), "env=prod".into()], ..Metadata::default() };
/// assert_eq!(missing(&required, &actual).labels, ["tier=1"]);
/// ```
pub fn missing(required: &Metadata, actual: &Metadata) -> Metadata {
    let labels: HashSet<&String> = actual.labels.iter().collect();
    let annotations: HashSet<&(String, String)> = actual.annotations.iter().collect();
    Metadata {
        labels: required.labels.iter().filter(|label| !labels.contains(label)).cloned().collect(),
        annotations: required.annotations.iter().filter(|pair| !annotations.contains(pair)).cloned().collect(),
    }
}

/// Checks that nothing is [`missing`].
///
/// # Errors
/// `template_stack_mismatch`, with `missing_labels` and with `missing_annotations` as pairs.
pub fn check(required: &Metadata, actual: &Metadata) -> Result<()> {
    let missing = missing(required, actual);
    if missing == Metadata::default() {
        return Ok(());
    }
    let message = "template labels do not match stack";
    Err(CatalogError::new(ErrorKind::Unprocessable, "template_stack_mismatch", message)
        .with_details(json!({ "missing_labels": missing.labels, "missing_annotations": missing.annotations })))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metadata(labels: &[&str], annotations: &[(&str, &str)]) -> Metadata {
        let annotations = annotations.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        Metadata { labels: labels.iter().map(|label| (*label).to_owned()).collect(), annotations }
    }

    #[test]
    fn everything_required_must_be_there_and_anything_else_may() {
        assert!(check(&metadata(&[], &[]), &metadata(&["a"], &[("k", "v")])).is_ok());
        assert!(check(&metadata(&["a"], &[("k", "v")]), &metadata(&["b", "a"], &[("k", "v"), ("l", "v")])).is_ok());
        let required = metadata(&["b", "a", "A", "a "], &[("k", "v"), ("l", "v")]);
        let lacks = missing(&required, &metadata(&["a", "k=v"], &[("k", "V"), ("l", "v"), ("b", "b")]));
        assert_eq!(lacks, metadata(&["b", "A", "a "], &[("k", "v")]));
    }

    #[test]
    fn the_error_names_what_is_not_found() {
        let error = check(&metadata(&["a"], &[("k", "v")]), &metadata(&["k"], &[])).unwrap_err();
        assert_eq!((error.kind.status(), error.code.as_str()), (422, "template_stack_mismatch"));
        assert_eq!(error.details, Some(json!({"missing_labels": ["a"], "missing_annotations": [["k", "v"]]})));
    }

    #[test]
    fn many_labels_are_compared_in_one_pass() {
        let all: Vec<String> = (0..20_000).map(|at| format!("l{at}")).collect();
        let (even, odd): (Vec<_>, Vec<_>) = all.into_iter().enumerate().partition(|(at, _)| at % 2 == 0);
        let metadata = |labels: Vec<(usize, String)>| Metadata {
            labels: labels.into_iter().map(|(_, l)| l).collect(),
            ..Metadata::default()
        };
        assert_eq!(missing(&metadata(even), &metadata(odd)).labels.len(), 10_000);
    }
}
