//! The functions of the language. Each file has a table of rows and their bodies.
//!
//! | file | content |
//! |---|---|
//! | `logic` | `eq`, `ne`, `lt`, `le`, `gt`, `ge`, `not`; defaults and choices |
//! | `elements` | `len`, `index`, `slice`, `call` |
//! | `format` | `print`, `printf`, `println` |
//! | `intrinsics` | `include`, `tpl`; operations that only lowering calls |
//! | `strings`, `quotes` | parts of strings, letter case; values as text |
//! | `lists` | lists; sequences of integers |
//! | `dicts` | maps, changing and merging them; deep copies |
//! | `math` | numbers; conversions and names of types |
//! | `dates`, `semver`, `regex` | times and durations; versions; regular expressions |
//! | `crypto`, `random` | hashes, passwords and ciphers; random texts |
//! | `certificates` | private keys and certificates |
//! | `documents` | YAML, JSON and TOML, read and written |
//! | `encodings` | base64 and base32; `html`, `js`, `urlquery` |
//! | `urls` | URLs; file paths; questions to a cluster or the network |
//! | `arguments` | helpers of bodies |

mod arguments;
mod certificates;
mod crypto;
pub(super) mod dates;
mod dicts;
mod documents;
mod elements;
mod encodings;
mod format;
mod intrinsics;
mod lists;
pub(super) mod logic;
mod math;
mod quotes;
mod random;
mod regex;
pub(super) mod semver;
mod strings;
mod urls;

pub(super) use intrinsics::{MAKER, STRICT_MAKER};

use dropforge_machine::function::{Builtin, Registry};

/// Returns the tables of Go's own functions.
fn go_tables() -> Vec<&'static [Builtin]> {
    vec![logic::COMPARE, elements::ELEMENTS, encodings::ESCAPES, format::FORMAT, intrinsics::INTRINSICS]
}

/// Returns the tables of Helm's functions. They replace Go's of the same names.
fn helm_tables() -> Vec<&'static [Builtin]> {
    vec![
        strings::STRINGS,
        strings::CASES,
        quotes::QUOTES,
        lists::LISTS,
        lists::SEQUENCES,
        dicts::DICTS,
        documents::DOCUMENTS,
        math::MATH,
        math::CONVERSIONS,
        logic::LOGIC,
        urls::OUTSIDE,
        crypto::HASHES,
        crypto::CIPHERS,
        certificates::CERTIFICATES,
        dates::DATES,
        encodings::ENCODINGS,
        urls::PATHS,
        random::RANDOM,
        regex::REGEX,
        semver::SEMVER,
        urls::URLS,
        intrinsics::TEMPLATES,
        intrinsics::MAKERS,
        // One line for each table.
    ]
}

/// Returns every table of functions.
pub fn tables() -> Vec<&'static [Builtin]> {
    [go_tables(), helm_tables()].concat()
}

/// Returns a registry of all functions.
pub fn registry() -> Registry {
    Registry::of(&tables())
}

/// Returns a registry of Go's own functions, and of those in `all` that are in no table.
pub fn plain(all: &Registry) -> Registry {
    let own = all.iter().filter(|function| !function.is_row()).map(|function| Builtin::clone(function));
    own.fold(Registry::of(&go_tables()), |mut plain, own| {
        plain.insert(own);
        plain
    })
}

#[cfg(test)]
mod tests;
