//! Lists of diagnostics, and the identity of errors, by which duplicates are found.

use std::cmp::Reverse;
use std::error::Error;
use std::fmt;
use std::ops::Range;

use serde_json::Value;

use super::{Code, Diagnostic, Label, counted, thousands};
use crate::mask::Mask;
use crate::stdlib::small_sort::SmallSort as _;
use crate::text::Span;

/// One or more diagnostics in source order.
///
/// `{}` prints a line for each, `{:#}` and `{:?}` the whole reports. [`kind`](Self::kind), [`code`](Self::code) and
/// [`span`](Self::span) are those of the first.
///
/// ```
/// use dropforge::{Dialect, Engine, Error};
/// let error: Error = Engine::new().compile(Dialect::Tera, "t", "{{ 1 | uppr }}{{ 2 | lowr }}").unwrap_err();
/// assert_eq!((error.code(), error.span(), error.iter().count()), ("E0401", Some(7..11), 2));
/// assert!(error.into_iter().all(|error| error.help.is_some()));
/// ```
#[derive(Clone)]
pub struct Diagnostics(Vec<Box<Diagnostic>>);

impl Diagnostics {
    /// Returns the diagnostics.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.0.iter().map(AsRef::as_ref)
    }

    /// Returns the first diagnostic.
    pub fn first(&self) -> Option<&Diagnostic> {
        self.iter().next()
    }

    /// Returns the kind of the first error. `None` if there is none.
    pub fn kind(&self) -> Option<Code> {
        self.first().map(Diagnostic::kind)
    }

    /// Returns the stable code of the first error, such as `E0201`, or an empty text.
    pub fn code(&self) -> &'static str {
        self.first().map_or("", Diagnostic::code)
    }

    /// Returns the bytes of the source that the first error is about.
    pub fn span(&self) -> Option<Range<usize>> {
        self.first()?.span()
    }

    /// Renders all reports for people.
    pub fn render(&self, color: bool) -> String {
        self.iter().map(|diagnostic| diagnostic.render(color)).collect::<Vec<_>>().join("\n")
    }

    /// Returns all diagnostics as a JSON list.
    pub fn to_json(&self) -> Value {
        self.iter().map(Diagnostic::to_json).collect()
    }

    /// Returns the diagnostics without the secrets of a mask.
    #[must_use]
    #[doc(hidden)]
    pub fn without(mut self, mask: &Mask) -> Self {
        mask.hide_in_all(&mut self.0);
        self
    }

    /// Returns the owned diagnostics.
    pub fn into_vec(self) -> Vec<Box<Diagnostic>> {
        self.0
    }
}

impl From<Box<Diagnostic>> for Diagnostics {
    fn from(diagnostic: Box<Diagnostic>) -> Self {
        Self(vec![diagnostic])
    }
}

impl From<Vec<Box<Diagnostic>>> for Diagnostics {
    fn from(diagnostics: Vec<Box<Diagnostic>>) -> Self {
        Self(diagnostics)
    }
}

impl IntoIterator for Diagnostics {
    type Item = Box<Diagnostic>;
    type IntoIter = std::vec::IntoIter<Box<Diagnostic>>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl fmt::Debug for Diagnostics {
    /// Formats the whole reports.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.render(false).trim_end())
    }
}

impl fmt::Display for Diagnostics {
    /// One line per diagnostic. The alternate form is the whole reports.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.alternate() {
            return fmt::Debug::fmt(self, f);
        }
        for (at, diagnostic) in self.iter().enumerate() {
            write!(f, "{}{diagnostic}", if at == 0 { "" } else { "\n" })?;
        }
        Ok(())
    }
}

impl Error for Diagnostics {
    /// The underlying error of the first diagnostic.
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.first().and_then(Error::source)
    }
}

/// Keeps the first `most` diagnostics, errors before warnings if there are too many. The last one notes the number of
/// those left out, and of the `more` that were found but not made; or that there may be more, because whoever made
/// `most` may have stopped there.
pub fn at_most(mut errors: Vec<Box<Diagnostic>>, most: usize, more: usize) -> Vec<Box<Diagnostic>> {
    let (most, found) = (most.max(1), errors.len());
    if found > most {
        errors.small_sort_by_key(|error| Reverse(error.severity));
        errors.truncate(most);
    }
    let more = more + found - errors.len();
    let is_full = errors.len() >= most;
    if let Some(last) = errors.last_mut().filter(|_| more > 0 || is_full) {
        let others = match more {
            0 => "there may be more diagnostics".to_owned(),
            _ => format!("and {}", counted(more, "more diagnostic")),
        };
        last.notes.push(format!("{others}: the limit is {}", thousands(most)));
    }
    errors
}

/// Combines errors into one: the first carries the others. Returns `None` if there are none.
///
/// ```
/// use dropforge::diagnostics::{Code, Diagnostic, joined};
/// let error = joined(["a", "b"].map(|name| Diagnostic::new(Code::DuplicateKey, name))).unwrap();
/// assert_eq!((error.message.as_str(), error.also.len()), ("a", 1));
/// ```
pub fn joined(errors: impl IntoIterator<Item = Box<Diagnostic>>) -> Option<Box<Diagnostic>> {
    let mut errors = errors.into_iter();
    let mut first = errors.next()?;
    first.also.extend(errors);
    Some(first)
}

