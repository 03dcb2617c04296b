//! Splitting a rendered text into documents.

/// The beginning of a line between two documents.
const MARKER: &str = "---";

/// Returns the documents of a text: the parts between lines that begin with `---`. Parts of only white space are left
/// out. White space before a document is removed, that behind it stays.
pub(super) fn documents(text: &str) -> Vec<&str> {
    let (mut found, mut start) = (Vec::new(), 0);
    let first = text.starts_with(MARKER).then_some(0);
    let others = memchr::memmem::find_iter(text.as_bytes(), "\n---").map(|end| end + 1);
    for marker in first.into_iter().chain(others) {
        found.push(text.get(start..marker).unwrap_or(""));
        start = marker + MARKER.len();
    }
    found.push(text.get(start..).unwrap_or(""));
    found.into_iter().map(str::trim_start).filter(|document| !document.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::documents;

    #[test]
    fn documents_of_a_text() {
        for (text, expected) in [
            ("", &[][..]),
            (" \n---\n \n", &[]),
            ("a: 1\n", &["a: 1\n"]),
            ("---\na: 1\n\n---\nb: 2", &["a: 1\n\n", "b: 2"]),
            ("a: 1\n--- # c\nb: 2\n", &["a: 1\n", "# c\nb: 2\n"]),
            ("x: |\n  ---\n  y\n", &["x: |\n  ---\n  y\n"]),
        ] {
            assert_eq!(documents(text), expected, "{text:?}");
        }
    }
}
