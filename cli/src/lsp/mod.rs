//! `dropforge lsp`: the language server.
//!
//! | module | content |
//! |---|---|
//! | `server`, `stdio` | the loop: requests, notifications, cancellation; messages on standard input and output |
//! | `content`, `world` | texts and positions; open documents, files, names |
//! | `home`, `values` | the project of a file, settings; its values and their schemas |
//! | `worker`, `check` | the threads that check, and their diagnostics |
//! | `hover`, `completion`, `context`, `navigation`, `hints` | answers to requests |
//!
//! Requests are answered on the main thread, from the names in the current text and the latest results of the thread that
//! checks. They never wait for a check.

mod check;
mod completion;
mod content;
mod context;
mod hints;
mod home;
mod hover;
mod navigation;
mod server;
mod stdio;
mod values;
mod worker;
mod world;

use clap::Args;
use dropforge::diagnostics::caught;

use crate::exit::{Exit, Failed};
use crate::input::InputFiles;
use crate::stderr::Stderr;

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
pub(crate) fn run(_: &LspArgs, _: &mut InputFiles, stderr: &Stderr) -> Result<Exit, Failed> {
    Ok(server::run(stderr))
}

/// The size of the stack of a thread that checks.
const STACK: usize = 16 << 20;

/// Runs `work`. Returns the message of a panic.
fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    caught(work)
}
