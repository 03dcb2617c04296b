//! The catalog: a store, a renderer, and the state that operations share; large writes; removing deleted rows for good.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use chrono::TimeDelta;
use lru::LruCache;
use tokio::runtime::Handle;
use uuid::Uuid;

use super::fair::{Gate, Pass};
use super::quota::{Ledger, Quotas, Reserved};
use super::render::{self, Renderer};
use super::store::{self, Purged, Store, Usage};
use super::{Actor, CatalogError, Result, Timestamp, now};
use crate::keys::KnownKeys;

/// Number of generators whose last recorded activity is kept in memory.
const ACTIVITY_CACHE: NonZeroUsize = NonZeroUsize::new(4096).unwrap();

/// A catalog: a store and a renderer. Clones share both.
#[derive(Debug, Clone)]
pub struct Catalog {
    shared: Arc<CatalogState>,
}

#[derive(Debug)]
struct CatalogState {
    store: Arc<dyn Store>,
    renderer: Renderer,
    ledger: Ledger,
    known_keys: Arc<KnownKeys>,
    /// The large writes of all callers. After a write its place stays empty for as long as the write took, so a caller who
    /// writes large texts all the time leaves half of the store's time to others.
    large_writes: Gate,
    /// The time of each generator's last recorded activity.
    last_active: Mutex<LruCache<Uuid, Instant>>,
}

impl Catalog {
    /// Creates a catalog on a store.
    pub fn new(store: Arc<dyn Store>, renderer: Renderer) -> Self {
        Self::limited(store, renderer, Arc::default(), Quotas::default())
    }

    fn limited(store: Arc<dyn Store>, renderer: Renderer, known_keys: Arc<KnownKeys>, quotas: Quotas) -> Self {
        let last_active = Mutex::new(LruCache::new(ACTIVITY_CACHE));
        let (ledger, large_writes) = (Ledger::new(quotas), Gate::new(LARGE_WRITES, 1));
        Self { shared: Arc::new(CatalogState { store, renderer, ledger, known_keys, large_writes, last_active }) }
    }

    /// The same catalog with quotas for generators.
    pub fn with_quotas(&self, quotas: Quotas) -> Self {
        let CatalogState { store, renderer, known_keys, .. } = &*self.shared;
        Self::limited(store.clone(), renderer.clone(), known_keys.clone(), quotas)
    }

    /// Opens the catalog in a file or at a `postgres://` address. Creates a missing file.
    pub async fn open(db: &str, options: &render::Options) -> Result<Self> {
        Ok(Self::new(store::open(db).await?, Renderer::new(options)))
    }

    /// The store.
    pub fn store(&self) -> &dyn Store {
        &*self.shared.store
    }

    /// The renderer.
    pub fn renderer(&self) -> &Renderer {
        &self.shared.renderer
    }

    /// The keys that were valid a moment ago.
    pub(super) fn known_keys(&self) -> &KnownKeys {
        &self.shared.known_keys
    }

    /// Waits for the caller's turn to write `bytes` bytes. The write may begin while the result lives.
    pub(super) async fn turn_to_write(&self, bytes: u64) -> Option<LargeWrite> {
        LargeWrite::turn(&self.shared.large_writes, bytes).await
    }

    /// Reserves usage of a generator for a write.
    pub(super) async fn reserve(&self, generator: Option<Uuid>, more: Usage) -> Result<Reserved> {
        self.shared.ledger.reserve(generator, more, |generator| self.store().usage(generator)).await
    }

    /// Counts the usage of a generator again before its next write.
    pub(super) fn recount(&self, generator: Option<Uuid>) {
        self.shared.ledger.forget(generator);
    }

    /// Returns `true`, and restarts the interval, if no activity of the generator was recorded within `within`.
    pub(super) fn activity_due(&self, id: Uuid, within: Duration) -> bool {
        let now = Instant::now();
        let Ok(mut last_active) = self.shared.last_active.lock() else { return false };
        let due = last_active.get(&id).is_none_or(|last| now.duration_since(*last) >= within);
        if due {
            last_active.put(id, now);
        }
        due
    }
}

