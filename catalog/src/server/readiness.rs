//! Readiness: the store can be written, and the service is not shutting down.

use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use lru::LruCache;
use tokio::time::{Instant, timeout};

use crate::store::{Outage, Store, StoreError, StoreResult};

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
