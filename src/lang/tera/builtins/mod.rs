//! The filters, tests and functions of the language. Each file has a table of rows and their bodies.
//!
//! | file | content |
//! |---|---|
//! | `strings` | letter case, trimming, replacing, splitting; escapes, tags |
//! | `lists` | items, joining, slicing; lists of maps by a dotted path: sort, unique, group, filter, map |
//! | `values` | numbers: conversion, rounding, plurals; values of several types: length, reverse, JSON, text |
//! | `external` | builtins that need other crates (feature `tera-builtins`): dates, random numbers, slugs,
//! URLs, sizes, patterns |
//! | `functions` | the functions, and the tests of `is` |
//! | `plus` | filters and functions beyond Tera |
//!
//! Invariants: except in `plus`, a body returns the result of Tera 1.20, and an error where Tera fails, panics or never ends. Where Tera
//! checks an argument late (it returns an empty list before it reads any argument), the row says `Any` and the body
//! checks the argument at the same point. Growth is charged before it is allocated, and visited elements cost steps.

#[cfg(feature = "builtins")]
mod external;
mod functions;
mod lists;
mod plus;
mod strings;
mod values;

/// The function whose literal argument is read when a template is compiled.
pub(crate) const RAW_FILE: &str = "raw_file";

pub(super) use functions::has_item;
pub(super) use values::write_text;

use dropforge_base::diagnostics::{Code, Diagnostic, Result};
pub(super) use dropforge_machine::function::{ANY, LETTERS, LINES, WORDS, Written, grown, written, written_in_pieces};
use dropforge_machine::function::{Builtin, Feature, Registry, excerpt};
use dropforge_machine::functions;
use dropforge_value::Value;

/// Returns every table of Tera's builtins.
pub fn tables() -> Vec<&'static [Builtin]> {
    vec![
        strings::STRINGS,
        strings::MARKUP,
        values::NUMBERS,
        lists::LISTS,
        lists::ATTRIBUTES,
        values::VALUES,
        functions::TESTERS,
        functions::FUNCTIONS,
        #[cfg(feature = "builtins")]
        external::TIME,
        #[cfg(feature = "builtins")]
        external::EXTERNAL,
    ]
}

/// Returns every table of builtins beyond Tera.
pub fn plus_tables() -> Vec<&'static [Builtin]> {
    plus::tables()
}

/// Returns a registry of all builtins.
///
/// ```
/// use dropforge::ImportKind;
/// use dropforge::dialect::tera::builtins::{plain, registry};
/// let registry = registry();
/// assert!(registry.get(ImportKind::Filter, "upper").is_some());
/// assert!(registry.get(ImportKind::Test, "upper").is_none());
/// assert!(registry.get(ImportKind::Filter, "to_yaml").is_some());
/// assert!(plain(&registry).get(ImportKind::Filter, "to_yaml").is_none());
/// ```
pub fn registry() -> Registry {
    Registry::of(&[tables(), plus_tables()].concat()).with_features(FEATURES)
}

/// The builtins of cargo features.
static FEATURES: &[Feature] = &[
    Feature {
        name: "tera-builtins",
        present: cfg!(feature = "builtins"),
        functions: &[
            "date",
            "filesizeformat",
            "get_random",
            "matching",
            "now",
            "slugify",
            "title",
            "urlencode",
            "urlencode_strict",
        ],
    },
    Feature {
        name: "tera-plus",
        present: cfg!(feature = "plus"),
        functions: &["cidr_host", "md5", "regex_match", "regex_replace", "sha1", "sha256"],
    },
    Feature { name: "yaml", present: cfg!(feature = "yaml"), functions: &["from_yaml"] },
];

/// Returns a registry without the builtins beyond Tera. Functions of the embedding program stay, whatever their names.
pub fn plain(registry: &Registry) -> Registry {
    plus_tables().into_iter().flatten().fold(registry.clone(), |mut plain, builtin| {
        plain.remove(builtin);
        plain
    })
}

functions! {
    /// The filters that lowering applies itself.
    static MARKS:
    filter "default" (variable: Any = absent, value: Any) = default,
        "The variable, or `value` if it is missing or null. It must come first."
        [r"{{ tag | default(value='latest') }}" => "latest", r"{{ '' | upper | default(value='x') }}" => ""];
    filter "safe" (value: Any) = safe,
        "Not escaped where the template's output is escaped. It must come last."
        [r"{{ '<b>' | safe }}" => "<b>"];
}

/// Returns the filters that lowering applies itself.
pub fn marks() -> &'static [Builtin] {
    MARKS
}

fn default<'v>(variable: Value<'v>, value: Value<'v>) -> Value<'v> {
    if matches!(variable, Value::Null | Value::Undefined) { value } else { variable }
}

fn safe(value: Value<'_>) -> Value<'_> {
    value
}

/// Returns an optional text argument. `of` is the function: ``filter `sort` ``.
fn optional_text<'v>(of: &str, param: &str, value: Option<Value<'v>>) -> Result<Option<&'v str>> {
    match value {
        None => Ok(None),
        Some(Value::Str(text)) => Ok(Some(text.as_str())),
        Some(other) => Err(wrong(of, param, "a string", other)),
    }
}

/// Returns a required text argument.
fn required_text<'v>(of: &str, param: &str, value: Option<Value<'v>>) -> Result<&'v str> {
    optional_text(of, param, value)?.ok_or_else(|| missing(of, param, "a string"))
}

/// Returns the error of an argument of the wrong type or value.
fn wrong(of: &str, param: &str, wanted: &str, got: Value<'_>) -> Box<Diagnostic> {
    let message = format!("{of}: `{param}` should be {wanted}, but it is {} ({})", excerpt(got), got.kind());
    Diagnostic::new(Code::BadArgument, message).with_help(format!("give `{param}` {wanted}"))
}

/// Returns the error of a missing argument.
fn missing(of: &str, param: &str, wanted: &str) -> Box<Diagnostic> {
    Diagnostic::new(Code::MissingArgument, format!("{of} needs the argument `{param}`, {wanted}"))
        .with_help(format!("add `{param}=…`"))
}

/// Returns a number, or null if it is not finite, as in JSON.
fn number<'v>(number: f64) -> Value<'v> {
    if number.is_finite() { Value::Float(number) } else { Value::Null }
}

#[cfg(test)]
mod tests;
