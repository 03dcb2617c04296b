//! The place in an output that a place in a file is.

/// The comment that names the template of a document of a chart.
pub(super) const SOURCE: &str = "# Source: ";

/// Returns the byte of an output that byte `at` of a file is: both are the same, the file is a part of the output, or the
/// document around `at` is.
///
/// ```
/// use dropforge::bulk::why::found_in;
/// assert_eq!(found_in("b: 2\n", 3, "a: 1\n---\nb: 2\n"), Some(12));
/// assert_eq!(found_in("b: 3\n", 3, "a: 1\n---\nb: 2\n"), None);
/// ```
pub fn found_in(file: &str, at: usize, text: &str) -> Option<usize> {
    let whole = text.find(file.trim()).filter(|_| !file.trim().is_empty());
    let (start, document) = match whole {
        _ if file == text => return Some(at),
        Some(_) => (file.len() - file.trim_start().len(), file.trim()),
        None => document(file, at)?,
    };
    let begins = text.find(document)?;
    Some(begins + at.checked_sub(start)?.min(document.len().checked_sub(1)?))
}

/// Finds byte `at` of a file in the output `text`: the text to ask about and the byte of it. If the output has neither the file
/// nor the document around `at`, `by_line` looks for the same line, or one with the same key.
///
/// ```
/// use dropforge::bulk::why::find;
/// assert_eq!(find("b: 2\n", 3, "a: 1\n---\nb: 2\n", false), Some(("b: 2\n", 3)));
/// assert_eq!(find("b: 2\nc: 4\n", 3, "b: 2\nc: 3\n", true), Some(("b: 2\nc: 3\n", 3)));
/// ```
pub fn find<'t>(file: &'t str, at: usize, text: &'t str, by_line: bool) -> Option<(&'t str, usize)> {
    match found_in(file, at, text) {
        Some(_) => Some((file, at)),
        None => same_line(file, at, text).filter(|_| by_line).map(|at| (text, at)),
    }
}

/// Returns the byte of another text whose line is the same, or else one with the same key: the nearest.
fn same_line(file: &str, at: usize, text: &str) -> Option<usize> {
    let start = file.get(..at)?.rfind('\n').map_or(0, |end| end + 1);
    let (number, line) = (file.get(..start)?.lines().count(), file.get(start..)?.lines().next()?);
    let key = |line: &str| line.rfind(": ").and_then(|end| Some(line.get(..end)?.to_owned()));
    let own = key(line);
    let (mut found, mut begin) = (Vec::new(), 0);
    for (nth, other) in text.lines().enumerate() {
        let is_same = other.trim_end() == line.trim_end() && !line.trim().is_empty();
        if is_same || own.is_some() && key(other) == own {
            found.push((!is_same, nth.abs_diff(number), begin, other));
        }
        begin += text.get(begin..)?.find('\n').map_or(0, |end| end + 1);
    }
    let (.., begin, other) = found.into_iter().min()?;
    let chars = other.char_indices().map(|(at, _)| at).take_while(|nth| *nth <= at - start);
    Some(begin + chars.last().unwrap_or(0))
}

/// Returns the document around `at` and its position, without the separator and the comment of a chart.
fn document(file: &str, at: usize) -> Option<(usize, &str)> {
    let is_separator = |line: &str| line.trim_end() == "---" || line.starts_with("--- ");
    let (mut start, mut end) = (0, 0);
    for line in file.split_inclusive('\n') {
        if is_separator(line) {
            if end > at {
                break;
            }
            start = end + line.len();
        } else if line.starts_with(SOURCE) && start == end {
            start = end + line.len();
        }
        end += line.len();
    }
    let text = file.get(start..end)?;
    let indent = text.len() - text.trim_start().len();
    Some((start + indent, text.trim())).filter(|(_, text)| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_of_a_file_are_found_in_the_text_that_gave_them() {
        let text = "\na: 1\n---\n\nb: 2\nc: 3\n";
        let at = |file: &str, part: &str| found_in(file, file.find(part).unwrap(), text).map(|at| &text[at..]);
        assert_eq!(at(text, "c"), Some("c: 3\n"));
        assert_eq!(at("b: 2\nc: 3\n", "3"), Some("3\n"));
        let stream = "---\n# Source: x/y.yaml\nb: 2\nc: 3\n---\n# Source: x/z.yaml\na: 1\n";
        assert_eq!(at(stream, "c: 3"), Some("c: 3\n"));
        assert_eq!(at(stream, "a: 1"), Some("a: 1\n---\n\nb: 2\nc: 3\n"));
        assert_eq!(at("d: 2\nc: 3\n", "c"), None);
        assert_eq!(at("---\nx: 1\n", "-"), None);
    }

    #[test]
    fn a_line_is_found_in_a_text_that_changed() {
        let text = "a: 1\nb: 2\nc: 3\nb: 2\n";
        let at = |file: &str, part: &str| same_line(file, file.find(part).unwrap(), text);
        assert_eq!(at("a: 1\nb: 2\nc: 4\n", "2"), Some(8));
        assert_eq!(at("x\ny\nz\nb: 2\n", "2"), Some(18));
        assert_eq!(at("b: 2\n", "b"), Some(5));
        assert_eq!(at("a: 1\nb: 2\nc: 4\n", "4"), Some(13));
        assert_eq!(at("a: 1\nb: 2\nc: long\n", "g"), Some(13));
        assert_eq!(at("a: 1\nb: 7\n", "7"), Some(8));
        assert_eq!(at("a: 1\nb: 2\nd: 4\n", "4"), None);
        assert_eq!(at("\n\n", "\n"), None);
    }
}
