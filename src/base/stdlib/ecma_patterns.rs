//! Translates patterns in the syntax of ECMA 262 for the crate `regex`: `\d`, `\w` and `\b` are ASCII only, a bracket or
//! `&&` inside a class is literal, so is a brace that starts no repetition, and `\cJ` is a control character.

/// Translates a pattern as far as it is regular. Errors are left to the engine.
pub fn translated_ecma(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len() + 16);
    let mut rest = pattern;
    while let Some(first) = rest.chars().next() {
        rest = match first {
            '\\' => escape(rest, false, &mut out),
            '[' => class(rest, &mut out),
            '{' if !is_repetition(rest) => literal(rest, &mut out),
            _ => as_it_is(rest, &mut out),
        };
    }
    out
}

/// Copies one character.
fn as_it_is<'p>(rest: &'p str, out: &mut String) -> &'p str {
    let mut chars = rest.chars();
    out.extend(chars.next());
    chars.as_str()
}

/// Copies one character as a literal.
fn literal<'p>(rest: &'p str, out: &mut String) -> &'p str {
    out.push('\\');
    as_it_is(rest, out)
}

/// Returns `true` if `{` starts a repetition: `{2}`, `{2,}` or `{2,3}`.
fn is_repetition(rest: &str) -> bool {
    let Some((inside, _)) = rest.get(1..).and_then(|rest| rest.split_once('}')) else { return false };
    let (least, most) = inside.split_once(',').unwrap_or((inside, ""));
    !least.is_empty() && least.chars().chain(most.chars()).all(|c| c.is_ascii_digit())
}

/// Translates an escape, in a class or outside.
fn escape<'p>(rest: &'p str, in_class: bool, out: &mut String) -> &'p str {
    let mut chars = rest.chars();
    chars.next();
    let Some(letter) = chars.next() else {
        out.push('\\');
        return "";
    };
    match letter {
        'c' => return control(chars.as_str(), out),
        '<' | '>' => out.push(letter),
        'b' if in_class => out.push_str("\\x08"),
        'b' | 'B' if !in_class => out.push_str(&format!("(?-u:\\{letter})")),
        'd' => out.push_str(if in_class { "0-9" } else { "[0-9]" }),
        'w' => out.push_str(if in_class { "0-9A-Za-z_" } else { "[0-9A-Za-z_]" }),
        'D' => out.push_str("[^0-9]"),
        'W' => out.push_str("[^0-9A-Za-z_]"),
        _ => out.extend(['\\', letter]),
    }
    chars.as_str()
}

/// Returns the letter of a control character (`\cJ`).
fn control<'p>(rest: &'p str, out: &mut String) -> &'p str {
    let mut chars = rest.chars();
    match chars.next() {
        Some(letter) if letter.is_ascii_alphabetic() => out.push_str(&format!("\\x{:02X}", letter as u32 & 0x1F)),
        _ => return as_it_is(rest, out),
    }
    chars.as_str()
}

/// Translates a bracketed class.
fn class<'p>(rest: &'p str, out: &mut String) -> &'p str {
    let mut rest = as_it_is(rest, out);
    if rest.starts_with('^') {
        rest = as_it_is(rest, out);
    }
    while let Some(first) = rest.chars().next() {
        rest = match first {
            ']' => return as_it_is(rest, out),
            '\\' => escape(rest, true, out),
            '[' | '&' | '~' => literal(rest, out),
            '-' if rest.starts_with("--") => literal(rest, out),
            _ => as_it_is(rest, out),
        };
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::translated_ecma;

    #[test]
    fn differing_syntax_is_rewritten() {
        for (pattern, matches, not) in [
            (r"^\d+$", &["123"][..], &["٣", ""][..]),
            (r"^[\w\-]{1,2000}$", &["a-b"], &["é", ""]),
            (r"^\s$", &["\u{a0}", "\u{b}"], &["a"]),
            (r"^[[\]]\/\cJ[\cJ\b]$", &["[/\n\n", "]/\n\u{8}"], &["a/\n\n"]),
            (r"^\u00e9{a}$", &["é{a}"], &["e{a}"]),
            (r"^(?<year>a+)*$", &["aa"], &["b"]),
        ] {
            let made = translated_ecma(pattern);
            let regex = regex::Regex::new(&made).unwrap_or_else(|error| panic!("{pattern}: {error}"));
            assert!(matches.iter().all(|text| regex.is_match(text)), "{pattern} {made}");
            assert!(!not.iter().any(|text| regex.is_match(text)), "{pattern} {made}");
        }
        for pattern in ["(?=a)", "(a)\\1", "(?<!a)b"] {
            assert!(regex::Regex::new(&translated_ecma(pattern)).is_err(), "{pattern}");
        }
    }
}
