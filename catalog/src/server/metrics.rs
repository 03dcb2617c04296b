//! Metrics in the text format of Prometheus. Labels are routes, standard methods and statuses, so clients cannot create
//! new ones.

use std::time::Duration;

use axum::http::{Method, StatusCode};
use prometheus::{
    Error, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge, IntGaugeVec, Opts, Registry, TextEncoder,
};

use crate::Catalog;
use crate::store::Counts;

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
