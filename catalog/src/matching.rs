//! Matching of templates and stacks: a stack must have every label and annotation that the template requires. It may
//! have others. Texts are compared byte for byte, and a label never matches an annotation.

use std::collections::HashSet;

use serde_json::json;

use super::refusal::{Class, Refusal, Result};
use super::store::Marks;

/// Returns everything in `wanted` that is not in `given`, in the order of `wanted`.
///
/// ```
/// use dropforge_catalog::matching::missing;
/// use dropforge_catalog::store::Marks;
/// let wanted = Marks { labels: vec!["env=prod".into(), "tier=1".into()], ..Marks::default() };
/// let given = Marks { labels: vec!["team=a".into(), "env=prod".into()], ..Marks::default() };
/// assert_eq!(missing(&wanted, &given).labels, ["tier=1"]);
/// ```
pub fn missing(wanted: &Marks, given: &Marks) -> Marks {
    let labels: HashSet<&String> = given.labels.iter().collect();
    let annotations: HashSet<&(String, String)> = given.annotations.iter().collect();
    Marks {
        labels: wanted.labels.iter().filter(|label| !labels.contains(label)).cloned().collect(),
        annotations: wanted.annotations.iter().filter(|pair| !annotations.contains(pair)).cloned().collect(),
    }
}

/// Checks that nothing is [`missing`].
///
/// # Errors
/// `template_stack_mismatch`, with `missing_labels` and with `missing_annotations` as pairs.
pub fn matches(wanted: &Marks, given: &Marks) -> Result<()> {
    let missing = missing(wanted, given);
    if missing == Marks::default() {
        return Ok(());
    }
    let message = "template labels do not match stack";
    Err(Refusal::new(Class::Unprocessable, "template_stack_mismatch", message)
        .with(json!({ "missing_labels": missing.labels, "missing_annotations": missing.annotations })))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks(labels: &[&str], annotations: &[(&str, &str)]) -> Marks {
        let annotations = annotations.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        Marks { labels: labels.iter().map(|label| (*label).to_owned()).collect(), annotations }
    }

    #[test]
    fn everything_asked_for_must_be_there_and_anything_else_may() {
        assert!(matches(&marks(&[], &[]), &marks(&["a"], &[("k", "v")])).is_ok());
        assert!(matches(&marks(&["a"], &[("k", "v")]), &marks(&["b", "a"], &[("k", "v"), ("l", "v")])).is_ok());
        let wanted = marks(&["b", "a", "A", "a "], &[("k", "v"), ("l", "v")]);
        let lacks = missing(&wanted, &marks(&["a", "k=v"], &[("k", "V"), ("l", "v"), ("b", "b")]));
        assert_eq!(lacks, marks(&["b", "A", "a "], &[("k", "v")]));
    }

    #[test]
    fn the_answer_names_what_is_missing() {
        let refusal = matches(&marks(&["a"], &[("k", "v")]), &marks(&["k"], &[])).unwrap_err();
        assert_eq!((refusal.class.status(), refusal.code.as_str()), (422, "template_stack_mismatch"));
        assert_eq!(refusal.details, Some(json!({"missing_labels": ["a"], "missing_annotations": [["k", "v"]]})));
    }

    #[test]
    fn many_marks_are_compared_in_one_pass() {
        let all: Vec<String> = (0..20_000).map(|at| format!("l{at}")).collect();
        let (even, odd): (Vec<_>, Vec<_>) = all.into_iter().enumerate().partition(|(at, _)| at % 2 == 0);
        let of = |labels: Vec<(usize, String)>| Marks {
            labels: labels.into_iter().map(|(_, l)| l).collect(),
            ..Marks::default()
        };
        assert_eq!(missing(&of(even), &of(odd)).labels.len(), 10_000);
    }
}
