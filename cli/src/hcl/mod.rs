//! `dropforge hcl`: decoding and formatting of HCL files.

mod decode;
mod fmt;

pub(crate) use fmt::is_configuration;

use crate::console::Console;
use crate::exit::{Exit, Failed};
use crate::input::InputFiles;
use clap::{Args, Subcommand};

/// Decode and format HCL files
///
///     dropforge hcl decode --spec app.hcldec app.hcl
///     dropforge hcl fmt -r -w modules/
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
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
pub(crate) fn run(args: &HclArgs, files: &mut InputFiles, console: &Console) -> Result<Exit, Failed> {
    match &args.command {
        HclCommand::Decode(args) => decode::run(args, files, console),
        HclCommand::Fmt(args) => fmt::run(args, files, console),
    }
}
