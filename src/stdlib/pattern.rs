//! Regular expressions that a template brings along: a linear engine, and bounds on what compiling may use.

use std::fmt;

use regex::{Regex, RegexBuilder};

/// Bytes that a compiled pattern, and that its lazily built automaton, may take.
const COMPILED_BYTES: usize = 1 << 20;

/// How deep groups may nest.
const NESTING: u32 = 50;

/// Why a pattern was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PatternError {
    /// Its source, or what it compiles to, is larger than is allowed.
    TooLarge,
    /// It is no regular expression; says why.
    Invalid(String),
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge => f.write_str("the regular expression is too large"),
            Self::Invalid(reason) => f.write_str(reason),
        }
    }
}

/// Compiles `source`, of at most `source_bytes` bytes, for searching.
pub(crate) fn compile(source: &str, source_bytes: usize) -> Result<Regex, PatternError> {
    if source.len() > source_bytes {
        return Err(PatternError::TooLarge);
    }
    let built =
        RegexBuilder::new(source).size_limit(COMPILED_BYTES).dfa_size_limit(COMPILED_BYTES).nest_limit(NESTING).build();
    built.map_err(|error| match error {
        regex::Error::CompiledTooBig(_) => PatternError::TooLarge,
        other => PatternError::Invalid(reason(&other)),
    })
}

/// The last line of the engine's report: the reason without the drawing of the pattern.
fn reason(error: &regex::Error) -> String {
    let report = error.to_string();
    let last = report.lines().last().unwrap_or(&report);
    last.strip_prefix("error: ").unwrap_or(last).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_search_and_need_not_match_the_whole() {
        let pattern = compile("^a.c", 100).unwrap();
        assert!(pattern.is_match("abcd"));
        assert!(!pattern.is_match("xabc"));
    }

    #[test]
    fn bad_patterns_say_why() {
        assert_eq!(compile("(", 100).unwrap_err(), PatternError::Invalid("unclosed group".into()));
        assert!(compile(r"(a)\1", 100).is_err());
    }

    #[test]
    fn large_patterns_are_refused() {
        assert_eq!(compile("aaaa", 3).unwrap_err(), PatternError::TooLarge);
        assert_eq!(compile(r"\w{1000}{1000}", 100).unwrap_err(), PatternError::TooLarge);
        assert!(compile(&format!("{}a{}", "(".repeat(200), ")".repeat(200)), 1000).is_err());
    }
}