/// Removes duplicates: an error in a file that is included several times is reported once, whatever its help is for each
/// of the files that include it.
pub fn without_duplicates(errors: Vec<Box<Diagnostic>>) -> Vec<Box<Diagnostic>> {
    let keys = errors.iter().map(|error| Identity { help: None, ..error.identity(error.primary()) });
    let firsts = firsts(keys);
    let is_first = |(at, first): &(usize, usize)| at == first;
    errors
        .into_iter()
        .zip(firsts.into_iter().enumerate())
        .filter(|(_, place)| is_first(place))
        .map(|(error, _)| error)
        .collect()
}

/// The identity of an error: its code, its problem and, as far as they are wanted, its help and its place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Identity<T> {
    /// The code.
    pub code: Code,
    /// The message.
    pub problem: T,
    /// The fix.
    pub help: Option<T>,
    /// The name of a source and a span in it.
    pub place: Option<(T, Span)>,
    /// The template that was rendered.
    pub template: Option<T>,
}

impl Identity<&str> {
    /// Copies the texts.
    pub fn owned(self) -> Identity<String> {
        Identity {
            code: self.code,
            problem: self.problem.to_owned(),
            help: self.help.map(str::to_owned),
            place: self.place.map(|(name, span)| (name.to_owned(), span)),
            template: self.template.map(str::to_owned),
        }
    }
}

impl Diagnostic {
    /// Returns the identity of the error at a place. Without a place, it is that of all errors that differ only in theirs.
    #[doc(hidden)]
    pub fn identity<'d>(&'d self, place: Option<&'d Label>) -> Identity<&'d str> {
        Identity {
            code: self.code,
            problem: self.problem(),
            help: self.help.as_deref(),
            place: place.map(|label| (label.source.name(), label.span)),
            template: None,
        }
    }
}

/// Returns the index of the first equal key for each key.
pub fn firsts<K: Ord>(keys: impl Iterator<Item = K>) -> Vec<usize> {
    let mut sorted: Vec<(K, usize)> = keys.zip(0..).collect();
    sorted.small_sort_by(|(one, _), (other, _)| one.cmp(other));
    let mut firsts = vec![0; sorted.len()];
    for equal in sorted.chunk_by(|(one, _), (other, _)| one == other) {
        let first = equal.first().map_or(0, |(_, at)| *at);
        for (_, at) in equal {
            firsts.get_mut(*at).into_iter().for_each(|place| *place = first);
        }
    }
    firsts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostics::Code;
    use crate::text::Source;

    #[test]
    fn an_error_at_one_place_is_reported_once_whatever_its_help_is() {
        let at = |name: &str, help: &str| {
            let source = Source::new(name, "{{ x }}");
            Diagnostic::new(Code::UndefinedVariable, "no `x`").with_help(help).at(&source, Span::new(3, 4), "")
        };
        let kept = without_duplicates(vec![at("b", "h"), at("a", "h"), at("b", "i"), at("a", "h")]);
        let told: Vec<_> = kept.iter().map(|error| (error.labels[0].source.name(), error.help.as_deref())).collect();
        assert_eq!(told, [("b", Some("h")), ("a", Some("h"))]);
    }

    #[test]
    fn the_last_of_the_first_counts_the_others() {
        let errors = |count: usize| (0..count).map(|at| Diagnostic::new(Code::DuplicateKey, at.to_string())).collect();
        let notes = |count, most, more| {
            let kept: Vec<Box<Diagnostic>> = at_most(errors(count), most, more);
            (kept.len(), kept.iter().flat_map(|error| error.notes.clone()).collect::<Vec<_>>().join("|"))
        };
        assert_eq!(notes(2, 3, 0), (2, String::new()));
        assert_eq!(notes(3, 3, 0), (3, "there may be more diagnostics: the limit is 3".to_owned()));
        assert_eq!(notes(4, 3, 0), (3, "and 1 more diagnostic: the limit is 3".to_owned()));
        assert_eq!(notes(3, 3, 1_234), (3, "and 1,234 more diagnostics: the limit is 3".to_owned()));
        assert_eq!(notes(2, 0, 0).0, 1);
        assert_eq!(notes(0, 3, 5), (0, String::new()));
    }

    #[test]
    fn errors_are_the_same_with_and_without_their_places() {
        let at = |name: &str, help: &str| {
            let error = Diagnostic::new(Code::UndefinedVariable, "no `x` in `y`")
                .with_field(crate::diagnostics::PROBLEM, "no `x`");
            error.with_help(help).at(&Source::new(name, "{{ x }}"), Span::new(3, 4), "")
        };
        let errors = [at("a", "h"), at("b", "h"), at("a", "h"), at("a", "i")];
        let of = |with_place: bool| {
            firsts(errors.iter().map(|error| error.identity(error.primary().filter(|_| with_place))))
        };
        assert_eq!((of(true), of(false)), (vec![0, 1, 0, 3], vec![0, 0, 0, 3]));
        assert_eq!(errors[0].identity(None).owned().problem, "no `x`");
    }
}
