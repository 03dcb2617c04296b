//! The functions of the language. Each file has a table of rows and their bodies.
//!
//! | file | content |
//! |---|---|
//! | `logic` | `eq`, `ne`, `lt`, `le`, `gt`, `ge`, `not`; defaults and choices; versions |
//! | `elements` | `len`, `index`, `slice`, `call` |
//! | `format` | `print`, `printf`, `println` |
//! | `intrinsics` | `include`, `tpl`; operations that only lowering calls |
//! | `strings`, `quotes` | parts of strings, letter case; values as text |
//! | `lists` | lists; sequences of integers |
//! | `dicts` | maps, changing and merging them; deep copies |
//! | `math` | numbers; conversions and names of types |
//! | `dates`, `regex` | times and durations; regular expressions |
//! | `crypto` | hashes, passwords and ciphers; random texts |
//! | `certificates` | private keys and certificates |
//! | `documents` | YAML, JSON and TOML, read and written |
//! | `encodings` | base64 and base32; `html`, `js`, `urlquery`; URLs; file paths; questions to a cluster or the network |

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
mod regex;
mod strings;

use std::borrow::Cow;

pub(super) use intrinsics::{MAKER, STRICT_MAKER};

use crate::error::failed;
use crate::values::{GoKind, items, kind, sized, strval, text_bytes, type_name};
use bumpalo::collections::Vec as BumpVec;
use dropforge_base::diagnostics::{Diagnostic, Result};
use dropforge_machine::function::{Builtin, Cx, Registry};
use dropforge_value::{Extended, Sized, Value, Width};

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
        encodings::OUTSIDE,
        crypto::HASHES,
        crypto::CIPHERS,
        certificates::CERTIFICATES,
        dates::DATES,
        encodings::ENCODINGS,
        encodings::PATHS,
        crypto::RANDOM,
        regex::REGEX,
        logic::SEMVER,
        encodings::URLS,
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

/// Returns `true` for nil.
fn is_nil(value: Value<'_>) -> bool {
    kind(value) == GoKind::Nil
}

/// Returns a string of any value, like the functions that take any value and need a string.
fn string_of<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<Value<'v>> {
    if text_bytes(value).is_some() { Ok(value) } else { part(cx, strval(cx, value)?) }
}

/// Returns a string that is a part of another.
fn part<'v>(cx: &Cx<'v>, bytes: &'v [u8]) -> Result<Value<'v>> {
    cx.spend(bytes.len() as u64 / 64)?;
    match std::str::from_utf8(bytes) {
        Ok(text) => cx.borrowed(text),
        Err(_) => cx.extended(Extended::Bytes(bytes)),
    }
}

/// Returns a string of these pieces.
fn copied<'v>(cx: &Cx<'v>, pieces: &[&[u8]]) -> Result<Value<'v>> {
    let len = pieces.iter().try_fold(0_usize, |len, piece| len.checked_add(piece.len()));
    made(cx, len, |push| pieces.iter().for_each(|piece| push(piece)))
}

/// Returns a string of the pieces that `write` passes on: at most `len` bytes, which are charged first. A length that does
/// not fit a `usize` exceeds any limit.
fn made<'v>(cx: &Cx<'v>, len: Option<usize>, write: impl FnOnce(&mut dyn FnMut(&[u8]))) -> Result<Value<'v>> {
    cx.charge(len.unwrap_or(usize::MAX))?;
    let mut bytes = BumpVec::with_capacity_in(len.unwrap_or(0), cx.arena().bump());
    write(&mut |piece| bytes.extend_from_slice_copy(piece));
    part(cx, bytes.into_bump_slice())
}

/// Returns the items of a slice of any type. `None` for other values.
fn elements<'v>(cx: &Cx<'v>, value: Value<'v>) -> Result<Option<Cow<'v, [Value<'v>]>>> {
    if let Some(items) = items(value) {
        return Ok(Some(Cow::Borrowed(items)));
    }
    let Some(Extended::Typed(_, content)) = value.extended() else { return Ok(None) };
    let Some(bytes) = text_bytes(*content) else { return Ok(None) };
    let byte = |byte: &u8| sized(cx, Sized::Unsigned(Width::W8, u64::from(*byte)));
    bytes.iter().map(byte).collect::<Result<Vec<_>>>().map(|items| Some(Cow::Owned(items)))
}

/// Returns the name of the kind of a value's type, as reflection names it: `slice`, `float64`.
fn kind_name(value: Value<'_>) -> Cow<'_, str> {
    Cow::Borrowed(match kind(value) {
        GoKind::Nil => "invalid",
        GoKind::Bytes | GoKind::List => "slice",
        GoKind::Map => "map",
        GoKind::Time => "struct",
        GoKind::Duration => "int64",
        GoKind::Object if type_name(value).starts_with('*') => "ptr",
        GoKind::Object => "struct",
        _ => return type_name(value),
    })
}

/// Returns the error of a nil where reflection needs a type.
fn nil_pointer() -> Box<Diagnostic> {
    failed("runtime error: invalid memory address or nil pointer dereference")
}

#[cfg(test)]
mod tests;
