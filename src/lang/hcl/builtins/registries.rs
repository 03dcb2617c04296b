//! The sets of functions that an engine can offer.

use super::intrinsics::INTRINSICS;
use super::*;
use dropforge_machine::function::{Builtin, Registry};

/// Functions that the reference's standard library and OpenTofu share.
static SHARED: &[&[Builtin]] = &[
    conversions::ATTEMPTS,
    documents::DOCUMENTS,
    format::FORMATS,
    maps::MAPS,
    numbers::NUMBERS,
    numbers::SHARED_OPERATORS,
    patterns::PATTERNS,
    sequences::RANGES,
    searches::SEARCHES,
    sequences::SEQUENCES,
    sets::SETS,
    strings::STRINGS,
    times::TIMES,
];

/// Functions of the reference's standard library only.
static STANDARD: &[&[Builtin]] = &[
    conversions::STANDARD_CONVERSIONS,
    maps::STANDARD_MAPS,
    numbers::STANDARD_NUMBERS,
    numbers::OPERATORS,
    patterns::STANDARD_PATTERNS,
    searches::STANDARD_SEARCHES,
    sequences::STANDARD_SEQUENCES,
    sets::STANDARD_SETS,
    strings::STANDARD_STRINGS,
    times::STANDARD_TIMES,
];

/// Functions of OpenTofu only.
static OPENTOFU: &[&[Builtin]] = &[
    assumptions::ASSUMPTIONS,
    encodings::CIPHERS,
    conversions::OPENTOFU_CONVERSIONS,
    encodings::ENCODINGS,
    files::FILES,
    maps::OPENTOFU_MAPS,
    networks::NETWORKS,
    patterns::OPENTOFU_PATTERNS,
    sequences::OPENTOFU_REDUCTIONS,
    searches::OPENTOFU_SEARCHES,
    secrets::SECRETS,
    sequences::OPENTOFU_SEQUENCES,
    strings::OPENTOFU_STRINGS,
    times::OPENTOFU_TIMES,
    yaml::YAML,
];

/// Functions of OpenTofu that compile templates.
static COMPILED: &[&[Builtin]] = &[
    #[cfg(feature = "compile")]
    templates::TEMPLATES,
];

/// Returns the functions of the reference's standard library, with `try`, `can` and `convert`.
pub fn stdlib() -> Registry {
    of(&[SHARED, STANDARD])
}

/// Returns the functions of OpenTofu.
pub fn opentofu() -> Registry {
    of(&[SHARED, OPENTOFU, COMPILED])
}

/// Returns all functions: those of OpenTofu, and those of the standard library that have other names.
pub fn registry() -> Registry {
    of(&[SHARED, STANDARD, OPENTOFU, COMPILED])
}

/// Returns all functions except those that render templates.
#[cfg(feature = "compile")]
pub(super) fn without_templates() -> Registry {
    of(&[SHARED, STANDARD, OPENTOFU])
}

/// Returns the language's own operations, and no function that a source can call.
pub fn bare() -> Registry {
    of(&[])
}

/// Adds the intrinsics to a registry that lacks them.
#[cfg(feature = "compile")]
pub fn complete(registry: &Registry) -> Registry {
    let mut all = registry.clone();
    // A registry has all of them or none.
    if INTRINSICS.first().is_some_and(|one| registry.get(one.kind, &one.name).is_none()) {
        INTRINSICS.iter().for_each(|builtin| all.insert(builtin.clone()));
    }
    all
}

fn of(tables: &[&[&'static [Builtin]]]) -> Registry {
    let all = [&[INTRINSICS][..], &tables.concat()].concat();
    Registry::of(&all)
}
