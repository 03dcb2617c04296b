//! The service without a network, for users with access to the store.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Request, Response, StatusCode, header};
use hyper::service::Service as _;
use hyper_util::service::TowerToHyperService;
use serde_json::Value as Json;
use tokio::runtime::{Builder, Runtime};

use super::authentication::Caller;
use super::routes;
use super::service::Service;
use super::settings::Settings;
use crate::{Actor, Catalog, CatalogError, ErrorKind, Result, render};

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
