//! The end of a render: the text of missing values is removed.

use memchr::memmem::Finder;

use super::print::NO_VALUE;
use dropforge_machine::bytecode::Program;

/// Removes every `<no value>` from the text that a program wrote to `out` behind `start`, unless the program keeps it.
pub fn finish(program: &Program, out: &mut String, start: usize) {
    if program.start().lenient {
        return;
    }
    let finder = Finder::new(NO_VALUE);
    let Some(first) = finder.find(out.as_bytes().get(start..).unwrap_or(&[])) else { return };
    let written = out.split_off(start + first);
    add_rest(&finder, &written, out);
}

/// Adds a text to `out` without the `<no value>` in it.
fn add_rest(finder: &Finder<'_>, mut text: &str, out: &mut String) {
    while let Some(at) = finder.find(text.as_bytes()) {
        out.push_str(text.get(..at).unwrap_or(""));
        text = text.get(at + NO_VALUE.len()..).unwrap_or("");
    }
    out.push_str(text);
}

/// Removes every `<no value>` from texts that a program wrote to `out` one behind the other, each up to one of `ends`.
pub fn finish_all(program: &Program, out: &mut String, ends: &mut [usize]) {
    let finder = Finder::new(NO_VALUE);
    if program.start().lenient || finder.find(out.as_bytes()).is_none() {
        return;
    }
    let (written, mut start) = (std::mem::take(out), 0);
    out.reserve(written.len());
    for end in ends {
        add_rest(&finder, written.get(start..*end).unwrap_or(""), out);
        start = std::mem::replace(end, out.len());
    }
}

/// Returns the offset in `whole` of the byte at `at` of `text`, which is `whole` without the text of missing values, or the
/// same. `None` if it is another text.
pub(crate) fn with_no_values(whole: &str, text: &str, at: usize) -> Option<usize> {
    if whole == text {
        return Some(at);
    }
    let (mut rest, mut found) = (text, None);
    let mut parts = whole.split(NO_VALUE).peekable();
    let mut start = 0;
    while let Some(part) = parts.next() {
        rest = rest.strip_prefix(part)?;
        let end = text.len() - rest.len();
        if found.is_none() && (at < end || parts.peek().is_none()) {
            found = Some(start + at.checked_sub(end - part.len())?);
        }
        start += part.len() + NO_VALUE.len();
    }
    found.filter(|_| rest.is_empty())
}

#[cfg(test)]
mod tests {
    use super::with_no_values;

    #[test]
    fn offsets_are_those_before_texts_were_removed() {
        let (whole, text) = ("a<no value>b<no value><no value>c", "abc");
        let found = (0..4).map(|at| with_no_values(whole, text, at)).collect::<Vec<_>>();
        assert_eq!(found, [Some(0), Some(11), Some(32), Some(33)]);
        assert_eq!(with_no_values("abc", "abc", 1), Some(1));
        assert_eq!(with_no_values("abd", "abc", 1), None);
        assert_eq!(with_no_values("<no value>abcd", "abc", 1), None);
    }
}
