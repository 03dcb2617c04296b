//! Completions for shells.

use std::io::Write;

use clap::CommandFactory;
use clap_complete::Shell;

use super::args::Cli;
use super::exit::{Exit, Failed};
use super::values::stdout_error;

/// Prints the completions of `shell`.
pub(super) fn run(shell: Shell) -> Result<Exit, Failed> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "dropforge", &mut script);
    std::io::stdout().lock().write_all(&script).map_err(|error| stdout_error(&error))?;
    Ok(Exit::Ok)
}
