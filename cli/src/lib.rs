//! The command `dropforge`.
//!
//! | module | content |
//! |---|---|
//! | `command` | the command line: all commands, and how they run |
//! | `stamp`, `render`, `values`, `check`, `compile`, `inspect`, `disasm`, `eval`, `functions`, `intent`, `hcl`, `catalog`, `serve`, `completions` | a command each, with its arguments |
//! | `options`, `fleet` | arguments shared by several commands |
//! | `input`, `layers`, `glob`, `artifacts`, `compile_cache` | input files, values, fleets, artifacts, the cache |
//! | `terraform` | hints for users of Terraform |
//! | `missing`, `unread` | names that nothing gives, values that no template reads |
//! | `output`, `console`, `summary`, `progress` | standard output, standard error |
//! | `exit`, `signals` | exit codes, interrupts |
//!
//! Results go to standard output, everything else to standard error. `-` is standard input or output. Errors are printed
//! for people or as JSON lines.

#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo, clippy::unimplemented)
)]

mod artifacts;
#[cfg(feature = "catalog")]
mod catalog;
mod check;
mod command;
mod compile;
mod compile_cache;
mod completions;
mod console;
mod disasm;
mod eval;
mod exit;
mod fleet;
mod functions;
mod glob;
mod hcl;
mod input;
mod inspect;
mod intent;
mod layers;
mod missing;
#[cfg(not(feature = "catalog"))]
mod no_catalog;
mod options;
mod output;
mod progress;
mod render;
#[cfg(feature = "catalog")]
mod serve;
mod signals;
mod stamp;
mod summary;
mod terraform;
mod unread;
mod values;

pub use command::main;
