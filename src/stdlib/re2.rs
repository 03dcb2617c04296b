//! Translates patterns in the syntax of RE2 and ECMA 262 for the crate `regex`, whose syntax differs in details: in RE2
//! `\d`, `\w`, `\s` and `\b` are ASCII only, a bracket or `&&` inside a class is literal, so is a brace that starts no
//! repetition, and `\Q…\E` quotes.
//!
//! No crate does this, and the engine itself must stay: it is the one that runs in linear time.

/// Maximum count of a repetition.
const MOST: u32 = 1000;

/// Syntax that RE2 refuses and the engine accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refused<'p> {
    /// A repeated repetition: `a**`.
    Nested(&'p str),
    /// An excessive count: `a{1001}`.
    Count(&'p str),
    /// An unknown named class: `[:alfa:]`.
    Class(&'p str),
}

impl std::fmt::Display for Refused<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Nested(operators) => write!(f, "`{operators}` repeats a repetition"),
            Self::Count(operator) => write!(f, "`{operator}` counts further than {MOST}"),
            Self::Class(class) => write!(f, "there is no class `{class}`"),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flavor {
    Re2,
    Ecma,
}

/// Translates a pattern in the syntax of RE2 to that of the engine. Errors in both syntaxes are left to the engine.
///
/// # Errors
/// Syntax that only RE2 refuses.
pub(crate) fn translated(pattern: &str) -> Result<String, Refused<'_>> {
    translate(pattern, Flavor::Re2)
}

/// Translates a pattern in the syntax of ECMA 262, as far as it is regular. Errors are left to the engine.
pub(crate) fn translated_ecma(pattern: &str) -> String {
    translate(pattern, Flavor::Ecma).unwrap_or_default()
}

fn translate(pattern: &str, flavor: Flavor) -> Result<String, Refused<'_>> {
    let mut out = String::with_capacity(pattern.len() + 16);
    let (mut rest, mut last) = (pattern, None);
    while let Some(first) = rest.chars().next() {
        let here = rest;
        rest = match first {
            '\\' => escape(rest, flavor, &mut out),
            '[' => class(rest, flavor, &mut out)?,
            '{' if !is_repetition(rest) => literal(rest, &mut out),
            '{' | '*' | '+' | '?' if flavor == Flavor::Re2 => {
                rest = repetition(rest, last, &mut out)?;
                last = Some(here);
                continue;
            }
            _ => as_it_is(rest, &mut out),
        };
        last = None;
    }
    Ok(out)
}

/// Copies a repetition operator with its lazy `?`. `last` starts at the repetition directly before it.
fn repetition<'p>(rest: &'p str, last: Option<&'p str>, out: &mut String) -> Result<&'p str, Refused<'p>> {
    let end = if rest.starts_with('{') { rest.find('}').map_or(rest.len(), |at| at + 1) } else { 1 };
    let lazy = rest.get(end..).is_some_and(|behind| behind.starts_with('?'));
    let (operator, behind) = rest.split_at(end + usize::from(lazy));
    if let Some(last) = last {
        return Err(Refused::Nested(last.get(..last.len() - behind.len()).unwrap_or(last)));
    }
    let mut counts = operator.split(|c: char| !c.is_ascii_digit()).filter(|count| !count.is_empty());
    if counts.any(|count| count.parse().map_or(true, |count: u32| count > MOST)) {
        return Err(Refused::Count(operator));
    }
    out.push_str(operator);
    Ok(behind)
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

/// Returns the members of an ASCII class by its letter.
fn members(letter: char) -> Option<&'static str> {
    Some(match letter {
        'd' | 'D' => "0-9",
        'w' | 'W' => "0-9A-Za-z_",
        's' | 'S' => "\\t\\n\\x0C\\r ",
        _ => return None,
    })
}

/// Translates an escape outside a class.
fn escape<'p>(rest: &'p str, flavor: Flavor, out: &mut String) -> &'p str {
    let mut chars = rest.chars();
    chars.next();
    let Some(letter) = chars.next() else {
        out.push('\\');
        return "";
    };
    match letter {
        'Q' if flavor == Flavor::Re2 => return quoted(chars.as_str(), out),
        's' | 'S' if flavor == Flavor::Ecma => out.extend(['\\', letter]),
        'c' if flavor == Flavor::Ecma => return control(chars.as_str(), out),
        'b' => out.push_str("(?-u:\\b)"),
        'B' => out.push_str("(?-u:\\B)"),
        '<' | '>' => out.push(letter),
        _ => match members(letter) {
            Some(members) => push_class(members, letter.is_ascii_uppercase(), out),
            None => out.extend(['\\', letter]),
        },
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

fn push_class(members: &str, not: bool, out: &mut String) {
    out.push_str(if not { "[^" } else { "[" });
    out.push_str(members);
    out.push(']');
}

/// Copies the text between `\Q` and `\E` as literals.
fn quoted<'p>(rest: &'p str, out: &mut String) -> &'p str {
    let (inside, behind) = rest.split_once("\\E").unwrap_or((rest, ""));
    out.push_str(&regex::escape(inside));
    behind
}

