//! The identity of errors, which tells when two are the same one.

use super::{Code, Diagnostic, Label};
use crate::stdlib::small_sort::SmallSort as _;
use crate::text::Span;

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
    use crate::text::Source;

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
