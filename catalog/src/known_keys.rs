//! Keys that were valid a moment ago, so that not every request looks its key up in the store.

use std::num::NonZeroUsize;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lru::LruCache;
use tokio::time::Instant;

use super::keys::Pak;
use super::model::KeyRow;
use super::store::StoreResult;

/// Time for which a row is used without asking the store again. Changes by other processes take effect after it.
const FRESH: Duration = Duration::from_secs(2);
/// Number of keys that are kept.
const KEYS: NonZeroUsize = NonZeroUsize::new(4096).unwrap();

/// Rows of keys, by short token.
#[derive(Debug)]
pub(super) struct KnownKeys(Mutex<Known>);

#[derive(Debug)]
struct Known {
    rows: LruCache<String, (Instant, KeyRow)>,
    /// The number of changes so far. A row that was read before a change is not kept after it.
    changes: u64,
}

impl Default for KnownKeys {
    fn default() -> Self {
        Self(Mutex::new(Known { rows: LruCache::new(KEYS), changes: 0 }))
    }
}

impl KnownKeys {
    /// The row of a key, from memory or from `read`. The secret is not compared.
    ///
    /// # Errors
    /// Those of `read`.
    pub(super) async fn row(&self, pak: &Pak, read: impl AsyncFnOnce() -> StoreResult<KeyRow>) -> StoreResult<KeyRow> {
        let token = pak.short_token();
        let changes = {
            let mut known = self.lock();
            if let Some((_, row)) = known.rows.get(token).filter(|(at, _)| at.elapsed() < FRESH) {
                return Ok(row.clone());
            }
            known.changes
        };
        let row = read().await?;
        let mut known = self.lock();
        // Strangers who know the token only cannot push out the rows of others.
        if known.changes == changes && pak.opens(&row) {
            known.rows.put(token.to_owned(), (Instant::now(), row.clone()));
        }
        Ok(row)
    }

    /// Carries out a change of keys or generators, and forgets all rows.
    pub(super) async fn forget_after<T>(&self, change: impl Future<Output = T>) -> T {
        let done = change.await;
        let mut known = self.lock();
        known.changes += 1;
        known.rows.clear();
        done
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::super::model::{Role, now};
    use super::*;
    use crate::store::StoreError;

    fn key() -> (Pak, KeyRow) {
        let pak = Pak::random().unwrap();
        let row = pak.row(Role::Admin, None, now());
        (pak, row)
    }

    /// Returns `true` if the row comes from memory.
    async fn is_known(keys: &KnownKeys, pak: &Pak) -> bool {
        keys.row(pak, async || Err(StoreError::NotFound)).await.is_ok()
    }

    #[tokio::test]
    async fn a_valid_key_is_known_until_a_change() {
        let (keys, (pak, row)) = (KnownKeys::default(), key());
        assert!(!is_known(&keys, &pak).await);
        assert_eq!(keys.row(&pak, async || Ok(row.clone())).await.unwrap(), row);
        assert!(is_known(&keys, &pak).await);
        keys.forget_after(async {}).await;
        assert!(!is_known(&keys, &pak).await);
    }

    #[tokio::test]
    async fn a_row_read_before_a_change_is_not_kept_after_it() {
        let (keys, (pak, row)) = (KnownKeys::default(), key());
        let read = async || {
            keys.forget_after(async {}).await;
            Ok(row.clone())
        };
        keys.row(&pak, read).await.unwrap();
        assert!(!is_known(&keys, &pak).await);
    }

    #[tokio::test]
    async fn a_wrong_secret_or_a_revoked_key_is_not_kept() {
        let (keys, (pak, row), (_, other)) = (KnownKeys::default(), key(), key());
        let wrong = KeyRow { hash: other.hash, ..row.clone() };
        let revoked = KeyRow { revoked_at: Some(now()), ..row };
        for row in [wrong, revoked] {
            keys.row(&pak, async || Ok(row)).await.unwrap();
            assert!(!is_known(&keys, &pak).await);
        }
    }

    #[tokio::test]
    async fn the_store_is_asked_again_after_a_while() {
        let (keys, (pak, row)) = (KnownKeys::default(), key());
        let long_ago = Instant::now().checked_sub(FRESH).unwrap();
        keys.lock().rows.put(pak.short_token().to_owned(), (long_ago, row));
        assert!(!is_known(&keys, &pak).await);
    }
}
