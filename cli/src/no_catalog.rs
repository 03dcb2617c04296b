//! `dropforge catalog` and `dropforge serve` in a build without the feature `catalog`.

use std::ffi::OsString;

use clap::Args;

use dropforge::diagnostics::{Code, Diagnostic};

use crate::console::Console;
use crate::exit::{Exit, Failed};
use crate::input::InputFiles;

/// Not in this build: needs the feature `catalog`
#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub(crate) struct CatalogArgs {
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<OsString>,
}

pub(crate) use CatalogArgs as ServeArgs;

/// Fails with the command that installs the feature.
pub(crate) fn run(_: &CatalogArgs, _: &mut InputFiles, _: &Console) -> Result<Exit, Failed> {
    let error = Diagnostic::new(Code::Usage, "this build of dropforge has no catalog");
    Err(error.with_help("install one with `cargo install --path cli --profile dist --features catalog`").into())
}
