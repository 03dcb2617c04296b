//! The state shared by all requests.

use std::io;

use axum::http::StatusCode;
use utoipa::openapi::OpenApi;

use super::error::{ApiError, Result};
use super::metrics::Metrics;
use super::rate_limit::Limiter;
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
    /// The OpenAPI description, as JSON.
    pub(super) openapi: String,
}

impl Service {
    /// Creates the state.
    pub(super) fn new(settings: Settings, catalog: Catalog, openapi: &OpenApi) -> io::Result<Self> {
        Ok(Self {
            metrics: Metrics::new().map_err(io::Error::other)?,
            limiter: settings.rate.map(Limiter::new),
            stamps: Budget::new(settings.stamps.saturating_mul(2), settings.stamps),
            bodies: Budget::new(settings.body_memory, settings.body_memory / 2),
            openapi: openapi.to_json().map_err(io::Error::other)?,
            catalog,
            settings,
        })
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
