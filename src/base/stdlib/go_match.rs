//! Go's `filepath.Match`: `*`, `?`, classes and escapes. `*` and `?` match no slash.

/// A pattern is malformed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BadPattern;

/// Returns `true` if all of `name` matches `pattern`.
///
/// # Errors
/// The part of the pattern that was compared is malformed. Parts after a mismatch are not looked at, as in Go.
///
/// ```
/// use dropforge_base::stdlib::go_match::{BadPattern, matches};
/// assert_eq!(matches("*.t[xy]t", "a.txt"), Ok(true));
/// assert_eq!(matches("a*", "a/b"), Ok(false));
/// assert_eq!(matches("[!a]", "!"), Ok(true));
/// assert_eq!(matches("[a-", "a"), Err(BadPattern));
/// ```
pub fn matches(pattern: &str, name: &str) -> Result<bool, BadPattern> {
    let (mut pattern, mut name) = (pattern, name);
    while !pattern.is_empty() {
        let (has_star, chunk, rest) = next_chunk(pattern);
        pattern = rest;
        if has_star && chunk.is_empty() {
            return Ok(!name.contains('/'));
        }
        // The last chunk has to match the end of the name.
        let is_found = |left: &Option<&str>| left.is_some_and(|left| left.is_empty() || !rest.is_empty());
        let found = match_chunk(chunk, name)?;
        if let (true, Some(left)) = (is_found(&found), found) {
            name = left;
            continue;
        }
        let mut later = None;
        if has_star {
            for (at, c) in name.char_indices().take_while(|(_, c)| *c != '/') {
                let left = match_chunk(chunk, name.get(at + c.len_utf8()..).unwrap_or(""))?;
                if is_found(&left) {
                    later = left;
                    break;
                }
            }
        }
        match later {
            Some(left) => name = left,
            None => return Ok(false),
        }
    }
    Ok(name.is_empty())
}

/// Splits a pattern: whether it begins with `*`, the part up to the next `*`, and the rest.
fn next_chunk(pattern: &str) -> (bool, &str, &str) {
    let chunk = pattern.trim_start_matches('*');
    let (mut in_class, mut escaped) = (false, false);
    let end = chunk.char_indices().find(|(_, c)| {
        let was_escaped = std::mem::replace(&mut escaped, false);
        match c {
            _ if was_escaped => {}
            '\\' => escaped = true,
            '[' => in_class = true,
            ']' => in_class = false,
            _ => return *c == '*' && !in_class,
        }
        false
    });
    let (chunk, rest) = chunk.split_at(end.map_or(chunk.len(), |(at, _)| at));
    (pattern.starts_with('*'), chunk, rest)
}

/// Matches a chunk without `*` with the beginning of a name. Returns what is left of the name.
fn match_chunk<'n>(chunk: &str, name: &'n str) -> Result<Option<&'n str>, BadPattern> {
    let (mut chunk, mut left, mut failed) = (chunk.chars(), name.chars(), false);
    while let Some(c) = chunk.next() {
        let found = if failed { None } else { left.next() };
        let fits = match c {
            '[' => class(&mut chunk, found)?,
            '?' => found != Some('/'),
            '\\' => found == Some(chunk.next().ok_or(BadPattern)?),
            c => found == Some(c),
        };
        failed |= found.is_none() || !fits;
    }
    Ok((!failed).then_some(left.as_str()))
}

/// Reads a class after its `[`. Returns `true` if `found` is in it.
fn class(chunk: &mut std::str::Chars<'_>, found: Option<char>) -> Result<bool, BadPattern> {
    let is_negated = chunk.as_str().starts_with('^');
    if is_negated {
        chunk.next();
    }
    let (mut fits, mut is_first) = (false, true);
    while is_first || !chunk.as_str().starts_with(']') {
        let low = bound(chunk)?;
        let mut high = low;
        if chunk.as_str().starts_with('-') {
            chunk.next();
            high = bound(chunk)?;
        }
        fits |= found.is_some_and(|found| (low..=high).contains(&found));
        is_first = false;
    }
    chunk.next();
    Ok(fits != is_negated)
}

/// Reads a bound of a range in a class, which is not the end of the pattern.
fn bound(chunk: &mut std::str::Chars<'_>) -> Result<char, BadPattern> {
    let c = match chunk.next() {
        None | Some('-' | ']') => return Err(BadPattern),
        Some('\\') => chunk.next().ok_or(BadPattern)?,
        Some(c) => c,
    };
    if chunk.as_str().is_empty() { Err(BadPattern) } else { Ok(c) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match_as_go_matches_them() {
        for (pattern, name, expected) in [
            ("abc", "abc", Ok(true)),
            ("*c", "abc", Ok(true)),
            ("a*/b", "a/c/b", Ok(false)),
            ("a*b*c*d*e*/f", "axbxcxdxe/f", Ok(true)),
            ("a*b?c*x", "abxbbxdbxebxczzx", Ok(true)),
            ("ab[^c]", "abc", Ok(false)),
            ("a\\*b", "a*b", Ok(true)),
            ("a[^a]b", "aéb", Ok(true)),
            ("a???b", "aéb", Ok(false)),
            ("[a-ζ]*", "α", Ok(true)),
            ("*[a-ζ]", "A", Ok(false)),
            ("a?b", "a/b", Ok(false)),
            ("[\\]a]", "]", Ok(true)),
            ("[x\\-]", "-", Ok(true)),
            ("[!a]b", "!b", Ok(true)),
            ("[!]a]", "!a]", Ok(true)),
            ("[a/b]", "/", Ok(true)),
            ("*x", "xxx", Ok(true)),
            ("", "", Ok(true)),
            ("[]a]", "]", Err(BadPattern)),
            ("[-]", "-", Err(BadPattern)),
            ("[x-]", "z", Err(BadPattern)),
            ("[a-b-c]", "a", Err(BadPattern)),
            ("[", "a", Err(BadPattern)),
            ("a[", "a", Err(BadPattern)),
            ("a[", "ab", Err(BadPattern)),
            ("a\\", "a", Err(BadPattern)),
            ("b*[", "abc", Ok(false)),
            ("[a", "", Err(BadPattern)),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
        // The time grows with the product of the lengths.
        assert_eq!(matches(&"*a".repeat(200), &("a".repeat(199) + &"b".repeat(1000))), Ok(false));
    }
}
