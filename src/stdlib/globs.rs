//! Patterns of file names: `*`, `?`, `[a-z]`, `{a,b}`, a backslash before what stands for itself, and `**` for any
//! number of directories.

/// A part of a pattern, between slashes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    /// Any number of directories.
    Directories,
    /// This name.
    Name(String),
    /// Names that these make.
    Like(Vec<Token>),
}

/// What a part of a pattern says of a name's characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Token {
    /// This one.
    Char(char),
    /// Any one.
    Any,
    /// Any number of any.
    Many,
    /// One of these, or none of them.
    Class { not: bool, ranges: Vec<(char, char)> },
}

/// How many patterns one with alternatives may stand for.
const ALTERNATIVES: usize = 1000;

/// The patterns without alternatives that `pattern` stands for; none where it is wrong, or stands for too many.
///
/// `alternatives("a.{b,c}")` gives `a.b` and `a.c`.
pub(crate) fn alternatives(pattern: &str) -> Option<Vec<String>> {
    let (mut left, mut done) = (vec![pattern.to_owned()], Vec::new());
    while let Some(pattern) = left.pop() {
        match braces(&pattern)? {
            None => done.push(pattern),
            Some((open, close, commas)) => {
                let (before, behind) = (pattern.get(..open)?, pattern.get(close + 1..)?);
                let starts = std::iter::once(open).chain(commas.iter().copied());
                let ends = commas.iter().copied().chain([close]);
                for (start, end) in starts.zip(ends) {
                    left.push(format!("{before}{}{behind}", pattern.get(start + 1..end)?));
                }
            }
        }
        if left.len() + done.len() > ALTERNATIVES {
            return None;
        }
    }
    Some(done)
}

/// Where the first braces are, and the commas between their alternatives; none where they are not closed.
fn braces(pattern: &str) -> Option<Option<(usize, usize, Vec<usize>)>> {
    let (mut open, mut depth, mut class, mut commas) = (0, 0, false, Vec::new());
    let mut chars = pattern.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => {
                chars.next();
            }
            '[' => class = true,
            ']' => class = false,
            _ if class => {}
            '{' => {
                open = if depth == 0 { at } else { open };
                depth += 1;
            }
            ',' if depth == 1 => commas.push(at),
            '}' if depth == 1 => return Some(Some((open, at, commas))),
            '}' if depth > 1 => depth -= 1,
            _ => {}
        }
    }
    if depth > 0 { None } else { Some(None) }
}

/// A part of a pattern without alternatives; none where it is wrong.
pub(crate) fn part(text: &str) -> Option<Part> {
    if text == "**" {
        return Some(Part::Directories);
    }
    let tokens = tokens(text)?;
    let plain = |token: &Token| match token {
        Token::Char(c) => Some(*c),
        _ => None,
    };
    let name: Option<String> = tokens.iter().map(plain).collect();
    Some(name.map_or(Part::Like(tokens), Part::Name))
}

fn tokens(text: &str) -> Option<Vec<Token>> {
    let (mut tokens, mut chars) = (Vec::new(), text.chars());
    while let Some(c) = chars.next() {
        tokens.push(match c {
            '*' => Token::Many,
            '?' => Token::Any,
            '\\' => Token::Char(chars.next()?),
            '[' => class(&mut chars)?,
            c => Token::Char(c),
        });
    }
    tokens.dedup_by(|a, b| *a == Token::Many && *b == Token::Many);
    Some(tokens)
}

/// A class behind its opening bracket.
fn class(chars: &mut std::str::Chars<'_>) -> Option<Token> {
    let mut ahead = chars.clone();
    let not = matches!(ahead.next(), Some('^' | '!'));
    if not {
        *chars = ahead;
    }
    let mut ranges: Vec<(char, char)> = Vec::new();
    loop {
        let low = match chars.next()? {
            ']' if ranges.is_empty() => return None,
            ']' => return Some(Token::Class { not, ranges }),
            '\\' => chars.next()?,
            c => c,
        };
        let mut ahead = chars.clone();
        let high = match (ahead.next(), ahead.next()) {
            (Some('-'), Some('\\')) => ahead.next()?,
            (Some('-'), Some(high)) if high != ']' => high,
            _ => {
                ranges.push((low, low));
                continue;
            }
        };
        *chars = ahead;
        ranges.push((low, high));
    }
}

/// Whether a name is as the tokens say.
///
/// In time of the product of both lengths at most.
pub(crate) fn is_like(tokens: &[Token], name: &str) -> bool {
    let name: Vec<char> = name.chars().collect();
    let (mut t, mut n, mut star) = (0, 0, None);
    while let Some(c) = name.get(n) {
        match tokens.get(t) {
            Some(Token::Many) => {
                star = Some((t, n));
                t += 1;
            }
            Some(token) if takes(token, *c) => (t, n) = (t + 1, n + 1),
            _ => match star {
                Some((at, from)) => {
                    star = Some((at, from + 1));
                    (t, n) = (at + 1, from + 1);
                }
                None => return false,
            },
        }
    }
    tokens.get(t..).unwrap_or(&[]).iter().all(|token| *token == Token::Many)
}

fn takes(token: &Token, c: char) -> bool {
    match token {
        Token::Char(own) => *own == c,
        Token::Any => true,
        Token::Class { not, ranges } => ranges.iter().any(|(low, high)| (low..=high).contains(&&c)) != *not,
        Token::Many => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, name: &str) -> bool {
        let parts = alternatives(pattern).unwrap().into_iter().map(|pattern| part(&pattern).unwrap());
        parts.into_iter().any(|part| match part {
            Part::Directories => true,
            Part::Name(own) => own == name,
            Part::Like(tokens) => is_like(&tokens, name),
        })
    }

    #[test]
    fn names_are_told_apart() {
        for (pattern, yes, no) in [
            ("*.txt", &["a.txt", ".txt"][..], &["a.md", "atxt"][..]),
            ("**.txt", &["a.txt"], &["a.md"]),
            ("a?c", &["abc", "aéc"], &["ac", "abbc"]),
            ("[a-c]?", &["b.", "cc"], &["d.", "b"]),
            ("[^a-c]", &["d", "-"], &["a"]),
            ("[!a]", &["d", "!"], &["a"]),
            ("[a-]", &["a", "-"], &["b"]),
            ("[\\]-]", &["]", "-"], &["\\"]),
            ("{a,b{c,d}}.x", &["a.x", "bc.x", "bd.x"], &["b.x", "{a.x"]),
            ("a,}\\{", &["a,}{"], &["a"]),
            ("\\*", &["*"], &["a", "\\*"]),
            ("[{,}]", &["{", ",", "}"], &["a"]),
            ("*a*b*", &["ab", "xaxbx"], &["ba"]),
            ("{,a}b", &["b", "ab"], &["a"]),
        ] {
            assert!(yes.iter().all(|name| matches(pattern, name)), "{pattern}");
            assert!(!no.iter().any(|name| matches(pattern, name)), "{pattern}");
        }
    }

    #[test]
    fn wrong_patterns_are_refused_and_none_takes_long() {
        for pattern in ["[", "[]", "[a", "a\\", "[a-", "[\\"] {
            assert!(part(pattern).is_none(), "{pattern}");
        }
        assert!(alternatives("{a").is_none() && alternatives("{{a}").is_none());
        assert!(alternatives(&"{a,b}".repeat(40)).is_none());
        assert!(!is_like(&tokens(&"*a".repeat(500)).unwrap(), &("a".repeat(499) + &"b".repeat(1000))));
    }
}
