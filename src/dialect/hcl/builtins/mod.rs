//! The functions of the language.
//!
//! Each file has a topic and its tables. What the reference's standard library and OpenTofu both have under one name
//! is in one table that both take; what only one of them has, or has otherwise, is in a table of its own.

mod arguments;
mod assumptions;
mod attempts;
mod ciphers;
mod conversions;
pub(super) mod core;
mod documents;
mod encodings;
mod files;
mod filesets;
mod format;
pub(super) mod loops;
mod maps;
mod networks;
mod numbers;
mod operators;
mod parts;
mod patterns;
mod properties;
mod reductions;
mod searches;
mod secrets;
mod sequences;
mod sets;
mod strings;
#[cfg(feature = "compile")]
mod templates;
mod times;
#[cfg(feature = "yaml")]
mod yaml;

#[cfg(feature = "compile")]
use std::borrow::Cow;

use crate::function::{Builtin, Registry};

pub use secrets::{EPHEMERAL, SENSITIVE};

/// What the standard library of the reference has and OpenTofu has under the same names.
static SHARED: &[&[Builtin]] = &[
    attempts::ATTEMPTS,
    documents::DOCUMENTS,
    format::FORMATS,
    maps::MAPS,
    numbers::NUMBERS,
    operators::SHARED_OPERATORS,
    patterns::PATTERNS,
    reductions::RANGES,
    searches::SEARCHES,
    sequences::SEQUENCES,
    sets::SETS,
    strings::STRINGS,
    times::TIMES,
];

/// What only the standard library of the reference has.
static STANDARD: &[&[Builtin]] = &[
    conversions::STANDARD_CONVERSIONS,
    maps::STANDARD_MAPS,
    numbers::STANDARD_NUMBERS,
    operators::OPERATORS,
    patterns::STANDARD_PATTERNS,
    searches::STANDARD_SEARCHES,
    sequences::STANDARD_SEQUENCES,
    sets::STANDARD_SETS,
    strings::STANDARD_STRINGS,
];

/// What only OpenTofu has.
static OPENTOFU: &[&[Builtin]] = &[
    assumptions::ASSUMPTIONS,
    ciphers::CIPHERS,
    conversions::OPENTOFU_CONVERSIONS,
    encodings::ENCODINGS,
    files::FILES,
    maps::OPENTOFU_MAPS,
    networks::NETWORKS,
    patterns::OPENTOFU_PATTERNS,
    reductions::OPENTOFU_REDUCTIONS,
    searches::OPENTOFU_SEARCHES,
    secrets::SECRETS,
    sequences::OPENTOFU_SEQUENCES,
    strings::OPENTOFU_STRINGS,
    times::OPENTOFU_TIMES,
    #[cfg(feature = "yaml")]
    yaml::YAML,
];

/// What only OpenTofu has and only an engine that compiles can do.
static COMPILED: &[&[Builtin]] = &[
    #[cfg(feature = "compile")]
    templates::TEMPLATES,
];

/// The standard library of the reference, with `try`, `can` and `convert`.
pub fn stdlib() -> Registry {
    of(&[SHARED, STANDARD])
}

/// OpenTofu's functions.
pub fn opentofu() -> Registry {
    of(&[SHARED, OPENTOFU, COMPILED])
}

/// Every function of the language: OpenTofu's, and those of the standard library that have other names.
pub fn registry() -> Registry {
    of(&[SHARED, STANDARD, OPENTOFU, COMPILED])
}

/// Every function but those that render templates.
#[cfg(feature = "compile")]
fn without_templates() -> Registry {
    of(&[SHARED, STANDARD, OPENTOFU])
}

/// What the language does besides operators, and no function that a source can name.
pub fn bare() -> Registry {
    of(&[])
}

/// The functions of a registry, with what the language does besides operators where a host's has none of that.
#[cfg(feature = "compile")]
pub(super) fn complete(registry: &Registry) -> Cow<'_, Registry> {
    // They are there all together.
    if core::CORE.first().is_some_and(|one| registry.get(one.kind, &one.name).is_some()) {
        return Cow::Borrowed(registry);
    }
    let mut all = registry.clone();
    core::CORE.iter().for_each(|builtin| all.insert(builtin.clone()));
    Cow::Owned(all)
}

fn of(tables: &[&[&'static [Builtin]]]) -> Registry {
    let all = [&[core::CORE][..], &tables.concat()].concat();
    Registry::of(&all)
}

#[cfg(test)]
mod tests;
