//! `dropforge hcl decode`: decoding a configuration by a specification, like the reference's `hcldec`.
//!
//! Flags, outputs and exit codes are those of `hcldec`, so it is a drop-in replacement.

mod command;
mod diagnostics;
mod document;
mod ranges;

pub(crate) use command::{DecodeArgs, run};
