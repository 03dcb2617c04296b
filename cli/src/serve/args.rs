//! The arguments of `dropforge serve`.

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use super::log::Level;
use crate::duration::duration;
use crate::input::size;
use crate::options::named;
use clap::builder::RangedU64ValueParser;
use clap::{ArgAction, Args};
use dropforge::diagnostics::{Code, Diagnostic};
use dropforge_catalog::server::{Settings, Tls};
use dropforge_catalog::{Quotas, render};

/// Serve a catalog over HTTP
///
///     dropforge serve --init admin.key --db catalog.db
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ServeArgs {
    /// Listen on this address; port 0 selects a free port
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:3000", env = "DROPFORGE_LISTEN")]
    pub(super) listen: SocketAddr,
    /// Use this SQLite file, created if missing, or `postgres://` database
    #[arg(long, value_name = "DB", default_value = "dropforge.db", env = "DROPFORGE_DB", hide_env_values = true)]
    pub(super) db: String,
    /// Create an administrator key if the catalog has none, and write it to FILE, which must not exist, or print it
    #[arg(long, value_name = "FILE")]
    pub(super) init: Option<Option<PathBuf>>,
    /// Read the administrator key from this file if the catalog has none
    #[arg(long, value_name = "FILE", conflicts_with = "init")]
    pub(super) init_key_file: Option<PathBuf>,
    /// Limit the requests per second of each key, or `off`
    #[arg(long, value_name = "N|off", default_value = "1000", env = "DROPFORGE_RATE_LIMIT", value_parser = rate)]
    rate_limit: Rate,
    /// Set the number of render threads that one caller can keep busy; there is one more [default: one per core]
    #[arg(long, value_name = "N", env = "DROPFORGE_RENDER_THREADS", value_parser = clap::value_parser!(u16).range(1..))]
    render_threads: Option<u16>,
    /// Limit the milliseconds of a render, including the time that it waits
    #[arg(long, value_name = "MS", default_value = "5000", env = "DROPFORGE_RENDER_DEADLINE")]
    render_deadline: u64,
    /// Read options from this TOML file; its keys are the names of the options
    #[arg(long, value_name = "FILE", env = "DROPFORGE_CONFIG")]
    config: Option<PathBuf>,
    #[command(flatten)]
    limits: LimitArgs,
    /// Serve /healthz, /readyz and /metrics on this address, too, without a key
    #[arg(long, help_heading = "Probes and quotas", value_name = "ADDRESS", env = "DROPFORGE_PROBE_LISTEN")]
    probe_listen: Option<SocketAddr>,
    /// Limit the template versions of each generator, or `off`
    #[arg(long, help_heading = "Probes and quotas", value_name = "N|off", default_value = "10000", env = "DROPFORGE_QUOTA_TEMPLATES", value_parser = count)]
    quota_templates: Quota,
    /// Limit the deployment objects of each generator, or `off`
    #[arg(long, help_heading = "Probes and quotas", value_name = "N|off", default_value = "1000000", env = "DROPFORGE_QUOTA_OBJECTS", value_parser = count)]
    quota_objects: Quota,
    /// Limit the bytes of templates, schemas and objects of each generator, or `off`
    #[arg(long, help_heading = "Probes and quotas", value_name = "SIZE|off", default_value = "10GiB", env = "DROPFORGE_QUOTA_BYTES", value_parser = bytes)]
    quota_bytes: Quota,
    /// Select the format of logs
    #[arg(long, help_heading = "Logs", default_value = "text", action = ArgAction::Set, value_name = "FORMAT", env = "DROPFORGE_LOG_FORMAT", value_parser = named(&[
        ("text", "A line of text", false),
        ("json", "One JSON object per line", true),
    ]))]
    pub(super) log_format: bool,
    /// Log events of this level and above; `info` logs every request [default: warn, with `-v` info, with `-vv` debug]
    #[arg(long, help_heading = "Logs", value_enum, value_name = "LEVEL", env = "DROPFORGE_LOG_LEVEL")]
    pub(super) log_level: Option<Level>,
    #[command(flatten)]
    pub(super) transport: TransportArgs,
}

/// A rate limit, or none.
type Rate = Option<NonZeroU32>;

fn rate(text: &str) -> Result<Rate, String> {
    match text {
        "off" => Ok(None),
        number => number.parse().map(Some).map_err(|_| "expected a number greater than 0, or `off`".to_owned()),
    }
}

/// A quota, or none.
type Quota = Option<u64>;

fn count(text: &str) -> Result<Quota, String> {
    match text {
        "off" => Ok(None),
        number => number.parse().map(Some).map_err(|_| "expected a number, or `off`".to_owned()),
    }
}

fn bytes(text: &str) -> Result<Quota, String> {
    if text == "off" { Ok(None) } else { size(text).map(Some) }
}

impl ServeArgs {
    /// The quotas of each generator.
    pub(super) fn quotas(&self) -> Quotas {
        Quotas { templates: self.quota_templates, objects: self.quota_objects, bytes: self.quota_bytes }
    }

    /// The options of the renderer.
    pub(super) fn render_options(&self) -> render::Options {
        let usual = render::Options::default();
        let threads = self.render_threads.map_or(usual.threads, usize::from);
        render::Options { threads, deadline: Duration::from_millis(self.render_deadline), ..usual }
    }

