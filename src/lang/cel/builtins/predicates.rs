//! Sizes, and predicates of strings.

use crate::values::{access, errors};
use dropforge_base::diagnostics::Result;
use dropforge_machine::function::{Cx, Pattern, Refusal};
use dropforge_machine::overloads;

overloads! {
    /// Sizes and string predicates of the standard library.
    pub static TABLE:
    "size": "Counts characters, bytes, elements or entries."
        ["size('πέντε')" => "5", "b'abc'.size()" => "3", "[1, 2].size()" => "2", "size({'a': 1})" => "1"]
        fn "size_bytes" (Bytes) -> Int = access::size;
        fn "bytes_size" member (Bytes) -> Int = access::size;
        fn "size_list" ((list A)) -> Int = access::size;
        fn "list_size" member ((list A)) -> Int = access::size;
        fn "size_map" ((map A B)) -> Int = access::size;
        fn "map_size" member ((map A B)) -> Int = access::size;
        fn "size_string" (String) -> Int = access::size;
        fn "string_size" member (String) -> Int = access::size;
    "contains": "Returns `true` if a string contains another." ["'hello'.contains('ell')" => "true"]
        fn "contains_string" member (String, String) -> Bool =
            |cx: &Cx<'_>, text: &str, part: &str| pay(cx, text).map(|()| text.contains(part));
    "startsWith": "Returns `true` if a string starts with another." ["'hello'.startsWith('he')" => "true"]
        fn "starts_with_string" member (String, String) -> Bool =
            |cx: &Cx<'_>, text: &str, prefix: &str| pay(cx, text).map(|()| text.starts_with(prefix));
    "endsWith": "Returns `true` if a string ends with another." ["'hello'.endsWith('he')" => "false"]
        fn "ends_with_string" member (String, String) -> Bool =
            |cx: &Cx<'_>, text: &str, suffix: &str| pay(cx, text).map(|()| text.ends_with(suffix));
    "matches": "Returns `true` if an RE2 regular expression matches anywhere in a string."
        ["'hello'.matches('l+')" => "true", "matches('hello', '^l')" => "false", "'a'.matches('(')" => "E0403"]
        fn "matches" (String, String) -> Bool = matches;
        fn "matches_string" member (String, String) -> Bool = matches;
}

/// Spends the steps that reading a string takes.
pub(super) fn pay(cx: &Cx<'_>, text: &str) -> Result<()> {
    cx.spend((text.len() / 64) as u64)
}

fn matches<'v>(cx: &Cx<'v>, text: &'v str, pattern: &'v str) -> Result<bool> {
    pay(cx, text)?;
    Ok(compiled(cx, pattern, text.len())?.is_match(text))
}

/// Compiles an RE2 regular expression, and pays for a search through so many bytes.
///
/// # Errors
/// An invalid regular expression, or a limit of the render.
pub(super) fn compiled<'c>(cx: &'c Cx<'_>, pattern: &str, bytes: usize) -> Result<Pattern<'c>> {
    let invalid = |refused: Refusal<'_>| {
        let why = match refused {
            Refusal::Syntax(why) => why.to_string(),
            Refusal::Engine(why) => why,
        };
        let shown: String = pattern.chars().take(60).collect();
        errors::bad_argument(format!("`{shown}` is not a regular expression")).with_help(why)
    };
    cx.charge(pattern.len())?;
    let compiled = cx.re2(pattern, invalid)?;
    cx.spend(compiled.search_steps(bytes))?;
    Ok(compiled)
}
