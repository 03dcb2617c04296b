//! The locks of prefixes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::shards::PARTS;
use dropforge_base::diagnostics::{Code, Result};
use dropforge_remote::{Clock, LOCK, Lock, LockOptions, Store, SystemClock};

/// The time between attempts to take the lock of a shard.
const WAIT: Duration = Duration::from_secs(5);

/// The time between looks at whether the run is to stop.
const STEP: Duration = Duration::from_millis(50);

/// The use of the lock of a prefix.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Locking {
    /// Take the lock, or fail if another run holds it.
    #[default]
    Take,
    /// Remove the lock of another run, then take it.
    Break,
    /// Write without a lock.
    Without,
}

impl Locking {
    /// Takes the lock of the store's prefix.
    ///
    /// # Errors
    /// Errors of [`Lock::acquire`].
    pub(super) fn lock(self, store: &Store) -> Result<Option<Lock>> {
        let clock = SystemClock::new();
        if !self.takes(store, &clock)? {
            return Ok(None);
        }
        let lock = Lock::acquire(store, LockOptions::default())?;
        for object in store.list(PARTS)? {
            let key = object?.key;
            let Some(shard) = key.strip_suffix(LOCK).map(|prefix| store.below(prefix)) else { continue };
            match self {
                Self::Break => _ = Lock::break_lock(&shard, &clock)?,
                _ => Lock::check_free(&shard, &clock)?,
            }
        }
        Ok(Some(lock))
    }

    /// Takes the lock of the prefix `own` of a shard. That of a shard that was killed expires after some minutes.
    ///
    /// # Errors
    /// Errors of [`Lock::acquire`]; `store.locked` if a run without shards holds the lock of the prefix.
    pub(super) fn lock_shard(self, whole: &Store, own: &Store, stop: &AtomicBool) -> Result<Option<Lock>> {
        let clock = SystemClock::new();
        if !self.takes(own, &clock)? {
            return Ok(None);
        }
        let until = clock.now() + LockOptions::default().lease + WAIT;
        let lock = loop {
            match Lock::acquire(own, LockOptions::default()) {
                Err(error) if error.code == Code::StoreLocked && clock.now() < until && wait(stop) => {}
                result => break result?,
            }
        };
        Lock::check_free(whole, &clock).map(|()| Some(lock))
    }

    /// Returns `true` if the lock of `store` is to be taken. Breaks that of another run if this is wanted.
    fn takes(self, store: &Store, clock: &SystemClock) -> Result<bool> {
        if self == Self::Break {
            Lock::break_lock(store, clock)?;
        }
        Ok(self != Self::Without)
    }
}

/// Waits before the next attempt. Returns `false` as soon as the run is to stop.
fn wait(stop: &AtomicBool) -> bool {
    (0..WAIT.as_millis() / STEP.as_millis()).all(|_| {
        thread::sleep(STEP);
        !stop.load(Ordering::SeqCst)
    })
}
