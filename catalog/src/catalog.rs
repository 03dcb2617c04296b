//! The catalog: a store, a renderer, and the state that operations share.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use lru::LruCache;
use uuid::Uuid;

use super::error::Result;
use super::known_keys::KnownKeys;
use super::large_writes::{LargeWrite, LargeWrites};
use super::quota::{Ledger, Quotas, Reserved};
use super::render::{self, Renderer};
use super::store::{self, Store, Usage};

/// Number of generators whose last recorded activity is kept in memory.
const ACTIVITY_CACHE: NonZeroUsize = NonZeroUsize::new(4096).unwrap();

/// A catalog: a store and a renderer. Clones share both.
#[derive(Debug, Clone)]
pub struct Catalog {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    store: Arc<dyn Store>,
    renderer: Renderer,
    ledger: Ledger,
    known_keys: Arc<KnownKeys>,
    large_writes: LargeWrites,
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
        let (ledger, large_writes) = (Ledger::new(quotas), LargeWrites::default());
        Self { shared: Arc::new(Shared { store, renderer, ledger, known_keys, large_writes, last_active }) }
    }

    /// The same catalog with quotas for generators.
    pub fn with_quotas(&self, quotas: Quotas) -> Self {
        let Shared { store, renderer, known_keys, .. } = &*self.shared;
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

    /// Waits for the caller's turn to write so many bytes. The write may begin while the result lives.
    pub(super) async fn turn_to_write(&self, bytes: u64) -> Option<LargeWrite> {
        self.shared.large_writes.turn(bytes).await
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