/// Translates a bracketed class.
fn class<'p>(rest: &'p str, flavor: Flavor, out: &mut String) -> Result<&'p str, Refused<'p>> {
    let mut rest = as_it_is(rest, out);
    if rest.starts_with('^') {
        rest = as_it_is(rest, out);
    }
    if flavor == Flavor::Re2 && rest.starts_with(']') {
        rest = literal(rest, out);
    }
    while let Some(first) = rest.chars().next() {
        rest = match first {
            ']' => return Ok(as_it_is(rest, out)),
            '\\' => class_escape(rest, flavor, out),
            '[' if flavor == Flavor::Ecma => literal(rest, out),
            '[' => match posix(rest)? {
                Some(len) => {
                    let (name, behind) = rest.split_at(len);
                    out.push_str(name);
                    behind
                }
                None => literal(rest, out),
            },
            '&' | '~' => literal(rest, out),
            '-' if rest.starts_with("--") => literal(rest, out),
            _ => as_it_is(rest, out),
        };
    }
    Ok(rest)
}

/// The named classes.
const NAMED: [&str; 14] = [
    "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper", "word",
    "xdigit",
];

/// Returns the length of a named class such as `[:alpha:]`, if one starts here.
fn posix(rest: &str) -> Result<Option<usize>, Refused<'_>> {
    let Some((name, _)) = rest.strip_prefix("[:").and_then(|inside| inside.split_once(":]")) else { return Ok(None) };
    let len = name.len() + "[::]".len();
    match NAMED.contains(&name.strip_prefix('^').unwrap_or(name)) {
        true => Ok(Some(len)),
        false => Err(Refused::Class(rest.get(..len).unwrap_or(rest))),
    }
}

fn class_escape<'p>(rest: &'p str, flavor: Flavor, out: &mut String) -> &'p str {
    let mut chars = rest.chars();
    chars.next();
    match chars.next() {
        Some(letter @ ('<' | '>')) => out.push(letter),
        Some('b') if flavor == Flavor::Ecma => out.push_str("\\x08"),
        Some('c') if flavor == Flavor::Ecma => return control(chars.as_str(), out),
        Some(letter @ ('s' | 'S')) if flavor == Flavor::Ecma => out.extend(['\\', letter]),
        Some(letter) => match members(letter) {
            Some(members) if letter.is_ascii_lowercase() => out.push_str(members),
            Some(members) => push_class(members, true, out),
            None => out.extend(['\\', letter]),
        },
        None => out.push('\\'),
    }
    chars.as_str()
}

#[cfg(test)]
mod tests {
    use super::{Refused, translated, translated_ecma};

    #[test]
    fn differing_syntax_is_rewritten() {
        for (pattern, matches, not) in [
            (r"^\d+$", &["123"][..], &["٣", ""][..]),
            (r"^[\d_]+$", &["1_2"], &["٣"]),
            (r"^[^\D]$", &["1"], &["a", "٣"]),
            (r"^\w$", &["a", "_"], &["é"]),
            (r"^\s$", &[" ", "\t", "\u{c}"], &["\u{b}", "\u{a0}"]),
            (r"\bé", &["aé"], &["é"]),
            (r"^[[a]$", &["[", "a"], &["]"]),
            (r"^[a&&b~-]$", &["&", "a", "~", "-"], &["c"]),
            (r"^[]a]$", &["]", "a"], &["b"]),
            (r"^[^]a]$", &["b"], &["]", "a"]),
            (r"^[[:alpha:][:^space:]]$", &["a", "1"], &[" "]),
            (r"^a{b{,2}{1$", &["a{b{,2}{1"], &["ab"]),
            (r"^a{2}b{1,}$", &["aab"], &["ab"]),
            (r"^\Qa.b\E.$", &["a.bc"], &["axbc"]),
            (r"^\Q[", &["["], &["a"]),
            (r"^\<\/\-$", &["</-"], &["a"]),
            (r"(?i)^É$", &["é"], &["e"]),
        ] {
            let made = translated(pattern).unwrap();
            let regex = regex::Regex::new(&made).unwrap_or_else(|error| panic!("{pattern}: {error}"));
            assert!(matches.iter().all(|text| regex.is_match(text)), "{pattern} {made}");
            assert!(!not.iter().any(|text| regex.is_match(text)), "{pattern} {made}");
        }
    }

    #[test]
    fn differing_ecma_262_syntax_is_rewritten() {
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
    fn syntax_that_re2_lacks_is_refused() {
        for (pattern, what) in [
            ("a**", "**"),
            ("a*+b", "*+"),
            ("(a+?*)", "+?*"),
            ("a??*?", "??*?"),
            ("a{2}{3}", "{2}{3}"),
            ("a{2}?*", "{2}?*"),
            ("a+{2,}", "+{2,}"),
        ] {
            assert_eq!(translated(pattern), Err(Refused::Nested(what)), "{pattern}");
        }
        assert_eq!(translated("a{1,1001}b"), Err(Refused::Count("{1,1001}")));
        assert_eq!(translated("a{99999999999}"), Err(Refused::Count("{99999999999}")));
        assert_eq!(translated("[a[:.alpha:]]"), Err(Refused::Class("[:.alpha:]")));
        assert_eq!(translated("[[::]]"), Err(Refused::Class("[::]")));
        for pattern in
            ["a+?", "a{2}?", "(a*)*", "(?:a+)+", "(?i)a*", "[*+]+", "\\**", "a*{x", "a*{,2}", "\\Q**\\E*", "a{1000}"]
        {
            assert!(regex::Regex::new(&translated(pattern).unwrap()).is_ok(), "{pattern}");
        }
    }

    #[test]
    fn invalid_patterns_stay_invalid() {
        for pattern in ["(", "[", "[a", "\\", "(?P<n", "[z-a]", "\\8", "[\\", "[[:", "\\Q\\E("] {
            assert!(regex::Regex::new(&translated(pattern).unwrap()).is_err(), "{pattern}");
        }
    }
}
