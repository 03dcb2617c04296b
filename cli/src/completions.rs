//! `dropforge completions`: completions for shells.

use clap::Args;
use clap_complete::Shell;

use crate::exit::{Exit, Failed};
use crate::output::print;

/// Print completions for a shell
///
///     dropforge completions bash > ~/.local/share/bash-completion/completions/dropforge
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct CompletionArgs {
    /// Shell to complete for
    #[arg(value_enum)]
    shell: Shell,
}

/// Prints the completions of `command`.
pub(crate) fn run(args: &CompletionArgs, command: &mut clap::Command) -> Result<Exit, Failed> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, command, "dropforge", &mut script);
    print(script)?;
    Ok(Exit::Ok)
}
