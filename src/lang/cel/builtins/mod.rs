//! Functions, by library. Operators are functions too, under the names that checked expressions use for them; compiled
//! programs have instructions for operators that share the same operations on values. The registries are made of libraries.
//!
//! | library | tables |
//! |---|---|
//! | standard | `standard` |
//! | optional | `lists` |
//! | strings, encoders | `strings` and `format` |
//! | math | `math` |
//! | lists, sets, comprehensions | `lists` |
//! | regex, network | `regex`, `kubernetes` |
//! | Kubernetes | `kubernetes`, and in `lists` and `regex` |
//! | manifests | `manifests` |

pub(crate) mod format;
mod intrinsics;
pub(crate) mod kubernetes;
pub(crate) mod lists;
pub(crate) mod manifests;
pub(crate) mod math;
pub(crate) mod regex;
pub(crate) mod standard;
pub(crate) mod strings;

use std::sync::LazyLock;

use dropforge_machine::function::{Builtin, Registry};

use standard::{CONVERSIONS, OPERATORS, PREDICATES, RELATIONS, TIMESTAMPS};

/// The function that reads a file.
pub(crate) const RAW_FILE: &str = "raw_file";

/// The standard library.
pub static STANDARD: &[&[Builtin]] = &[OPERATORS, RELATIONS, CONVERSIONS, PREDICATES, TIMESTAMPS];

/// The extension libraries: optional, strings, math, lists, sets, encoders, comprehensions.
pub static EXTENSIONS: &[&[Builtin]] = &[
    lists::TABLE,
    strings::TABLE,
    format::TABLE,
    math::TABLE,
    lists::OPTIONALS,
    lists::SETS,
    strings::ENCODERS,
    lists::COMPREHENSIONS,
];

/// The libraries `regex` and `network`.
static SEARCH_AND_NETWORK: &[&[Builtin]] = &[regex::TABLE, kubernetes::NETWORK];

/// The libraries of Kubernetes.
static KUBERNETES: &[&[Builtin]] = &[
    kubernetes::CONVERSIONS,
    kubernetes::URLS,
    regex::KUBERNETES_REGEX,
    lists::KUBERNETES_LISTS,
    kubernetes::quantity::QUANTITIES,
    kubernetes::quantity::VERSIONS,
    kubernetes::FORMATS,
    kubernetes::JSON_PATCH,
];

/// The libraries for authors of manifests.
static MANIFESTS: &[&[Builtin]] = &[
    manifests::FILES,
    manifests::MAPS,
    manifests::JSON,
    manifests::HASHES,
    manifests::LISTS,
    manifests::RANDOM,
    manifests::OMITTED,
];

/// Intrinsics: functions that lowering calls, and sources cannot name.
static INTRINSICS: &[&[Builtin]] = &[intrinsics::EXPRESSIONS, intrinsics::DOCUMENTS, intrinsics::INCLUDED_YAML];

/// Returns the standard library.
///
/// ```
/// use dropforge::bytecode::ImportKind::Function;
/// use dropforge::dialect::cel::builtins;
/// assert!(builtins::standard().get(Function, "size").is_some());
/// assert!(builtins::standard().get(Function, "quantity").is_none());
/// assert!(builtins::kubernetes().get(Function, "quantity").is_some());
/// ```
pub fn standard() -> Registry {
    Registry::of(&[INTRINSICS, STANDARD].concat())
}

/// Returns the standard library, the extension libraries, `regex` and `network`.
pub fn extended() -> Registry {
    Registry::of(&[INTRINSICS, STANDARD, EXTENSIONS, SEARCH_AND_NETWORK].concat())
}

/// Returns all libraries, including those of Kubernetes and those for manifests. Each call returns the same registry.
pub fn kubernetes() -> Registry {
    static ALL: LazyLock<Registry> = LazyLock::new(|| {
        let tables = [INTRINSICS, STANDARD, EXTENSIONS, SEARCH_AND_NETWORK, KUBERNETES, MANIFESTS].concat();
        let mut all = Registry::of(&tables);
        crate::dialects::add_variants(&mut all);
        all
    });
    ALL.clone()
}

#[cfg(test)]
mod tests;
