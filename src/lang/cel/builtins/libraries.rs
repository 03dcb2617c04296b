//! The libraries of functions, and the registries made of them.

use std::sync::LazyLock;

use super::{
    comprehensions, conversions, core, documents, encoders, format, included_yaml, kubernetes, lists, manifests, math,
    network, operators, optionals, predicates, regex, relations, sets, strings, timestamps,
};
use dropforge_machine::function::{Builtin, Registry};

/// The standard library.
pub static STANDARD: &[&[Builtin]] =
    &[operators::TABLE, relations::TABLE, conversions::TABLE, predicates::TABLE, timestamps::TABLE];

/// The extension libraries: optional, strings, math, lists, sets, encoders, comprehensions.
pub static EXTENSIONS: &[&[Builtin]] = &[
    optionals::TABLE,
    strings::TABLE,
    format::TABLE,
    math::TABLE,
    lists::TABLE,
    sets::TABLE,
    encoders::TABLE,
    comprehensions::TABLE,
];

/// The libraries `regex` and `network`.
static SEARCH_AND_NETWORK: &[&[Builtin]] = &[regex::TABLE, network::TABLE];

/// The libraries of Kubernetes.
static KUBERNETES: &[&[Builtin]] = &[
    kubernetes::text::TABLE,
    kubernetes::url::TABLE,
    kubernetes::regex::TABLE,
    kubernetes::lists::TABLE,
    kubernetes::quantity::TABLE,
    kubernetes::semver::TABLE,
    kubernetes::format::TABLE,
    kubernetes::jsonpatch::TABLE,
];

/// The libraries for authors of manifests.
static MANIFESTS: &[&[Builtin]] = &[
    manifests::maps::TABLE,
    manifests::json::TABLE,
    manifests::hashes::TABLE,
    manifests::lists::TABLE,
    manifests::random::TABLE,
    manifests::omit::TABLE,
];

/// Intrinsics: functions that lowering calls, and sources cannot name.
static INTRINSICS: &[&[Builtin]] = &[core::CORE, documents::DOCUMENTS, included_yaml::INCLUDED_YAML];

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
        Registry::of(&[INTRINSICS, STANDARD, EXTENSIONS, SEARCH_AND_NETWORK, KUBERNETES, MANIFESTS].concat())
    });
    ALL.clone()
}
