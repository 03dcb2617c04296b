//! **dropforge** compiles templates to bytecode once and stamps them thousands of times.
//!
//! The crate is a house of floors; a floor imports only floors below it (a test checks it):
//!
//! | floor | modules |
//! |---|---|
//! | 0 | [`text`], [`diagnostics`], [`limits`], `stdlib` |
//! | 1 | [`value`] |
//! | 2 | `bytecode` |
//! | 3 | `compiler`, `function`, `vm`, [`schema`] |
//! | 4 | `dialect` |
//! | 5 | [`engine`] |
//! | 6 | [`bulk`], [`catalog`] |
//! | 7 | `cli`, `server` |

// What only upper floors use is idle where they are left out; the whole build finds what nothing uses.
#![cfg_attr(not(feature = "bulk"), allow(dead_code, unused_imports))]
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo, clippy::unimplemented)
)]

#[cfg(feature = "bulk")]
pub mod bulk;
pub mod bytecode;
#[cfg(feature = "catalog")]
pub mod catalog;
#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "compile")]
pub mod compiler;
pub mod diagnostics;
pub mod dialect;
pub mod engine;
pub mod function;
pub mod limits;
pub mod schema;
#[cfg(feature = "server")]
pub mod server;
pub(crate) mod stdlib;
pub mod text;
pub mod value;
pub mod vm;

#[cfg(feature = "compile")]
pub use engine::{Precompile, precompile};

/// The README's example, compiled and run with the documentation's tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
