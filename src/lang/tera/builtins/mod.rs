//! The filters, tests and functions of the language. Each file has a table of rows and their bodies.
//!
//! | file | content |
//! |---|---|
//! | `strings` | letter case, trimming, replacing, splitting |
//! | `markup` | escapes, tags |
//! | `numbers` | conversion, rounding, plurals |
//! | `lists` | items, joining, slicing |
//! | `attributes` | lists of maps by a dotted path: sort, unique, group, filter, map |
//! | `values` | values of several types: length, reverse, JSON, text |
//! | `time`, `external` | builtins that need other crates (feature `tera-builtins`): dates, random numbers, slugs,
//! URLs, sizes, patterns |
//! | `testers` | the tests of `is` |
//! | `functions` | the functions |
//! | `marks` | filters that lowering applies itself |
//! | `plus` | filters and functions beyond Tera |
//!
//! Invariants: except in `plus`, a body returns the result of Tera 1.20, and an error where Tera fails, panics or never ends. Where Tera
//! checks an argument late (it returns an empty list before it reads any argument), the row says `Any` and the body
//! checks the argument at the same point. Growth is charged before it is allocated, and visited elements cost steps.

mod arguments;
mod attributes;
#[cfg(feature = "builtins")]
mod external;
mod functions;
mod lists;
mod marks;
mod markup;
mod numbers;
mod plus;
mod strings;
mod testers;
#[cfg(test)]
mod testing;
mod text;
#[cfg(feature = "builtins")]
mod time;
mod values;

pub use marks::marks;
pub(super) use testers::has_item;
pub(super) use text::write_text;

use dropforge_machine::bytecode::ImportKind;
use dropforge_machine::function::{Builtin, Registry};

/// Returns every table of Tera's builtins.
pub fn tables() -> Vec<&'static [Builtin]> {
    vec![
        strings::STRINGS,
        markup::MARKUP,
        numbers::NUMBERS,
        lists::LISTS,
        attributes::ATTRIBUTES,
        values::VALUES,
        testers::TESTERS,
        functions::FUNCTIONS,
        #[cfg(feature = "builtins")]
        time::TIME,
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
/// use dropforge::bytecode::ImportKind;
/// use dropforge::dialect::tera::builtins::{plain, registry};
/// let registry = registry();
/// assert!(registry.get(ImportKind::Filter, "upper").is_some());
/// assert!(registry.get(ImportKind::Test, "upper").is_none());
/// assert!(registry.get(ImportKind::Filter, "to_yaml").is_some());
/// assert!(plain(&registry).get(ImportKind::Filter, "to_yaml").is_none());
/// ```
pub fn registry() -> Registry {
    Registry::of(&[tables(), plus_tables()].concat())
}

/// Returns a registry without the builtins beyond Tera. Functions of the embedding program stay, whatever their names.
pub fn plain(registry: &Registry) -> Registry {
    plus_tables().into_iter().flatten().fold(registry.clone(), |mut plain, builtin| {
        plain.remove(builtin);
        plain
    })
}

/// Returns the builtin beyond Tera of this kind and name.
pub(super) fn beyond(kind: ImportKind, name: &str) -> Option<&'static Builtin> {
    plus_tables().into_iter().flatten().find(|builtin| builtin.kind == kind && builtin.name == name)
}
