//! `dropforge lsp` in a build without the feature `lsp`.

use std::ffi::OsString;

use clap::Args;

use dropforge::diagnostics::{Code, Diagnostic};

use crate::console::Console;
use crate::exit::{Exit, Failed};

/// Not in this build: needs the feature `lsp`
#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub(crate) struct LspArgs {
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<OsString>,
}

/// Fails with the command that installs the feature.
pub(crate) fn run(_: &LspArgs, _: &Console) -> Result<Exit, Failed> {
    let error = Diagnostic::new(Code::Usage, "this build of dropforge has no language server");
    Err(error.with_help("install one with `cargo install --path cli --profile dist --features lsp`").into())
}
