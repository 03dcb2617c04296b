//! Numbers in messages.

/// Formats a count with its noun: `1 file`, `2,000 files`.
pub fn counted(count: usize, noun: &str) -> String {
    format!("{} {noun}{}", thousands(count), if count == 1 { "" } else { "s" })
}

/// Formats a number with separators: `12,345`.
pub fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns a name with its article: `an array`.
pub fn with_article(name: &str) -> String {
    match name.as_bytes().first() {
        _ if matches!(name, "null" | "bytes") => name.to_owned(),
        Some(b'a' | b'e' | b'i' | b'o' | b'u') => format!("an {name}"),
        _ => format!("a {name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plurals_and_separators() {
        assert_eq!([0, 1, 2_000].map(|count| counted(count, "file")), ["0 files", "1 file", "2,000 files"]);
        assert_eq!([0, 999, 1_000, 1_234_567].map(thousands), ["0", "999", "1,000", "1,234,567"]);
    }
}
