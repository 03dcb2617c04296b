//! Literals in the code of a condition, which tell a secret that they are compared with.

/// Returns code with `…` in place of quoted strings and numbers.
pub(super) fn hidden(code: &str) -> String {
    let (mut out, mut rest) = (String::new(), code);
    while let Some(first) = rest.chars().next() {
        let is_within = out.ends_with(|last: char| last.is_alphanumeric() || matches!(last, '_' | '.' | '[' | '$'));
        let len = match first {
            '"' | '\'' | '`' => quoted(rest, first),
            '0'..='9' if !is_within => {
                rest.find(|next: char| !next.is_alphanumeric() && !matches!(next, '_' | '.')).unwrap_or(rest.len())
            }
            _ => {
                out.push(first);
                rest = rest.get(first.len_utf8()..).unwrap_or("");
                continue;
            }
        };
        out.push('…');
        rest = rest.get(len..).unwrap_or("");
    }
    out
}

/// Returns the length of the string at the start of `text`, with its quotes. One that does not end has the whole text.
fn quoted(text: &str, quote: char) -> usize {
    let mut is_escaped = true;
    let end = text.char_indices().find(|(_, next)| {
        let ends = *next == quote && !is_escaped;
        is_escaped = !is_escaped && *next == '\\';
        ends
    });
    end.map_or(text.len(), |(at, _)| at + quote.len_utf8())
}

#[cfg(test)]
mod tests {
    use super::hidden;

    #[test]
    fn strings_and_numbers_are_hidden_but_not_names_and_indexes() {
        for (code, expected) in [
            ("db.password == \"hunter2\"", "db.password == …"),
            (r#"eq .db.pin "a\"b" `c\`"#, "eq .db.pin … …"),
            ("x1.y2[0] > 12.5e3 and a.0 != 'é'", "x1.y2[0] > … and a.0 != …"),
            ("\"ab", "…"),
            ("", ""),
        ] {
            assert_eq!(hidden(code), expected);
        }
    }
}
