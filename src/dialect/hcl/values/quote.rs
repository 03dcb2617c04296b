//! Strings in double quotes.

/// Appends `text` in double quotes. A character of `special` becomes a backslash and the letter at the same position in
/// `letters`. For other characters, `escape` returns an escape sequence if they need one.
pub(crate) fn push_quoted(
    out: &mut String,
    text: &str,
    (special, letters): (&str, &str),
    escape: impl Fn(char) -> Option<String>,
) {
    out.push('"');
    for c in text.chars() {
        if matches!(c, ' ' | '-' | '.' | '_' | '0'..='9' | 'A'..='Z' | 'a'..='z') {
            out.push(c);
        } else if let Some((_, letter)) = special.chars().zip(letters.chars()).find(|(special, _)| *special == c) {
            out.extend(['\\', letter]);
        } else if let Some(escape) = escape(c) {
            out.push_str(&escape);
        } else {
            out.push(c);
        }
    }
    out.push('"');
}
