//! What can be set of a server, with what holds where nothing is set.

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

/// What can be set of a [`Server`](super::Server).
///
/// ```
/// let settings = dropforge_catalog::server::Settings::default();
/// assert_eq!(settings.body_bytes, 1 << 20);
/// assert!(settings.rate.is_none());
/// ```
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where to listen; with port 0 the system chooses one ([`Server::address`](super::Server::address)).
    pub listen: SocketAddr,
    /// How many connections are served at a time; more wait to be accepted.
    pub connections: usize,
    /// How long a client may take for the head of a request, and how long a connection may be idle.
    pub head_timeout: Duration,
    /// How long a client may take for the whole body of a request.
    pub body_timeout: Duration,
    /// How long a client may take nothing of what is written to it.
    pub write_timeout: Duration,
    /// How long to wait at the end for what was accepted.
    pub grace: Duration,
    /// How large the body of a request may be.
    pub body_bytes: usize,
    /// How large the body of a request that stamps a template for many sets of parameters may be.
    pub stamp_bytes: usize,
    /// How many such requests are carried out at a time; more are answered with 503.
    pub stamps: usize,
    /// How many requests a second a key may make, as many of them at once; none: as many as it likes.
    pub rate: Option<NonZeroU32>,
    /// Is told of every request that was answered.
    pub log: Option<Log>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            connections: 1024,
            head_timeout: Duration::from_secs(10),
            body_timeout: Duration::from_secs(30),
            write_timeout: Duration::from_secs(30),
            grace: Duration::from_secs(30),
            body_bytes: 1 << 20,
            stamp_bytes: 16 << 20,
            stamps: 4,
            rate: None,
            log: None,
        }
    }
}

/// Is told of every request that was answered. Called on a thread that serves others too: it must not block.
#[derive(Clone)]
pub struct Log(Arc<dyn Fn(&Exchange<'_>) + Send + Sync>);

impl Log {
    /// Calls `write` with every exchange.
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

/// A request and what it was answered with.
#[derive(Debug, Clone, Copy)]
pub struct Exchange<'a> {
    /// As in the answer's `X-Request-Id`.
    pub id: &'a str,
    /// The method.
    pub method: &'a str,
    /// The path, without the query.
    pub path: &'a str,
    /// The status of the answer.
    pub status: u16,
    /// How long it took until the answer began.
    pub took: Duration,
    /// What went wrong, where it is our fault.
    pub cause: Option<&'a str>,
}
