//! The filters, tests and functions of the language: a table of rows in each file, the bodies below it.
//!
//! | file | what |
//! |---|---|
//! | `strings` | letter case, trimming, replacing, splitting |
//! | `markup` | escapes, tags, URLs, slugs |
//! | `numbers` | conversion, rounding, sizes, plurals |
//! | `lists` | items, joining, slicing |
//! | `attributes` | lists of maps by a dotted path: sort, unique, group, filter, map |
//! | `values` | what takes values of several types: length, reverse, JSON, text |
//! | `time` | dates |
//! | `testers` | the tests, which `is` asks |
//! | `functions` | the functions |
//!
//! Invariants: a body gives what Tera 1.20 gives, and an error where Tera gives an error, panics or never
//! ends. Where Tera looks at an argument late (an empty list is returned before any argument is read), the row
//! says `Any` and the body looks at the same moment. Growth is charged before it is made, elements are spent.

mod arguments;
mod attributes;
mod functions;
mod lists;
mod markup;
mod numbers;
mod strings;
mod testers;
#[cfg(test)]
mod testing;
mod text;
mod time;
mod values;

pub use text::write_text;

use crate::function::{Builtin, Registry};

/// Every table of builtins.
pub fn tables() -> [&'static [Builtin]; 9] {
    [
        strings::STRINGS,
        markup::MARKUP,
        numbers::NUMBERS,
        lists::LISTS,
        attributes::ATTRIBUTES,
        values::VALUES,
        time::TIME,
        testers::TESTERS,
        functions::FUNCTIONS,
    ]
}

/// A registry of all builtins.
///
/// ```
/// use dropforge::bytecode::ImportKind;
/// let registry = dropforge::dialect::tera::builtins::registry();
/// assert!(registry.get(ImportKind::Filter, "upper").is_some());
/// assert!(registry.get(ImportKind::Test, "upper").is_none());
/// ```
pub fn registry() -> Registry {
    Registry::of(&tables())
}
