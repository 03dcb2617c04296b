//! The libraries of functions, and the registries made of them.

use std::sync::LazyLock;

use super::standard::{CONVERSIONS, OPERATORS, PREDICATES, RELATIONS, TIMESTAMPS};
use super::{format, intrinsics, kubernetes, lists, manifests, math, network, optionals, regex, strings};
use dropforge_machine::function::{Builtin, Registry};

/// The standard library.
pub static STANDARD: &[&[Builtin]] = &[OPERATORS, RELATIONS, CONVERSIONS, PREDICATES, TIMESTAMPS];

/// The extension libraries: optional, strings, math, lists, sets, encoders, comprehensions.
pub static EXTENSIONS: &[&[Builtin]] = &[
    optionals::TABLE,
    strings::TABLE,
    format::TABLE,
    math::TABLE,
    lists::TABLE,
    lists::SETS,
    strings::ENCODERS,
    lists::COMPREHENSIONS,
];

/// The libraries `regex` and `network`.
static SEARCH_AND_NETWORK: &[&[Builtin]] = &[regex::TABLE, network::TABLE];

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
/// use dropforge::dialect::cel::builtins::libraries;
/// assert!(libraries::standard().get(Function, "size").is_some());
/// assert!(libraries::standard().get(Function, "quantity").is_none());
/// assert!(libraries::kubernetes().get(Function, "quantity").is_some());
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
