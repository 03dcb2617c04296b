//! Programs of [dropforge](https://docs.rs/dropforge) and the machine that runs them. Nothing here knows a language.
//!
//! | module | contents |
//! |---|---|
//! | [`bytecode`] | the instruction table, programs, the verifier, artifacts, listings |
//! | [`compiler`] | the emitter that languages lower to |
//! | [`function`] | functions, their registry, argument checks |
//! | [`language`] | what the engine asks of a language |
//! | [`vm`] | the machine and `trait Semantics` |
//! | [`specialise`] | programs specialised to known inputs |

#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo, clippy::unimplemented)
)]

pub mod bytecode;
pub mod compiler;
pub mod function;
pub mod language;
pub mod specialise;
pub mod vm;

#[doc(hidden)]
pub use dropforge_value as value;
