//! HTTP for every client: object stores, registries, and the catalog.
//!
//! Servers are not trusted. A request ends after a bounded time with a bounded number of bytes, and a failure has a
//! [`Cause`] that says in plain words what happened, what to do, and if another attempt can help.
//!
//! | module | content |
//! |---|---|
//! | `cause` | the table of causes |
//! | `body` | bodies with a bound |
//! | `trust` | certificates: of authorities, and of the client |
//! | `pace` | connections that end when a server is too slow |

#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo, clippy::unimplemented)
)]

mod body;
mod cause;
mod pace;
mod trust;

use std::time::Duration;

use ureq::unversioned::resolver::DefaultResolver;
use ureq::unversioned::transport::{Connector, DefaultConnector};

pub use body::{Bounded, TooLong, read_all};
pub use cause::{Cause, Retry, cause_of};
pub use trust::{Identity, NoCertificate, Trust};
pub use ureq;

/// Options of a client.
#[derive(Debug, Clone)]
pub struct ClientOptions {
    /// Maximum time for resolving a name, and for a connection.
    pub connect: Duration,
    /// Maximum time for sending a request, for waiting for the response, and between two pieces of its body.
    pub idle: Duration,
    /// Maximum number of idle connections.
    pub connections: usize,
    /// Allows HTTP without TLS.
    pub plain: bool,
    /// Maximum number of redirects to follow. The response to one more is returned.
    pub redirects: u32,
    /// Certificates.
    pub trust: Trust,
}

/// Returns a client. Statuses are no errors of it.
///
/// # Errors
/// A file of certificates or of a key is not one.
pub fn client(options: &ClientOptions) -> Result<ureq::Agent, NoCertificate> {
    let idle = Some(options.idle);
    let config = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .https_only(!options.plain)
        .max_redirects(options.redirects)
        .max_redirects_will_error(false)
        .user_agent(concat!("dropforge/", env!("CARGO_PKG_VERSION")))
        .max_idle_connections(options.connections)
        .max_idle_connections_per_host(options.connections)
        .timeout_connect(Some(options.connect))
        .timeout_resolve(Some(options.connect))
        .timeout_send_request(idle)
        .timeout_send_body(idle)
        .timeout_recv_response(idle)
        .timeout_per_read(idle);
    let config = config.tls_config(options.trust.config()?);
    let connector = DefaultConnector::default().chain(pace::Paced { idle: options.idle });
    Ok(ureq::Agent::with_parts(config.build(), connector, DefaultResolver::default()))
}
