//! What function bodies of every language share, on plain Rust types: no value, no diagnostic, no language.
//!
//! | module | what it knows |
//! |---|---|
//! | [`strings`] | letter case, words, truncation, indentation, slugs |
//! | [`markup`] | HTML and XML escapes, tag removal |
//! | [`clusters`] | grapheme clusters |
//! | [`encoding`] | percent encoding, base64 |
//! | [`numbers`] | text to number and back, rounding, file sizes |
//! | [`time`] | reading moments, strftime |
//! | [`zones`] | time zones |
//! | [`pattern`] | what a search may cost |
//! | [`path`] | the dotted paths that name an attribute |
//! | [`bignum`] | numbers of 512 bits |
//! | [`hashes`], [`charsets`] | hashes and UUIDs; character encodings |
//! | [`globs`], [`rsa`] | patterns of file names; decrypting |
//! | [`floats`], [`float_texts`] | floats with an exponent where they need one; reading decimal and hexadecimal ones |
//! | [`duration`], [`network`], [`csv`], [`re2`] | time spans and RFC 3339; IP networks; CSV; another syntax of patterns |
//! | [`quantity`], [`semver`], [`cidr`], [`urls`], [`names`] | quantities of resources; versions; addresses read strictly; URLs; formats of names |
//! | [`bounded`] | text that refuses to grow beyond a size |
//!
//! Invariants: nothing here panics, whatever the input; everything runs in time linear in its input and
//! output; whatever can grow says its size first (`…_len`), or writes into a [`bounded::Bounded`], so that
//! a caller can hold the size against its memory limit before anything is allocated.

pub(crate) mod bignum;
pub(crate) mod bounded;
pub(crate) mod charsets;
pub(crate) mod cidr;
pub(crate) mod clusters;
pub(crate) mod csv;
pub(crate) mod duration;
pub(crate) mod encoding;
pub(crate) mod float_texts;
pub(crate) mod floats;
pub(crate) mod globs;
pub(crate) mod hashes;
pub(crate) mod markup;
pub(crate) mod names;
pub(crate) mod network;
pub(crate) mod numbers;
pub(crate) mod path;
pub(crate) mod pattern;
pub(crate) mod quantity;
pub(crate) mod re2;
pub(crate) mod relative;
pub(crate) mod rsa;
pub(crate) mod semver;
pub(crate) mod strings;
pub(crate) mod time;
pub(crate) mod urls;
pub(crate) mod zones;
