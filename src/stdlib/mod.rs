//! What function bodies of every language share, on plain Rust types: no value, no diagnostic, no language.
//!
//! | module | what it knows |
//! |---|---|
//! | [`strings`] | letter case, words, truncation, indentation, slugs |
//! | [`markup`] | HTML and XML escapes, tag removal |
//! | [`encoding`] | percent encoding |
//! | [`numbers`] | text to number and back, rounding, file sizes |
//! | [`time`] | reading moments, strftime |
//! | [`zones`] | time zones |
//! | [`pattern`] | what a search may cost |
//! | [`path`] | the dotted paths that name an attribute |
//! | [`bounded`] | text that refuses to grow beyond a size |
//!
//! Invariants: nothing here panics, whatever the input; everything runs in time linear in its input and
//! output; whatever can grow says its size first (`…_len`), or writes into a [`bounded::Bounded`], so that
//! a caller can hold the size against its memory limit before anything is allocated.

pub(crate) mod bounded;
pub(crate) mod encoding;
pub(crate) mod markup;
pub(crate) mod numbers;
pub(crate) mod path;
pub(crate) mod pattern;
pub(crate) mod strings;
pub(crate) mod time;
pub(crate) mod zones;
