//! Glob patterns for file paths: `*`, `?`, `[a-z]`, `\x` for a literal `x`, `**` for any number of directories, and
//! `{a,b}` through [`alternatives`]. A [`PathGlob`] has `**` anywhere.
//!
//! A [`Glob`] is matched one path component at a time. [`States`] hold the positions in the pattern that a path can have
//! reached, so matching takes time linear in pattern × path regardless of the number of `**`, and a walk visits every
//! directory once.

use std::str::Chars;

/// A pattern without alternatives, split at slashes.
#[derive(Debug, Clone)]
pub struct Glob {
    parts: Vec<GlobPart>,
    syntax: Syntax,
}

/// The supported wildcards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Syntax {
    /// `*`, `?` and `**`, which skip hidden files. Other characters are literal.
    Simple,
    /// All wildcards, classes and escapes. Hidden files match, too.
    Full,
    /// As [`Syntax::Full`], but `**` matches any characters, even slashes, wherever it stands. For [`PathGlob`].
    Crossing,
}

/// A component of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
enum GlobPart {
    /// `**`
    Directories,
    /// A literal name.
    Name(String),
    /// A pattern for names.
    Wildcards(Vec<Token>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    /// A literal character.
    Char(char),
    /// Any single character.
    Any,
    /// Any number of characters, but slashes.
    Many,
    /// Any number of characters, with slashes.
    Across,
    /// One character inside the ranges, or outside them if negated.
    Class { not: bool, ranges: Vec<(char, char)> },
}

/// Positions in a pattern that a path can have reached, ascending.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct States(Vec<usize>);

/// The result of matching one path component.
#[derive(Debug, Clone, Default)]
pub struct Step {
    /// Positions reached through a name or wildcards.
    pub named: States,
    /// Positions reached through `**`.
    pub inside: States,
}

impl Step {
    /// Returns `true` if the path does not match so far.
    pub fn is_empty(&self) -> bool {
        self.named.0.is_empty() && self.inside.0.is_empty()
    }

    /// All positions reached.
    pub fn all(self) -> States {
        let mut all = [self.named.0, self.inside.0].concat();
        all.sort_unstable();
        all.dedup();
        States(all)
    }
}

impl Glob {
    /// Parses a pattern without alternatives. `None` for an unclosed class or a trailing backslash.
    pub fn parse(pattern: &str, syntax: Syntax) -> Option<Self> {
        let components = pattern.split('/').filter(|component| !component.is_empty());
        let mut parts: Vec<GlobPart> = components.map(|component| part(component, syntax)).collect::<Option<_>>()?;
        parts.dedup_by(|a, b| *a == GlobPart::Directories && *b == GlobPart::Directories);
        Some(Self { parts, syntax })
    }

    /// Returns `true` if the pattern matches all of `path`.
    ///
    /// ```
    /// use dropforge::stdlib::globs::{Glob, Syntax};
    /// let glob = Glob::parse("**/*.yaml", Syntax::Simple).unwrap();
    /// assert!(glob.matches("eu-1/app.yaml") && glob.matches("app.yaml") && !glob.matches("eu-1/app.json"));
    /// ```
    pub fn matches(&self, path: &str) -> bool {
        let components = path.split('/').filter(|component| !component.is_empty());
        let end = components.fold(self.start(), |states, name| self.step(&states, name).all());
        self.is_match(&end)
    }

    /// Returns the positions before the first component.
    pub fn start(&self) -> States {
        let mut states = States::default();
        self.reach(0, &mut states);
        states
    }

    /// Matches the next component of a path.
    pub fn step(&self, from: &States, name: &str) -> Step {
        let mut step = Step::default();
        let visible = self.syntax != Syntax::Simple || !name.starts_with('.');
        for &at in &from.0 {
            match self.parts.get(at) {
                Some(GlobPart::Name(own)) if own == name => self.reach(at + 1, &mut step.named),
                Some(GlobPart::Wildcards(tokens)) if visible && matches(tokens, name) => {
                    self.reach(at + 1, &mut step.named);
                }
                Some(GlobPart::Directories) if visible => {
                    self.reach(at, &mut step.inside);
                    if at + 1 == self.parts.len() {
                        self.reach(at + 1, &mut step.inside);
                    }
                }
                _ => {}
            }
        }
        step
    }

    /// Returns `true` if the path matches the whole pattern.
    pub fn is_match(&self, states: &States) -> bool {
        states.0.last() == Some(&self.parts.len())
    }

