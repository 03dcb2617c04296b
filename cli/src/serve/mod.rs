//! `dropforge serve`: the catalog over HTTP.

mod args;
pub(crate) mod config;
mod first_key;
mod limits;
mod log;

pub(crate) use args::ServeArgs;

use crate::exit::{Exit, Failed};
use crate::input::InputFiles;
use crate::stderr::Stderr;
use dropforge::diagnostics::{Code, Diagnostic};
use dropforge_catalog::server::{Server, Settings};
use dropforge_catalog::{Catalog, CatalogError, store};
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
        (Some(Some(path)), _) => first_key::written(path, catalog, stderr).await,
        (Some(None), _) => first_key::printed(catalog, stderr).await,
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
