//! The state shared by all requests, with rate limits per key and the readiness of the service: the store can be written,
//! and the service is not shutting down. The labels of metrics are routes, standard methods and statuses, so clients cannot
//! create new ones.

use std::io;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use axum::http::{Method, StatusCode};
use governor::clock::Clock as _;
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use lru::LruCache;
use prometheus::{
    Error, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge, IntGaugeVec, Opts, Registry, TextEncoder,
};
use tokio::time::{Instant, timeout};
use utoipa::openapi::OpenApi;

use super::response::{ApiError, Result};
use super::settings::Settings;
use crate::Catalog;
use crate::fair::Budget;
use crate::store::{Counts, Outage, Store, StoreError, StoreResult};

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

/// Bounds of the latency buckets, in seconds.
const BUCKETS: &[f64] = &[0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];

/// The metrics of a server.
pub(super) struct Metrics {
    registry: Registry,
    requests: IntCounterVec,
    latency: HistogramVec,
    rows: IntGaugeVec,
    /// Renders, compiled templates and cache hits, copied from the renderer.
    renderer: [IntCounter; 3],
    in_progress: IntGauge,
    /// Running jobs, waiting jobs, and callers with waiting jobs, of each pool.
    pools: [IntGaugeVec; 3],
    refused: IntCounter,
    cached: IntGauge,
    /// Handlers that panicked.
    pub(super) panics: IntCounter,
    /// Requests rejected by the rate limit.
    pub(super) limited: IntCounter,
    /// Open connections.
    pub(super) connections: IntGauge,
    /// Rendered sets of parameters.
    pub(super) stamped: IntCounter,
}

impl Metrics {
    /// Creates metrics at zero.
    pub(super) fn new() -> Result<Self, Error> {
        let registry = Registry::new();
        let requests = IntCounterVec::new(
            Opts::new("dropforge_http_requests_total", "Finished requests"),
            &["route", "method", "status"],
        )?;
        let latency = HistogramOpts::new("dropforge_http_request_seconds", "Time until the response started");
        let latency = HistogramVec::new(latency.buckets(BUCKETS.to_vec()), &["route"])?;
        let rows = Opts::new("dropforge_catalog_rows", "Live rows in the catalog");
        let rows = IntGaugeVec::new(rows, &["kind"])?;
        let panics = IntCounter::new("dropforge_http_panics_total", "Handlers that panicked")?;
        let limited = IntCounter::new("dropforge_http_limited_total", "Requests rejected by the rate limit")?;
        let connections = IntGauge::new("dropforge_http_connections", "Open connections")?;
        let stamped = IntCounter::new("dropforge_stamped_total", "Rendered sets of parameters of stamp requests")?;
        let renderer = [
            IntCounter::new("dropforge_renders_total", "Accepted renders")?,
            IntCounter::new("dropforge_templates_compiled_total", "Compiled templates")?,
            IntCounter::new("dropforge_templates_reused_total", "Compiled templates taken from the cache")?,
        ];
        let in_progress = IntGauge::new("dropforge_renders_under_way", "Running and waiting renders")?;
        let pool = |name, help| IntGaugeVec::new(Opts::new(name, help), &["pool"]);
        let pools = [
            pool("dropforge_pool_running", "Jobs on render threads, and uses of the store's connections")?,
            pool("dropforge_pool_waiting", "Jobs and uses that wait for their turn")?,
            pool("dropforge_pool_waiting_callers", "Callers with waiting jobs or uses")?,
        ];
        let refused =
            IntCounter::new("dropforge_renders_refused_total", "Jobs that found a full queue or waited too long")?;
        let cached = IntGauge::new("dropforge_templates_cached_bytes", "Bytes of cached templates and schemas")?;
        registry.register(Box::new(requests.clone()))?;
        registry.register(Box::new(latency.clone()))?;
        for gauge in pools.iter().chain([&rows]) {
            registry.register(Box::new(gauge.clone()))?;
        }
        for counter in [&panics, &limited, &stamped, &refused].into_iter().chain(&renderer) {
            registry.register(Box::new(counter.clone()))?;
        }
        for gauge in [&connections, &in_progress, &cached] {
            registry.register(Box::new(gauge.clone()))?;
        }
        Ok(Self {
            registry,
            requests,
            latency,
            rows,
            renderer,
            in_progress,
            pools,
            refused,
            cached,
            panics,
            limited,
            connections,
            stamped,
        })
    }

    /// Counts a response.
    pub(super) fn count_response(&self, route: &str, method: &Method, status: StatusCode, took: Duration) {
        let method = if STANDARD.contains(method) { method.as_str() } else { "other" };
        self.requests.with_label_values(&[route, method, status.as_str()]).inc();
        self.latency.with_label_values(&[route]).observe(took.as_secs_f64());
    }

    /// Sets the row counts.
    pub(super) fn set_rows(&self, counts: &Counts) {
        for (kind, rows) in [
            ("generators", counts.generators),
            ("templates", counts.templates),
            ("stacks", counts.stacks),
            ("objects", counts.objects),
        ] {
            self.rows.with_label_values(&[kind]).set(rows);
        }
    }

    /// Copies the counters of a catalog's renderer, and the loads of its pools.
    pub(super) fn measure(&self, catalog: &Catalog) {
        let stats = catalog.renderer().stats();
        let counted = [stats.renders, stats.compiled, stats.reused, stats.refused];
        for (counter, now) in self.renderer.iter().chain([&self.refused]).zip(counted) {
            counter.inc_by(now.saturating_sub(counter.get()));
        }
        self.in_progress.set(count(stats.load.running + stats.load.waiting));
        self.cached.set(count(stats.cached_bytes));
        for (pool, load) in [("renders", stats.load), ("store", catalog.store().load())] {
            let values = [load.running, load.waiting, load.waiting_callers];
            for (gauge, value) in self.pools.iter().zip(values) {
                gauge.with_label_values(&[pool]).set(count(value));
            }
        }
    }

    /// The metrics as text.
    pub(super) fn text(&self) -> Result<String, Error> {
        TextEncoder::new().encode_to_string(&self.registry.gather())
    }
}

/// Methods with a label of their own.
const STANDARD: &[Method] = &[
    Method::GET,
    Method::POST,
    Method::PUT,
    Method::DELETE,
    Method::HEAD,
    Method::OPTIONS,
    Method::PATCH,
    Method::TRACE,
    Method::CONNECT,
];

fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
