//! `dropforge hcl`: what is done with files of HCL.

mod decode;
mod fmt;

use std::path::Path;

use clap::{Args, Subcommand};

use super::console::Console;
use super::exit::{Exit, Failed};
use crate::bytecode::Dialect;
use crate::engine::dialect_of;

/// What the names of configurations in the native syntax end in.
const EXTENSIONS: [&str; 5] = ["hcl", "nomad", "tf", "tfvars", "tofu"];

/// Whether a file's name says that it is a configuration in the native syntax (`main.tf`).
fn is_native(path: &Path) -> bool {
    path.extension().and_then(|extension| extension.to_str()).is_some_and(|name| EXTENSIONS.contains(&name))
}

/// Whether a file's name says that it is a configuration, in the native syntax or in JSON (`main.tf.json`). One that
/// names another language (`app.tera.hcl`) says that it is a template.
pub(super) fn is_configuration(name: &str) -> bool {
    let path = Path::new(name.strip_suffix(".json").unwrap_or(name));
    is_native(path) && matches!(dialect_of(name), None | Some(Dialect::Hcl))
}

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
