//! `dropforge serve`: the catalog as a service.

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use tokio::signal::unix::{SignalKind, signal};

use super::console::{Console, line};
use super::exit::{Exit, Failed};
use super::values::stdout_error;
use crate::catalog::{Catalog, Refusal, render};
use crate::diagnostics::{Code, Diagnostic};
use crate::server::{Exchange, Log, Server, Settings};

/// Serve a catalog over HTTP.
#[derive(Debug, Args)]
pub(super) struct ServeArgs {
    /// Where to listen; with port 0 the system chooses one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:3000")]
    listen: SocketAddr,
    /// The file of the catalog, which is made if it is not there, or the `postgres://` address of its database
    #[arg(long, value_name = "DB", default_value = "dropforge.db", env = "DROPFORGE_DB")]
    db: String,
    /// Make a key for an administrator if there is none yet, and print it on standard output, once
    #[arg(long)]
    init: bool,
    /// The file that holds the key for an administrator, of a catalog that has none yet
    #[arg(long, value_name = "FILE", conflicts_with = "init")]
    init_key_file: Option<PathBuf>,
    /// How many requests a second a key may make, or `off`
    #[arg(long, value_name = "N|off", default_value = "1000", value_parser = rate)]
    rate_limit: Rate,
    /// Threads that render; as many as there are cores unless set
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    render_threads: Option<u16>,
    /// Milliseconds that a render may wait for its turn, and may then take
    #[arg(long, value_name = "MS", default_value = "5000")]
    render_deadline: u64,
}

/// A rate, if there is one.
#[derive(Debug, Clone, Copy)]
struct Rate(Option<NonZeroU32>);

fn rate(text: &str) -> Result<Rate, String> {
    match text {
        "off" => Ok(Rate(None)),
        number => number.parse().map(|rate| Rate(Some(rate))).map_err(|_| "a number from 1, or off".to_owned()),
    }
}

/// Runs the command.
pub(super) fn run(args: &ServeArgs, console: &Console) -> Result<Exit, Failed> {
    let broken = |error: std::io::Error| Diagnostic::new(Code::Internal, format!("the service cannot run: {error}"));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(broken)?;
    runtime.block_on(serve(args, console))
}

async fn serve(args: &ServeArgs, console: &Console) -> Result<Exit, Failed> {
    let catalog = Catalog::open(&args.db, &options(args)).await.map_err(|refusal| unusable(&args.db, &refusal))?;
    first_key(args, &catalog).await?;
    let unbound =
        |error: std::io::Error| Diagnostic::new(Code::Usage, format!("cannot listen on {}: {error}", args.listen));
    let server = Server::bind(settings(args, console), catalog.clone()).await.map_err(unbound)?;
    let end = end().map_err(unbound)?;
    console.note(&format!("listening on http://{}", server.address()));
    server.serve(end).await;
    catalog.store().close().await;
    Ok(Exit::Ok)
}

fn options(args: &ServeArgs) -> render::Options {
    let usual = render::Options::default();
    let threads = args.render_threads.map_or(usual.threads, usize::from);
    render::Options { threads, deadline: Duration::from_millis(args.render_deadline), ..usual }
}

fn settings(args: &ServeArgs, console: &Console) -> Settings {
    let verbose = console.verbose;
    let write = move |exchange: &Exchange<'_>| {
        let Exchange { id, method, path, status, took, cause } = *exchange;
        if verbose || status >= 500 {
            let cause = cause.map(|cause| format!(": {cause}")).unwrap_or_default();
            line(&format!("{method} {path} {status} {}us {id}{cause}", took.as_micros()));
        }
    };
    let log = Some(Log::new(write));
    Settings { listen: args.listen, rate: args.rate_limit.0, log, ..Settings::default() }
}

/// Makes the first key, if that is asked for.
async fn first_key(args: &ServeArgs, catalog: &Catalog) -> Result<(), Failed> {
    let given = args.init_key_file.as_deref().map(read_key).transpose()?;
    if !args.init && given.is_none() {
        return Ok(());
    }
    let made = catalog.initialise(given.as_deref()).await.map_err(|refusal| unusable(&args.db, &refusal))?;
    match made {
        Some(key) if args.init => {
            use std::io::Write;
            let mut stdout = std::io::stdout().lock();
            writeln!(stdout, "{key}").and_then(|()| stdout.flush()).map_err(|error| stdout_error(&error).into())
        }
        _ => Ok(()),
    }
}

fn read_key(path: &Path) -> Result<String, Box<Diagnostic>> {
    let failed = |error| Diagnostic::new(Code::ReadFailed, format!("cannot read `{}`: {error}", path.display()));
    std::fs::read_to_string(path).map_err(failed)
}

fn unusable(db: &str, refusal: &Refusal) -> Failed {
    // An address may hold a password.
    let shown = db.split_once('@').map_or(db, |(_, behind)| behind);
    Diagnostic::new(Code::CatalogUnreachable, format!("the catalog `{shown}` cannot be used: {refusal}")).into()
}

/// Done when the process is asked to end. A second time it ends at once.
fn end() -> std::io::Result<impl Future<Output = ()>> {
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        tokio::spawn(async move {
            let code = tokio::select! {
                _ = interrupt.recv() => 130,
                _ = terminate.recv() => 143,
            };
            std::process::exit(code);
        });
    })
}
