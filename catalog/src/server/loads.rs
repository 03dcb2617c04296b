//! Metrics of what callers share: render threads and the connections of the store.

use prometheus::{Error, IntCounter, IntGauge, IntGaugeVec, Opts, Registry};

use crate::render::Stats;
use crate::{Catalog, Load};

/// Gauges of pools and their queues.
pub(super) struct Loads {
    /// Running jobs, waiting jobs, and callers with waiting jobs.
    gauges: [IntGaugeVec; 3],
    refused: IntCounter,
    cached: IntGauge,
}

impl Loads {
    /// Registers the gauges.
    pub(super) fn new(registry: &Registry) -> Result<Self, Error> {
        let gauge = |name, help| {
            let gauge = IntGaugeVec::new(Opts::new(name, help), &["pool"])?;
            registry.register(Box::new(gauge.clone()))?;
            Ok::<_, Error>(gauge)
        };
        let gauges = [
            gauge("dropforge_pool_running", "Jobs on render threads, and uses of the store's connections")?,
            gauge("dropforge_pool_waiting", "Jobs and uses that wait for their turn")?,
            gauge("dropforge_pool_waiting_callers", "Callers with waiting jobs or uses")?,
        ];
        let refused =
            IntCounter::new("dropforge_renders_refused_total", "Jobs that found a full queue or waited too long")?;
        let cached = IntGauge::new("dropforge_templates_cached_bytes", "Bytes of cached templates and schemas")?;
        registry.register(Box::new(refused.clone()))?;
        registry.register(Box::new(cached.clone()))?;
        Ok(Self { gauges, refused, cached })
    }

    /// Copies the current loads of a catalog.
    pub(super) fn measure(&self, catalog: &Catalog) {
        let Stats { load, refused, cached_bytes, .. } = catalog.renderer().stats();
        self.set("renders", load);
        self.set("store", catalog.store().load());
        self.refused.inc_by(refused.saturating_sub(self.refused.get()));
        self.cached.set(count(cached_bytes));
    }

    fn set(&self, pool: &str, load: Load) {
        let values = [load.running, load.waiting, load.waiting_callers];
        for (gauge, value) in self.gauges.iter().zip(values) {
            gauge.with_label_values(&[pool]).set(count(value));
        }
    }
}

fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
