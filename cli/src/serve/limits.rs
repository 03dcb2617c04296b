//! Options of connections and requests.

use std::time::Duration;

use clap::Args;
use clap::builder::RangedU64ValueParser;

use dropforge_catalog::server::Settings;

use crate::duration::duration;
use crate::input::size;

/// Limits of connections and requests.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Connections")]
pub(crate) struct LimitArgs {
    /// Serve at most N connections; beyond that, a new one closes the oldest idle one
    #[arg(long, value_name = "N", default_value = "1024", env = "DROPFORGE_CONNECTIONS", value_parser = count())]
    connections: usize,
    /// Serve at most N connections from one address; does not count with `--behind-proxy`
    #[arg(
        long,
        value_name = "N",
        default_value = "512",
        env = "DROPFORGE_CONNECTIONS_PER_ADDRESS",
        value_parser = count()
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
    #[arg(long, value_name = "SIZE", default_value = "1MiB", env = "DROPFORGE_MAX_BODY", value_parser = bytes)]
    max_body: usize,
    /// Refuse the body of a stamp request of more than SIZE
    #[arg(long, value_name = "SIZE", default_value = "16MiB", env = "DROPFORGE_MAX_STAMP_BODY", value_parser = bytes)]
    max_stamp_body: usize,
    /// End within this time after SIGTERM, SIGHUP or an interrupt, finishing current requests
    #[arg(long, value_name = "TIME", default_value = "20s", env = "DROPFORGE_DRAIN", value_parser = duration)]
    drain: Duration,
    /// Before that, serve on for this time with 503 on `/readyz`; it is part of `--drain`
    #[arg(long, value_name = "TIME", default_value = "2s", env = "DROPFORGE_NOT_READY", value_parser = duration)]
    not_ready: Duration,
}

fn count() -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(1..)
}

fn bytes(text: &str) -> Result<usize, String> {
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
