//! Which functions there are, by the libraries that an environment chooses: each set has those of the ones before it.

use super::{EXTENSIONS, STANDARD, core, documents, kubernetes, manifests, network, regex, texts};
use crate::function::{Builtin, Registry};

/// The libraries `regex` and `network`.
static SEARCH_AND_NETWORK: &[&[Builtin]] = &[regex::TABLE, network::TABLE];

/// What the language does besides operators and functions; no source can name it.
static CORE: &[&[Builtin]] = &[core::CORE, documents::DOCUMENTS, texts::TEXTS];

/// The standard library.
///
/// ```
/// use dropforge::bytecode::ImportKind::Function;
/// use dropforge::dialect::cel::builtins::libraries;
/// assert!(libraries::standard().get(Function, "size").is_some());
/// assert!(libraries::standard().get(Function, "quantity").is_none());
/// assert!(libraries::kubernetes().get(Function, "quantity").is_some());
/// ```
pub fn standard() -> Registry {
    Registry::of(&[CORE, STANDARD].concat())
}

/// The same with the extensions: optional, strings, math, lists, sets, encoders, comprehensions, regex, network.
pub fn extended() -> Registry {
    Registry::of(&[CORE, STANDARD, EXTENSIONS, SEARCH_AND_NETWORK].concat())
}

/// The same with the libraries of Kubernetes and those for manifests.
pub fn kubernetes() -> Registry {
    Registry::of(&[CORE, STANDARD, EXTENSIONS, SEARCH_AND_NETWORK, kubernetes::TABLES, manifests::TABLES].concat())
}