/// Bytes of a large write.
const LARGE: u64 = 64 << 10;
/// Number of large writes at a time, of which a caller has one.
const LARGE_WRITES: usize = 2;

/// A large write under way.
#[derive(Debug)]
pub(super) struct LargeWrite {
    pass: Option<Pass>,
    begun: Instant,
}

impl LargeWrite {
    /// Waits for the caller's turn to write `bytes` bytes. The write may take until the result is dropped.
    async fn turn(gate: &Gate, bytes: u64) -> Option<Self> {
        if bytes < LARGE {
            return None;
        }
        Some(Self { pass: gate.pass().await, begun: Instant::now() })
    }
}

impl Drop for LargeWrite {
    fn drop(&mut self) {
        let (pass, took) = (self.pass.take(), self.begun.elapsed());
        // Without a runtime nobody waits.
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(async move {
                tokio::time::sleep(took).await;
                drop(pass);
            });
        }
    }
}

/// Number of rows that one transaction removes, so that other writers wait only a moment.
const BATCH: u32 = 500;
/// Number of batches of one call.
const BATCHES: usize = 20;

impl Catalog {
    /// Removes what was deleted longer than `older_than` ago: stacks with their objects, and template versions. A
    /// version that was deleted stays while the provenance of an object names it, so that the object can be verified.
    /// Generators and keys stay. So does the audit trail, but for entries from longer than `audit_older_than` ago, if that
    /// is given. Call it again while [`Purged::more`] is set.
    ///
    /// # Errors
    /// `admin_required`, `invalid_age`.
    pub async fn purge(
        &self,
        actor: Actor,
        older_than: TimeDelta,
        audit_older_than: Option<TimeDelta>,
    ) -> Result<Purged> {
        actor.require_admin()?;
        let (before, audit_before) = (ago(older_than)?, audit_older_than.map(ago).transpose()?);
        let mut all = Purged::default();
        for _ in 0..BATCHES {
            let batch = self.store().purge(before, audit_before, BATCH).await?;
            all.objects += batch.objects;
            all.stacks += batch.stacks;
            all.templates += batch.templates;
            all.audit_entries += batch.audit_entries;
            (all.kept_templates, all.more) = (batch.kept_templates, batch.more);
            if !batch.more {
                break;
            }
        }
        Ok(all)
    }
}

/// The time of this age.
fn ago(age: TimeDelta) -> Result<Timestamp> {
    let then = now().checked_sub_signed(age).filter(|_| age >= TimeDelta::zero());
    then.ok_or_else(|| CatalogError::invalid("invalid_age", "the age is out of range"))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use uuid::Uuid;

    use super::*;
    use crate::Actor;
    use crate::fair::Identity;

    fn generator(n: u128) -> Identity {
        Identity::Caller(Actor::Generator(Uuid::from_u128(n)))
    }

    async fn soon<T>(future: impl Future<Output = T>) -> Option<T> {
        tokio::time::timeout(Duration::from_millis(1), future).await.ok()
    }

    #[tokio::test]
    async fn a_caller_has_one_large_write_at_a_time() {
        let writes = Gate::new(LARGE_WRITES, 1);
        let first = generator(1).scope(LargeWrite::turn(&writes, LARGE)).await;
        assert!(soon(generator(1).scope(LargeWrite::turn(&writes, LARGE))).await.is_none());
        assert!(
            soon(generator(1).scope(LargeWrite::turn(&writes, LARGE - 1))).await.is_some(),
            "a small one does not wait"
        );
        assert!(
            soon(generator(2).scope(LargeWrite::turn(&writes, LARGE))).await.is_some(),
            "another caller does not wait"
        );
        drop(first);
        assert!(generator(1).scope(LargeWrite::turn(&writes, LARGE)).await.is_some());
    }

    #[tokio::test]
    async fn a_place_stays_empty_for_as_long_as_its_write_took() {
        let writes = Gate::new(LARGE_WRITES, 1);
        let mut first = LargeWrite::turn(&writes, LARGE).await.unwrap();
        first.begun = Instant::now().checked_sub(Duration::from_secs(3600)).unwrap();
        drop(first);
        assert!(soon(LargeWrite::turn(&writes, LARGE)).await.is_none());
    }
}
