//! Selectors: `-l env=prod,cluster.tier!=small` over the layered inputs.

use crate::diagnostics::{Code, Diagnostic, Result};
use crate::value::{Data, DataMap};

/// Conditions that must all hold for a cluster to be chosen.
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
    /// Reads `a.b=v`, `a.b==v` and `a.b!=v`, separated by commas.
    ///
    /// # Errors
    /// `usage` where a term is none of these.
    pub fn parse(text: &str) -> Result<Self> {
        text.split(',').map(term).collect::<Result<_>>().map(|terms| Self { terms })
    }

    /// Adds the terms of another selector: all of both must hold.
    pub fn and(mut self, other: Selector) -> Self {
        self.terms.extend(other.terms);
        self
    }

    /// Whether it leaves every cluster in.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Whether the inputs `own` over `shared` are chosen. What is not there equals nothing.
    pub fn matches(&self, shared: &DataMap, own: &DataMap) -> bool {
        self.terms.iter().all(|term| {
            let found =
                lookup(shared, own, &term.path).is_some_and(|data| is_scalar(data) && scalar_text(data) == term.value);
            found == term.equal
        })
    }
}

fn term(text: &str) -> Result<Term> {
    let split = text.split_once("!=").map(|(path, value)| (path, false, value));
    let split = split.or_else(|| text.split_once("==").map(|(path, value)| (path, true, value)));
    let split = split.or_else(|| text.split_once('=').map(|(path, value)| (path, true, value)));
    match split {
        Some((path, equal, value)) if !path.trim().is_empty() => {
            Ok(Term { path: path.trim().to_owned(), equal, value: value.trim().to_owned() })
        }
        _ => Err(Diagnostic::new(Code::Usage, format!("`{text}` is not a selector"))
            .with_help("write `-l env=prod`, `-l cluster.tier!=small`, several separated by commas")),
    }
}

/// The value at a dotted path of `own` laid over `shared`: each top-level key of `own` replaces the shared one.
/// A number steps into a list.
pub fn lookup<'d>(shared: &'d DataMap, own: &'d DataMap, path: &str) -> Option<&'d Data> {
    let mut names = path.split('.');
    let top = names.next()?;
    let first = own.get(top).or_else(|| shared.get(top))?;
    names.try_fold(first, |here, name| match here {
        Data::List(_) => name.parse().ok().and_then(|at| here.index(at)),
        _ => here.get(name),
    })
}

fn is_scalar(data: &Data) -> bool {
    !matches!(data, Data::List(_) | Data::Map(_))
}

/// A scalar as text, the way JSON writes it but without quotes.
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
