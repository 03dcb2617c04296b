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

mod connections;
mod driver;
mod extract;
mod list;
mod observe;
mod response;
mod routes;
mod service;
mod settings;

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Request, Response, StatusCode, header};
use hyper::service::Service as _;
use hyper_util::service::TowerToHyperService;
use serde_json::Value as Json;
use tokio::runtime::{Builder, Runtime};

use crate::{Actor, Catalog, CatalogError, ErrorKind, Result, render};
use extract::Caller;
use service::Service;

pub use connections::{MAX_HEAD_BYTES, MAX_HEADERS, Server};
pub(crate) use extract::MayBePacked;
pub use response::{WARNING_COUNT, WARNINGS};
pub use settings::{Exchange, Log, Settings, Tls};

/// The routes of a catalog, called as an administrator. Its end closes the store, so that an SQLite file is whole.
pub struct InProcess {
    runtime: Runtime,
    catalog: Catalog,
    router: TowerToHyperService<Router>,
}

impl InProcess {
    /// Opens the catalog in a file or at a `postgres://` address.
    ///
    /// # Errors
    /// Those of [`Catalog::open`].
    pub fn open(db: &str, settings: Settings) -> Result<Self> {
        let broken = |error: &dyn std::fmt::Display| {
            CatalogError::new(ErrorKind::Internal, "internal_error", format!("cannot start the service: {error}"))
        };
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.map_err(|error| broken(&error))?;
        let catalog = runtime.block_on(Catalog::open(db, &render::Options::default()))?;
        let service =
            Service::new(settings, catalog.clone(), &routes::description()).map_err(|error| broken(&error))?;
        Ok(Self { runtime, catalog, router: TowerToHyperService::new(routes::router(&Arc::new(service))) })
    }

    /// Sends a request and returns the response.
    pub fn request(&self, method: &str, path: &str, body: Option<&Json>) -> Response<Vec<u8>> {
        let caller = Caller { actor: Actor::Admin, key: "in process".to_owned() };
        let request = Request::builder().method(method).uri(path).header(header::CONTENT_TYPE, "application/json");
        let text = body.map(ToString::to_string).unwrap_or_default();
        let Ok(request) = request.extension(caller).body(Body::from(text)) else {
            let mut response = Response::default();
            *response.status_mut() = StatusCode::BAD_REQUEST;
            return response;
        };
        self.runtime.block_on(async {
            let Ok(response) = self.router.call(request).await;
            let (head, body) = response.into_parts();
            let body = to_bytes(body, usize::MAX).await.map(Into::into).unwrap_or_default();
            Response::from_parts(head, body)
        })
    }
}

impl Drop for InProcess {
    fn drop(&mut self) {
        self.runtime.block_on(self.catalog.store().close());
    }
}

impl std::fmt::Debug for InProcess {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("InProcess").finish_non_exhaustive()
    }
}
