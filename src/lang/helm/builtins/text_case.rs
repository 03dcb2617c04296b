//! Letters of strings: their case, notations of names, order.

use super::arguments::{only_bytes, part};
use dropforge_base::diagnostics::Result;
use dropforge_base::stdlib::{byte_texts, letter_case, letter_words};
use dropforge_machine::assigned;
use dropforge_machine::function::Cx;
use dropforge_value::Value;

assigned! {
    /// Letter case.
    pub(super) static CASES:
    "upper" (Str) = upper, "Converts to upper case." [r#"{{ upper "straße" }}"# => "STRAßE"];
    "lower" (Str) = lower, "Converts to lower case." [r#"{{ lower "Web-API" }}"# => "web-api"];
    "title" (Str) = title, "Capitalizes the first letter of each word." [r#"{{ title "hello world" }}"# => "Hello World"];
    "untitle" (Str) = untitle, "Converts the first letter of each word to a small letter."
        [r#"{{ untitle "First Try" }}"# => "first try"];
    "swapcase" (Str) = swap_case, "Swaps small letters and capitals." [r#"{{ swapcase "This Is" }}"# => "tHIS iS"];
    "camelcase" (Str) = camel_case, "Converts a name to capitalized words." [r#"{{ camelcase "http_server" }}"# => "HttpServer"];
    "snakecase" (Str) = snake_case, "Converts a name to words with `_` between them."
        [r#"{{ snakecase "FirstName" }}"# => "first_name"];
    "kebabcase" (Str) = kebab_case, "Converts a name to words with `-` between them."
        [r#"{{ kebabcase "FirstName" }}"# => "first-name"];
    "initials" (Str) = initials, "Returns the first byte of each word." [r#"{{ initials "First Try" }}"# => "FT"];
    "nospace" (Str) = no_space, "Removes white space." [r#"{{ nospace " a b " }}"# => "ab"];
    "shuffle" (Str) = shuffle, needs RANDOM, "Returns the characters of a text in random order."
        [r#"{{ shuffle "abc" }}"# => "E0405"];
}

/// Converts the only argument by `convert`. Bytes that are not UTF-8 become U+FFFD.
fn converted<'v>(cx: &Cx<'v>, args: &[Value<'v>], convert: impl FnOnce(&str) -> String) -> Result<Value<'v>> {
    let text = only_bytes(cx, args)?;
    cx.charge(text.len().saturating_mul(2))?;
    cx.text(&convert(&byte_texts::repaired(text)))
}

fn upper<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    converted(cx, args, letter_case::upper)
}

fn lower<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    converted(cx, args, letter_case::lower)
}

fn title<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    converted(cx, args, letter_case::title_words)
}

fn untitle<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    converted(cx, args, byte_texts::uncapitalized)
}

fn swap_case<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    converted(cx, args, byte_texts::swapped_case)
}

fn camel_case<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    converted(cx, args, letter_words::pascal)
}

fn snake_case<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    converted(cx, args, |text| letter_words::connected(text, '_'))
}

fn kebab_case<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    converted(cx, args, |text| letter_words::connected(text, '-'))
}

fn initials<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let text = only_bytes(cx, args)?;
    cx.charge(text.len())?;
    cx.text(&byte_texts::initials(text))
}

fn no_space<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    let text = only_bytes(cx, args)?;
    if text.is_ascii() && !text.iter().any(|byte| char::from(*byte).is_whitespace()) {
        return part(cx, text);
    }
    converted(cx, args, |text| text.chars().filter(|c| !c.is_whitespace()).collect())
}

fn shuffle<'v>(cx: &Cx<'v>, args: &[Value<'v>]) -> Result<Value<'v>> {
    converted(cx, args, |text| {
        let mut letters: Vec<char> = text.chars().collect();
        fastrand::shuffle(&mut letters);
        letters.into_iter().collect()
    })
}
