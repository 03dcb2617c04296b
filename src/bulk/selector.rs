//! Cluster selectors (`-l env=prod,cluster.tier!=small`) and lookup in layered inputs.

use crate::diagnostics::{Code, Diagnostic, Result};
use crate::value::{Data, DataMap};

/// Conditions on a cluster's inputs. A cluster is selected if all of them hold.
///
/// ```
/// use dropforge::bulk::Selector;
/// use dropforge::value::Data;
/// let map = |text| serde_json::from_str::<Data>(text).unwrap().into_map().unwrap();
/// let selector = Selector::parse("env=prod,cluster.tier!=small").unwrap();
/// assert!(selector.matches(&map(r#"{"env": "prod"}"#), &map(r#"{"cluster": {"tier": "large"}}"#)));
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

    /// Returns `true` if the inputs `own` over `shared` are selected. A missing value equals nothing.
    pub fn matches(&self, shared: &DataMap, own: &DataMap) -> bool {
        let equals =
            |data: &Data, value: &str| !matches!(data, Data::List(_) | Data::Map(_)) && scalar_text(data) == value;
        self.terms
            .iter()
            .all(|term| lookup(shared, own, &term.path).is_some_and(|data| equals(data, &term.value)) == term.equal)
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

/// Looks up a dotted path in `own` over `shared`. A top-level key of `own` replaces the shared one. A number indexes
/// a list.
pub fn lookup<'d>(shared: &'d DataMap, own: &'d DataMap, path: &str) -> Option<&'d Data> {
    let mut names = path.split('.');
    let top = names.next()?;
    let first = own.get(top).or_else(|| shared.get(top))?;
    names.try_fold(first, |here, name| match here {
        Data::List(_) => name.parse().ok().and_then(|at| here.index(at)),
        _ => here.get(name),
    })
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
            assert_eq!(Selector::parse(text).unwrap().matches(&shared, &own), expected, "{text}");
        }
        for text in ["", "a", "=x", "a=1,", "a=1,,b=2"] {
            assert_eq!(Selector::parse(text).unwrap_err().code, Code::Usage, "{text}");
        }
    }
}
