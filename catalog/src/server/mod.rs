//! The HTTP service: the routes of Brokkr's clients and further ones, described at `/api/v1/openapi.json`.
//!
//! ```no_run
//! use dropforge_catalog::{Catalog, render};
//! use dropforge_catalog::server::{Server, Settings};
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let catalog = Catalog::open("catalog.db", &render::Options::default()).await?;
//! let server = Server::bind(Settings::default(), catalog).await?;
//! println!("http://{}", server.address());
//! server.serve(async { drop(tokio::signal::ctrl_c().await) }).await;
//! # Ok(())
//! # }
//! ```

mod accept;
mod answer;
mod caller;
mod conditions;
mod extract;
mod failure;
mod in_process;
mod limiter;
mod lines;
mod media;
mod metrics;
mod observe;
mod openapi;
mod page;
mod paging;
mod patience;
mod routes;
mod settings;

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::http::StatusCode;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

pub use answer::{WARNING_COUNT, WARNINGS};
pub use in_process::InProcess;
pub use settings::{Exchange, Log, Settings};

use crate::Catalog;
use failure::{Failure, Result};
use limiter::Limiter;
use metrics::Metrics;

/// State shared by requests.
struct Service {
    catalog: Catalog,
    settings: Settings,
    metrics: Metrics,
    limiter: Option<Limiter>,
    /// Permits for requests that stamp a template.
    stamps: Arc<Semaphore>,
    /// The OpenAPI description, as JSON.
    openapi: String,
}

impl Service {
    fn new(settings: Settings, catalog: Catalog) -> io::Result<Self> {
        Ok(Self {
            metrics: Metrics::new().map_err(io::Error::other)?,
            limiter: settings.rate.map(Limiter::new),
            stamps: Arc::new(Semaphore::new(settings.stamps.min(Semaphore::MAX_PERMITS))),
            openapi: routes::description().to_json().map_err(io::Error::other)?,
            catalog,
            settings,
        })
    }

    /// Applies the rate limit to a key.
    fn within_rate(&self, key: &String) -> Result<()> {
        let Some(limiter) = &self.limiter else { return Ok(()) };
        limiter.check(key).map_err(|seconds| {
            self.metrics.limited.inc();
            let message = "too many requests for this key";
            Failure::new(StatusCode::TOO_MANY_REQUESTS, "too_many_requests", message).after(seconds)
        })
    }
}

/// A server that is bound to its address but does not serve yet.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    router: Router,
    service: Arc<Service>,
}

impl Server {
    /// Binds to the address in the settings.
    ///
    /// # Errors
    /// The address cannot be bound.
    pub async fn bind(settings: Settings, catalog: Catalog) -> io::Result<Self> {
        let listener = TcpListener::bind(settings.listen).await?;
        let address = listener.local_addr()?;
        let service = Arc::new(Service::new(settings, catalog)?);
        Ok(Self { listener, address, router: routes::router(&service), service })
    }

    /// The address of the server.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `end` completes. Then it accepts no more connections and finishes current requests, for at most
    /// [`Settings::grace`].
    pub async fn serve(self, end: impl Future<Output = ()>) {
        let Self { listener, router, service, .. } = self;
        let open = service.metrics.connections.clone();
        accept::serve(listener, router, open, &service.settings, end).await;
    }
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("address", &self.address).finish_non_exhaustive()
    }
}
