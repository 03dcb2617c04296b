//! Regular expressions of schemas.

use regex::{Regex, RegexBuilder};

use super::Draft;
use dropforge_base::stdlib::ecma_patterns::translated_ecma;
use dropforge_base::stdlib::re2::translated;

/// Maximum length of a pattern in bytes.
const PATTERN: usize = 4 << 10;

/// Maximum sizes of a compiled pattern in bytes. The smallest one that it fits is the measure of its memory.
const COMPILED: [usize; 4] = [16 << 10, 64 << 10, 256 << 10, 1 << 20];

/// Compiles a pattern: RE2 for template values, ECMA 262 as far as it is regular otherwise. Also returns the bytes that it
/// takes at most, with the memory of its searches.
pub(super) fn regex(text: &str, draft: Draft) -> Result<(Regex, usize), String> {
    if text.len() > PATTERN {
        return Err(format!("the pattern is too long: the limit is {PATTERN} bytes"));
    }
    let translated = match draft {
        Draft::Template => translated(text).map_err(|refused| refused.to_string()),
        _ => Ok(translated_ecma(text)),
    };
    let compiled = translated.and_then(|pattern| {
        let mut refused = String::new();
        for size in COMPILED {
            let mut builder = RegexBuilder::new(&pattern);
            match builder.size_limit(size).dfa_size_limit(size).nest_limit(50).build() {
                Ok(regex) => return Ok((regex, 2 * size)),
                Err(error @ regex::Error::CompiledTooBig(_)) => refused = error.to_string(),
                // The reason is the last line, below a drawing of the position.
                Err(error) => return Err(error.to_string().lines().last().unwrap_or("").replace("error: ", "")),
            }
        }
        Err(refused)
    });
    compiled.map_err(|reason| format!("`{text}` is not a regular expression: {reason}"))
}
