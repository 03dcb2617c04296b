//! Settings of a server.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use uuid::Uuid;

use super::tls::Tls;
use crate::Origin;

/// Settings of a [`Server`](super::Server).
///
/// ```
/// let settings = dropforge_catalog::server::Settings::default();
/// assert_eq!(settings.body_bytes, 1 << 20);
/// assert!(settings.rate.is_none());
/// ```
#[derive(Debug, Clone)]
pub struct Settings {
    /// Address to listen on. With port 0 the system chooses a port ([`Server::address`](super::Server::address)).
    pub listen: SocketAddr,
    /// Address to listen on for probes: `/healthz`, `/readyz` and `/metrics` without a key. Default: none.
    pub probe_listen: Option<SocketAddr>,
    /// Interval between counts of the catalog's rows, for the metrics.
    pub count_interval: Duration,
    /// Maximum number of connections. A further one takes the place of the oldest one without a request, or waits.
    pub connections: usize,
    /// Maximum number of connections from one address. A further one takes the place of the address's oldest one without
    /// a request, or is closed.
    pub connections_per_address: usize,
    /// Timeout for the request head.
    pub head_timeout: Duration,
    /// Timeout for the next request on a connection. With zero, each connection has one request.
    pub keep_alive: Duration,
    /// Timeout for a whole request body.
    pub body_timeout: Duration,
    /// Timeout for a client that does not read its response.
    pub write_timeout: Duration,
    /// Maximum time of a shutdown, in which current requests are finished.
    pub drain: Duration,
    /// Time at the beginning of a shutdown in which the server accepts requests but is not ready.
    pub not_ready: Duration,
    /// Maximum bytes of a request body.
    pub body_bytes: usize,
    /// Maximum bytes of the body of a stamp request.
    pub stamp_bytes: usize,
    /// Maximum bytes of a page of a list, unless it has one entry. A list without pages is sent in parts.
    pub page_bytes: usize,
    /// Maximum bytes of all request bodies in memory. One caller gets at most half of it, and status 503 beyond.
    pub body_memory: usize,
    /// Maximum number of concurrent stamp requests of one caller, and half the maximum of all. Further ones get status 503.
    pub stamps: usize,
    /// Maximum requests per second and key, and burst size. Default: unlimited.
    pub rate: Option<NonZeroU32>,
    /// Certificate and key. Default: unencrypted.
    pub tls: Option<Tls>,
    /// `true` to take the addresses of clients from the last entry of `X-Forwarded-For`, which a proxy adds.
    pub behind_proxy: bool,
    /// Called after every request, and again if its response is cut off.
    pub log: Option<Log>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            probe_listen: None,
            count_interval: Duration::from_secs(15),
            connections: 1024,
            connections_per_address: 512,
            head_timeout: Duration::from_secs(10),
            keep_alive: Duration::from_secs(75),
            body_timeout: Duration::from_secs(30),
            write_timeout: Duration::from_secs(30),
            drain: Duration::from_secs(20),
            not_ready: Duration::ZERO,
            body_bytes: 1 << 20,
            stamp_bytes: 16 << 20,
            page_bytes: 4 << 20,
            body_memory: 96 << 20,
            stamps: 4,
            rate: None,
            tls: None,
            behind_proxy: false,
            log: None,
        }
    }
}

/// A callback for every finished request, and for every response that is cut off. It runs on a thread that serves other
/// requests and must not block.
#[derive(Clone)]
pub struct Log(Arc<dyn Fn(&Exchange<'_>) + Send + Sync>);

impl Log {
    /// Creates a log from a function.
    pub fn new(write: impl Fn(&Exchange<'_>) + Send + Sync + 'static) -> Self {
        Self(Arc::new(write))
    }

    pub(super) fn tell(&self, exchange: &Exchange<'_>) {
        (self.0)(exchange);
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Log")
    }
}

/// A request and its response.
#[derive(Debug, Clone, Copy)]
pub struct Exchange<'a> {
    /// Request ID, as in the `X-Request-Id` header.
    pub id: &'a str,
    /// Method.
    pub method: &'a str,
    /// Path without the query.
    pub path: &'a str,
    /// Response status.
    pub status: u16,
    /// Time until the response started, or was cut off.
    pub took: Duration,
    /// The cause, for internal errors.
    pub cause: Option<&'a str>,
    /// `true` if the response started well, but ended early for this cause.
    pub cut_off: bool,
    /// The caller, if a key was accepted.
    pub origin: Option<&'a Origin>,
    /// Address of the client.
    pub address: Option<IpAddr>,
    /// ID of the object that the request changed, or else the first one in its path.
    pub object: Option<Uuid>,
}
