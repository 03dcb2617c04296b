//! `dropforge serve`: the catalog over HTTP.

pub(crate) mod config;
mod log;
mod size;
mod transport;

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use tokio::signal::unix::{SignalKind, signal};

use dropforge::diagnostics::{Code, Diagnostic};
use dropforge_catalog::server::{Server, Settings};
use dropforge_catalog::{Catalog, CatalogError, render};

use crate::console::Console;
use crate::exit::{Exit, Failed};
use crate::input::InputFiles;
use crate::output::print;
use crate::signals::hangup_counts;
use log::{Level, LogArgs, Logger};
use transport::TransportArgs;

use size::SizeArgs;

/// Serve a catalog over HTTP
///
///     dropforge serve --init --db catalog.db
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ServeArgs {
    /// Listen on this address; port 0 selects a free port
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:3000")]
    listen: SocketAddr,
    /// Use this SQLite file, created if missing, or `postgres://` database
    #[arg(long, value_name = "DB", default_value = "dropforge.db", env = "DROPFORGE_DB")]
    db: String,
    /// Create and print an administrator key if the catalog has none
    #[arg(long)]
    init: bool,
    /// Read the administrator key from this file if the catalog has none
    #[arg(long, value_name = "FILE", conflicts_with = "init")]
    init_key_file: Option<PathBuf>,
    /// Limit the requests per second of each key, or `off`
    #[arg(long, value_name = "N|off", default_value = "1000", value_parser = rate)]
    rate_limit: Rate,
    /// Set the number of render threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    render_threads: Option<u16>,
    /// Limit the milliseconds that a render may wait, and that it may then take
    #[arg(long, value_name = "MS", default_value = "5000")]
    render_deadline: u64,
    /// Read options from this TOML file; its keys are the names of the options
    #[arg(long, value_name = "FILE", env = "DROPFORGE_CONFIG")]
    config: Option<PathBuf>,
    #[command(flatten)]
    size: SizeArgs,
    #[command(flatten)]
    logs: LogArgs,
    #[command(flatten)]
    transport: TransportArgs,
}

/// A rate limit, or none.
#[derive(Debug, Clone, Copy)]
struct Rate(Option<NonZeroU32>);

fn rate(text: &str) -> Result<Rate, String> {
    match text {
        "off" => Ok(Rate(None)),
        number => number
            .parse()
            .map(|rate| Rate(Some(rate)))
            .map_err(|_| "expected a number greater than 0, or `off`".to_owned()),
    }
}

/// Runs the command.
pub(crate) fn run(args: &ServeArgs, files: &mut InputFiles, console: &Console) -> Result<Exit, Failed> {
    let key = args.init_key_file.as_ref().map(|path| files.read(path)).transpose()?;
    let broken = |error: std::io::Error| Diagnostic::new(Code::Internal, format!("cannot start the service: {error}"));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(broken)?;
    runtime.block_on(serve(args, key.as_ref().map(|key| key.text()), console))
}

async fn serve(args: &ServeArgs, given_key: Option<&str>, console: &Console) -> Result<Exit, Failed> {
    let catalog = Catalog::open(&args.db, &options(args)).await.map_err(|error| unusable(&args.db, &error))?;
    let catalog = catalog.with_quotas(args.size.quotas());
    first_key(args, given_key, &catalog).await?;
    let unbound =
        |error: std::io::Error| Diagnostic::new(Code::Usage, format!("cannot listen on {}: {error}", args.listen));
    let logger = Logger::start(args.logs, console);
    let settings = args.transport.apply(Settings { log: Some(logger.requests()), ..settings(args) })?;
    let server = Server::bind(settings, catalog.clone()).await.map_err(unbound)?;
    let shutdown = shutdown().map_err(unbound)?;
    let address = server.address();
    logger.event(Level::Info, &format!("listening on {}://{address}", args.transport.scheme()), console);
    if let Some(warning) = args.transport.warning(address) {
        logger.event(Level::Warn, &warning, console);
    }
    server.serve(shutdown).await;
    catalog.store().close().await;
    logger.flush();
    Ok(Exit::Ok)
}

fn options(args: &ServeArgs) -> render::Options {
    let usual = render::Options::default();
    let threads = args.render_threads.map_or(usual.threads, usize::from);
    render::Options { threads, deadline: Duration::from_millis(args.render_deadline), ..usual }
}

fn settings(args: &ServeArgs) -> Settings {
    args.size.apply(Settings { listen: args.listen, rate: args.rate_limit.0, ..Settings::default() })
}

/// Creates the first key if requested.
async fn first_key(args: &ServeArgs, given: Option<&str>, catalog: &Catalog) -> Result<(), Failed> {
    if !args.init && given.is_none() {
        return Ok(());
    }
    let made = catalog.initialise(given).await.map_err(|error| unusable(&args.db, &error))?;
    match made.filter(|_| args.init) {
        Some(key) => Ok(print(format!("{key}\n"))?),
        None => Ok(()),
    }
}

fn unusable(db: &str, error: &CatalogError) -> Failed {
    // A database address may contain a password.
    let shown = db.split_once('@').map_or(db, |(_, behind)| behind);
    Diagnostic::new(Code::CatalogUnreachable, format!("cannot open catalog `{shown}`: {error}")).into()
}

/// Resolves on the first interrupt, termination or hangup signal. A second one ends the process at once.
fn shutdown() -> std::io::Result<impl Future<Output = ()>> {
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    let mut hangup = hangup_counts().then(|| signal(SignalKind::hangup())).transpose()?;
    let mut next = async move || {
        tokio::select! {
            _ = interrupt.recv() => 130,
            _ = terminate.recv() => 143,
            Some(()) = async { hangup.as_mut()?.recv().await } => 129,
        }
    };
    Ok(async move {
        next().await;
        tokio::spawn(async move { std::process::exit(next().await) });
    })
}
