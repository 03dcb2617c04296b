//! The wording of messages: numbers, articles, likely names, and bounds on the names and texts that are printed.

use super::{Code, Diagnostic};
use crate::stdlib::strings;

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

/// Returns the warning about a value of one kind in the place of another. The value is named, with what follows its name in the
/// message. `hint` is a key of the map that is replaced, or the help for other kinds.
///
/// ```
/// let warning = dropforge::diagnostics::kind_change(("env", ""), ["map", "string"], Ok("name"));
/// assert_eq!(warning.message, "a string replaces the map `env`");
/// ```
pub fn kind_change((name, whose): (&str, &str), [old, new]: [&str; 2], hint: Result<&str, String>) -> Box<Diagnostic> {
    let message = format!("{} replaces the {old} `{name}`{whose}", with_article(new));
    Diagnostic::warning(Code::KindChange, message).with_help(hint.map_or_else(
        |help| help,
        |key| format!("to change a part of the map, write `{name}: {{{key}: …}}`; null removes it"),
    ))
}

/// Returns the candidate that `wanted` is most likely a misspelling of: one character differs, or at most a third of
/// them (optimal string alignment distance, ignoring case). The first in byte order wins a tie.
///
/// ```
/// use dropforge::diagnostics::nearest;
/// assert_eq!(nearest("nmae", ["name", "port"]), Some("name"));
/// assert_eq!(nearest("x", ["name", "port"]), None);
/// assert_eq!(nearest("path", ["hash"]), None);
/// ```
pub fn nearest<'c>(wanted: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let wanted = wanted.to_lowercase();
    let length = wanted.chars().count();
    let near = |candidate: &'c str| {
        if candidate.len() > LONGEST || length > LONGEST {
            return None;
        }
        let characters = candidate.chars().count();
        let most = (characters.max(length) / 3).max(1);
        // Most names are told apart by their letters, without their order.
        if wanted.is_ascii() && candidate.is_ascii() && least_distance(&wanted, candidate) > most {
            return None;
        }
        let lowercase = candidate.to_lowercase();
        // The distance is no less than the difference in length.
        let is_close = lowercase.chars().count().abs_diff(length) <= most;
        let distance = is_close.then(|| strsim::osa_distance(&wanted, &lowercase))?;
        (distance <= most && distance < characters.max(length)).then_some((distance, candidate))
    };
    candidates.into_iter().filter_map(near).min().map(|(_, candidate)| candidate)
}

/// Returns the least number of changes that make one ASCII text of another, whatever the order of its letters: each change
/// adds a letter, removes one, or replaces one.
fn least_distance(lowercase: &str, other: &str) -> usize {
    let mut counts = [0_usize; 128];
    let place = |byte: u8| usize::from(byte.to_ascii_lowercase());
    for byte in lowercase.bytes() {
        if let Some(count) = counts.get_mut(place(byte)) {
            *count += 1;
        }
    }
    let mut shared = 0;
    for byte in other.bytes() {
        if let Some(count) = counts.get_mut(place(byte)).filter(|count| **count > 0) {
            (*count, shared) = (*count - 1, shared + 1);
        }
    }
    lowercase.len().max(other.len()) - shared
}

/// Returns `true` if `name` is `near` with a slip of the hand: other separators or capitals, or one character that differs.
/// What names of different things differ in does not count: their ends, numbers, an `s`, the first capital.
///
/// ```
/// use dropforge::diagnostics::is_slip;
/// for (name, near) in [("podLables", "podLabels"), ("node_port", "nodePort"), ("replicaCont", "replicaCount")] {
///     assert!(is_slip(name, near), "{name}");
/// }
/// for (name, near) in [("port", "ports"), ("httpPort", "httpsPort"), ("ipv4", "ipv6"), ("Master", "master")] {
///     assert!(!is_slip(name, near), "{name}");
/// }
/// ```
pub fn is_slip(name: &str, near: &str) -> bool {
    let [a, b] = [name, near].map(plain);
    if a == b {
        let rest = |name: &str| name.chars().skip(1).collect::<String>();
        return rest(name) != rest(near);
    }
    let has_digit = |text: &str| text.bytes().any(|byte| byte.is_ascii_digit());
    let is_end = a.starts_with(&b) || b.starts_with(&a) || a.ends_with(&b) || b.ends_with(&a);
    let [few, many] = if a.len() < b.len() { [&a, &b] } else { [&b, &a] };
    let is_s = many.match_indices('s').any(|(at, _)| [&many[..at], &many[at + 1..]].concat() == *few);
    !has_digit(name) && !has_digit(near) && !is_end && !is_s && strsim::osa_distance(&a, &b) == 1
}

/// Returns `true` if two names differ in one character, or long ones in two, apart from separators and capitals.
pub fn is_close(name: &str, near: &str) -> bool {
    let [a, b] = [name, near].map(plain);
    let most = if a.len().min(b.len()) < 8 { 1 } else { 2 };
    a.len().max(b.len()) <= LONGEST && strsim::osa_distance(&a, &b) <= most
}

/// Returns a name in lower case, without separators.
fn plain(name: &str) -> String {
    name.to_lowercase().replace(['_', '-'], "")
}

