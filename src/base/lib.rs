//! The lowest layer of [dropforge](https://docs.rs/dropforge): sources, diagnostics, limits, and function bodies on plain Rust
//! types.

#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo, clippy::unimplemented)
)]

pub mod credentials;
pub mod diagnostics;
pub mod files;
pub mod limits;
pub mod mask;
#[doc(hidden)]
pub mod stdlib;
pub mod text;
