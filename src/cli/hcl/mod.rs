//! `dropforge hcl`: what is done with files of HCL's native syntax.

mod decode;
mod fmt;

use clap::{Args, Subcommand};

use super::console::Console;
use super::exit::{Exit, Failed};

/// Work on HCL files.
#[derive(Debug, Args)]
pub(super) struct HclArgs {
    #[command(subcommand)]
    command: HclCommand,
}

#[derive(Debug, Subcommand)]
enum HclCommand {
    /// Decode configurations by a specification and print the value as JSON
    Decode(decode::DecodeArgs),
    /// Lay files out in the canonical style
    Fmt(fmt::FmtArgs),
}

/// Runs the command.
pub(super) fn run(args: &HclArgs, console: &Console) -> Result<Exit, Failed> {
    match &args.command {
        HclCommand::Decode(args) => decode::run(args, console),
        HclCommand::Fmt(args) => fmt::run(args, console),
    }
}
