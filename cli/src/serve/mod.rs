//! `dropforge serve`: the catalog over HTTP. The first administrator key is printed, or written to a file that did not exist.

mod args;
pub(crate) mod config;
mod log;

use std::fs::{File, OpenOptions, remove_file};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

pub(crate) use args::ServeArgs;

use crate::exit::{Exit, Failed};
use crate::input::InputFiles;
use crate::output::print;
use crate::stderr::Stderr;
use dropforge::diagnostics::{Code, Diagnostic};
use dropforge_catalog::server::{Server, Settings};
use dropforge_catalog::{Catalog, CatalogError, new_key, store};
use log::{Level, Logger};
use tokio::signal::unix::{SignalKind, signal};

/// Runs the command.
pub(crate) fn run(args: &ServeArgs, files: &mut InputFiles, stderr: &Stderr) -> Result<Exit, Failed> {
    let key = args.init_key_file.as_ref().map(|path| files.read(path, "--init-key-file -")).transpose()?;
    let broken = |error: std::io::Error| Diagnostic::new(Code::Internal, format!("cannot start the service: {error}"));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(broken)?;
    let served = runtime.block_on(serve(args, key.as_ref().map(|key| key.text()), stderr));
    // Renders that outlast the drain must not hold up the end.
    runtime.shutdown_background();
    served
}

async fn serve(args: &ServeArgs, given_key: Option<&str>, stderr: &Stderr) -> Result<Exit, Failed> {
    let catalog = Catalog::open(&args.db, &args.render_options()).await.map_err(|error| unusable(&args.db, &error))?;
    let catalog = catalog.with_quotas(args.quotas());
    first_key(args, given_key, &catalog, stderr).await?;
    let unbound =
        |error: std::io::Error| Diagnostic::new(Code::Usage, format!("cannot listen on {}: {error}", args.listen));
    let logger = Logger::start(args, stderr);
    let settings = args.transport.apply(Settings { log: Some(logger.requests()), ..args.settings() })?;
    let server = Server::bind(settings, catalog.clone()).await.map_err(unbound)?;
    let shutdown = shutdown().map_err(unbound)?;
    let address = server.address();
    logger.event(Level::Info, &format!("listening on {}://{address}", args.transport.scheme()), stderr);
    if let Some(warning) = args.transport.warning(address) {
        logger.event(Level::Warn, &warning, stderr);
    }
    let deadline = server.serve(shutdown).await;
    // Whatever the store still waits for must not hold up the end.
    let _ = tokio::time::timeout_at(deadline, catalog.store().close()).await;
    logger.flush();
    Ok(Exit::Ok)
}

/// Creates the first key if requested.
async fn first_key(args: &ServeArgs, given: Option<&str>, catalog: &Catalog, stderr: &Stderr) -> Result<(), Failed> {
    match (&args.init, given) {
        (Some(Some(path)), _) => written(path, catalog, stderr).await,
        (Some(None), _) => printed(catalog, stderr).await,
        (None, Some(_)) => catalog.initialise(given).await.map(drop).map_err(|error| unusable(&args.db, &error)),
        (None, None) => Ok(()),
    }
}

fn unusable(db: &str, error: &CatalogError) -> Failed {
    let cause = error.cause.as_deref().map_or_else(|| error.to_string(), str::to_owned);
    let (shown, cause) = (store::address(db), store::without_password(db, &cause));
    Diagnostic::new(Code::CatalogUnreachable, format!("cannot open catalog `{shown}`: {cause}")).into()
}

/// Resolves on the first interrupt, termination or hangup signal. A second one ends the process at once.
///
/// A hangup counts even if the process was started to ignore it, so that it ends a service everywhere.
pub(super) fn shutdown() -> std::io::Result<impl Future<Output = ()>> {
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    let mut hangup = signal(SignalKind::hangup())?;
    let mut next = async move || {
        tokio::select! {
            _ = interrupt.recv() => 130,
            _ = terminate.recv() => 143,
            _ = hangup.recv() => 129,
        }
    };
    Ok(async move {
        next().await;
        tokio::spawn(async move { std::process::exit(next().await) });
    })
}

/// Creates a key if the catalog has none, and prints it.
async fn printed(catalog: &Catalog, stderr: &Stderr) -> Result<(), Failed> {
    match catalog.initialise(None).await.map_err(no_first_key)? {
        Some(key) => Ok(print(format!("{key}\n"))?),
        None => {
            stderr.note("the catalog has an administrator key: no other was created");
            Ok(())
        }
    }
}

/// Creates a key if the catalog has none, and writes it to `path`, which must not exist.
///
/// The file is complete before the catalog knows the key, so the key is never lost.
async fn written(path: &Path, catalog: &Catalog, stderr: &Stderr) -> Result<(), Failed> {
    if catalog.has_admin_key().await.map_err(no_first_key)? {
        stderr.note("the catalog has an administrator key: no other was created");
        return Ok(());
    }
    let key = new_key().map_err(no_first_key)?;
    write_new(path, &key)?;
    let added = catalog.initialise(Some(&key)).await;
    if !matches!(added, Ok(Some(_))) {
        // Nobody can use this key.
        let _ = remove_file(path);
    }
    if added.map_err(no_first_key)?.is_some() {
        stderr.note(&format!("wrote the administrator key to `{}`", path.display()));
    }
    Ok(())
}

/// Writes a key to a new file that only its owner can read.
fn write_new(path: &Path, key: &str) -> Result<(), Failed> {
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let file = file.map_err(|error| refused(path, &error))?;
    fill(file, key).map_err(|error| {
        let _ = remove_file(path);
        refused(path, &error)
    })
}

fn fill(mut file: File, key: &str) -> std::io::Result<()> {
    writeln!(file, "{key}")?;
    file.sync_all()
}

fn refused(path: &Path, error: &std::io::Error) -> Failed {
    let shown = path.display();
    if error.kind() != ErrorKind::AlreadyExists {
        let message = format!("cannot write the administrator key to `{shown}`: {error}");
        return Diagnostic::new(Code::WriteFailed, message).into();
    }
    let message =
        format!("cannot write the administrator key to `{shown}`: the file exists, and the catalog has no key");
    let help = format!("name another file, or use the key in this one with `--init-key-file {shown}`");
    Diagnostic::new(Code::WriteFailed, message).with_help(help).into()
}

fn no_first_key(error: CatalogError) -> Failed {
    let cause = error.cause.as_deref().map(|cause| format!(": {cause}")).unwrap_or_default();
    Diagnostic::new(Code::CatalogUnreachable, format!("cannot create the administrator key: {error}{cause}")).into()
}
