//! The state shared by all requests, with rate limits per key and the readiness of the service: the store can be written,
//! and the service is not shutting down.

use std::io;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use axum::http::StatusCode;
use governor::clock::Clock as _;
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use lru::LruCache;
use tokio::time::{Instant, timeout};
use utoipa::openapi::OpenApi;

use super::metrics::Metrics;
use super::response::{ApiError, Result};
use super::settings::Settings;
use crate::Catalog;
use crate::fair::Budget;
use crate::store::{Outage, Store, StoreError, StoreResult};

/// Number of checks of the rate limiter between sweeps of idle keys.
const SWEEP: u32 = 4096;

/// State shared by requests.
pub(super) struct Service {
    pub(super) catalog: Catalog,
    pub(super) settings: Settings,
    pub(super) metrics: Metrics,
    /// Counts the requests of each key.
    limiter: Option<DefaultKeyedRateLimiter<String>>,
    /// Number of checks of the limiter.
    checks: AtomicU32,
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
            // Bursts may be as large as the rate.
            limiter: settings.rate.map(|rate| RateLimiter::hashmap(Quota::per_second(rate))),
            checks: AtomicU32::new(0),
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
        if self.checks.fetch_add(1, Ordering::Relaxed) % SWEEP == SWEEP - 1 {
            limiter.retain_recent();
        }
        limiter.check_key(key).map_err(|not_until| {
            self.metrics.limited.inc();
            let wait = not_until.wait_time_from(limiter.clock().now());
            let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
            let message = "too many requests for this key";
            ApiError::new(StatusCode::TOO_MANY_REQUESTS, "too_many_requests", message).retry_after(seconds)
        })
    }
}

/// Time for which a result holds, so that probes cannot keep the store busy.
const FRESH: Duration = Duration::from_secs(1);
/// Maximum time of a check.
const LIMIT: Duration = Duration::from_millis(2500);
/// Number of keys that are remembered.
const KEYS: NonZeroUsize = NonZeroUsize::new(1024).unwrap();

/// The readiness of a store, and the keys that may know why it is not ready.
pub(super) struct Readiness {
    last: tokio::sync::Mutex<Option<(Instant, StoreResult<()>)>>,
    /// Keys of authenticated callers: a store that is down cannot tell if a key is valid.
    keys: Mutex<LruCache<String, ()>>,
}

impl Default for Readiness {
    fn default() -> Self {
        Self { last: tokio::sync::Mutex::default(), keys: Mutex::new(LruCache::new(KEYS)) }
    }
}

impl Readiness {
    /// Checks that the store can be written. Checks at the same time, and within a second, share a result.
    pub(super) async fn check(&self, store: &dyn Store) -> StoreResult<()> {
        let mut last = self.last.lock().await;
        if let Some((_, result)) = last.as_ref().filter(|(at, _)| at.elapsed() < FRESH) {
            return result.clone();
        }
        let late = || Err(StoreError::Unavailable(Outage::Unreachable, "the store does not respond".to_owned()));
        let result = timeout(LIMIT, store.ready()).await.unwrap_or_else(|_| late());
        *last = Some((Instant::now(), result.clone()));
        result
    }

    /// Remembers the key of an authenticated caller.
    pub(super) fn remember(&self, key: &str) {
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        if keys.get(key).is_none() {
            keys.put(key.to_owned(), ());
        }
    }

    /// Forgets a key that is not valid.
    pub(super) fn forget(&self, key: &str) {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner).pop(key);
    }

    /// Returns `true` if the key was valid when it was last used.
    pub(super) fn knows(&self, key: &str) -> bool {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner).contains(key)
    }
}
