//! Regular expressions for the crate `regex`: patterns in the syntax of ECMA 262, and the cost of a search.

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

// The cost of searching with a regular expression. The engine is linear in the text, but each byte may touch every state
// of the compiled pattern, and counted repetitions multiply states.

/// Maximum number of states of a pattern within its size limit.
const MOST_STATES: u64 = 1 << 16;

/// Returns the steps of a search in `bytes` of text: one per byte and 64 states, at least one per byte.
///
/// `search_steps("^a.c$", 100)` is 100; `search_steps("(a{100}){100}", 100)` is over 10,000.
pub fn search_steps(pattern: &str, bytes: usize) -> u64 {
    steps_per_byte(pattern).saturating_mul(bytes as u64)
}

/// Returns the steps of a search for each byte of text.
pub fn steps_per_byte(pattern: &str) -> u64 {
    states(pattern) / 64 + 1
}

/// Returns a rough upper bound of the number of states: the length of the pattern (Unicode classes are large) times all
/// counts.
fn states(pattern: &str) -> u64 {
    let classes = pattern.matches(['\\', '.', '[']).count() as u64 * 8;
    let counts = pattern.split('{').skip(1).map(largest_count);
    let states = counts.fold(pattern.len() as u64 + classes, u64::saturating_mul);
    states.min(MOST_STATES)
}

/// Returns the largest count before the closing brace, or 1.
fn largest_count(repetition: &str) -> u64 {
    let (counts, _) = repetition.split_once('}').unwrap_or(("", ""));
    counts.split(',').filter_map(|count| count.trim().parse().ok()).fold(1, u64::max)
}

#[cfg(test)]
mod tests {
    use super::search_steps;
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

    #[test]
    fn plain_patterns_cost_the_text_and_counted_ones_more() {
        assert_eq!(search_steps("^[a-z]+$", 10), 10);
        assert_eq!(search_steps("", 10), 10);
        assert!(search_steps(r"\d{4}-\d{2}", 10) < 100);
        assert!(search_steps("((a{10}){10,100}){10}", 1) > 1_000);
        assert!(search_steps("a{99999999999999999999}{", 1) >= 1);
        assert_eq!(search_steps("a{60000}{60000}{60000}{60000}{60000}", usize::MAX), u64::MAX);
    }
}
