//! The state shared by all requests.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::http::StatusCode;
use utoipa::openapi::OpenApi;

use super::error::{ApiError, Result};
use super::metrics::Metrics;
use super::rate_limit::Limiter;
use super::readiness::Readiness;
use super::settings::Settings;
use crate::Catalog;
use crate::fair::Budget;

/// State shared by requests.
pub(super) struct Service {
    pub(super) catalog: Catalog,
    pub(super) settings: Settings,
    pub(super) metrics: Metrics,
    limiter: Option<Limiter>,
    /// Places of requests that stamp a template.
    pub(super) stamps: Budget,
    /// Bytes of request bodies in memory.
    pub(super) bodies: Budget,
    leaving: AtomicBool,
    pub(super) readiness: Readiness,
    /// The OpenAPI description, as JSON.
    pub(super) openapi: String,
}

impl Service {
    /// Creates the state.
    pub(super) fn new(settings: Settings, catalog: Catalog, openapi: &OpenApi) -> io::Result<Self> {
        Ok(Self {
            metrics: Metrics::new().map_err(io::Error::other)?,
            leaving: AtomicBool::new(false),
            readiness: Readiness::default(),
            limiter: settings.rate.map(Limiter::new),
            stamps: Budget::new(settings.stamps.saturating_mul(2), settings.stamps),
            bodies: Budget::new(settings.body_memory, settings.body_memory / 2),
            openapi: openapi.to_json().map_err(io::Error::other)?,
            catalog,
            settings,
        })
    }

    /// Begins the shutdown: the service is no longer ready.
    pub(super) fn leave(&self) {
        self.leaving.store(true, Ordering::Relaxed);
    }

    /// Returns `true` if the service is shutting down.
    pub(super) fn is_leaving(&self) -> bool {
        self.leaving.load(Ordering::Relaxed)
    }

    /// Applies the rate limit to a key.
    pub(super) fn within_rate(&self, key: &String) -> Result<()> {
        let Some(limiter) = &self.limiter else { return Ok(()) };
        limiter.check(key).map_err(|seconds| {
            self.metrics.limited.inc();
            let message = "too many requests for this key";
            ApiError::new(StatusCode::TOO_MANY_REQUESTS, "too_many_requests", message).retry_after(seconds)
        })
    }
}
