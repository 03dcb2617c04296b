//! The arguments of `dropforge hcl`.

use clap::{Args, Subcommand};

use super::{decode, fmt};
use crate::console::Console;
use crate::exit::{Exit, Failed};

/// Decode and format HCL files
#[derive(Debug, Args)]
pub(crate) struct HclArgs {
    #[command(subcommand)]
    command: HclCommand,
}

#[derive(Debug, Subcommand)]
enum HclCommand {
    Decode(decode::DecodeArgs),
    Fmt(fmt::FmtArgs),
}

/// Runs the command.
pub(crate) fn run(args: &HclArgs, console: &Console) -> Result<Exit, Failed> {
    match &args.command {
        HclCommand::Decode(args) => decode::run(args, console),
        HclCommand::Fmt(args) => fmt::run(args, console),
    }
}
