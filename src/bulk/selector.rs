//! Cluster selectors (`-l env=prod,cluster.tier!=small`).

use super::layers::View;
use crate::diagnostics::{Code, Diagnostic, Result};
use crate::value::Data;

/// Conditions on a cluster's inputs. A cluster is selected if all of them hold.
///
/// ```
/// use dropforge::bulk::{Merge, Selector, View};
/// use dropforge::value::Data;
/// let map = |text| serde_json::from_str::<Data>(text).unwrap().into_map().unwrap();
/// let selector = Selector::parse("env=prod,cluster.tier!=small").unwrap();
/// let (shared, own) = (map(r#"{"env": "prod"}"#), map(r#"{"cluster": {"tier": "large"}}"#));
/// assert!(selector.matches(&View::new(&shared, &own, Merge::Deep)));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selector {
    terms: Vec<Term>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Term {
    path: String,
    equal: bool,
    value: String,
}

impl Selector {
    /// Parses terms `a.b=v`, `a.b==v` and `a.b!=v`, separated by commas.
    ///
    /// # Errors
    /// `usage` for any other term.
    pub fn parse(text: &str) -> Result<Self> {
        text.split(',').map(term).collect::<Result<_>>().map(|terms| Self { terms })
    }

    /// Adds the terms of another selector.
    pub fn and(mut self, other: Selector) -> Self {
        self.terms.extend(other.terms);
        self
    }

    /// Returns `true` if the selector selects every cluster.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Returns `true` if these inputs are selected. A missing value equals nothing.
    pub fn matches(&self, inputs: &View<'_>) -> bool {
        let equals =
            |data: &Data, value: &str| !matches!(data, Data::List(_) | Data::Map(_)) && scalar_text(data) == value;
        self.terms.iter().all(|term| inputs.get(&term.path).is_some_and(|data| equals(data, &term.value)) == term.equal)
    }
}

fn term(text: &str) -> Result<Term> {
    let split = ["!=", "==", "="].into_iter().find_map(|operator| Some((operator, text.split_once(operator)?)));
    match split {
        Some((operator, (path, value))) if !path.trim().is_empty() => {
            let equal = operator != "!=";
            Ok(Term { path: path.trim().to_owned(), equal, value: value.trim().to_owned() })
        }
        _ => Err(Diagnostic::new(Code::Usage, format!("invalid selector `{text}`"))
            .with_help("use `-l env=prod` or `-l cluster.tier!=small`, separated by commas")),
    }
}

/// Formats a scalar as JSON, but strings without quotes.
pub(super) fn scalar_text(data: &Data) -> String {
    match data {
        Data::Str(text) => text.clone(),
        other => serde_json::to_string(other).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bulk::Merge;

    #[test]
    fn terms_compare_scalars_as_text() {
        let map = |text| serde_json::from_str::<Data>(text).unwrap().into_map().unwrap();
        let (shared, own) = (map(r#"{"a": {"b": 1}, "c": true, "l": ["x"]}"#), map(r#"{"a": {"d": null, "f": 1.5}}"#));
        let cases = [
            ("c=true", true),
            ("c==true", true),
            ("c!=false", true),
            ("a.b=1", false),
            ("a.b!=1", true),
            ("a.d=null", true),
            ("a.f=1.5", true),
            ("l.0=x", true),
            ("l.9=x", false),
            ("l=x", false),
            ("c=true,a.f=2", false),
            ("no=", false),
            (" c = true ", true),
        ];
        for (text, expected) in cases {
            assert_eq!(
                Selector::parse(text).unwrap().matches(&View::new(&shared, &own, Merge::Replace)),
                expected,
                "{text}"
            );
        }
        for text in ["", "a", "=x", "a=1,", "a=1,,b=2"] {
            assert_eq!(Selector::parse(text).unwrap_err().code, Code::Usage, "{text}");
        }
    }
}