/// Returns the path that `wanted` is most likely a misspelling of: names without their extensions are compared if the
/// extensions are the same, and the same name with another extension is near.
///
/// ```
/// use dropforge::diagnostics::nearest_path;
/// assert_eq!(nearest_path("value.yaml", ["values.yaml", "other.yaml"]), Some("values.yaml"));
/// assert_eq!(nearest_path("b.tera", ["a.tera", "bb.tera"]), Some("bb.tera"));
/// assert_eq!(nearest_path("base.html", ["base.tera"]), Some("base.tera"));
/// assert_eq!(nearest_path("a.yaml", ["b.yaml", "c.json"]), None);
/// ```
pub fn nearest_path<'c>(wanted: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let (name, extension) = extension_of(wanted);
    let all: Vec<&'c str> = candidates.into_iter().collect();
    let alike =
        all.iter().map(|path| extension_of(path)).filter(|(_, other)| *other == extension).map(|(name, _)| name);
    match nearest(name, alike) {
        Some(near) => all.into_iter().find(|path| extension_of(path) == (near, extension)),
        None => all.into_iter().filter(|path| extension_of(path).0 == name && *path != wanted).min(),
    }
}

/// Lists the words that an option takes, with the one that `wanted` is most likely a misspelling of.
///
/// ```
/// use dropforge::diagnostics::or_nearest;
/// assert_eq!(or_nearest("expected one of json, yaml", "yml", &["json", "yaml"]), "expected one of json, yaml; did you mean `yaml`?");
/// ```
pub fn or_nearest(known: &str, wanted: &str, words: &[&str]) -> String {
    match nearest(wanted, words.iter().copied()) {
        Some(near) => format!("{known}; did you mean `{near}`?"),
        None => known.to_owned(),
    }
}

/// Splits a path before the first dot of its last part.
fn extension_of(path: &str) -> (&str, &str) {
    let start = path.rfind('/').map_or(0, |slash| slash + 1);
    let dot = path.get(start + 1..).and_then(|rest| rest.find('.')).map_or(path.len(), |at| start + 1 + at);
    path.split_at_checked(dot).unwrap_or((path, ""))
}

/// Maximum length of a name that is compared.
const LONGEST: usize = 128;

/// Maximum number of bytes between quotes, or without white space.
const PIECE: usize = 200;
/// Number of bytes that are kept of a longer one.
const KEPT: usize = 160;
/// Maximum number of bytes in all.
const TEXT: usize = 4_000;

/// Shortens the names in a text, and the text itself if it is still long. Leaves out numbers of errors of the system, which
/// say nothing that their text does not.
pub(super) fn short_names(text: String) -> String {
    let text = if text.contains(OS_ERROR) { without_numbers(&text) } else { text };
    if text.len() <= PIECE {
        return text;
    }
    let mut short = String::new();
    for part in text.split_inclusive(['`', '\'', '"']) {
        match part.len() > PIECE && !part.split_whitespace().all(|word| word.len() <= PIECE) {
            true => push_words(part, &mut short),
            false => short.push_str(part),
        }
    }
    strings::abridged(&short, TEXT).into_owned()
}

/// The beginning of the number of an error of the system.
const OS_ERROR: &str = " (os error ";

fn without_numbers(text: &str) -> String {
    let mut parts = text.split(OS_ERROR);
    let mut short = parts.next().unwrap_or("").to_owned();
    for part in parts {
        match part.split_once(')') {
            Some((number, rest)) if number.parse::<i32>().is_ok() => short.push_str(rest),
            _ => short.extend([OS_ERROR, part]),
        }
    }
    short
}

/// Appends a text with long words shortened. A quote at its end stays.
fn push_words(part: &str, short: &mut String) {
    for word in part.split_inclusive(char::is_whitespace) {
        if word.len() <= PIECE {
            short.push_str(word);
            continue;
        }
        short.push_str(&strings::abridged(word, KEPT));
        short.extend(word.chars().next_back().filter(|last| matches!(last, '`' | '\'' | '"') || last.is_whitespace()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_distance_is_no_more_than_the_distance() {
        let mut seed = 7_u64;
        let mut next = |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize % below
        };
        for _ in 0..20_000 {
            let mut text = || (0..next(9)).map(|_| ["a", "b", "C", ".", "x"][next(5)]).collect::<String>();
            let (one, other) = (text().to_lowercase(), text());
            let distance = strsim::osa_distance(&one, &other.to_lowercase());
            assert!(least_distance(&one, &other) <= distance, "{one} {other}");
        }
        assert_eq!(least_distance("abc", "CAB"), 0);
        assert_eq!((least_distance("", "ab"), least_distance("abc", "b")), (2, 2));
    }

    #[test]
    fn plurals_and_separators() {
        assert_eq!([0, 1, 2_000].map(|count| counted(count, "file")), ["0 files", "1 file", "2,000 files"]);
        assert_eq!([0, 999, 1_000, 1_234_567].map(thousands), ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn numbers_of_errors_of_the_system_are_left_out() {
        let error = std::io::Error::from_raw_os_error(13);
        let text = format!("cannot open `a`: {error}; cannot open `b`: {error}");
        assert!(text.contains("(os error 13)"));
        assert_eq!(short_names(text.clone()), text.replace(" (os error 13)", ""));
        assert_eq!(short_names("a (os error x) b".to_owned()), "a (os error x) b");
    }

    #[test]
    fn long_names_are_cut_and_sentences_are_not() {
        let name = "é".repeat(5_000);
        let short = short_names(format!("the key `{name}` is given twice"));
        assert_eq!(short, format!("the key `{}…` is given twice", "é".repeat(80)));
        let sentence = "some words of a sentence ".repeat(20);
        assert_eq!(short_names(sentence.clone()), sentence);
        assert_eq!(short_names("a".repeat(1_000)), format!("{}…", "a".repeat(160)));
        assert!(short_names("a b ".repeat(100_000)).len() < 5_000);
    }
}
