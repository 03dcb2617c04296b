//! The functions of the language. Each file has a table of rows and their bodies.
//!
//! | file | content |
//! |---|---|
//! | `compare` | `eq`, `ne`, `lt`, `le`, `gt`, `ge`, `not` |
//! | `elements` | `len`, `index`, `slice`, `call` |
//! | `format` | `print`, `printf`, `println` |
//! | `escapes` | `html`, `js`, `urlquery` |
//! | `templates` | `include`, `tpl` |
//! | `intrinsics` | operations that only lowering calls |
//! | `strings`, `text_case`, `quotes` | parts of strings; letter case; values as text |
//! | `lists`, `sequences` | lists; sequences of integers |
//! | `dicts`, `merge`, `copy` | maps, changing and merging them; deep copies |
//! | `math`, `conversions`, `logic` | numbers; conversions and names of types; defaults and choices |
//! | `dates`, `semver`, `regex` | times and durations; versions; regular expressions |
//! | `crypto`, `random` | hashes, passwords and ciphers; random texts |
//! | `certificates` | private keys and certificates |
//! | `documents` | YAML, JSON and TOML, read and written |
//! | `encodings`, `urls`, `paths` | base64 and base32; URLs; file paths |
//! | `outside` | questions to a cluster or the network |
//! | `arguments` | helpers of bodies |

mod arguments;
mod certificates;
pub(super) mod compare;
mod conversions;
mod copy;
mod crypto;
pub(super) mod dates;
mod dicts;
mod documents;
mod elements;
mod encodings;
mod escapes;
mod format;
mod intrinsics;
mod lists;
mod logic;
mod math;
mod merge;
mod outside;
mod paths;
mod quotes;
mod random;
mod regex;
pub(super) mod semver;
mod sequences;
mod strings;
mod templates;
#[cfg(test)]
mod tests;
mod text_case;
mod urls;

pub(super) use templates::{MAKER, STRICT_MAKER};

use dropforge_machine::function::{Builtin, Registry};

/// Returns the tables of Go's own functions.
fn go_tables() -> Vec<&'static [Builtin]> {
    vec![compare::COMPARE, elements::ELEMENTS, escapes::ESCAPES, format::FORMAT, intrinsics::INTRINSICS]
}

/// Returns the tables of Helm's functions. They replace Go's of the same names.
fn helm_tables() -> Vec<&'static [Builtin]> {
    vec![
        strings::STRINGS,
        text_case::CASES,
        quotes::QUOTES,
        lists::LISTS,
        sequences::SEQUENCES,
        dicts::DICTS,
        documents::DOCUMENTS,
        math::MATH,
        conversions::CONVERSIONS,
        logic::LOGIC,
        outside::OUTSIDE,
        crypto::HASHES,
        crypto::CIPHERS,
        certificates::CERTIFICATES,
        dates::DATES,
        encodings::ENCODINGS,
        paths::PATHS,
        random::RANDOM,
        regex::REGEX,
        semver::SEMVER,
        urls::URLS,
        templates::TEMPLATES,
        templates::MAKERS,
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
