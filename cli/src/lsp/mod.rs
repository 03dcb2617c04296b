//! `dropforge lsp`: the language server.
//!
//! | module | content |
//! |---|---|
//! | `server` | the loop: requests, notifications, cancellation |
//! | `content`, `world` | texts and positions; open documents, files, names |
//! | `home`, `settings`, `values`, `schemas` | the project of a file, its values and their schemas |
//! | `worker`, `project`, `quick`, `findings`, `shown` | the threads that check: diagnostics, values of expressions |
//! | `hover`, `completion`, `context`, `go`, `objects`, `navigation`, `rename`, `symbols`, `format`, `actions`, `hints` | a feature each |
//!
//! Requests are answered on the main thread, from the names in the current text and the latest results of the thread that
//! checks. They never wait for a check.

mod actions;
mod completion;
mod content;
mod context;
mod findings;
mod format;
mod go;
mod guard;
mod hints;
mod home;
mod hover;
mod navigation;
mod project;
mod quick;
mod rename;
mod schemas;
mod server;
mod settings;
mod shown;
mod symbols;
mod values;
mod worker;
mod world;

use clap::Args;

use crate::console::Console;
use crate::exit::{Exit, Failed};
use crate::input::InputFiles;

/// Run the language server for editors, on standard input and output
///
///     dropforge lsp
///
/// It speaks the Language Server Protocol. Editors start it: see docs/editors.md.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct LspArgs {
    /// Accepted for clients that pass it: the server has no other transport
    #[arg(long)]
    stdio: bool,
}

/// Runs the command.
pub(crate) fn run(_: &LspArgs, _: &mut InputFiles, console: &Console) -> Result<Exit, Failed> {
    Ok(server::run(console))
}