    /// Returns the literal names that can come next.
    pub fn names<'g>(&'g self, states: &'g States) -> impl Iterator<Item = &'g str> {
        states.0.iter().filter_map(|at| match self.parts.get(*at) {
            Some(GlobPart::Name(name)) => Some(name.as_str()),
            _ => None,
        })
    }

    /// Returns `true` if names other than the [literal ones](Self::names) can come next.
    pub fn has_wildcards(&self, states: &States) -> bool {
        states.0.iter().any(|at| matches!(self.parts.get(*at), Some(GlobPart::Directories | GlobPart::Wildcards(_))))
    }

    /// Returns the number of tokens in the pattern.
    pub fn tokens(&self) -> usize {
        let len = |part: &GlobPart| if let GlobPart::Wildcards(tokens) = part { tokens.len() } else { 1 };
        self.parts.iter().map(len).sum()
    }

    /// Adds a position, and the next one if it is a `**` that may match no directory at all. Positions are added in
    /// ascending runs, so a position that is not beyond the last one is already there.
    fn reach(&self, at: usize, states: &mut States) {
        for at in at..=self.parts.len() {
            if states.0.last().is_none_or(|last| *last < at) {
                states.0.push(at);
            }
            if self.parts.get(at) != Some(&GlobPart::Directories) || at + 1 == self.parts.len() {
                break;
            }
        }
    }
}

/// Maximum number of alternatives of a pattern.
const ALTERNATIVES: usize = 1000;

/// Expands `{a,b}` into patterns without alternatives. `None` for unclosed braces or too many alternatives.
///
/// `alternatives("a.{b,c}")` returns `a.b` and `a.c`.
pub fn alternatives(pattern: &str) -> Option<Vec<String>> {
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

/// Returns the offsets of the first braces and of the commas between their alternatives. `None` for unclosed braces.
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

fn part(text: &str, syntax: Syntax) -> Option<GlobPart> {
    if text == "**" {
        return Some(GlobPart::Directories);
    }
    let tokens = tokens(text, syntax)?;
    let literal = |token: &Token| match token {
        Token::Char(c) => Some(*c),
        _ => None,
    };
    let name: Option<String> = tokens.iter().map(literal).collect();
    Some(name.map_or(GlobPart::Wildcards(tokens), GlobPart::Name))
}

fn tokens(text: &str, syntax: Syntax) -> Option<Vec<Token>> {
    let (mut tokens, mut chars) = (Vec::new(), text.chars());
    while let Some(c) = chars.next() {
        tokens.push(match c {
            '*' if syntax == Syntax::Crossing && chars.as_str().starts_with('*') => {
                chars = chars.as_str().trim_start_matches('*').chars();
                Token::Across
            }
            '*' => Token::Many,
            '?' => Token::Any,
            '\\' if syntax != Syntax::Simple => Token::Char(chars.next()?),
            '[' if syntax != Syntax::Simple => class(&mut chars)?,
            c => Token::Char(c),
        });
    }
    tokens.dedup_by(|a, b| *a == Token::Many && *b == Token::Many);
    Some(tokens)
}

/// Parses a class after its opening bracket.
fn class(chars: &mut Chars<'_>) -> Option<Token> {
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

/// Matches a name in time proportional to the product of the lengths.
fn matches(tokens: &[Token], name: &str) -> bool {
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
        Token::Many | Token::Across => false,
    }
}

/// A pattern for whole paths: `*` and `?` stop at slashes, `**` does not, and there are classes, escapes and
/// alternatives.
#[derive(Debug, Clone)]
pub struct PathGlob(Vec<Vec<Token>>);

impl PathGlob {
    /// Parses a pattern. `None` for unclosed classes and braces, a trailing backslash, or too many alternatives.
    ///
    /// ```
    /// use dropforge::stdlib::globs::PathGlob;
    /// let glob = PathGlob::parse("conf/**.{yaml,json}").unwrap();
    /// assert!(glob.matches("conf/a.yaml") && glob.matches("conf/b/c.json") && !glob.matches("a.yaml"));
    /// ```
    pub fn parse(pattern: &str) -> Option<Self> {
        let alternatives = alternatives(pattern)?;
        alternatives.iter().map(|one| tokens(one, Syntax::Crossing)).collect::<Option<_>>().map(Self)
    }

    /// Returns `true` if the pattern matches all of `path`, in time proportional to the product of the lengths.
    pub fn matches(&self, path: &str) -> bool {
        self.0.iter().any(|tokens| matches_path(tokens, path))
    }
}

/// Matches a path by all positions in the pattern at once.
fn matches_path(tokens: &[Token], path: &str) -> bool {
    let mut here = vec![false; tokens.len() + 1];
    reach(tokens, 0, &mut here);
    for c in path.chars() {
        let mut next = vec![false; tokens.len() + 1];
        for (at, token) in tokens.iter().enumerate().filter(|(at, _)| here.get(*at) == Some(&true)) {
            match token {
                Token::Across => reach(tokens, at, &mut next),
                Token::Many if c != '/' => reach(tokens, at, &mut next),
                Token::Any if c == '/' => {}
                token if takes(token, c) => reach(tokens, at + 1, &mut next),
                _ => {}
            }
        }
        here = next;
    }
    here.last() == Some(&true)
}

/// Marks a position, and those after wildcards that may match nothing.
fn reach(tokens: &[Token], at: usize, states: &mut [bool]) {
    for at in at..=tokens.len() {
        if let Some(state) = states.get_mut(at) {
            *state = true;
        }
        if !matches!(tokens.get(at), Some(Token::Many | Token::Across)) {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Matches a path against the alternatives of a pattern.
    fn is_match(pattern: &str, path: &str) -> bool {
        alternatives(pattern).unwrap().iter().any(|pattern| {
            let glob = Glob::parse(pattern, Syntax::Full).unwrap();
            let step = |states: States, name: &str| glob.step(&states, name).all();
            glob.is_match(&path.split('/').fold(glob.start(), step))
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
            assert!(yes.iter().all(|name| is_match(pattern, name)), "{pattern}");
            assert!(!no.iter().any(|name| is_match(pattern, name)), "{pattern}");
        }
    }

    #[test]
    fn paths_match_part_by_part() {
        for (pattern, yes, no) in [
            ("a/*.txt", &["a/b.txt"][..], &["a/b/c.txt", "b.txt", "a"][..]),
            ("**/b", &["b", "a/b", "a/a/b"], &["a", "b/a"]),
            ("a/**", &["a/b", "a/b/c"], &["a", "b"]),
            ("a/**/**/b", &["a/b", "a/x/y/b"], &["b", "a"]),
            ("**/a/**/b/**", &["a/b/x", "x/a/y/b/z/z"], &["a/b", "b/a/x"]),
        ] {
            assert!(yes.iter().all(|path| is_match(pattern, path)), "{pattern}");
            assert!(!no.iter().any(|path| is_match(pattern, path)), "{pattern}");
        }
        let simple = Glob::parse("[a]\\?/**/*", Syntax::Simple).unwrap();
        let step = |states: States, name: &str| simple.step(&states, name).all();
        for (path, wanted) in [("[a]\\x/y", true), ("[a]\\x/.y", false), ("[a]\\x/.d/y", false), ("a/y", false)] {
            assert_eq!(simple.is_match(&path.split('/').fold(simple.start(), step)), wanted, "{path}");
        }
    }

    #[test]
    fn whole_paths_match_across_slashes() {
        for (pattern, yes, no) in [
            ("**.txt", &["a.txt", "a/b.txt", ".txt"][..], &["a.md"][..]),
            ("*", &["a", ".a"], &["a/b"]),
            ("**", &["a", "a/b/c"], &[]),
            ("a/*", &["a/b"], &["a/b/c", "a"]),
            ("a/**", &["a/b", "a/b/c", "a/"], &["a"]),
            ("a?b", &["axb"], &["a/b", "ab"]),
            ("{a,b/*}.x", &["a.x", "b/c.x"], &["b/c/d.x"]),
            ("[!a]*", &["b", "bc"], &["a", "b/c"]),
            ("x**y*z", &["x/a/yz", "xyz"], &["xy/z"]),
        ] {
            let glob = PathGlob::parse(pattern).unwrap();
            assert!(yes.iter().all(|path| glob.matches(path)), "{pattern}");
            assert!(!no.iter().any(|path| glob.matches(path)), "{pattern}");
        }
        assert!(PathGlob::parse("[").is_none() && PathGlob::parse("{a").is_none());
        assert!(!PathGlob::parse(&"**a*".repeat(300)).unwrap().matches(&"a/".repeat(250)));
    }

    #[test]
    fn wrong_patterns_are_refused_and_none_takes_long() {
        for pattern in ["[", "[]", "[a", "a\\", "[a-", "[\\"] {
            assert!(Glob::parse(pattern, Syntax::Full).is_none(), "{pattern}");
        }
        assert!(alternatives("{a").is_none() && alternatives("{{a}").is_none());
        assert!(alternatives(&"{a,b}".repeat(40)).is_none());
        assert!(!is_match(&"*a".repeat(500), &("a".repeat(499) + &"b".repeat(1000))));
        assert!(!is_match(&("**/a/".repeat(200) + "c"), &("a/".repeat(2000) + "b")));
    }
}