    /// The settings of the server, without a log.
    pub(super) fn settings(&self) -> Settings {
        self.limits.apply(Settings {
            listen: self.listen,
            probe_listen: self.probe_listen,
            rate: self.rate_limit,
            ..Settings::default()
        })
    }
}

/// Options of the transport.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Transport")]
pub(crate) struct TransportArgs {
    /// Serve HTTPS with the certificates in this PEM file, which is read again when it changes
    #[arg(long, value_name = "FILE", requires = "tls_key", env = "DROPFORGE_TLS_CERT")]
    tls_cert: Option<PathBuf>,
    /// Use the private key in this PEM file
    #[arg(long, value_name = "FILE", requires = "tls_cert", env = "DROPFORGE_TLS_KEY")]
    tls_key: Option<PathBuf>,
    /// A proxy in front ends TLS: take the addresses of clients from the last entry of `X-Forwarded-For`
    #[arg(long, env = "DROPFORGE_BEHIND_PROXY")]
    behind_proxy: bool,
}

impl TransportArgs {
    /// Applies the options to settings.
    pub(crate) fn apply(&self, settings: Settings) -> Result<Settings, Box<Diagnostic>> {
        let tls = match (&self.tls_cert, &self.tls_key) {
            (Some(certificate), Some(key)) => {
                Some(Tls::load(certificate, key).map_err(|error| Diagnostic::new(Code::Usage, error.to_string()))?)
            }
            _ => None,
        };
        Ok(Settings { tls, behind_proxy: self.behind_proxy, ..settings })
    }

    /// The scheme of the service's address.
    pub(crate) fn scheme(&self) -> &'static str {
        if self.tls_cert.is_some() { "https" } else { "http" }
    }

    /// A warning if others could read keys on their way.
    pub(crate) fn warning(&self, address: SocketAddr) -> Option<String> {
        if address.ip().is_loopback() || self.tls_cert.is_some() || self.behind_proxy {
            return None;
        }
        Some(format!(
            "keys travel unencrypted to {address}: use `--tls-cert` and `--tls-key`, or `--behind-proxy` if a proxy ends TLS"
        ))
    }
}

/// Limits of connections and requests.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Connections")]
pub(crate) struct LimitArgs {
    /// Serve at most N connections; beyond that, a new one closes the oldest idle one
    #[arg(long, value_name = "N", default_value = "1024", env = "DROPFORGE_CONNECTIONS", value_parser = positive())]
    connections: usize,
    /// Serve at most N connections from one address; does not count with `--behind-proxy`
    #[arg(
        long,
        value_name = "N",
        default_value = "512",
        env = "DROPFORGE_CONNECTIONS_PER_ADDRESS",
        value_parser = positive()
    )]
    connections_per_address: usize,
    /// Close a connection that was idle for this time after a response
    #[arg(long, value_name = "TIME", default_value = "75s", env = "DROPFORGE_KEEP_ALIVE", value_parser = duration)]
    keep_alive: Duration,
    /// Close a connection whose request head takes longer
    #[arg(long, value_name = "TIME", default_value = "10s", env = "DROPFORGE_HEAD_TIMEOUT", value_parser = duration)]
    head_timeout: Duration,
    /// Refuse a request whose body takes longer
    #[arg(long, value_name = "TIME", default_value = "30s", env = "DROPFORGE_BODY_TIMEOUT", value_parser = duration)]
    body_timeout: Duration,
    /// Close a connection whose client reads nothing for this time
    #[arg(long, value_name = "TIME", default_value = "30s", env = "DROPFORGE_WRITE_TIMEOUT", value_parser = duration)]
    write_timeout: Duration,
    /// Refuse a request body of more than SIZE
    #[arg(long, value_name = "SIZE", default_value = "1MiB", env = "DROPFORGE_MAX_BODY", value_parser = memory)]
    max_body: usize,
    /// Refuse the body of a stamp request of more than SIZE
    #[arg(long, value_name = "SIZE", default_value = "16MiB", env = "DROPFORGE_MAX_STAMP_BODY", value_parser = memory)]
    max_stamp_body: usize,
    /// End within this time after SIGTERM, SIGHUP or an interrupt, finishing current requests
    #[arg(long, value_name = "TIME", default_value = "20s", env = "DROPFORGE_DRAIN", value_parser = duration)]
    drain: Duration,
    /// Before that, serve on for this time with 503 on `/readyz`; it is part of `--drain`
    #[arg(long, value_name = "TIME", default_value = "2s", env = "DROPFORGE_NOT_READY", value_parser = duration)]
    not_ready: Duration,
}

fn positive() -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(1..)
}

fn memory(text: &str) -> Result<usize, String> {
    size(text).and_then(|size| usize::try_from(size).map_err(|_| "the size is too large".to_owned()))
}

impl LimitArgs {
    /// Applies the options to settings.
    pub(crate) fn apply(&self, settings: Settings) -> Settings {
        Settings {
            connections: self.connections,
            connections_per_address: self.connections_per_address,
            keep_alive: self.keep_alive,
            head_timeout: self.head_timeout,
            body_timeout: self.body_timeout,
            write_timeout: self.write_timeout,
            body_bytes: self.max_body,
            stamp_bytes: self.max_stamp_body,
            drain: self.drain,
            not_ready: self.not_ready,
            ..settings
        }
    }
}
