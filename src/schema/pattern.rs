//! Regular expressions of schemas.

use regex::{Regex, RegexBuilder};

use super::Draft;
use crate::stdlib::ecma_patterns::translated_ecma;
use crate::stdlib::re2::translated;

/// Maximum length of a pattern in bytes.
const PATTERN: usize = 4 << 10;

/// Maximum size of a compiled pattern in bytes.
const COMPILED: usize = 1 << 20;

/// Compiles a pattern: RE2 for template values, ECMA 262 as far as it is regular otherwise.
pub(super) fn regex(text: &str, draft: Draft) -> Result<Regex, String> {
    if text.len() > PATTERN {
        return Err(format!("the pattern is too long: the limit is {PATTERN} bytes"));
    }
    let translated = match draft {
        Draft::Template => translated(text).map_err(|refused| refused.to_string()),
        _ => Ok(translated_ecma(text)),
    };
    let compiled = translated.and_then(|pattern| {
        let mut builder = RegexBuilder::new(&pattern);
        builder.size_limit(COMPILED).dfa_size_limit(COMPILED).nest_limit(50);
        // The reason is the last line, below a drawing of the position.
        let reason = |error: regex::Error| error.to_string().lines().last().unwrap_or("").to_owned();
        builder.build().map_err(|error| reason(error).replace("error: ", ""))
    });
    compiled.map_err(|reason| format!("`{text}` is not a regular expression: {reason}"))
}
