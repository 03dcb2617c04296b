//! Parameter expansions of shells, such as `${PORT:-8080}`, in texts whose `${…}` are expressions of another language.

use crate::text::{Source, Span};

/// A parameter expansion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Expansion<'t> {
    /// The place of the whole expansion.
    pub span: Span,
    /// The name of the parameter.
    pub name: &'t str,
    /// What the shell makes of its value.
    pub operation: Operation<'t>,
}

/// The operation of an expansion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation<'t> {
    /// `${N:-x}` and `${N:=x}`: the value, or another one.
    Default(&'t str),
    /// `${N:+x}`: another value if there is one.
    Alternative(&'t str),
    /// `${N:?message}`: the value, or an error.
    Required,
    /// `${#N}`: the length.
    Length,
    /// `${N%pattern}` and `${N%%pattern}`: the value without a suffix.
    WithoutSuffix(&'t str),
    /// `${N#pattern}` and `${N##pattern}`: the value without a prefix.
    WithoutPrefix(&'t str),
    /// `${N:2}` and `${N:2:3}`: a part, by its start and its length.
    Slice(&'t str, Option<&'t str>),
    /// `${N^^}`: upper case.
    Upper,
    /// `${N,,}`: lower case.
    Lower,
}

impl<'t> Expansion<'t> {
    /// Returns the expansion whose text begins before `at`, the place of a syntax error.
    ///
    /// ```
    /// use dropforge::diagnostics::{Expansion, Operation};
    /// use dropforge::text::Source;
    /// let source = Source::new("t", "port: ${PORT:-8080}\n");
    /// let found = Expansion::before(&source, 12).unwrap();
    /// assert_eq!((found.name, found.operation), ("PORT", Operation::Default("8080")));
    /// ```
    pub fn before(source: &'t Source, at: u32) -> Option<Self> {
        let text = source.text();
        let mut end = (at as usize + 2).min(text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let start = text.get(..end)?.rfind("${")?;
        let body = text.get(start + 2..)?.lines().next()?;
        let body = body.get(..body.find('}')?)?;
        let (name, operation) = parts(body)?;
        Some(Self { span: Span::of(start..start + 2 + body.len() + 1), name, operation })
    }
}

/// Splits the text of an expansion.
fn parts(body: &str) -> Option<(&str, Operation<'_>)> {
    if let Some(name) = body.strip_prefix('#').filter(|name| is_name(name)) {
        return Some((name, Operation::Length));
    }
    let length = body.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    let (name, rest) = body.split_at_checked(length).filter(|(name, _)| is_name(name))?;
    let after = |prefixes: &[&str]| prefixes.iter().find_map(|prefix| rest.strip_prefix(prefix));
    let operation = if let Some(value) = after(&[":-", ":="]) {
        Operation::Default(value)
    } else if let Some(value) = after(&[":+"]) {
        Operation::Alternative(value)
    } else if after(&[":?"]).is_some() {
        Operation::Required
    } else if let Some(pattern) = after(&["%%", "%"]) {
        Operation::WithoutSuffix(pattern)
    } else if let Some(pattern) = after(&["##", "#"]) {
        Operation::WithoutPrefix(pattern)
    } else if let Some(part) = after(&[":"]) {
        let (from, count) = part.split_once(':').map_or((part, None), |(from, count)| (from, Some(count)));
        let are_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if !are_digits(from) || count.is_some_and(|count| !are_digits(count)) {
            return None;
        }
        Operation::Slice(from, count)
    } else {
        match rest {
            "^^" => Operation::Upper,
            ",," => Operation::Lower,
            _ => return None,
        }
    };
    Some((name, operation))
}

/// Returns `true` for the name of a parameter.
fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expansions_are_told_apart() {
        for (text, wanted) in [
            ("${A:-b c}", Some(("A", Operation::Default("b c")))),
            ("${A:=b}", Some(("A", Operation::Default("b")))),
            ("${A:+b}", Some(("A", Operation::Alternative("b")))),
            ("${A:?no}", Some(("A", Operation::Required))),
            ("${#A}", Some(("A", Operation::Length))),
            ("${A%.*}", Some(("A", Operation::WithoutSuffix(".*")))),
            ("${A%%.*}", Some(("A", Operation::WithoutSuffix(".*")))),
            ("${A#*/}", Some(("A", Operation::WithoutPrefix("*/")))),
            ("${A:1}", Some(("A", Operation::Slice("1", None)))),
            ("${A:1:2}", Some(("A", Operation::Slice("1", Some("2"))))),
            ("${A^^}", Some(("A", Operation::Upper))),
            ("${A,,}", Some(("A", Operation::Lower))),
            ("${A}", None),
            ("${A ? b : c}", None),
            ("${A:b}", None),
            ("${#}", None),
            ("${1:-b}", None),
            ("${A:-b", None),
        ] {
            let source = Source::new("t", text);
            let found = Expansion::before(&source, text.len() as u32);
            assert_eq!(found.map(|found| (found.name, found.operation)), wanted, "{text}");
        }
    }
}
