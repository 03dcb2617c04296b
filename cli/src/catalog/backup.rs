//! `catalog backup` and `catalog restore`: copies of an SQLite catalog.

use std::path::PathBuf;

use clap::Args;
use humansize::{BINARY, format_size};

use dropforge::diagnostics::{Code, Diagnostic};
use dropforge_catalog::store::{self, StoreResult};

use super::client::{ClientResult, ConnectionArgs};
use crate::console::Console;
use crate::exit::Exit;

/// Copy an SQLite catalog to a file, also while a service uses it
///
///     dropforge catalog backup --db catalog.db catalog.backup
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct BackupArgs {
    /// The file to write
    file: PathBuf,
    /// Replace an existing file
    #[arg(long)]
    force: bool,
}

/// Replace an SQLite catalog by a backup, after checking it
///
///     dropforge catalog restore --db catalog.db catalog.backup
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct RestoreArgs {
    /// The backup to read
    file: PathBuf,
    /// Replace an existing catalog
    #[arg(long)]
    force: bool,
}

/// Runs `backup`.
pub(crate) fn back_up(connection: &ConnectionArgs, args: &BackupArgs, console: &Console) -> ClientResult<Exit> {
    let db = connection.file("backup")?;
    let bytes = run(store::back_up(db, &args.file, args.force))?;
    console.note(&format!("copied `{db}` to `{}`: {}", args.file.display(), format_size(bytes, BINARY)));
    Ok(Exit::Ok)
}

/// Runs `restore`.
pub(crate) fn restore(connection: &ConnectionArgs, args: &RestoreArgs, console: &Console) -> ClientResult<Exit> {
    let db = connection.file("restore")?;
    let from = args.file.to_str().ok_or_else(|| Diagnostic::new(Code::Usage, "the name of the backup is not UTF-8"))?;
    let bytes = run(store::restore(from, db, args.force))?;
    console.note(&format!("restored `{db}` from `{from}`: {}", format_size(bytes, BINARY)));
    Ok(Exit::Ok)
}

fn run(work: impl Future<Output = StoreResult<u64>>) -> ClientResult<u64> {
    let broken = |error: std::io::Error| Diagnostic::new(Code::Internal, format!("cannot start: {error}"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(broken)?;
    let done = runtime.block_on(work);
    done.map_err(|error| Diagnostic::new(Code::CatalogUnreachable, error.to_string()).into())
}
