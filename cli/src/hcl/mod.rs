//! `dropforge hcl`: decoding and formatting of HCL files.

mod declared;
mod decode;
mod fmt;

pub(crate) use declared::Declared;
pub(crate) use fmt::is_configuration;

use crate::exit::{Exit, Failed};
use crate::input::InputFiles;
use crate::stderr::Stderr;
use clap::Subcommand;

/// Commands on HCL files.
#[derive(Debug, Subcommand)]
pub(crate) enum HclCommand {
    Decode(decode::DecodeArgs),
    Fmt(fmt::FmtArgs),
}

/// Runs the command.
pub(crate) fn run(command: &HclCommand, files: &mut InputFiles, stderr: &Stderr) -> Result<Exit, Failed> {
    match command {
        HclCommand::Decode(args) => decode::run(args, files, stderr),
        HclCommand::Fmt(args) => fmt::run(args, files, stderr),
    }
}
