//! Splitting a rendered text into documents.

/// Returns the documents of a text: the parts between lines that begin with `---`. Parts of only white space are left
/// out. White space before a document is removed, that behind it stays.
pub(super) fn documents(text: &str) -> Vec<&str> {
    let (mut found, mut start, mut at) = (Vec::new(), 0, 0);
    for line in text.split_inclusive('\n') {
        if line.starts_with("---") {
            found.push(text.get(start..at).unwrap_or(""));
            start = at + 3;
        }
        at += line.len();
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
